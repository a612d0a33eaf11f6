"""The one door to the hindsight optimum: a schedule, and proven bounds around the optimum."""

import time

import numpy as np

from ratiolab.hindsight.heuristics import STEPS, serial_schedule
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.result import OptResult, Report
from ratiolab.hindsight.search import MOST_REQUESTS, Search
from ratiolab.hindsight.timeindexed import build, size
from ratiolab.model.feasibility import require_feasible, violations
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

MOST_NONZEROS = 2_000_000
"""Largest program that is handed to a solver."""

TAIL = 0.1
"""First horizon beyond the last start of the known schedule, as a part of it."""

CUT_ROUNDS = 12
"""Rounds of configuration cuts before the program; more raise the bound slowly."""

CUT_SHARE = 0.5
"""Part of a time limit that cuts may take before a program."""

LAYER_WIDTH = 30_000
"""Most states that the layered search keeps; it is exact when they suffice."""

LAYER_SHARE = 0.5
"""Part of what is then left of a time limit that the layered search may take."""

EASY_NONZEROS = 4_000
"""A program of this size is tried as it is, for `EASY_NODES` nodes, before cuts are looked for."""

EASY_NODES = 50

METHODS = ("auto", "program", "cuts")


def bracket(instance: Instance, *, seed: int = 0, steps: int = STEPS) -> OptResult:
    """Bounds around the optimum without any solver, for any number of requests.

    Parameters
    ----------
    seed : of the search for a good schedule.
    steps : of that search, which small instances get; 0 for none.

    >>> result = bracket(Instance("equal", 2, [0, 0, 0], [1, 1, 1], [1, 1, 1]))
    >>> result.lower, result.upper, result.status
    (6, 6, 'optimal')
    """
    options = {"method": "bracket", "seed": seed, "steps": steps}
    search = Search(instance, options)
    search.improve()
    return search.result("bounds and heuristics only, no program was solved")


