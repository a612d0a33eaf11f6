"""The solver of the objectives with promises: weighted latency, and weight served in time."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from ratiolab.hindsight.bruteforce import MOST_REQUESTS as MOST_BRUTE
from ratiolab.hindsight.bruteforce import brute_force, brute_force_goodput
from ratiolab.hindsight.certificates.certificate import PromiseCertificate
from ratiolab.hindsight.fleets.lists import admitted_list
from ratiolab.hindsight.fleets.oracle import best_shares
from ratiolab.hindsight.horizon import serial_horizon
from ratiolab.hindsight.objective import Aim, Objective
from ratiolab.hindsight.params import ProgramParams
from ratiolab.hindsight.programs.timeindexed import with_replicas
from ratiolab.hindsight.relaxation.growth import alone, promised_bounds
from ratiolab.hindsight.result import Report, Solved, SolveOptions, Solving, Stage
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.hindsight.schedules.promised import Plan, first_schedule, improve, plan_of
from ratiolab.model import Instance, IntArray, Schedule, require_feasible, violations
from ratiolab.model.feasibility import Violation, fleet_violations, require_feasible_fleet
from ratiolab.model.files import PathLike
from ratiolab.model.fleet import Fleet, FleetSchedule, fleet_of, replicas_of, runs_of
from ratiolab.model.io import as_instance

METHODS = ("auto", "ip", "certified", "brute")

PARTS = {"bounds": 0.3, "search": 0.6}
"""Parts of the time limit that is left when a stage begins."""

STEPS_EACH = 100
"""Steps of the search for each request, without a time limit."""

MOST_LISTS = 200
"""List schedules of the search for weighted latency, without a time limit."""


@dataclass(frozen=True, eq=False)
class PromiseResult(Solved):
    """A judged schedule and a proven bound around the optimum of an objective with promises.

    Parameters
    ----------
    given : what is served, by one replica or several.
    objective : ``weighted``: both ends are weighted latencies, the schedule's is ``upper``.
        ``goodput``: both are weights served in time, the schedule's is ``lower``, and no schedule
        serves more than ``upper``.
    source : what proves the bound.
    certificate : proof of the best bound that needs no solver's word.
    """

    given: Instance | Fleet
    objective: Aim
    schedule: Plan = field(repr=False)
    lower: int
    upper: int
    source: str
    certificate: PromiseCertificate = field(repr=False)
    seconds: float
    nodes: int
    options: SolveOptions = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)
    note: str = ""
    interrupted: bool = False

    @property
    def is_exact(self) -> bool:
        """Return whether the schedule is proven optimal."""
        return self.upper == self.lower

    @property
    def status(self) -> Literal["optimal", "bounded"]:
        """Return whether the optimum is known."""
        return "optimal" if self.is_exact else "bounded"

    @property
    def gap(self) -> float:
        """Return (upper - lower) / lower; infinite when a schedule serves nothing in time."""
        gap = self.upper - self.lower
        return float(Fraction(gap, self.lower)) if self.lower else float("inf") if gap else 0.0

    @property
    def covers(self) -> str:
        """Return the schedules that the bound is about, in words."""
        return covered(self.instance, self.objective)

    @property
    def instance(self) -> Instance:
        """Return the requests."""
        return replicas_of(self.given)[0]

    @cached_property
    def unreachable(self) -> int:
        """Return how many requests no schedule serves in time, even alone."""
        if self.objective != "goodput":
            return 0
        aim = Objective.of(self.instance, "goodput")
        return int((aim.last < self.instance.arrival).sum())

    @property
    def headline(self) -> str:
        """Return the optimum, or its proven interval, and what the bound rests on."""
        what = "weight in time" if self.objective == "goodput" else "weighted latency"
        side = "upper" if self.objective == "goodput" else "lower"
        proof, bound = self.source, self.upper if side == "upper" else self.lower
        if self.certificate.bound != bound:
            sign = "<=" if side == "upper" else ">="
            proof += f"; certificate proves {sign} {self.certificate.bound:,}, "
            proof += f"{bound:,} rests on {self.source}"
        if self.is_exact:
            return f"optimum {self.upper:,} of {what} (proved: {proof}; {self.covers})"
        return (
            f"optimum of {what} in [{self.lower:,}, {self.upper:,}], gap {self.gap:.2%} "
            f"({side} bound: {proof}; {self.covers})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return bounds, their source, and the best starts, rounds; ``seconds`` are wall-clock."""
        several: dict[str, Any] = {}
        if isinstance(self.schedule, FleetSchedule):
            several = {"replicas": self.schedule.fleet.replicas}
            several["replica"] = self.schedule.replica.tolist()
        return {
            "instance": self.given.name,
            "digest": self.given.digest,
            **several,
            "objective": self.objective,
            "status": self.status,
            "upper": self.upper,
            "lower": self.lower,
            "gap": self.gap if np.isfinite(self.gap) else None,
            "source": self.source,
            "certified": self.certificate.bound,
            "covers": self.covers,
            "unreachable": self.unreachable,
            "starts": runs_of(self.schedule).starts.tolist(),
            **self.spent,
        }


