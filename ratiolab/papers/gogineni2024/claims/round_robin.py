"""RR-SJF, Sections 2.1 and 3 and Figure 2: first tokens and completions by rule and by slice."""

from fractions import Fraction
from itertools import pairwise

from ratiolab.papers.claim import (
    FALSE,
    NOT_IMPLIED,
    PROVED,
    WITNESSED,
    ClaimResult,
    Verdict,
    decided,
)
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, Measure, small, total
from ratiolab.papers.gogineni2024.round_robin import cost_bound, serve

QUANTA = (1, 2, 3)


@PAPER.claim(claimed=None, control=1, assumes=ONE_SERVER)
def earlier_start(rival_quantum: int | None, slow: bool) -> ClaimResult:
    """Under RR-SJF a request starts no later than under shortest job first.

    Source: Section 2.1 and Figure 1
    Assumes: control: slices of one token as the rival, which start earlier
    Proof: round_robin
    """
    late, cases, earlier = [], 0, 0
    for lengths in small(slow):
        rival = serve(lengths, shortest_first=True, quantum=rival_quantum)
        for quantum in QUANTA:
            mixed = serve(lengths, shortest_first=True, quantum=quantum)
            for one, other in zip(mixed.ttft, rival.ttft, strict=True):
                cases += 1
                earlier += one < other
                if one > other:
                    late.append((lengths, quantum))
    return decided(
        not late,
        f"{cases} requests" if late else PROVED,
        f"later for {len(late)} of {cases} requests, earlier for {earlier}",
        witness="lengths {}, slices of {}".format(*late[0]) if late else None,
    )


Rivals = tuple[Measure, str]


def check_rivals(claimed: Rivals, slow: bool) -> ClaimResult:
    """Compare RR-SJF with round robin over all small sets, or with every rival."""
    measure, order = claimed
    worse, cases = [], 0
    for lengths in small(slow):
        line = sorted(lengths, reverse=True) if order == "longest first" else lengths
        shortest = order == "shortest first"
        for quantum in QUANTA:
            mixed = total(measure, line, shortest_first=shortest, quantum=quantum)
            rivals = [total(measure, lengths, shortest_first=False, quantum=quantum)]
            if measure == "ttft":
                rivals += [
                    total(measure, lengths, shortest_first=first, quantum=None)
                    for first in (False, True)
                ]
            cases += 1
            if mixed > min(rivals):
                worse.append((lengths, quantum, mixed, min(rivals)))
    example = "lengths {}, slices of {}: sum {}, rival {}".format(*worse[0]) if worse else None
    return decided(
        not worse,
        PROVED if not worse else f"{cases} cases",
        f"larger in {len(worse)} of {cases} cases",
        witness=example,
    )


@PAPER.claim(
    claimed=("completion", "shortest first"),
    control=("completion", "longest first"),
    assumes=ONE_SERVER,
)
def rr_sjf_beats_rr(claimed: Rivals, slow: bool) -> ClaimResult:
    """The mean end-to-end latency of RR-SJF is at most that of round robin.

    Source: Section 2.1
    Assumes: equal slices in both; the paper speaks of an example
    Proof: round_robin
    """
    return check_rivals(claimed, slow)


@PAPER.claim(
    claimed=("ttft", "shortest first"), control=("ttft", "longest first"), assumes=ONE_SERVER
)
def lowest_ttft(claimed: Rivals, slow: bool) -> ClaimResult:
    """RR-SJF has a mean time to first token no larger than FCFS, SJF and RR.

    Source: Section 3, first of three findings
    Assumes: equal slices in RR and RR-SJF
    Proof: round_robin
    """
    return check_rivals(claimed, slow)


QUANTUM = 5  # the paper's choice in Section 3.4
CROWDS = tuple((1024,) * n for n in (2, 10, 50))


def recheck() -> str:
    """Serve two equal requests of 1024 tokens in slices of 5, by hand."""
    # Both need 205 slices, the last of 4 tokens: they end at 2044 and 2048, under SJF at 1024.
    mixed = total("completion", (1024, 1024), shortest_first=True, quantum=QUANTUM)
    assert mixed == 2044 + 2048
    plain = total("completion", (1024, 1024), shortest_first=True, quantum=None)
    assert plain == 1024 + 2048
    ten = Fraction(
        total("completion", CROWDS[1], shortest_first=True, quantum=QUANTUM),
        total("completion", CROWDS[1], shortest_first=True, quantum=None),
    )
    assert ten > Fraction(9, 5)
    return f"4092/3072 for two requests of 1024 tokens, {float(ten):.4f} for ten"