def solve(
    instance: Instance,
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
    backend: str = "highs",
    method: str = "auto",
    seed: int = 0,
    steps: int = STEPS,
    progress: Report | None = None,
) -> OptResult:
    """The hindsight optimum, or the proven interval that the limits allow.

    Bounds and heuristics come first. When they do not meet, configuration cuts raise the lower
    bound, and a layered search guided by them looks for better schedules, exactly when few states
    are enough (`ratiolab.hindsight.beam`). Then the integer program of Jaillet et al., Section 3,
    is solved with those cuts and without the columns that the bound excludes
    (`ratiolab.hindsight.strengthen`), to proof when no limit is set. Instances whose program would
    exceed `MOST_REQUESTS` or `MOST_NONZEROS` get their interval from bounds and heuristics alone,
    and ``note`` says so. Ctrl-C keeps the interval.

    Parameters
    ----------
    method : ``auto``, as above; ``program``, the integer program as printed, without cuts;
        ``cuts``, the bound of the cuts and no program.
    time_limit : seconds in all; results then depend on the machine.
    node_limit : nodes of the search tree in all; HiGHS only.
    backend : "highs" for HiGHS through its own interface; "pulp" or, as in "pulp:HiGHS", "pulp:"
        with the name of any solver that PuLP finds, for the program written a second time.
    seed, steps : of the search for a first schedule; the seed also goes to HiGHS.
    progress : called every few tenths of a second while HiGHS runs.

    Returns
    -------
    an `OptResult`, whose schedule has passed the independent check.

    Raises
    ------
    ValueError
        when a limit is negative, or a backend is unknown or cannot do what is asked.

    Source: Jaillet et al. (2025), (1)-(4), arXiv 2502.07115v5.

    >>> solve(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).upper
    12
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)}")
    library, _, solver = backend.partition(":")
    if library not in ("highs", "pulp") or (library == "highs" and backend != "highs"):
        raise ValueError(f"backend {backend!r} must be 'highs', 'pulp' or 'pulp:SOLVER'")
    for name, limit in (("time_limit", time_limit), ("node_limit", node_limit)):
        if limit is not None and limit < 0:
            raise ValueError(f"{name} {limit} must be at least 0")
    if library == "pulp" and (node_limit is not None or progress is not None):
        raise ValueError("backend pulp has neither node_limit nor progress")
    if library == "pulp":
        from ratiolab.hindsight import pulp

        backend = f"pulp:{pulp.require_solver(solver or pulp.DEFAULT_SOLVER)}"
    options = {
        "method": method if library == "highs" else "program",
        "backend": backend,
        "time_limit": time_limit,
        "node_limit": node_limit,
        "seed": seed,
        "steps": steps,
    }
    search = Search(instance, options)
    try:
        search.improve()
    except KeyboardInterrupt:
        return search.result("stopped before the program: Ctrl-C")
    if search.upper == search.lower.value:
        return search.result()
    if len(instance) > MOST_REQUESTS:
        return search.result(
            f"no program: {len(instance)} requests, more than {MOST_REQUESTS}; "
            "bounds and heuristics only"
        )
    if library == "pulp":
        return _solve_pulp(search, last_starts(instance, search.upper))
    if method == "program":
        return _solve_highs(search, last_starts(instance, search.upper), progress)
    return _solve_with_cuts(search, progress)


def _solve_with_cuts(search: Search, progress: Report | None) -> OptResult:
    """Try an easy program as it is; else cuts first, and the program strengthened by them."""
    instance = search.instance
    wants_program = search.options["method"] == "auto"
    if wants_program:
        last = last_starts(instance, search.upper)
        if size(instance, last, first_horizon(search.schedule)) <= EASY_NONZEROS:
            result = _solve_highs(search, last, progress, most_nodes=EASY_NODES)
            if result.is_exact or search.spent:
                return result
    try:
        cause = _raise_by_cuts(search, progress)
        if wants_program and not search.interrupted and search.upper > search.lower.value:
            _search_layers(search)
    except KeyboardInterrupt:
        return search.result("stopped before the program: Ctrl-C")
    if search.upper == search.lower.value:
        return search.result()
    if search.interrupted or not wants_program:
        return search.result(cause)
    return _solve_highs(search, last_starts(instance, search.upper), progress)


def _raise_by_cuts(search: Search, progress: Report | None) -> str:
    """Raise the lower bound by configuration cuts; what a reader should know of it."""
    from ratiolab.hindsight.cut_bound import ROUNDS, cut_bound
    from ratiolab.hindsight.cut_bound import fits as fits_cuts

    horizon = search.schedule.makespan
    if not fits_cuts(search.instance, horizon):
        return "no cuts: memory or horizon is too large for configurations"
    first = search.options["method"] == "auto"  # a program follows
    limit = search.time_left
    found = cut_bound(
        search.instance,
        horizon=horizon,
        rounds=CUT_ROUNDS if first else ROUNDS,
        time_limit=CUT_SHARE * limit if first and limit is not None else limit,
        target=search.upper,
        progress=lambda now: search.tell(progress, 0, now.lower),
    )
    search.raise_lower(found.lower, "configuration cuts")
    search.proof = found.certificate
    search.interrupted = found.stopped == "interrupted"
    return f"configuration cuts only, no program: {found.stopped}"


def _search_layers(search: Search) -> None:
    """Look for better schedules layer by layer, guided by the prices of the cuts."""
    from ratiolab.hindsight import beam

    if search.proof is None or len(search.instance) > beam.MOST_REQUESTS:
        return
    limit = search.time_left
    ends = None if limit is None else time.perf_counter() + LAYER_SHARE * limit
    found = beam.widening_beam(
        search.instance,
        search.proof.prices,
        search.schedule,
        width=LAYER_WIDTH,
        stop=None if ends is None else lambda: time.perf_counter() > ends,
    )
    search.offer(found.schedule)
    if found.exhausted:
        search.raise_lower(search.upper, "layered search")


def first_horizon(known: Schedule) -> int:
    """Where the first tail relaxation ends: a little beyond the last start of a good schedule."""
    latest = int(known.starts.max())
    return latest + max(1, int(TAIL * latest))


def _solve_highs(
    search: Search, last: IntArray, progress: Report | None, most_nodes: int | None = None
) -> OptResult:
    """Tail relaxations of growing horizon, until one proves the optimum or a limit is met."""
    from ratiolab.hindsight import highs
    from ratiolab.hindsight.strengthen import strengthen

    instance = search.instance
    horizon = first_horizon(search.schedule)
    while True:
        entries = size(instance, last, horizon)
        if entries > MOST_NONZEROS:
            return search.result(_too_large(entries))
        program = build(instance, last, horizon)
        if search.proof is not None:
            program = strengthen(program, search.proof, search.upper)
        nodes_left = search.nodes_left
        if most_nodes is not None:
            nodes_left = most_nodes if nodes_left is None else min(nodes_left, most_nodes)
        outcome = highs.solve_program(
            program,
            start=program.counts(search.schedule.starts),
            time_limit=search.time_left,
            node_limit=nodes_left,
            seed=search.options["seed"],
            progress=lambda nodes, lower: search.tell(progress, nodes, lower),
        )
        search.nodes += outcome.nodes
        search.interrupted = outcome.interrupted
        search.raise_lower(outcome.lower, "HiGHS")
        if outcome.counts is not None:
            starts = program.starts(outcome.counts)
            literal = Schedule.from_starts(instance, starts)
            if not violations(literal):
                search.offer(literal)
            else:
                search.offer(serial_schedule(instance, np.argsort(starts, kind="stable")))
        if search.lower.value == search.upper:
            return search.result()
        if not outcome.optimal:
            cause = "Ctrl-C" if outcome.interrupted else outcome.status
            return search.result(f"HiGHS stopped before proof: {cause}")
        if horizon >= last.max():  # nothing was deferred: only a solver's error leads here
            return search.result("HiGHS's optimum failed the exact check")
        horizon += max(1, horizon // 2)


def _solve_pulp(search: Search, last: IntArray) -> OptResult:
    """The full program; PuLP hands on no bound, so short of a proof ours is the only one."""
    from ratiolab.hindsight import pulp

    instance = search.instance
    entries = size(instance, last, int(last.max()), merge=False)
    if entries > MOST_NONZEROS:
        return search.result(_too_large(entries))
    name = search.options["backend"].removeprefix("pulp:")
    answer = pulp.solve_model(
        instance,
        last.tolist(),
        solver=name,
        time_limit=search.time_left,
        seed=search.options["seed"],
    )
    if answer.schedule is not None:
        search.offer(require_feasible(answer.schedule))
        if answer.proven:
            search.raise_lower(answer.schedule.total_latency, f"{name} through PuLP")
    return search.result("" if answer.proven else f"{name} stopped before proof: {answer.status}")


def _too_large(entries: int) -> str:
    return f"no program: {entries} non-zeros, more than {MOST_NONZEROS}; bounds and heuristics only"
