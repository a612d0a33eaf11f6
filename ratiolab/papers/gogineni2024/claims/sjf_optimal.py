"""RR-SJF, Section 1: is shortest job first optimal for first tokens and for completion?

Alone on a server, and in batches with the memory of Section 6.
"""

from functools import cache
from itertools import permutations
from typing import Literal

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.claim import EXACT, PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, Measure, small, total
from ratiolab.papers.gogineni2024.round_robin import serve
from ratiolab.papers.witness import read_witness

Rule = tuple[Measure, Literal["all schedules", "orders"], bool]
"""Measure, the schedules that the least is taken over, and whether the rule is SJF."""


def check(rule: Rule, slow: bool) -> ClaimResult:
    """Compare a rule with the least sum over all orders, or over all preemptive schedules."""
    measure, over, shortest_first = rule
    worse = []
    sets = list(small(slow))
    for lengths in sets:
        value = total(measure, lengths, shortest_first=shortest_first, quantum=None)
        best = _least(measure, over, tuple(sorted(lengths)))
        if value > best:
            worse.append((lengths, value, best))
    example = f"lengths {worse[0][0]}: sum {worse[0][1]}, possible {worse[0][2]}" if worse else None
    return decided(
        not worse,
        PROVED if not worse else WITNESSED,
        f"not the least in {len(worse)} of {len(sets)} sets" + (f"; {example}" if example else ""),
        evidence="all token-by-token schedules, or all orders, by exhaustion",
        witness=example,
    )


def recheck() -> str:
    """Serve two requests of two tokens in both ways."""
    plain = serve([2, 2], shortest_first=True)
    turns = serve([2, 2], shortest_first=True, quantum=1)
    assert plain.ttft == (1, 3)
    assert turns.ttft == (1, 2)
    return "lengths 2, 2: first tokens at 1 and 3 under SJF, at 1 and 2 in slices of one token"


def _least(measure: Measure, over: str, lengths: tuple[int, ...]) -> int:
    if over == "all schedules":
        return _exhaust(measure, lengths, tuple(False for _ in lengths), 0)
    return _ordered(measure, lengths)


@cache
def _ordered(measure: Measure, lengths: tuple[int, ...]) -> int:
    return min(
        total(measure, order, shortest_first=False, quantum=None) for order in permutations(lengths)
    )


@cache
def _exhaust(measure: Measure, left: tuple[int, ...], started: tuple[bool, ...], now: int) -> int:
    """Return the least sum still to come, over every choice of the request that gets the next
    token.
    """
    options = []
    for i, tokens in enumerate(left):
        if not tokens:
            continue
        counts = not started[i] if measure == "ttft" else tokens == 1
        # Requests alike in both respects are one choice.
        state = sorted(
            (t - (j == i), s or j == i) for j, (t, s) in enumerate(zip(left, started, strict=True))
        )
        rest = _exhaust(measure, tuple(t for t, _ in state), tuple(s for _, s in state), now + 1)
        options.append((now + 1 if counts else 0) + rest)
    return min(options, default=0)


@PAPER.claim(
    claimed=("ttft", "all schedules", True),
    control=("ttft", "orders", True),
    recheck=recheck,
    assumes=ONE_SERVER,
)
def sjf_optimal_ttft(rule: Rule, slow: bool) -> ClaimResult:
    """Shortest job first minimises the mean time to first token.

    Source: Section 1
    Verdict: false
    Assumes: among all schedules, also with preemption, as RR and RR-SJF have it
    Proof: shortest_first
    """
    return check(rule, slow)


@PAPER.claim(
    claimed=("ttft", "orders", True), control=("ttft", "orders", False), assumes=ONE_SERVER
)
def sjf_optimal_ttft_nonpreemptive(rule: Rule, slow: bool) -> ClaimResult:
    """Among schedules that never preempt, shortest job first minimises the mean time to first
    token.

    Source: Section 1
    Assumes: control: first come, first served
    Proof: shortest_first
    """
    return check(rule, slow)


@PAPER.claim(
    claimed=("completion", "all schedules", True),
    control=("completion", "all schedules", False),
    assumes=ONE_SERVER,
)
def sjf_optimal_e2e(rule: Rule, slow: bool) -> ClaimResult:
    """Shortest job first minimises the mean end-to-end latency.

    Source: Section 1
    Assumes: among all schedules, preemptive ones included; control: first come, first served
    Proof: shortest_first
    """
    return check(rule, slow)


ID = "gogineni2024/sjf-optimal-e2e-memory"
NAME = "gogineni2024-sjf-optimal-e2e-memory"
INSTANCE = Instance("one long prompt", 10, [0] * 4, [9, 1, 1, 1], [1, 2, 2, 2])
EQUAL = Instance("equal prompts", 10, [0] * 4, [1, 1, 1, 1], [1, 2, 2, 2])


def recheck_memory() -> str:
    """Judge both schedules of the witness, and simulate shortest job first."""
    witness = read_witness(NAME)
    assert witness.claim == ID
    sjf, better = (witness.schedule(name).total_latency for name in ("shortest first", "better"))
    assert simulate(witness.instance, make("mc-sf")).schedule.total_latency == sjf
    assert (sjf, better) == (witness.figures["shortest first"], witness.figures["better"])
    assert better < sjf
    return f"shortest job first has total latency {sjf}, another feasible schedule {better}"


@PAPER.claim(claimed=INSTANCE, control=EQUAL, recheck=recheck_memory)
def sjf_optimal_e2e_memory(instance: Instance) -> ClaimResult:
    """When memory limits the batches, shortest job first need not minimise the mean end-to-end
    latency: large prompts may hold up others.

    Source: Section 6
    Assumes: unit rounds, KV memory of prompt and generated tokens, no preemption
    Assumes: shortest output first, as many as stay feasible, none past the first misfit
    Assumes: the control has equal prompts
    """
    cost = simulate(instance, make("mc-sf")).schedule.total_latency
    optimum = solve(instance).uninterrupted()
    return decided(
        cost > optimum.upper,
        EXACT,
        f"{cost}; optimum in [{optimum.lower}, {optimum.upper}]",
        evidence=f"batches as large as memory allows, shortest output first; optimum by "
        f"{optimum.lower_source}; both schedules are stored in {NAME}",
        witness="shortest job first is optimal there",
    )
