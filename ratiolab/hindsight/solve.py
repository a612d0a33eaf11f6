"""The one door to the hindsight optimum: a schedule, and proven bounds around the optimum."""

from collections.abc import Callable, Sequence
from typing import Any

from ratiolab.hindsight import memory
from ratiolab.hindsight.beside import SchedulesBeside, threads_here
from ratiolab.hindsight.bruteforce import MOST_REQUESTS as MOST_BRUTE
from ratiolab.hindsight.certificates.certificate import Certificate, PriceCertificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.program_stages import BruteForce, IntegerProgram, PulpProgram
from ratiolab.hindsight.result import OptResult, Report
from ratiolab.hindsight.schedules.heuristics import STEPS
from ratiolab.hindsight.search import Search
from ratiolab.hindsight.stages import Cuts, Layers, MemoryPrices, Orders, WindowCosts
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

Work = Callable[[Search], str]

ORDERS = ("orders", Orders(part=0.15))
PRICES = ("memory prices", MemoryPrices(part=0.5))

FEW_REQUESTS = 20
"""With more, layers under the prices of few cuts prove less than more cuts do."""

MOST_FOR_WINDOWS = 32
"""With more, narrow walks leave out too much to prove anything in a minute."""

WIDTHS = 8_000, 30_000, 100_000
"""States that the layers of windows keep, one pass after the other."""

PLANS: dict[str, tuple[tuple[str, Work], ...]] = {
    "auto": (
        ORDERS,
        PRICES,
        ("easy program", IntegerProgram(easy=True)),
        # more rounds raise the bound slowly: few are enough for layers at n = 12, often
        ("few cuts", Cuts(rounds=7, part=0.2, most=FEW_REQUESTS)),
        ("layers", Layers(width=300_000, part=0.2, most=FEW_REQUESTS)),
        ("cuts", Cuts(rounds=40, part=0.4)),
        ("windows", WindowCosts(widths=WIDTHS, part=0.6, most=MOST_FOR_WINDOWS)),
        ("wide layers", Layers(width=1_000_000, part=0.8)),
        ("program", IntegerProgram()),
        ("more orders", Orders(part=1.0, rest=True)),
    ),
    "ip": (ORDERS, PRICES, ("program", IntegerProgram())),
    "cuts": (ORDERS, PRICES, ("cuts", Cuts(rounds=40, part=1.0))),
    "dp": (
        ORDERS,
        PRICES,
        ("cuts", Cuts(rounds=40, part=0.5)),
        ("layers", Layers(width=1_000_000, part=1.0)),
    ),
    "beam": (
        ORDERS,
        PRICES,
        ("cuts", Cuts(rounds=12, part=0.5)),
        ("layers", Layers(width=2_000, part=0.5)),
        ("more orders", Orders(part=1.0, rest=True)),
    ),
    "brute": (("brute force", BruteForce()),),
}
"""The stages of each method, in order; each begins only when those before left a gap.

Parts are those of the time limit that is left when a stage begins.
"""

METHODS = tuple(PLANS)


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
    limits = dict.fromkeys(("time_limit", "node_limit", "memory_limit"))
    search = Search(instance, options | limits)
    return _run(search, (ORDERS, PRICES), "bounds and heuristics only, no program was solved")