def covered(instance: Instance, objective: Aim) -> str:
    """Return the schedules that a bound on an objective is about, in words.

    A limit of the first token can be met by a run that is evicted later.
    """
    seen = objective == "goodput" and instance.first_by is not None
    return "schedules without evictions" if seen else "all schedules under restart"


def certified_goodput(given: Instance | Fleet) -> PromiseCertificate:
    """Return the certificate of a bound on goodput, after a fixed effort.

    >>> two = Instance("two", 4, [0, 0], [1, 1], [3, 3], deadline=[3, 4])
    >>> certified_goodput(two).bound
    1
    """
    proofs = promised_bounds(given, Objective.of(replicas_of(given)[0], "goodput"))
    return min(proofs, key=lambda proof: proof.bound)


def solve_promises(
    instance: Instance | Fleet | PathLike,
    objective: Aim,
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
    method: str = "auto",
    backend: str = "highs",
    seed: int = 0,
    progress: Report | None = None,
) -> PromiseResult:
    """Return the optimum of weighted latency or of goodput, or a proven interval around it.

    Goodput is the weight of the requests that are served by their dates. Late requests are served
    when all others are done, so they take no memory from those in time. Stages: a schedule by
    insertion, a bound by prices of memory with its certificate, a search that removes and inserts
    requests, and the integer program where it is small enough.

    Parameters
    ----------
    instance : or its file, or a fleet: then a request stays on one replica, and the bound holds for
        requests that move, too.
    objective : ``weighted`` or ``goodput``; goodput needs a column of dates, or limits for all
        (`ratiolab.model.promises.with_limits`).
    time_limit : seconds in all; None for a fixed effort, and the program to its proof.
    node_limit : nodes of the search tree of HiGHS.
    method : ``auto``, as above; ``ip``, the program whatever its size; ``certified``, no program;
        ``brute``, complete enumeration.
    backend : ``highs``, or ``pulp`` with a solver as in ``pulp:HiGHS``: the program written a
        second time.
    seed : seed of the search, and of HiGHS.
    progress : called when a stage begins and when a bound or the schedule gets better.

    Raises
    ------
    ValueError
        for what is unknown or too large, and for goodput without dates.

    >>> two = Instance("two", 4, [0, 0], [1, 1], [3, 3], deadline=[3, 5], weight=[2, 3])
    >>> solve_promises(two, "goodput").upper
    3
    """
    given = instance if isinstance(instance, Fleet) else as_instance(instance)
    requests, replicas = replicas_of(given)
    if objective not in ("weighted", "goodput"):
        raise ValueError(f"objective {objective!r} must be weighted or goodput here")
    if method not in METHODS:
        raise ValueError(f"method {method!r} must be one of {', '.join(METHODS)} for {objective}")
    if method == "brute" and len(requests) > MOST_BRUTE:
        raise ValueError(f"method 'brute': {len(requests)} requests, at most {MOST_BRUTE}")
    library, _, solver = backend.partition(":")
    if library not in ("highs", "pulp") or (library == "highs" and solver):
        raise ValueError(f"backend {backend!r} must be 'highs', 'pulp' or 'pulp:SOLVER'")
    options = SolveOptions(method, backend, time_limit, node_limit, seed=seed)
    if time_limit is not None:  # what is called is compiled before the clock starts
        one = Instance("one", 2, [0], [1], [1], deadline=[1], weight=[1])
        few = SolveOptions("certified")
        _Run(fleet_of(one, replicas), Objective.of(one, objective), few, None).to_the_end()
    run = _Run(given, Objective.of(requests, objective), options, progress)
    return run.to_the_end()


