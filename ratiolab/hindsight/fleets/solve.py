"""The solver of a fleet: a schedule, and proven bounds around the optimum of its replicas.

Stages follow one another until the schedule is proven optimal. Formulas and list schedules come
first. Where configurations are within reach, cuts bound the fleet nearly as well as requests that
may move between replicas for nothing do, and make the integer program small; for larger memories,
and for more requests, growth rows bound it. All of these leave a certificate. An integer program
with a column for each replica closes small fleets.
"""

from collections.abc import Callable
from math import inf

import numpy as np

from ratiolab.hindsight.bounds import LowerBound, fleet_lower_bound
from ratiolab.hindsight.certificates.certificate import (
    Certificate,
    DualCertificate,
    FormulaCertificate,
)
from ratiolab.hindsight.cuts import cut_bound as cuts
from ratiolab.hindsight.fleets.lists import best_list, improved
from ratiolab.hindsight.fleets.oracle import tiny_fleet_optimum
from ratiolab.hindsight.horizon import last_starts
from ratiolab.hindsight.params import ProgramParams
from ratiolab.hindsight.relaxation.growth import growth_bounds
from ratiolab.hindsight.result import FleetResult, Report, SolveOptions, Solving
from ratiolab.hindsight.stages import MOST_REQUESTS
from ratiolab.model.feasibility import fleet_violations, require_feasible_fleet
from ratiolab.model.fleet import Fleet, FleetSchedule, require_fleet
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

PARAMS = ProgramParams()

METHODS = {
    "auto": ("lists", "cuts", "growth rows", "program", "more lists"),
    "certified": ("lists", "cuts", "growth rows", "more lists"),
    "ip": ("lists", "program"),
    "cuts": ("lists", "cuts"),
    "brute": ("enumeration",),
}
"""The stages of each method, in order."""

PARTS = {"lists": 0.1, "cuts": 0.5, "growth rows": 0.6, "program": 0.95, "more lists": 1.0}
"""Part of the time left that each stage may take."""


def solve_fleet(
    fleet: Fleet,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    node_limit: int | None = None,
    backend: str = "highs",
    seed: int = 0,
    progress: Report | None = None,
) -> FleetResult:
    """Return the hindsight optimum of a fleet, or the proven interval that the limits allow.

    The optimum is that of schedules in which a request stays on one replica; the bounds hold for
    those in which it moves, too. Ctrl-C ends the solve and keeps the interval.

    Parameters
    ----------
    fleet : what is to be served, and by how many replicas.
    method : ``auto``, all stages; ``certified``, those whose bounds leave a certificate; ``ip``,
        the integer program without cuts; ``cuts``, their bound and no program; ``brute``, every way
        to share the requests, for up to ten.
    time_limit : seconds in all.
    node_limit : nodes of the search tree of each program; HiGHS only.
    backend : "highs", or "pulp" or "pulp:SOLVER" for the program written a second time.
    seed : seed of the search over lists and of the solver.
    progress : called when a stage begins and whenever a bound gets better.

    Raises
    ------
    ValueError
        when a method, a backend or a limit is not possible.

    >>> solve_fleet(Fleet(Instance("three", 3, [0] * 3, [1] * 3, [2] * 3), 2)).headline
    'optimum 8 (proved: mean-busy-time, rounding-1)'
    """
    require_fleet(fleet, "solve")
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise ValueError(f"method {method!r} is not for several replicas: take one of {known}")
    library, _, solver = backend.partition(":")
    if library not in ("highs", "pulp") or (library == "highs" and solver):
        raise ValueError(f"backend {backend!r} must be 'highs', 'pulp' or 'pulp:SOLVER'")
    if library == "pulp":
        from ratiolab.hindsight.programs import pulp

        if method not in ("auto", "ip"):
            raise ValueError(f"backend {backend} solves the program: method must be 'ip'")
        solver, method = pulp.require_solver(solver or pulp.DEFAULT_SOLVER), "ip"
        backend = f"pulp:{solver}"
    limit = None if time_limit == inf else time_limit
    options = SolveOptions(method, backend, limit, node_limit, seed=seed)
    return _Solve(fleet, options, solver, progress).run()


