"""Cases of Section 4: equal prompts, all requests at round 0, exact predictions."""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.model import Instance, Schedule, stream
from ratiolab.online import make, simulate
from ratiolab.theory.worst_case.equal_prompts import Factors, linear_bound, staggered

SECTION_4 = (
    "all requests arrive at round 0 with the same prompt",
    "predictions are exact",
    "M >= 2 max(s + o)",
)


class Case(NamedTuple):
    """Requests with equal prompts at round 0, ascending by the lengths that MC-SF believes.

    Parameters
    ----------
    prompt, outputs, memory : tokens.
    predicted : what MC-SF takes for the outputs; the outputs themselves when empty.
    """

    prompt: int
    outputs: tuple[int, ...]
    memory: int
    predicted: tuple[int, ...] = ()

    @property
    def believed(self) -> tuple[int, ...]:
        """The lengths by which MC-SF plans."""
        return self.predicted or self.outputs

    def __str__(self) -> str:
        predicted = f" predicted {self.predicted}" if self.predicted else ""
        return f"s = {self.prompt}, M = {self.memory}, outputs {self.outputs}{predicted}"

    def instance(self) -> Instance:
        """Return the case as an instance with all requests at round 0."""
        n = len(self.outputs)
        columns = ([0] * n, [self.prompt] * n, self.outputs)
        if not self.predicted:
            return Instance(str(self), self.memory, *columns)
        return Instance(str(self), self.memory, *columns, [1] * n, self.predicted)

    def mc_sf(self) -> Schedule:
        """Return MC-SF's schedule, simulated."""
        return _mc_sf(self)

    def classes(self) -> dict[int, list[int]]:
        """Return positions of requests by class l + 1, believed lengths 2**l to 2**(l+1) - 1."""
        classes: dict[int, list[int]] = defaultdict(list)
        for position, length in enumerate(self.believed):
            classes[length.bit_length()].append(position)
        return classes

    def linear_bound(self, factors: Factors) -> Fraction:
        """Return ``volume * A/M + length * C`` of the believed lengths, in rounds."""
        return linear_bound(factors, self.prompt, self.believed, self.memory)


@cache
def _mc_sf(case: Case) -> Schedule:
    policy = make("mc-sf", {"lengths": "upper"} if case.predicted else {})
    return simulate(case.instance(), policy).schedule


@cache
def least(prompt: int, outputs: tuple[int, ...], memory: int) -> int:
    """Return the optimum of requests with equal prompts."""
    return brute_force(Case(prompt, outputs, memory).instance()).total_latency


def small(most: int = 5, longest: int = 4) -> Iterator[Case]:
    """Yield all multisets of 1 to 5 outputs to 4, s = 0, 1, M = 2P, 2P + 1, P = max s + o."""
    for n in range(1, most + 1):
        for outputs in itertools.combinations_with_replacement(range(1, longest + 1), n):
            for prompt, extra in itertools.product((0, 1), (0, 1)):
                yield Case(prompt, outputs, 2 * (prompt + outputs[-1]) + extra)


def drawn(seed: int = 0, cases: int = 60) -> Iterator[Case]:
    """Yield cases of up to 80 requests, outputs to 60, M from 2 to 4 times the largest s + o."""
    rng = stream(seed, "cases")
    for _ in range(cases):
        longest, prompt = int(rng.choice([2, 7, 20, 60])), int(rng.choice([0, 1, 9]))
        outputs = tuple(sorted(rng.integers(1, longest + 1, int(rng.integers(5, 81))).tolist()))
        peak = prompt + outputs[-1]
        yield Case(prompt, outputs, int(rng.integers(2 * peak, 4 * peak + 1)))


def simulated(slow: bool) -> list[Case]:
    """Return the cases in which MC-SF is simulated."""
    return [*small(), *equal(), *drawn(cases=600 if slow else 60)]


def equal() -> Iterator[Case]:
    """Yield many equal requests that MC-SF serves in synchronous batches."""
    for together, gap, batches in ((2, 1, 40), (3, 1, 30), (8, 1, 40)):
        case = staggered(together, gap, batches)
        yield Case(0, (case.output,) * case.requests, case.memory)
