"""Readings of an experiment: what else may have been drawn, run or taken as the optimum.

Section 5.1 of Jaillet et al. reports ratios MC-SF/OPT that its description does not give. A reading
changes one thing, and has for each draw the total latency of its MC-SF and of the best schedule
found for its optimum. Where MC-SF obeys the rules of the optimum, its own schedule is one of them.

Source: Jaillet et al. (2025), Section 5.1, arXiv 2502.07115v5.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ratiolab.model import Instance, IntArray, stream
from ratiolab.workloads.generators import generate

Model: TypeAlias = Literal[1, 2]
Held: TypeAlias = Literal["growing", "from the start round", "after a round", "reserved"]
Starts: TypeAlias = Literal["any", "every", "events", "batches"]
Key: TypeAlias = Callable[[Instance], IntArray]
Range: TypeAlias = Callable[[IntArray], tuple[IntArray, IntArray]]
STARTS: tuple[Starts, ...] = ("any", "every", "events", "batches")

WARMTH = 0.04
"""First temperature of the annealing, as a part of the mean latency."""


@dataclass(frozen=True)
class Rules:
    """The rules that a schedule must obey.

    Parameters
    ----------
    held : tokens of a request at age 1 to o are s + age (``growing``, as the paper defines them);
        the same, and s at age 0; s + age - 1; or s + o throughout.
    starts : rounds in which requests may start: ``any``; ``every``, multiples of `grid`;
        ``events``, arrivals and completions; ``batches``, when nothing runs.
    """

    held: Held = "growing"
    starts: Starts = "any"
    grid: int = 1

    def __post_init__(self) -> None:
        # who completes last may fill memory in that round, and no event follows
        if self.starts == "events" and self.held == "from the start round":
            raise ValueError("starts 'events' need memory to be free when a request completes")


class Latencies(NamedTuple):
    """A draw under a reading: total latencies of MC-SF and of the best schedule found."""

    requests: int
    policy: int
    best: int


@dataclass(frozen=True)
class Reading:
    """One change to the experiment.

    Parameters
    ----------
    text : what is changed, for tables.
    group : workload, policy, optimum or incumbent.
    settings : settings of the generators, for models 1 and 2.
    outputs : least and largest output from the room M - s of each request; outputs are drawn
        uniformly between them.
    key : MC-SF sorts by it, equal keys in the order of the file.
    skip : whether MC-SF passes over misfits.
    policy, optimum : rules of both.
    tries : where the optimum is the incumbent of a search that begins with MC-SF's order: moves of
        one request it tries; None for a long search.
    """

    text: str
    group: Literal["workload", "policy", "optimum", "incumbent"]
    settings: Mapping[Model, Mapping[str, int | float]] = field(default_factory=dict)
    outputs: Range | None = None
    key: Key = lambda instance: instance.output
    skip: bool = False
    policy: Rules = Rules()
    optimum: Rules = Rules()
    tries: int | None = None

    def draw(self, model: Model, seed: int) -> Instance:
        """Draw an instance; readings that change no workload draw the same for the same seed."""
        instance = generate(f"jaillet-model-{model}", seed, None, **self.settings.get(model, {}))
        if self.outputs is None:
            return instance
        least, most = self.outputs(instance.memory - instance.prompt)
        output = stream(seed, "lengths").integers(least, most + 1)
        return instance.replace(output=output, lower=output, upper=output, predicted=output)

    def evaluate(self, instance: Instance, *, seed: int, steps: int) -> Latencies:
        """Run its MC-SF, and search for good schedules under the rules of its optimum.

        A reading with `tries` searches that many steps.
        """
        from ratiolab.papers.jaillet2025 import interpretation_kernels as kernels

        n = len(instance)
        arrival, output = instance.arrival.copy(), instance.output.copy()
        grid = max(self.policy.grid, self.optimum.grid)
        # every start waits at most for the last arrival, all other outputs and a multiple
        usage = np.zeros(int(arrival.max() + 2 * output.sum()) + (n + 1) * grid + 2, np.int64)
        starts, best = np.empty((2, n), np.int64)

        def case(rules: Rules) -> kernels.Case:
            tokens, rule = held(instance, rules.held), STARTS.index(rules.starts)
            return kernels.Case(arrival, output, tokens, instance.memory, rule, rules.grid, usage)

        order = np.argsort(self.key(instance), kind="stable")
        cost = kernels.prefixes(order, case(self.policy), self.skip, starts)
        moves, warmth = (steps, WARMTH) if self.tries is None else (self.tries, 0.0)
        draws = stream(seed, "search").random((moves, 3))
        order = np.lexsort((instance.volume, starts))
        found = kernels.anneal_insertion_order(
            order, case(self.optimum), warmth, draws, starts, best
        )
        return Latencies(n, cost, min(cost, found) if self.policy == self.optimum else found)


def held(instance: Instance, rule: Held) -> IntArray:
    """Tokens of every request at the ages 0, 1, ... to its output, then zeros.

    >>> two = Instance("two", 9, [0, 0], [3, 1], [2, 1])
    >>> held(two, "growing").tolist(), held(two, "reserved").tolist()
    ([[0, 4, 5], [0, 2, 0]], [[0, 5, 5], [0, 2, 0]])
    >>> held(two, "from the start round").tolist(), held(two, "after a round").tolist()
    ([[3, 4, 5], [1, 2, 0]], [[0, 3, 4], [0, 1, 0]])
    """
    prompt, output = instance.prompt[:, None], instance.output[:, None]
    age = np.arange(instance.output.max() + 1)[None, :]
    if rule == "reserved":
        tokens = prompt + output + 0 * age
    else:
        tokens = prompt + age - (rule == "after a round")
    runs = (age <= output) & ((age > 0) | (rule == "from the start round"))
    return np.where(runs, tokens, 0)


def _both(text: str, rules: Rules) -> Reading:
    return Reading(text, "optimum", policy=rules, optimum=rules)


def _incumbent(tries: int) -> Reading:
    moves = "move" if tries == 1 else "moves"
    return Reading(f"best of MC-SF and {tries} {moves} in its order", "incumbent", tries=tries)


_TENTH: dict[Model, dict[str, int | float]] = {1: {"n_least": 4, "n_most": 6}}

READINGS: dict[str, Reading] = {
    "described": Reading("as described", "workload"),
    "tenth-n": Reading(
        "a tenth of the requests: n in 4..6; T in 4..6",
        "workload",
        {**_TENTH, 2: {"horizon_least": 4, "horizon_most": 6}},
    ),
    "tenth-rate": Reading(
        "a tenth of the requests: n in 4..6; rate in 0.05..0.15",
        "workload",
        {**_TENTH, 2: {"rate_least": 0.05, "rate_most": 0.15}},
    ),
    "half-n": Reading(
        "half the requests: n in 20..30; rate in 0.25..0.75",
        "workload",
        {1: {"n_least": 20, "n_most": 30}, 2: {"rate_least": 0.25, "rate_most": 0.75}},
    ),
    "prompt-1": Reading("all prompts 1", "workload", {m: {"prompt_most": 1} for m in (1, 2)}),
    "output-5": Reading(
        "outputs in 1..5", "workload", outputs=lambda room: (0 * room + 1, np.minimum(room, 5))
    ),
    "output-10": Reading(
        "outputs in 1..10", "workload", outputs=lambda room: (0 * room + 1, np.minimum(room, 10))
    ),
    "output-half": Reading(
        "outputs in 1..(M - s)/2", "workload", outputs=lambda room: (0 * room + 1, room // 2)
    ),
    "output-long": Reading(
        "outputs in (M - s)/2..M - s", "workload", outputs=lambda room: (room // 2, room)
    ),
    "ties-prompt": Reading(
        "equal outputs by prompt",
        "policy",
        key=lambda instance: instance.output * (instance.memory + 1) + instance.prompt,
    ),
    "by-peak": Reading(
        "shortest s + o first", "policy", key=lambda instance: instance.prompt + instance.output
    ),
    "by-volume": Reading("smallest volume first", "policy", key=lambda instance: instance.volume),
    "skip": Reading("misfits are passed over", "policy", skip=True),
    "reserved": _both("s + o reserved throughout", Rules("reserved")),
    "prompt-first": _both("prompt held in the start round", Rules("from the start round")),
    "token-later": _both("a token held from the round after", Rules("after a round")),
    "grid-5": _both("starts at multiples of 5", Rules(starts="every", grid=5)),
    "events": _both("starts when a request arrives or completes", Rules(starts="events")),
    "batches": _both("batches, no request joins later", Rules(starts="batches")),
    "reserved-batches": _both(
        "batches, s + o reserved throughout", Rules("reserved", starts="batches")
    ),
    "prompt-first-opt": Reading(
        "prompt held in the start round, OPT only",
        "optimum",
        optimum=Rules("from the start round"),
    ),
    "reserved-opt": Reading(
        "s + o reserved throughout, OPT only", "optimum", optimum=Rules("reserved")
    ),
    "grid-5-opt": Reading(
        "starts at multiples of 5, OPT only", "optimum", optimum=Rules(starts="every", grid=5)
    ),
    "events-opt": Reading(
        "starts when a request arrives or completes, OPT only",
        "optimum",
        optimum=Rules(starts="events"),
    ),
    "batches-opt": Reading(
        "batches, no request joins later, OPT only", "optimum", optimum=Rules(starts="batches")
    ),
    **{f"incumbent-{tries}": _incumbent(tries) for tries in (1, 3, 10, 100, 1000)},
}
"""Every reading by its key."""