class _Solve(Solving):
    """A solve while it runs: the best schedule and bound, and the time that is left."""

    def __init__(
        self, fleet: Fleet, options: SolveOptions, solver: str, progress: Report | None
    ) -> None:
        super().__init__(options, progress, lambda: (self.lower.value, self.upper))
        self.fleet, self.solver = fleet, solver
        self.duals: DualCertificate | None = None
        bound, function = fleet_lower_bound(fleet)
        self.lower = bound if function == "identity" else _named(bound, function)
        claim = fleet.name, fleet.digest, bound.value, bound.source
        self.certificate: Certificate = FormulaCertificate(
            *claim, replicas=fleet.replicas, function=function
        )
        self.schedule = require_feasible_fleet(best_list(fleet))
        self.end_stage()

    def run(self) -> FleetResult:
        """Run the stages until the schedule is proven optimal, or a limit or Ctrl-C ends them."""
        work: dict[str, Callable[[float], None]] = {
            "lists": self.lists,
            "cuts": self.cuts,
            "growth rows": self.growth_rows,
            "program": self.program,
            "more lists": self.more_lists,
            "enumeration": self.enumeration,
        }
        note = ""
        for name in METHODS[self.options.method]:
            if self.closed or self.interrupted:
                break
            if self.time_left == 0:
                note = f"stopped before proof: time limit before stage {name}"
                break
            with self.running(name):
                self.show()
                work[name](PARTS.get(name, 1.0))
        if self.lower.value > self.upper:
            raise AssertionError(f"{self.lower.source}: {self.lower.value} > {self.upper}")
        return FleetResult(
            fleet=self.fleet,
            status="optimal" if self.closed else "bounded",
            schedule=self.schedule,
            upper=self.upper,
            lower=self.lower.value,
            lower_source=self.lower.source,
            nodes=self.nodes,
            seconds=self.seconds,
            options=self.options,
            stages=tuple(self.stages),
            certificate=self.certificate,
            note="" if self.closed else note or self.last_note,
            interrupted=self.interrupted,
        )

    @property
    def upper(self) -> int:
        return self.schedule.total_latency

    def keep_schedule(self, schedule: FleetSchedule) -> None:
        if schedule.total_latency < self.upper:
            self.schedule = require_feasible_fleet(schedule)
            self.show()

    def keep_bound(self, bound: LowerBound, certificate: Certificate | None = None) -> None:
        if certificate is not None and certificate.bound > self.certificate.bound:
            self.certificate = certificate
        if bound.value > self.lower.value:
            self.lower = bound
            self.show()

    def lists(self, part: float) -> None:
        over = self.deadline(part)
        self.keep_schedule(improved(self.schedule, self.options.seed, stop=over))

    def more_lists(self, part: float) -> None:
        if self.time_left is None:
            return
        over, again = self.deadline(part), 1
        while not (over() or self.closed):
            self.keep_schedule(improved(self.schedule, self.options.seed + again, stop=over))
            again += 1

    def cuts(self, part: float) -> None:
        instance, horizon = self.fleet.instance, self.schedule.runs.makespan
        if len(instance) > MOST_REQUESTS or not cuts.fits(instance, horizon):
            self.note = "no cuts: requests, memory or horizon are too many for configurations"
            return
        found = cuts.cut_bound(
            self.fleet,
            horizon=horizon,
            time_limit=self.share(part),
            target=self.upper,
            progress=lambda now: self.show(lower=now.lower),
        )
        self.duals = found.certificate
        self.keep_bound(LowerBound(found.lower, "configuration cuts"), found.certificate)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt

    def growth_rows(self, part: float) -> None:
        if self.duals is not None:  # cuts prove more
            return
        for proof in growth_bounds(self.fleet, self.share(part)):
            self.keep_bound(LowerBound(proof.bound, "growth rows"), proof)

    def enumeration(self, _: float) -> None:
        self.schedule = require_feasible_fleet(tiny_fleet_optimum(self.fleet))
        self.keep_bound(LowerBound(self.upper, "enumeration"))

    def program(self, part: float) -> None:
        """Solve tail relaxations of growing horizon until one proves the optimum."""
        from ratiolab.hindsight.programs.timeindexed import size

        fleet, instance = self.fleet, self.fleet.instance
        if len(fleet) > MOST_REQUESTS:
            self.note = f"no program: {len(fleet)} requests, more than {MOST_REQUESTS}"
            return
        last = fleet_last_starts(fleet, self.upper)
        over, starts = self.deadline(part), self.schedule.runs.starts
        horizon = int(starts.max()) + max(1, int(PARAMS.tail * starts.max()))
        if self.solver:
            horizon = int(last.max())
        while True:
            entries = fleet.replicas * size(instance, last, horizon, merge=not self.solver)
            left = inf if self.time_left is None else max(1.0, self.time_left)
            if entries > min(PARAMS.most_entries, PARAMS.entries_a_second * left):
                self.note = f"no program: {entries} non-zeros are too many"
                return
            if self.solver:
                self._by_pulp(last)
                return
            solved = self._by_highs(last, horizon)
            if self.closed or not solved or over():
                return
            if horizon >= last.max():
                self.note = "HiGHS's optimum failed the exact check"
                return
            horizon += max(1, horizon // 2)

    def _by_highs(self, last: IntArray, horizon: int) -> bool:
        """Solve one relaxation; whether to proof."""
        from ratiolab.hindsight.cuts.strengthen import strengthen
        from ratiolab.hindsight.programs import highs
        from ratiolab.hindsight.programs.timeindexed import build, with_replicas

        one = build(self.fleet.instance, last, horizon)
        rows = one.shape[0]
        if self.duals is not None:
            one = strengthen(one, self.duals, self.upper)
        many, runs = with_replicas(one, self.fleet.memories, rows), self.schedule.runs
        result = highs.solve_program(
            many.program,
            start=many.counts(one, runs.starts, self.schedule.replica),
            time_limit=self.time_left,
            node_limit=self.options.node_limit,
            seed=self.options.seed,
            progress=self.show,
        )
        self.nodes += result.nodes
        if result.counts is not None:
            starts, places = many.read(one, result.counts)
            found = FleetSchedule.from_starts(self.fleet, places, starts)
            if not fleet_violations(found):
                self.keep_schedule(found)
        if result.lower is not None:
            self.keep_bound(LowerBound(min(result.lower, self.upper), "HiGHS"))
        if result.interrupted:
            raise KeyboardInterrupt
        if not result.optimal:
            self.note = f"HiGHS stopped before proof: {result.status}"
        return result.optimal

    def _by_pulp(self, last: IntArray) -> None:
        from ratiolab.hindsight.programs import pulp

        answer = pulp.solve_model(
            self.fleet.instance,
            last.tolist(),
            solver=self.solver,
            time_limit=self.time_left,
            seed=self.options.seed,
            memories=self.fleet.memories,
        )
        if answer.schedule is not None:
            places = np.array(answer.replica)
            self.keep_schedule(FleetSchedule(self.fleet, places, answer.schedule))
        if answer.schedule is None or not answer.proven:
            self.note = f"{self.solver} stopped before proof: {answer.status}"
            return
        bound = answer.schedule.total_latency
        self.keep_bound(LowerBound(bound, f"{self.solver} through PuLP"))


def fleet_last_starts(fleet: Fleet, upper: int | None = None) -> IntArray:
    """Return a start of each request that no optimal schedule of a fleet exceeds."""

    def least(rest: Instance) -> int:
        return fleet_lower_bound(fleet.serving(rest), most=1)[0].value

    known = best_list(fleet).total_latency if upper is None else upper
    return last_starts(fleet.instance, known, least)


def _named(bound: LowerBound, function: str) -> LowerBound:
    return LowerBound(bound.value, f"{bound.source}, {function}")
