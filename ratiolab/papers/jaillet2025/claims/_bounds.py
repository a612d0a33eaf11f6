"""Checks of the lemmas of Section 4, which Appendix B repeats for lengths that are predicted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from ratiolab.model.footprint import volume
from ratiolab.papers.claim import PROVED, ClaimResult, verdict_on_bound
from ratiolab.papers.jaillet2025.claims._cases import Case, least
from ratiolab.papers.jaillet2025.finish_program import finish_plan
from ratiolab.theory.worst_case.equal_prompts import CLASS, UPPER, Factors, class_bound, mc_sf_bound


class Compared(NamedTuple):
    """A quotient that a claimed bound keeps at most 1, whether our bound holds too, and where."""

    quotient: Fraction
    ours_holds: bool
    case: Case


def judge(
    claimed: Factors, best: Factors, weaker: bool, found: Sequence[Compared], words: str
) -> ClaimResult:
    """Decide a bound with two factors from its quotients and from the best bound with a proof.

    `weaker` tells whether the claimed bound follows from the best one, which `words` state.
    """
    worst = max(found)
    broken = worst.quotient > 1
    kept = weaker and all(each.ours_holds for each in found)
    return ClaimResult(
        verdict_on_bound(broken, kept, claimed == best),
        PROVED if weaker else f"{len(found)} cases checked",
        f"{words.format(*best)}; the claimed bound is used "
        f"up to {float(worst.quotient):.4f}, where 1 is equality",
        evidence=f"{len(found)} cases obey it",
        witness=str(worst.case) if broken else None,
    )


def is_looser(claimed: Factors, best: Factors) -> bool:
    """Return whether an upper bound follows from another one, factor by factor."""
    return claimed.volume >= best.volume and claimed.length >= best.length


def spans(case: Case) -> Iterator[tuple[list[int], int]]:
    """Yield, for each class, its believed lengths and its span.

    The span is the distance between the first and the last time at which MC-SF processes the class;
    a start in p is processed at p + 1 to p + o.
    """
    starts = case.mc_sf().starts.tolist()
    for members in case.classes().values():
        end = max(starts[i] + case.outputs[i] for i in members)
        yield [case.believed[i] for i in members], end - min(starts[i] for i in members) - 1


def judge_upper(claimed: Factors, cases: Sequence[Case]) -> ClaimResult:
    """Decide a bound on MC-SF's total latency by A/M and C."""
    found = []
    for case in cases:
        latency = case.mc_sf().total_latency
        by_starts = mc_sf_bound(case.prompt, case.believed, case.memory)
        ours_holds = latency <= by_starts <= case.linear_bound(UPPER)
        found.append(Compared(latency / case.linear_bound(claimed), ours_holds, case))
    return judge(claimed, UPPER, is_looser(claimed, UPPER), found, "MC-SF <= {} A/M + {} C")


def judge_classes(claimed: Factors, cases: Sequence[Case]) -> ClaimResult:
    """Decide a bound on the spans of classes by W/M and B."""
    found = []
    for case in cases:
        for lengths, span in spans(case):
            bound, ours = (
                class_bound(factors, case.prompt, lengths, case.memory)
                for factors in (claimed, CLASS)
            )
            found.append(Compared(span / bound, span <= ours, case))
    return judge(claimed, CLASS, is_looser(claimed, CLASS), found, "distance <= {} W/M + {} B")


def judge_lower(claimed: Factors, best: Factors, cases: Sequence[Case]) -> ClaimResult:
    """Decide a bound on the optimum, found by brute force, by A/M and C."""
    found = []
    for case in cases:
        optimum = least(case.prompt, tuple(sorted(case.outputs)), case.memory)
        quotient = case.linear_bound(claimed) / optimum
        found.append(Compared(quotient, case.linear_bound(best) <= optimum, case))
    return judge(claimed, best, is_looser(best, claimed), found, "OPT >= {} A/M + {} C")


def quotients(case: Case) -> Iterator[Fraction]:
    """Yield the class's volume in each three intervals over peak(middle) vol(B)/(s + B)."""
    schedule = case.mc_sf()
    starts = schedule.starts.tolist()

    def tokens(members: Iterable[int]) -> list[int]:
        held = [0] * (schedule.makespan + 1)
        for i in members:
            for age in range(1, case.outputs[i] + 1):
                held[starts[i] + age] += case.prompt + age
        return held

    usage = tokens(range(len(starts)))
    for level, members in case.classes().items():
        longest, own = 2**level - 1, tokens(members)
        first = min(starts[i] for i in members) + 1
        last = max(starts[i] + case.outputs[i] for i in members)
        unit = Fraction(volume(case.prompt, longest), case.prompt + longest)
        for begin in range(first, last + 1 - 2 * longest, longest):
            peak = max(usage[begin + longest : begin + 2 * longest])
            if peak:  # with predictions a class may pause
                yield sum(own[begin : min(begin + 3 * longest, last + 1)]) / (peak * unit)


def first_finishes(cases: Iterable[Case], counted: str, square: int = 1) -> tuple[int, str | None]:
    """Compare when lengths first finish in program (9) with the volume of shorter ones.

    Return the number of lengths, and the first that finishes too early. The `counted` volume is
    that of ``shorter`` or of ``shorter and equal`` lengths. `square` multiplies the memory: a**2
    for predictions up to a times too long.
    """
    lengths, broken = 0, None
    for case in cases:
        memory = case.memory * square
        plan = finish_plan(case.prompt, case.believed, memory)
        assert plan.value == plan.dual, case
        before = 0
        for output, number in sorted(Counter(case.believed).items()):
            own = number * volume(case.prompt, output)
            needed = before + (own if counted == "shorter and equal" else 0)
            if plan.first(output) * memory < needed and broken is None:
                broken = f"{case}: t* of {output} is {plan.first(output)}, volume {needed}"
            lengths, before = lengths + 1, before + own
    return lengths, broken