@PAPER.claim(claimed=Fraction(1, 10), control=Fraction(1), recheck=recheck, assumes=ONE_SERVER)
def marginal_increase(limit: Fraction, slow: bool) -> ClaimResult:
    """RR-SJF has only a marginally larger end-to-end latency than shortest job first.

    Source: abstract
    Verdict: not implied
    Assumes: marginal read as at most 10% of the mean; control: at most 100%, which is proved
    Assumes: the paper measured vLLM on its own data, where half the requests were cut at 1024
        tokens; the model shows what the rule alone allows
    Proof: round_robin
    Evidence: equal lengths come near the factor 2, a mean latency nearly doubled
    """
    cases = [(lengths, 1) for lengths in small(slow)]
    cases += [(lengths, QUANTUM) for lengths in CROWDS]
    factors = {}
    for lengths, quantum in cases:
        mixed = total("completion", lengths, shortest_first=True, quantum=quantum)
        plain = total("completion", lengths, shortest_first=True, quantum=None)
        assert mixed <= cost_bound(lengths) == 2 * plain - sum(lengths)
        factors[lengths, quantum] = Fraction(mixed, plain)
    (lengths, quantum), worst = max(factors.items(), key=lambda item: item[1])
    example = (
        f"{len(lengths)} requests of {lengths[0]} tokens, slices of {quantum}: "
        f"{worst} = {float(worst):.4f}"
    )
    holds = worst <= 1 + limit
    return decided(
        holds,
        PROVED if holds else WITNESSED,
        f"up to {example}",
        witness=example,
        otherwise=NOT_IMPLIED,
    )


Growth = tuple[Measure, int, Verdict]
"""Measure, sign of its growth with the slice, and the verdict if it does not grow so."""


def check_growth(growth: Growth, slow: bool) -> ClaimResult:
    """Let the slice grow from one token to the longest length, over all small sets."""
    measure, sign, otherwise = growth
    against, sets = [], 0
    for lengths in small(slow):
        sets += 1
        values = [
            total(measure, lengths, shortest_first=True, quantum=quantum)
            for quantum in range(1, max(lengths) + 1)
        ]
        if any(sign * (two - one) < 0 for one, two in pairwise(values)):
            against.append((lengths, values))
    example = "lengths {}: sums {} for slices of 1, 2, ...".format(*against[0]) if against else None
    return decided(
        not against,
        WITNESSED if against else PROVED,
        f"it does in {len(against)} of {sets} sets" + (f"; {example}" if example else ""),
        witness=example,
        otherwise=otherwise,
    )


@PAPER.claim(claimed=("ttft", 1, FALSE), control=("ttft", -1, FALSE), assumes=ONE_SERVER)
def ttft_grows_with_slice(growth: Growth, slow: bool) -> ClaimResult:
    """The mean time to first token of RR-SJF grows with the slice.

    Source: Section 3.3 and Figure 2
    Assumes: weakly: it never falls
    Proof: round_robin
    """
    return check_growth(growth, slow)


def recheck_growth() -> str:
    """Serve two requests of two tokens."""
    one, two = (total("completion", (2, 2), shortest_first=True, quantum=q) for q in (1, 2))
    assert (one, two) == (7, 6)
    return "lengths 2, 2: completions sum to 7 in slices of one token, to 6 in slices of two"


@PAPER.claim(
    claimed=("completion", 1, NOT_IMPLIED),
    control=("ttft", 1, NOT_IMPLIED),
    recheck=recheck_growth,
    assumes=ONE_SERVER,
)
def e2e_grows_with_slice(growth: Growth, slow: bool) -> ClaimResult:
    """The mean end-to-end latency of RR-SJF grows with the slice.

    Source: Section 3.3 and Figure 2
    Verdict: not implied
    Assumes: the paper measured it on vLLM with batches and recomputation and calls it surprising;
        the model has neither, so it can only show that the rule alone does not give it
    Proof: round_robin
    """
    return check_growth(growth, slow)
