"""The solver of the hindsight optimum: a schedule, and proven bounds around the optimum."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.bruteforce import MOST_REQUESTS as MOST_BRUTE
from ratiolab.hindsight.certificates.certificate import (
    Certificate,
    DualCertificate,
    PathCertificate,
    dual_certificate,
)
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.effort import LONG_CHECK, allowing
from ratiolab.hindsight.compilation import compile_ahead, is_done
from ratiolab.hindsight.many_requests import ManyRequests
from ratiolab.hindsight.params import DEFAULT, SolveParams
from ratiolab.hindsight.program_stages import BruteForce, IntegerProgram, PulpProgram
from ratiolab.hindsight.result import OptResult, Report, SolveOptions, Stage
from ratiolab.hindsight.schedules.heuristics import FEW, STEPS
from ratiolab.hindsight.search import BackgroundHeuristic, threads_here
from ratiolab.hindsight.stages import (
    MOST_REQUESTS,
    Cells,
    Cuts,
    DualAscent,
    GrowthRows,
    Labelling,
    OrderSearch,
    cut_horizon,
    labels_follow,
    reason_against,
)
from ratiolab.hindsight.state import Found, SolveState, Work
from ratiolab.model import Instance, Schedule
from ratiolab.model.files import PathLike
from ratiolab.model.io import as_instance
from ratiolab.model.numbers import require_number

ORDERS = ("orders", OrderSearch(part=0.15))
DUALS = ("dual ascent", DualAscent(part=0.5))

PLANS: dict[str, tuple[tuple[str, Work], ...]] = {
    "auto": (
        ("orders", OrderSearch(part=0.05, few=20_000)),
        ("cells", Cells(part=0.95)),
        ("growth rows", GrowthRows(part=0.3)),
        ("easy program", IntegerProgram(easy=True)),
        ("cuts", Cuts()),
        ("labelling", Labelling(part=0.97)),
        ("program", IntegerProgram()),
        ("more orders", OrderSearch(part=1.0, rest=True)),
    ),
    "ip": (ORDERS, DUALS, ("program", IntegerProgram())),
    "cuts": (ORDERS, DUALS, ("cuts", Cuts(rounds=40, part=1.0))),
    "dp": (
        ORDERS,
        ("cells", Cells(part=0.95)),
        ("cuts", Cuts()),
        ("labelling", Labelling(part=0.97)),
    ),
    "brute": (("brute force", BruteForce()),),
}
"""The stages of each method, in order; each begins only when those before left a gap.