def solve(
    instance: Instance,
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
    progress: Report | None = None,
) -> OptResult:
    """The hindsight optimum, or the proven interval that the limits allow.

    Stages follow one another until the schedule is proven optimal (`PLANS`); ``stages`` of the
    result tells what each left. In ``auto``, bounds and heuristics come first. When they do not
    meet, configuration cuts raise the lower bound, and a layered search guided by them looks for
    better schedules, exactly when few states are enough (`ratiolab.hindsight.layers.beam`). Then
    the integer program of Jaillet et al., Section 3, is solved with those cuts and without the
    columns that the bound excludes (`ratiolab.hindsight.cuts.strengthen`), to proof when no limit
    is set. Instances whose program would be too large get their interval from bounds and heuristics
    alone, and ``note`` says so. Ctrl-C ends the solve and keeps the interval, both ends with their
    proof.

    Parameters
    ----------
    method : ``auto``, as above; ``ip``, the integer program as printed, without cuts; ``cuts``, the
        bound of the cuts and no program; ``dp``, the layered search with as many states as a layer
        needs, up to a million: exact, or an interval that says it is not; ``beam``, the layered
        search with few states, for a good schedule; ``brute``, complete enumeration.
    time_limit : seconds in all; results then depend on the machine.
    node_limit : nodes of the search tree in all; HiGHS only.
    memory_limit : megabytes of the whole process. Stages whose arrays would exceed it are narrowed
        or left out, as their notes say; HiGHS is stopped when it gets there.
    backend : "highs" for HiGHS through its own interface; "pulp" or, as in "pulp:HiGHS", "pulp:"
        with the name of any solver that PuLP finds, for the program written a second time.
    seed, steps : of the search for a first schedule; the seed also goes to HiGHS.
    threads : 2 lets a second thread look for schedules, see `ratiolab.hindsight.beside`; by default
        where there are two cores.
    known, proven : a schedule and the certificate of a bound to begin with; both are checked.
    progress : called when a stage begins, whenever a bound or the schedule gets better, and every
        few tenths of a second while HiGHS runs.

    Returns
    -------
    an `OptResult`, whose schedule has passed the independent check.

    Raises
    ------
    ValueError
        when a limit is too small, a method or backend is unknown or cannot do what is asked, or
        what is given to begin with belongs to another instance or is not proven.

    Source: Jaillet et al. (2025), (1)-(4), arXiv 2502.07115v5.

    >>> solve(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])).upper
    12
    """
    options: dict[str, Any] = {
        "method": method,
        "backend": backend,
        "time_limit": time_limit,
        "node_limit": node_limit,
        "memory_limit": memory_limit,
        "seed": seed,
        "steps": steps,
    }
    _require(instance, options, progress)
    plan = PLANS[method]
    library, _, solver = backend.partition(":")
    if library == "pulp":
        from ratiolab.hindsight.programs import pulp

        solver = pulp.require_solver(solver or pulp.DEFAULT_SOLVER)
        options |= {"method": "ip", "backend": f"pulp:{solver}"}
        plan = (ORDERS, PRICES, ("program", PulpProgram(solver)))
    search = Search(instance, options, progress)
    if proven is not None:
        certify(proven, instance)
        search.prove(proven, "certificate")
        search.guide_by(proven if isinstance(proven, PriceCertificate) else None)
    if known is not None:
        if known.instance.digest != instance.digest:
            raise ValueError(f"known schedule is of {known.instance.name}, not of this instance")
        search.offer(known)
    return _run(search, plan, threads=threads_here() if threads is None else threads)


def _run(
    search: Search, plan: Sequence[tuple[str, Work]], note: str = "", threads: int = 1
) -> OptResult:
    """Do the stages until the schedule is proven optimal, or a limit or Ctrl-C ends them."""
    with SchedulesBeside(search, threads):
        for name, work in plan:
            if search.closed or search.interrupted:
                break
            if search.time_left == 0:
                note = f"stopped before proof: time limit before stage {name}"
                break
            search.run(name, work)
    return search.result(note)


def _require(instance: Instance, options: dict[str, Any], progress: Report | None) -> None:
    """Nothing, or `ValueError` naming the option that is not possible."""
    method, backend = options["method"], options["backend"]
    if method not in METHODS:
        raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)}")
    library = backend.partition(":")[0]
    if library not in ("highs", "pulp") or (library == "highs" and backend != "highs"):
        raise ValueError(f"backend {backend!r} must be 'highs', 'pulp' or 'pulp:SOLVER'")
    least = {"time_limit": 0, "node_limit": 0, "memory_limit": memory.LEAST}
    for name, value in least.items():
        if options[name] is not None and options[name] < value:
            raise ValueError(f"{name} {options[name]} must be at least {value}")
    if library == "pulp" and method not in ("auto", "ip"):
        raise ValueError(f"backend {backend} solves the program: method {method!r} must be 'ip'")
    if library == "pulp" and (options["node_limit"] is not None or progress is not None):
        raise ValueError("backend pulp has neither node_limit nor progress")
    if method == "brute" and len(instance) > MOST_BRUTE:
        raise ValueError(f"method 'brute': {len(instance)} requests, at most {MOST_BRUTE}")