class _Run(Solving):
    """A solve: the best schedule and bound so far, in the value of the objective."""

    def __init__(
        self,
        given: Instance | Fleet,
        aim: Objective,
        options: SolveOptions,
        progress: Report | None,
    ) -> None:
        super().__init__(
            options,
            progress,
            lambda: (self.found, self.bound) if aim.dropping else (self.bound, self.found),
        )
        self.given, self.aim = given, aim
        self.instance, self.replicas = replicas_of(given)
        self.listed: Callable[[IntArray], Plan] = (
            partial(admitted_list, given)
            if isinstance(given, Fleet)
            else partial(list_schedule, given)
        )
        self.stage = "lists"
        self.schedule = _required(first_schedule(given, aim, self.listed))
        self.found = aim.value(self.schedule)
        self.certificate = alone(given, aim)
        self.bound, self.source = self.certificate.bound, "alone"

    def to_the_end(self) -> PromiseResult:
        """Run the stages and return the result; Ctrl-C keeps what there is."""
        method = self.options.method
        stages: list[tuple[str, Callable[[], None]]] = [("bounds", self.bounds)]
        if method == "brute":
            stages.append(("brute force", self.brute))
        else:
            stages += [("search", self.search)]
            stages += [("program", self.program)] * (method != "certified")
        self.end_stage()
        for name, stage in stages:
            if self.closed or self.interrupted or self.time_left == 0:
                break
            with self.running(name):
                self.show()
                stage()
        lower, upper = self.ends()
        return PromiseResult(
            *(self.given, self.aim.name, self.schedule, lower, upper, self.source),
            *(self.certificate, self.seconds, self.nodes, self.options),
            *(tuple(self.stages), self.note, self.interrupted),
        )

    def keep(self, schedule: Plan) -> None:
        """Keep a schedule that is better and passes the check."""
        value = self.aim.value(schedule)
        if value > self.found if self.aim.dropping else value < self.found:
            self.schedule, self.found = _required(schedule), value
            self.show()

    def prove(self, bound: int, source: str) -> None:
        """Keep a bound that is better."""
        if self.is_better(bound, self.bound):
            self.bound, self.source = bound, source
            self.show()

    def is_better(self, bound: int, other: int) -> bool:
        """Return whether a bound proves more than another one."""
        return bound < other if self.aim.dropping else bound > other

    def bounds(self) -> None:
        """Prove bounds by prices."""
        for proof in promised_bounds(self.given, self.aim, self.share(PARTS["bounds"])):
            if self.is_better(proof.bound, self.certificate.bound):
                self.certificate = proof
                self.prove(proof.bound, proof.source)
            if self.closed:
                return

    def search(self) -> None:
        """Look for better schedules."""
        left, began, asked = self.time_left, time.perf_counter(), 0
        most = STEPS_EACH * len(self.instance) / 500 if self.aim.dropping else MOST_LISTS

        def part() -> float:
            nonlocal asked
            asked += 1
            if self.closed:
                return 1.0
            if left is None:
                return (asked - 1) / most
            return (time.perf_counter() - began) / (share * left + 1e-9)

        self.note = self.too_large()
        share = 1.0 if self.note or self.options.method == "certified" else PARTS["search"]
        search = self.given, self.schedule, self.aim, self.listed
        improve(*search, part, self.keep, seed=self.options.seed)

    def last_starts(self) -> IntArray:
        """Return a start of each request that some optimal schedule does not exceed.

        All is complete by `serial_horizon`, whose proof moves requests to earlier starts, which
        makes none late. A request's weighted latency is at most that of the known schedule less
        what the others take alone.
        """
        instance, aim = self.instance, self.aim
        last = np.minimum(aim.last, serial_horizon(instance) - instance.output)
        if not aim.dropping:
            spare = self.found - alone(self.given, aim).bound  # beyond what all take alone
            last = np.minimum(last, instance.arrival + spare // aim.slope)
        return last

    def too_large(self) -> str:
        """Return why the integer program is not solved; nothing where it is."""
        from ratiolab.hindsight.programs.timeindexed import size

        ends, params = np.maximum(self.last_starts(), self.instance.arrival), ProgramParams()
        entries = size(self.instance, ends, int(ends.max()), objective=self.aim) * self.replicas
        left, most = self.time_left, params.most_entries
        if left is not None:
            most = min(most, int(params.entries_a_second * max(1.0, left)))
        small = entries <= most or self.options.method == "ip"
        return "" if small else f"no program: {entries:,} non-zeros, more than {most:,}"

    def program(self) -> None:
        """Solve the integer program."""
        from ratiolab.hindsight.programs import highs, pulp
        from ratiolab.hindsight.programs.timeindexed import build

        self.note = self.too_large()
        if self.note:
            return
        last, left = self.last_starts(), self.time_left
        library, _, solver = (self.options.backend or "highs").partition(":")
        if library == "pulp":
            solver = pulp.require_solver(solver or pulp.DEFAULT_SOLVER)
            answer = pulp.solve_model(
                *(self.instance, last.tolist()),
                objective=self.aim.name,
                solver=solver,
                time_limit=left,
                seed=self.options.seed,
                memories=(self.instance.memory,) * self.replicas,
            )
            if answer.starts:
                plan = plan_of(self.given, np.array(answer.replica), np.array(answer.starts))
                self.keep(plan)
                if answer.proven:
                    self.prove(self.aim.value(plan), f"{solver} through PuLP")
            self.note = "" if answer.proven else f"{solver} stopped before proof: {answer.status}"
            return
        one = build(self.instance, last, objective=self.aim)
        many = with_replicas(one, (self.instance.memory,) * self.replicas)
        starts = runs_of(self.schedule).starts
        places = np.zeros(len(starts), np.int64)
        if isinstance(self.schedule, FleetSchedule):
            places = self.schedule.replica
        late = starts > self.aim.last
        result = highs.solve_program(
            many.program,
            start=many.counts(one, np.where(late, int(last.max()) + 1, starts), places),
            time_limit=left,
            node_limit=self.options.node_limit,
            seed=self.options.seed,
            progress=lambda nodes, _: self.show(nodes),
        )
        self.nodes += result.nodes
        if result.counts is not None:
            chosen, places = many.read(one, result.counts)
            plan = plan_of(self.given, places, np.where(chosen > last, -1, chosen))
            if not _faults(plan):
                self.keep(plan)
        if result.lower is not None:
            self.prove(self.aim.of_cost(max(0, result.lower)), "HiGHS")
        self.interrupted = result.interrupted
        self.note = "" if result.optimal else f"HiGHS stopped before proof: {result.status}"

    def brute(self) -> None:
        """Enumerate every schedule."""

        def optimum(some: Instance) -> tuple[int, Sequence[int]]:
            aim = Objective.of(some, self.aim.name)
            if aim.dropping:
                most, starts = brute_force_goodput(some)
                return aim.of_cost(most), starts  # all weight less that in time is lost
            schedule = brute_force(some, aim.slope.tolist())
            return aim.value(schedule), schedule.starts.tolist()

        if isinstance(self.given, Fleet):
            places, starts = best_shares(self.given, optimum)
        else:
            starts = np.array(optimum(self.given)[1])
            places = np.zeros_like(starts)
        plan = plan_of(self.given, places, starts)
        self.keep(plan)
        self.prove(self.aim.value(plan), "brute force")


def _faults(plan: Plan) -> list[Violation]:
    return violations(plan) if isinstance(plan, Schedule) else fleet_violations(plan)


def _required(plan: Plan) -> Plan:
    if isinstance(plan, Schedule):
        return require_feasible(plan)
    return require_feasible_fleet(plan)
