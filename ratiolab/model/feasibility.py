"""The independent, exact judge of schedules.

It shares nothing with solvers and simulator but the footprint, works in Python integers, and
says what is wrong instead of repairing it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ratiolab.model.footprint import held
from ratiolab.model.schedule import Run, Schedule


class InfeasibleScheduleError(ValueError):
    """A schedule that breaks a rule of the model."""


@dataclass(frozen=True)
class Violation:
    """One broken rule: its name, the request or None, the round, and a sentence."""

    rule: str
    request: int | None
    round: int
    detail: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.detail}"


def violations(schedule: Schedule) -> list[Violation]:
    """Return every rule that a schedule breaks, under its semantics of preemption.

    The rules: ``unknown-request`` (a run names no request of the instance), ``duration`` (a run
    lasts at least one round and at most as many as the request still lacks tokens), ``arrival``
    (no run starts before its request arrives), ``overlap`` (runs of one request do not overlap),
    ``completion`` (every request completes exactly once, in its last run) and ``memory`` (tokens
    held never exceed M, those that a run brings along included).

    Between two stops memory only grows, so it is checked at the stops: O(r log r) for r runs.

    Examples
    --------
    >>> from ratiolab.model import Instance, Schedule
    >>> tight = Instance("tight", 5, [0, 0], [1, 1], [2, 2])
    >>> [str(v) for v in violations(Schedule.from_starts(tight, [0, 0]))]
    ['memory: 6 tokens at round 2 exceed memory 5']
    >>> violations(Schedule.from_starts(tight, [0, 1]))
    []
    """
    requests = list(schedule.instance.requests)
    keeps = schedule.preemption != "restart"
    runs: dict[int, list[Run]] = {i: [] for i in range(len(requests))}
    found: list[Violation] = []
    for run in schedule.runs:
        if run.request not in runs:
            detail = f"request {run.request} is not one of 0..{len(requests) - 1}"
            found.append(Violation("unknown-request", run.request, run.start, detail))
        else:
            runs[run.request].append(run)
    held_from: list[tuple[int, int, int]] = []
    for i, (arrival, prompt, output) in enumerate(requests):
        own = _with_kept(runs[i], keeps)
        found += _request_violations(i, arrival, output, own)
        held_from += [(prompt + kept, r.start, r.stop) for r, kept in own if r.stop > r.start]
    found += _memory_violations(held_from, schedule.instance.memory)
    return found


def require_feasible(schedule: Schedule) -> Schedule:
    """Return the schedule itself, or raise `InfeasibleScheduleError` with its first violations."""
    found = violations(schedule)
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        first = "; ".join(str(v) for v in found[:3])
        raise InfeasibleScheduleError(f"{schedule.instance.name}: {first}{more}")
    return schedule


def _with_kept(runs: list[Run], keeps: bool) -> list[tuple[Run, int]]:
    """Return the runs of one request in time, each with the tokens that it brings along."""
    if len(runs) == 1:
        return [(runs[0], 0)]
    kept, found = 0, []
    for run in sorted(runs, key=lambda run: (run.start, run.stop)):
        found.append((run, kept))
        kept += keeps * (run.stop - run.start)
    return found


def _request_violations(
    i: int, arrival: int, output: int, runs: list[tuple[Run, int]]
) -> Iterator[Violation]:
    for run, kept in runs:
        if not 1 <= run.stop - run.start <= output - kept:
            yield Violation(
                "duration",
                i,
                run.start,
                f"request {i} runs {run.stop - run.start} rounds, not 1..{output - kept}",
            )
        if run.start < arrival:
            yield Violation(
                "arrival",
                i,
                run.start,
                f"request {i} starts at round {run.start}, before it arrives at {arrival}",
            )
    for (before, _), (after, _) in pairwise(runs):
        if after.start < before.stop:
            yield Violation(
                "overlap",
                i,
                after.start,
                f"request {i} starts at round {after.start} while it runs until {before.stop}",
            )
    complete = [kept + run.stop - run.start == output for run, kept in runs]
    if complete.count(True) != 1 or not complete[-1]:
        yield Violation(
            "completion",
            i,
            runs[-1][0].stop if runs else arrival,
            f"request {i} completes {complete.count(True)} times, not once and last",
        )


def _memory_violations(runs: list[tuple[int, int, int]], memory: int) -> Iterator[Violation]:
    """Sweep the stops in time; (tokens brought along, start, stop) of every run."""
    starting = sorted(runs, key=lambda run: run[1])
    stopping = sorted(runs, key=lambda run: run[2])
    begun = ended = 0
    constant = active = 0  # tokens at time t are constant + active * t
    for round_ in sorted({stop for _, _, stop in runs}):
        while begun < len(starting) and starting[begun][1] < round_:
            constant += held(starting[begun][0], -starting[begun][1])
            active += 1
            begun += 1
        while stopping[ended][2] < round_:
            constant -= held(stopping[ended][0], -stopping[ended][1])
            active -= 1
            ended += 1
        tokens = constant + active * round_
        if tokens > memory:
            yield Violation(
                "memory",
                None,
                round_,
                f"{tokens} tokens at round {round_} exceed memory {memory}",
            )
