"""The independent, exact judge of schedules.

It shares nothing with solvers and simulator but the footprint, works in integers, and says what is
wrong instead of repairing it. `is_feasible` decides in whole columns; `violations` names what is
wrong, run by run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ratiolab.model.fleet import FleetSchedule
from ratiolab.model.footprint import IntArray, held
from ratiolab.model.schedule import Schedule


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


def violations(schedule: Schedule | FleetSchedule) -> list[Violation]:
    """Return every rule that a schedule breaks, under its semantics of preemption.

    A schedule of a fleet is left to `fleet_violations`.

    The rules: ``unknown-request`` (a run names no request of the instance), ``duration`` (a run
    lasts at least one round and, after its lead, at most as many as the request still lacks
    tokens), ``lead`` (a run prefills all before its first token, and what an eviction leaves undone
    is part of that), ``arrival``
    (no run starts before its request arrives), ``overlap`` (runs of one request do not overlap),
    ``completion`` (every request completes exactly once, in its last run), ``release`` (a cache
    stays from the stop of a run to the next start of its request at the latest, and under ``pause``
    alone) and ``memory`` (tokens held never exceed M, with the tokens that a run brings along and
    the tokens of paused requests).

    Between two stops or releases memory only grows, so it is checked there: O(r log r) for r runs.

    Examples
    --------
    >>> from ratiolab.model import Instance, Schedule
    >>> tight = Instance("tight", 5, [0, 0], [1, 1], [2, 2])
    >>> [str(v) for v in violations(Schedule.from_starts(tight, [0, 0]))]
    ['memory: 6 tokens at round 2 exceed memory 5']
    >>> violations(Schedule.from_starts(tight, [0, 1]))
    []
    """
    if isinstance(schedule, FleetSchedule):
        return fleet_violations(schedule)
    requests = list(schedule.instance.requests)
    keeps = schedule.eviction.keeps_tokens
    runs: dict[int, list[_Stay]] = {i: [] for i in range(len(requests))}
    found: list[Violation] = []
    leads = zip(schedule.lead.tolist(), schedule.unfilled.tolist(), strict=True)
    for run, (lead, unfilled) in zip(schedule.runs, leads, strict=True):
        if run.request not in runs:
            detail = f"request {run.request} is not one of 0..{len(requests) - 1}"
            found.append(Violation("unknown-request", run.request, run.start, detail))
        else:
            runs[run.request].append(_Stay(run.start, run.stop, lead, unfilled))
    pieces: list[_Piece] = []
    for i, (arrival, prompt, output) in enumerate(requests):
        own = _with_kept(runs[i], keeps)
        found += _request_violations(i, arrival, output, own)
        found += _lead_violations(i, prompt, own)
        for stay, kept in own:
            begin = stay.start + stay.lead
            if stay.stop > begin:
                pieces.append(_Piece(begin, stay.stop, held(prompt + kept, -begin), 1))
            if stay.lead > 0:
                pieces.append(_Piece(stay.start, begin, held(prompt + kept, 1), 0))
    if schedule.release.tolist() != schedule.stop.tolist():
        found += _release_violations(schedule)
        pieces += _paused(schedule)
    found += _memory_violations(pieces, schedule.instance.memory)
    return found


def require_feasible(schedule: Schedule) -> Schedule:
    """Return the schedule itself, or raise `InfeasibleScheduleError` with its first violations."""
    if is_feasible(schedule):
        return schedule
    found = violations(schedule)
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        first = "; ".join(str(v) for v in found[:3])
        raise InfeasibleScheduleError(f"{schedule.instance.name}: {first}{more}")
    return schedule


def is_feasible(schedule: Schedule) -> bool:
    """Return whether a schedule breaks no rule of `violations`, decided in whole columns.

    Schedules whose sums might not fit 64-bit integers, and those in which a cache stays after its
    run, are left to `violations`. Cost O(r log r) for r runs.

    Examples
    --------
    >>> from ratiolab.model import Instance, Schedule
    >>> tight = Instance("tight", 5, [0, 0], [1, 1], [2, 2])
    >>> [is_feasible(Schedule.from_starts(tight, starts)) for starts in ([0, 0], [0, 1])]
    [False, True]
    """
    instance, runs = schedule.instance, len(schedule.request)
    latest = max(int(schedule.stop.max(initial=0)), int(instance.arrival.max()))
    if runs * (latest + 2 * instance.memory) >= 2**62 or (schedule.release != schedule.stop).any():
        return not violations(schedule)
    if not runs or schedule.request.min() < 0 or schedule.request.max() >= len(instance):
        return False
    order = np.argsort(schedule.request, kind="stable")  # runs of a request stay in time order
    request, start, stop = (c[order] for c in (schedule.request, schedule.start, schedule.stop))
    lead, unfilled = schedule.lead[order], schedule.unfilled[order]
    prompt, output = instance.prompt[request], instance.output[request]
    first = np.append(True, request[1:] != request[:-1])
    last = np.append(first[1:], True)
    made = stop - start - lead
    kept = np.zeros_like(made)
    if schedule.eviction.keeps_tokens:
        before = np.cumsum(made) - made
        kept = before - before[first][np.cumsum(first) - 1]
    rules = (
        np.array_equal(request[first], np.arange(len(instance))),
        (start >= instance.arrival[request]).all(),
        (first[1:] | (start[1:] >= stop[:-1])).all(),
        ((made >= (lead == 0)) & (made <= output - kept)).all(),
        ((kept + made == output) == last).all(),
        ((lead >= 0) & (unfilled >= 0) & (unfilled <= np.where(made > 0, 0, prompt + kept))).all(),
    )
    if not all(rules):
        return False
    tokens = np.empty_like(kept)
    tokens[order] = prompt + kept
    del request, prompt, output, made, kept, lead, unfilled, order, first, last  # memory counts
    start, stop, begin = schedule.start, schedule.stop, schedule.start + schedule.lead
    making, filling = stop > begin, schedule.lead > 0
    decoding = [begin, stop, held(tokens, -begin), np.ones_like(begin)]
    prefill = [start, begin, tokens + 1, np.zeros_like(begin)]
    pieces = [
        np.concatenate([one[making], other[filling]])
        for one, other in zip(decoding, prefill, strict=True)
    ]
    del start, stop, begin, tokens, decoding, prefill
    return bool((_tokens_at_stops(pieces) <= instance.memory).all())


def fleet_violations(schedule: FleetSchedule) -> list[Violation]:
    """Return every rule that a fleet schedule breaks.

    The rules are those of `violations`; that of memory holds for each
    replica.

    >>> from ratiolab.model import Instance
    >>> from ratiolab.model.fleet import Fleet
    >>> pair = Fleet(Instance("pair", 3, [0, 0], [1, 1], [2, 2]), replicas=2)
    >>> [str(v) for v in fleet_violations(FleetSchedule.from_starts(pair, [1, 1], [0, 0]))]
    ['memory: replica 1: 6 tokens at round 2 exceed memory 3']
    """
    found = [v for v in violations(schedule.runs) if v.rule != "memory"]
    for replica, part in schedule.parts:
        found += [
            replace(v, detail=f"replica {replica}: {v.detail}")
            for v in violations(part)
            if v.rule == "memory"
        ]
    return found


def require_feasible_fleet(schedule: FleetSchedule) -> FleetSchedule:
    """Return the schedule itself, or raise `InfeasibleScheduleError` with its first violations."""
    if not all(is_feasible(part) for _, part in schedule.parts):
        found = fleet_violations(schedule)
        first = "; ".join(str(v) for v in found[:3])
        raise InfeasibleScheduleError(f"{schedule.fleet.name}: {first}")
    return schedule


def _tokens_at_stops(pieces: list[IntArray]) -> IntArray:
    """Return the tokens held at each stop of pieces, whose columns are those of `_Piece`."""
    rounds = np.sort(pieces[1], kind="stable")  # fast where most are in order
    tokens = np.zeros_like(rounds)
    for side, sign in ((0, 1), (1, -1)):
        order = np.argsort(pieces[side], kind="stable")
        passed = np.searchsorted(pieces[side][order], rounds)
        constant, slope = (np.append(0, np.cumsum(column[order])) for column in pieces[2:])
        tokens += sign * (constant[passed] + slope[passed] * rounds)
    return tokens


class _Stay(NamedTuple):
    """A run: its rounds, those of them before its first token, and what it left unprefilled."""

    start: int
    stop: int
    lead: int
    unfilled: int

    @property
    def made(self) -> int:
        return self.stop - self.start - self.lead


def _with_kept(runs: list[_Stay], keeps: bool) -> list[tuple[_Stay, int]]:
    """Return the runs of one request in time, each with the tokens that it brings along."""
    if len(runs) == 1:
        return [(runs[0], 0)]
    kept, found = 0, []
    for run in sorted(runs, key=lambda run: (run.start, run.stop)):
        found.append((run, kept))
        kept += keeps * run.made
    return found


def _request_violations(
    i: int, arrival: int, output: int, runs: list[tuple[_Stay, int]]
) -> Iterator[Violation]:
    for run, kept in runs:
        if not (0 if run.lead > 0 else 1) <= run.made <= output - kept:
            lead = f" after {run.lead}" if run.lead else ""
            yield Violation(
                "duration",
                i,
                run.start,
                f"request {i} runs {run.made} rounds{lead}, not 1..{output - kept}",
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
    complete = [kept + run.made == output for run, kept in runs]
    if complete.count(True) != 1 or not complete[-1]:
        yield Violation(
            "completion",
            i,
            runs[-1][0].stop if runs else arrival,
            f"request {i} completes {complete.count(True)} times, not once and last",
        )


def _lead_violations(i: int, prompt: int, runs: list[tuple[_Stay, int]]) -> Iterator[Violation]:
    for run, kept in runs:
        most = 0 if run.made else prompt + kept
        if run.lead < 0 or not 0 <= run.unfilled <= most:
            yield Violation(
                "lead",
                i,
                run.start,
                f"request {i} has a lead of {run.lead} rounds and leaves {run.unfilled} tokens",
            )


class _Piece(NamedTuple):
    """Tokens held at each t in (start, stop]: constant + slope t."""

    start: int
    stop: int
    constant: int
    slope: int


def _caches(schedule: Schedule) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield request, start, stop, release, tokens and the next start, or else the stop, of runs."""
    columns = (schedule.request, schedule.start, schedule.stop, schedule.release, schedule.made)
    rows = sorted(zip(*(column.tolist() for column in columns), strict=True))
    for row, after in pairwise([*rows, (-1, 0, 0, 0, 0)]):
        yield *row, after[1] if after[0] == row[0] else row[2]