Parts are those of the time limit that is left when a stage begins.
"""

PLANS["certified"] = tuple(
    (name, work) for name, work in PLANS["auto"] if not isinstance(work, IntegerProgram)
)
"""The stages of ``auto`` whose bounds come with a certificate."""

METHODS = tuple(PLANS)

MANY_REQUESTS = ("many requests", ManyRequests(part=0.98))
"""The stage of ``auto`` for more requests than a program takes."""


def bracket(instance: Instance | PathLike, *, seed: int = 0, steps: int = STEPS) -> OptResult:
    """Return bounds around the optimum without any solver, for any number of requests.

    Parameters
    ----------
    instance : what is to be served, or the path of its file.
    seed : seed of the search for a good schedule.
    steps : steps of that search, which small instances get; 0 for none.

    >>> result = bracket(Instance("equal", 2, [0, 0, 0], [1, 1, 1], [1, 1, 1]))
    >>> result.lower, result.upper, result.status
    (6, 6, 'optimal')
    """
    options = SolveOptions("bracket", seed=seed, steps=steps)
    state = SolveState(as_instance(instance), options)
    return _run(state, (ORDERS, DUALS), "bounds and heuristics only, no program was solved")


def solve(
    instance: Instance | PathLike,
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    backend: str = "highs",
    method: str = "auto",
    seed: int = 0,
    steps: int = STEPS,
    threads: int | None = None,
    known: Schedule | None = None,
    proven: Certificate | None = None,
    guide: PathCertificate | None = None,
    progress: Report | None = None,
    params: SolveParams | None = None,
) -> OptResult:
    """Return the hindsight optimum, or the proven interval that the limits allow.

    Stages follow one another until the schedule is proven optimal (`PLANS`); ``stages`` of the
    result has the bounds at the end of each. In ``auto``, bounds and heuristics come first.
    Configuration cuts raise the lower bound, and the labelling loop, guided by their duals, raises
    it further, often to the optimum (`ratiolab.hindsight.labelling.loop`). Memories that labels do
    not hold are left to a dynamic program over cells (`ratiolab.hindsight.cells.engine`). Then the
    integer program of Jaillet et al., Section 3, is solved with those cuts and without the columns
    that the bound excludes (`ratiolab.hindsight.cuts.strengthen`), to proof when no limit is set.
    Instances whose program would be too large get their interval from beams guided by duals and
    from the bound by growth rows (`ratiolab.hindsight.scale`), and ``note`` says that no program
    was solved. Ctrl-C ends the solve and keeps the interval, both ends with their proof.

    The objective is total latency, also for an instance with weights and deadlines;
    `ratiolab.hindsight.promises.solve_promises` takes these into account.

    Source of the program: Jaillet et al. (2025), (1)-(4), arXiv 2502.07115v5.

    Parameters
    ----------
    instance : what is to be served, or the path of its file.
    method : ``auto``, as above; ``ip``, the integer program as printed, without cuts; ``cuts``, the
        bound of the cuts and no program; ``dp``, dynamic programming over cells or labels alone:
        exact, or an interval that says it is not; ``brute``, complete enumeration; ``certified``,
        the stages of ``auto`` without the program, whose bounds come with a certificate.
    time_limit : seconds in all; results then depend on the machine. Infinity is no limit. The
        clock stands still while what stages call is compiled, which the first solve after
        installation does (`ratiolab.hindsight.compilation`).
    node_limit : nodes of the search tree in all; HiGHS only.
    memory_limit : megabytes of the whole process. Stages whose arrays would exceed it are narrowed
        or left out, as their notes say; HiGHS is stopped when it gets there.
    backend : "highs" for HiGHS through its own interface; "pulp" or, as in "pulp:HiGHS", "pulp:"
        with the name of any solver that PuLP finds, for the program written a second time.
    seed, steps : of the search for a first schedule; the seed also goes to HiGHS.
    threads : 2 lets a second thread look for schedules, see `ratiolab.hindsight.search`; by
        default where there are two cores.
    known, proven : a schedule and the certificate of a bound to begin with; both are checked.
    guide : the certificate of a bound by sweeps, from whose duals and multipliers the labelling
        loop goes on; no cuts are looked for. Its duals are checked; its sweeps, which can take
        longer to check than to find, are not, and its bound does not count until it is proven anew.
    progress : called when a stage begins, whenever a bound or the schedule gets better, and every
        few tenths of a second while HiGHS runs.
    params : the tunable numbers of all stages; by default those of `SolveParams()`.

    Returns
    -------
    an `OptResult`, whose schedule has passed the independent check.

    Raises
    ------
    ValueError
        when a limit is too small, a method or backend is unknown or cannot do what is asked, or
        what is given to begin with belongs to another instance or is not proven.

    >>> solve(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).upper
    12
    """
    instance = as_instance(instance)
    threads = threads_here() if threads is None else threads
    time_limit = None if time_limit == inf else time_limit
    options = SolveOptions(
        method, backend, time_limit, node_limit, memory_limit, seed, steps, threads
    )
    _require(instance, options, progress)
    plan = PLANS[method]
    if method in ("auto", "certified") and len(instance) > MOST_REQUESTS:
        plan = (MANY_REQUESTS,)
    library, _, solver = backend.partition(":")
    if library == "pulp":
        from ratiolab.hindsight.programs import pulp

        solver = pulp.require_solver(solver or pulp.DEFAULT_SOLVER)
        options = replace(options, method="ip", backend=f"pulp:{solver}")
        plan = (ORDERS, DUALS, ("program", PulpProgram(solver)))
    state = SolveState(instance, options, progress, params or DEFAULT)
    if guide is not None:
        if not isinstance(guide, PathCertificate):
            raise ValueError("guide must be a certificate by labelling: proven takes others")
        state.walked = guide
        duals = dual_certificate(instance, guide.duals, guide.value)
        _begin(state, replace(duals, digest=guide.digest))  # whose it is, is checked with it
    if proven is not None:
        _begin(state, proven)
    if known is not None:
        instance.require_own(known.instance, "known schedule")
        state.keep(Found(known))
    return _run(state, plan)


def _begin(state: SolveState, proven: Certificate) -> None:
    """Let a solve begin with a certificate, once it is checked."""
    with allowing(LONG_CHECK):
        bound = LowerBound(certify(proven, state.instance), "certificate")
    duals = proven if isinstance(proven, DualCertificate) else None
    state.keep(Found(bound=bound, certificate=proven, duals=duals))


def _run(state: SolveState, plan: Sequence[tuple[str, Work]], note: str = "") -> OptResult:
    """Run the stages until the schedule is proven optimal, or a limit or Ctrl-C ends them."""
    limited = state.time_left is not None
    cells = not reason_against(state) and any(isinstance(work, Cells) for _, work in plan)
    soon = len(state.instance) <= FEW or cells  # few loops before cuts
    try:
        if any(isinstance(work, ManyRequests) for _, work in plan):
            _compile(state, "many")
        elif limited and not soon:
            _compile(state, "few")
        exact = any(isinstance(work, Labelling) for _, work in plan) and labels_follow(state)
        if exact and not (limited or soon or state.closed):
            _compile(state, "exact")
        if cells and not state.closed and (limited or len(state.instance) > FEW):
            _compile(state, "cells")
        with BackgroundHeuristic(state, cells=cells):
            for name, work in plan:
                if state.closed or state.interrupted:
                    break
                if state.time_left == 0:
                    note = f"stopped before proof: time limit before stage {name}"
                    break
                if cells and name == "cells":
                    _compile(state, "cells")
                if limited and soon and name == "cuts" and cut_horizon(state)[0]:
                    _compile(state, "few")
                with state.running(name) as call:
                    state.show()
                    state.keep(work(state, call))
    except KeyboardInterrupt:
        state.interrupted, note = True, "Ctrl-C between two stages"
    return state.result(note)


def _compile(state: SolveState, kind: str) -> None:
    """Let loops of a kind be compiled, if they are not, while the clock stands still."""
    if not is_done(kind):
        with state.uncounted("compiling, once after installation"):
            compile_ahead(kind)


def _require(instance: Instance, options: SolveOptions, progress: Report | None) -> None:
    """Raise `ValueError` naming the option that is not possible, if any."""
    method, backend = options.method, options.backend or ""
    if method not in METHODS:
        raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)}")
    library = backend.partition(":")[0]
    if library not in ("highs", "pulp") or (library == "highs" and backend != "highs"):
        raise ValueError(f"backend {backend!r} must be 'highs', 'pulp' or 'pulp:SOLVER'")
    if options.memory_limit is not None:
        require_number("memory_limit", options.memory_limit, memory.LEAST)
    if library == "pulp" and method not in ("auto", "ip"):
        raise ValueError(f"backend {backend} solves the program: method {method!r} must be 'ip'")
    if library == "pulp" and (options.node_limit is not None or progress is not None):
        raise ValueError("backend pulp has neither node_limit nor progress")
    if method == "brute" and len(instance) > MOST_BRUTE:
        raise ValueError(f"method 'brute': {len(instance)} requests, at most {MOST_BRUTE}")


def certified(result: OptResult, progress: Report | None = None) -> OptResult:
    """Return the result with the certificate of a better bound, where a search finds one.

    The bound of a solve can rest on HiGHS or on an enumeration, which leave no certificate. Then
    the stages that certify their bounds begin with the schedule that is known.

    Parameters
    ----------
    result : of a solve, whose limits hold for both together.
    progress : told as that of `ratiolab.hindsight.solver`.

    Returns
    -------
    The result as it is, when its certificate proves its bound, when Ctrl-C ended its solve, or when
    all these stages have been tried.
    """
    limit = result.options.time_limit
    left = None if limit is None else max(0.0, limit - result.seconds)
    if result.certified == result.lower or result.interrupted or left == 0:
        return result
    tried = {stage.name for stage in result.stages}
    if tried.issuperset(name for name, _ in PLANS["certified"]):
        return result
    again = solve(
        result.instance,
        method="certified",
        time_limit=left,
        memory_limit=result.options.memory_limit,
        seed=result.options.seed,
        threads=result.options.threads,
        known=result.schedule,
        progress=progress,
    )
    if again.certified < result.certified:
        again = replace(again, certificate=result.certificate)
    better = again if again.lower >= result.lower else result
    seconds, nodes = result.seconds + again.seconds, result.nodes + again.nodes
    stage = Stage("certificate", seconds, again.upper, better.lower, nodes, again.note)
    return replace(
        better,
        certificate=again.certificate,
        status="optimal" if again.upper == better.lower else "bounded",
        schedule=again.schedule,
        upper=again.upper,
        nodes=nodes,
        seconds=seconds,
        options=result.options,
        stages=(*result.stages, stage),
        interrupted=again.interrupted,
    )
