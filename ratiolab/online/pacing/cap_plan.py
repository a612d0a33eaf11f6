"""Plans of caps for the estimated distributions of volumes: the best path through each."""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from ratiolab.machine_code import Often
from ratiolab.model.footprint import volume
from ratiolab.online.pacing.survival import (
    Curves,
    expected_volume,
    longest_within,
    outlives,
    sums,
)

PROMPTS = 32
"""Prompts that stand for all."""

NODES = 32
"""Volumes in geometric progression that may be caps, and as many of requests that ended."""


class Plans(NamedTuple):
    """For each kind of requests, the best next cap, in volume, of one known to exceed another.

    Lengths follow the survival curve, independently of the prompts. A cap may be a volume of a
    request that ended or one of a geometric progression; the last is no cap at all.

    Parameters
    ----------
    memory : the most that a request holds.
    keeps : whether killed requests keep their tokens, so that no work is done again.
    nodes : number of caps of each kind, shape (kinds,).
    volumes : the caps, ascending, the first 0, shape (kinds, caps).
    following : the place of the best next one, shape (kinds, caps).
    """

    memory: int
    keeps: bool
    nodes: Any
    volumes: Any
    following: Any

    @classmethod
    def of(cls, kinds: int, memory: int, *, keeps: bool) -> "Plans":
        """Return no plans yet."""
        tables = np.zeros((2, kinds, 2 * NODES + 2), np.int64)
        return cls(memory, keeps, np.zeros(kinds, np.int64), *tables)


@Often
def plan(own: Plans, c: Curves, kind: int, prompts: Any, ended: Any, lower: int) -> None:
    """Make the plan of a kind.

    Parameters
    ----------
    prompts : prompts that stand for those of all requests, ascending.
    ended : volumes that stand for those of requests that ended, ascending.
    lower : the least length.
    """
    volumes, following = own.volumes[kind], own.following[kind]
    least, most = volume(prompts[0], lower), 0
    for s in prompts:
        most = max(most, volume(s, own.memory - s))
    number = 1
    for place in range(NODES + len(ended)):  # into order, each once
        if place < NODES:
            node = most
            if place < NODES - 1:
                node = int(least * (most / least) ** (place / (NODES - 1)))
        else:
            node = ended[place - NODES]
        if node < least or node > most:
            continue
        at = number
        while volumes[at - 1] > node:
            at -= 1
        if volumes[at - 1] < node:
            for k in range(number, at, -1):
                volumes[k] = volumes[k - 1]
            volumes[at] = node
            number += 1
    own.nodes[kind] = number
    above, filled, again = np.zeros((3, number))
    oldest, tail = c.oldest[kind], c.prompt[kind]
    for k in range(number):
        for s in prompts:
            age = min(longest_within(s, volumes[k]), own.memory - s)
            if volumes[k] < volume(s, lower):
                age = 0
            rounds, tokens = sums(c, kind, age)
            filled[k] += s * rounds + tokens
            if age < own.memory - s:
                alive = outlives(c.alive, kind, oldest, tail, age)
                above[k] += alive
                if not own.keeps:
                    again[k] += volume(s, age) * alive
        above[k], filled[k], again[k] = (
            above[k] / len(prompts),
            filled[k] / len(prompts),
            again[k] / len(prompts),
        )
    cost = np.zeros(number)
    for j in range(number - 2, -1, -1):  # as `ratiolab.model.caps` says
        cost[j] = inf
        for k in range(j + 1, number):
            through = (again[j] + filled[k] - filled[j]) * (above[j] + above[k]) + cost[k]
            if through < cost[j]:
                cost[j], following[j] = through, k


@Often
def price(own: Plans, c: Curves, facts: Any, keys: Any) -> None:
    """Give requests the next cap of their plan, and the work to it for each expected completion.

    Parameters
    ----------
    facts : for each request its kind, its prompt, the age that it is known to outlive, the tokens
        that it would start with, and the result, its cap; shape (5, requests).
    keys : the other result, shape (requests,).
    """
    for place in range(facts.shape[1]):
        kind, prompt, bound = facts[0, place], facts[1, place], facts[2, place]
        cap = next_cap(own, kind, prompt, bound)
        work = expected_volume(c, kind, prompt, bound, cap) - volume(prompt, facts[3, place])
        ends = 1.0
        if cap != own.memory - prompt:
            oldest, tail = c.oldest[kind], c.prompt[kind]
            sure = outlives(c.alive, kind, oldest, tail, bound)
            ends -= outlives(c.alive, kind, oldest, tail, cap) / sure
        # half as many digits: keys that are equal but for rounding are equal
        facts[4, place], keys[place] = cap, np.float32(work / max(ends, 1e-9))


def next_cap(own: Plans, kind: int, prompt: int, bound: int) -> int:
    """Return the age at which a request known to outlive a bound is to be killed next."""
    volumes, following = own.volumes[kind], own.following[kind]
    last, node = own.nodes[kind] - 1, 0
    while bound and node < last and volumes[node + 1] <= volume(prompt, bound):
        node += 1
    while node < last:
        node = following[node]
        cap = longest_within(prompt, volumes[node])
        if bound < cap and volume(prompt, cap) <= volumes[node]:
            return min(cap, own.memory - prompt)
    return own.memory - prompt


@Often
def few(counts: Any, least: int, number: int) -> Any:
    """Return prompts that stand for all of a kind, as `spread` chooses them.

    Parameters
    ----------
    counts : number of requests with each prompt.
    least, number : the least prompt of the kind, and the number of its requests.
    """
    chosen = np.empty(min(number, PROMPTS), np.int64)
    prompt, below = least, counts[least]
    for k in range(len(chosen)):
        rank = k * (number - 1) // (PROMPTS - 1) if number > PROMPTS else k
        while below <= rank:
            prompt += 1
            below += counts[prompt]
        chosen[k] = prompt
    return chosen


def spread(values: Any, most: int) -> Any:
    """Return at most ``most`` of some values, evenly by rank, with the first and the last.

    >>> spread(np.array([1, 2, 3, 5, 8, 13, 21]), 3).tolist()
    [1, 5, 21]
    """
    if len(values) <= most:
        return values
    few = np.empty(most, np.int64)
    for k in range(most):
        few[k] = values[k * (len(values) - 1) // (most - 1)]
    return few