def _release_violations(schedule: Schedule) -> Iterator[Violation]:
    for i, _, stop, release, _, following in _caches(schedule):
        latest = following if schedule.eviction.stays else stop
        if not stop <= release <= latest:
            yield Violation(
                "release",
                i,
                release,
                f"the cache of request {i} stays until round {release}, not {stop}..{latest}",
            )


def _paused(schedule: Schedule) -> Iterator[_Piece]:
    """Yield what paused requests hold: prompt and all tokens so far."""
    produced: dict[int, int] = {}
    for i, _, stop, release, made, _ in _caches(schedule):
        produced[i] = produced.get(i, 0) + made
        if release > stop and 0 <= i < len(schedule.instance):
            yield _Piece(stop, release, int(schedule.instance.prompt[i]) + produced[i], 0)


def _memory_violations(pieces: list[_Piece], memory: int) -> Iterator[Violation]:
    """Sweep the stops in time."""
    starting = sorted(pieces, key=lambda piece: piece.start)
    stopping = sorted(pieces, key=lambda piece: piece.stop)
    begun = ended = 0
    constant = slope = 0  # tokens at time t are constant + slope * t
    for round_ in sorted({piece.stop for piece in pieces}):
        while begun < len(starting) and starting[begun].start < round_:
            constant += starting[begun].constant
            slope += starting[begun].slope
            begun += 1
        while stopping[ended].stop < round_:
            constant -= stopping[ended].constant
            slope -= stopping[ended].slope
            ended += 1
        tokens = constant + slope * round_
        if tokens > memory:
            yield Violation(
                "memory", None, round_, f"{tokens} tokens at round {round_} exceed memory {memory}"
            )
