"""How an adversary draws a case, and how it changes one."""

from collections.abc import Iterator
from math import isqrt

from numpy.random import Generator

from ratiolab.adversary.case import Block, Case, Limits

FEW = 0.7
"""Share of drawn cases with at most three kinds of requests: bad cases often have few."""


def draw(limits: Limits, rng: Generator) -> Case:
    """Draw a case within the limits: few blocks of equal requests, or many of one each."""
    memory = _memory(limits, rng)
    highest = memory // limits.headroom
    common = int(rng.integers(0, max(1, highest // 2)))
    kinds = int(rng.integers(1, 4)) if rng.random() < FEW else limits.requests
    left = int(rng.integers(2, limits.requests + 1))
    blocks: list[tuple[int, int, int, int]] = []
    while left > 0:
        prompt = common if limits.prompts == "equal" else int(rng.integers(0, max(1, highest // 2)))
        output = int(rng.integers(1, highest - prompt + 1))
        arrival = int(rng.integers(0, 7)) if limits.arrivals == "any" else 0
        last = len(blocks) + 1 >= kinds
        count = left if last else int(rng.integers(1, max(2, 2 * left // max(1, kinds))))
        blocks.append((arrival, prompt, output, min(count, left)))
        left -= min(count, left)
    return Case.of(memory, blocks)


def _memory(limits: Limits, rng: Generator) -> int:
    """Draw a memory, even in its value or, half of the time, in its logarithm."""
    least, most = 2 * limits.headroom, limits.memory
    if rng.random() < 0.5:
        return int(rng.integers(least, most + 1))
    return min(most, int(least * (most / least + 1) ** rng.random()))


def neighbour(case: Case, limits: Limits, rng: Generator) -> Case:
    """Return a case that differs in one to three changes and keeps to the limits."""
    while True:
        changed = case
        for _ in range(1 + int(rng.integers(3))):
            changed = _changed(changed, limits, rng)
        if changed != case and limits.allow(changed):
            return changed


def _changed(case: Case, limits: Limits, rng: Generator) -> Case:
    memory, blocks = case.memory, list(case.blocks)
    if not blocks:
        return case
    at = int(rng.integers(len(blocks)))
    block = blocks[at]
    step = int(rng.choice([-1, 1]))
    match int(rng.integers(9)):
        case 0:
            memory += step * int(rng.choice([1, 1, 3]))
        case 1:
            blocks[at] = block._replace(output=block.output + step)
        case 2:
            longest = memory // limits.headroom - block.prompt
            output = blocks[int(rng.integers(len(blocks)))].output
            if rng.random() < 0.5:
                output = int(rng.integers(1, max(2, longest + 1)))
            blocks[at] = block._replace(output=output)
        case 3:
            step *= int(rng.choice([1, 1, 3]))
            if limits.prompts == "any":
                blocks[at] = block._replace(prompt=block.prompt + step)
            else:
                blocks = [b._replace(prompt=b.prompt + step) for b in blocks]
        case 4:
            blocks[at] = block._replace(number=max(0, block.number + step))
        case 5:
            count = 2 * block.number if rng.random() < 0.5 else block.number // 2
            blocks[at] = block._replace(number=count)
        case 6:
            to = int(rng.integers(len(blocks)))
            blocks.insert(to, blocks.pop(at))
        case 7:
            part = int(rng.integers(block.number + 1))
            blocks[at] = block._replace(number=block.number - part)
            blocks.insert(
                int(rng.integers(len(blocks) + 1)),
                block._replace(number=max(1, part), output=max(1, block.output + step)),
            )
        case _:
            if limits.arrivals == "any":
                arrival = max(0, block.arrival + step * int(rng.choice([1, 1, 3])))
                blocks[at] = block._replace(arrival=arrival)
            else:
                del blocks[at]
    return Case.of(memory, blocks)


def families(limits: Limits) -> Iterator[Case]:
    """Yield members of closed families that are bad for some policy, as large as the limits allow.

    Equal requests; one long request before or after many short ones; a long request, and short
    requests just after it; thin requests without prompt before fat ones of one token, as
    long as a smaller volume allows, or of two tokens; outputs that halve; outputs just above powers
    of two; two lengths.
    """
    for case in _closed(limits.memory, limits.requests, limits.headroom):
        if limits.allow(case):
            yield case


def _closed(most: int, n: int, headroom: int) -> Iterator[Case]:
    for memory in sorted({most, *(2**k for k in range(2, most.bit_length())), most * 3 // 4}):
        highest = memory // headroom
        for prompt in sorted({0, 1, highest // 4, highest // 2}):
            longest = highest - prompt
            if longest < 1:
                continue
            for output in sorted({longest, max(1, longest // 2), max(1, longest // 4)}):
                yield Case.of(memory, [(0, prompt, output, n)])
                yield Case.of(memory, [(0, prompt, output, 1), (0, prompt, 1, n - 1)])
                yield Case.of(memory, [(0, prompt, 1, n - 1), (0, prompt, output, 1)])
                yield Case.of(memory, [(0, prompt, output, 1), (1, prompt, 1, n - 1)])
                yield Case.of(memory, [(0, prompt, 1, n // 2), (0, prompt, output, n - n // 2)])
            halves = [(0, prompt, max(1, longest >> k), 1) for k in range(n)]
            yield Case.of(memory, halves)
            powers = [2**k + 1 for k in range(longest.bit_length()) if 2**k + 1 <= longest]
            for output in powers:
                yield Case.of(memory, [(0, prompt, output, n)])
        thin = (isqrt(8 * highest - 7) - 1) // 2  # the longest with less volume than a fat one
        for small in sorted({2, thin, highest // 2}):
            if 1 <= small <= highest and n > 1:
                for count in range(1, n):
                    rest = Block(0, highest - 1, 1, n - count)
                    yield Case.of(memory, [(0, 0, small, count), rest])
