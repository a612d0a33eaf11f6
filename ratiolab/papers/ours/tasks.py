"""Tasks of our own studies beyond the library's."""

from functools import lru_cache

from ratiolab.evaluation.fleets import fleet_bound
from ratiolab.evaluation.service import METRICS
from ratiolab.model import Instance, Preemption, stream
from ratiolab.model.fleet import Fleet
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime
from ratiolab.online.fleets.loop import simulate_fleet
from ratiolab.online.metrics import per_request, summary
from ratiolab.ratio.clock_bound import clock_lower_bound, ttft_lower_bound
from ratiolab.seconds.certified_bound import seconds_certificate
from ratiolab.studies.cell import Cell, Row, Value
from ratiolab.studies.tasks.runs import against_bound, short
from ratiolab.studies.tasks.task import Task
from ratiolab.workloads.arrivals import poisson_arrivals

TICK = 0.001
"""Seconds of a tick of the arrivals that are drawn here."""

CELLS = 2000
"""Cells of time of the bound on latency: half a second of a processor for 1,000 requests."""


def engine_run(cell: Cell) -> list[Row]:
    """Return the figures of a run whose arrivals are Poisson at some share of capacity.

    The capacity is the rate at which ``vllm-fcfs`` serves the same requests under the same clock
    when all are there at once. Beside the figures of `ratiolab.online.metrics.summary`: ``lower``
    and ``lower_ttft``, bounds on the mean latency and the mean time to first token of every
    schedule under this clock that keeps what evicted requests made; ``recomputed``, the tokens that
    were computed again.
    """
    clock = cell.clock()
    assert clock is not None, "the study names clocks"
    instance = arriving(cell.instance(), clock, float(cell.fields["option.load"]), cell.seed)
    semantics = cell.fields.get("preemption")
    done = simulate(
        instance,
        cell.policy(),
        seed=cell.seed,
        preemption=semantics,  # type: ignore[arg-type]  # checked when the study was read
        clock=clock,
    )
    figures = summary(done)
    schedule = done.schedule
    needed = int((instance.prompt + instance.output).sum()) - len(instance)
    bounds = lower_bounds(bare(instance), clock, "recompute")
    row: Row = {
        "requests": len(instance),
        "outcome": done.outcome,
        "preempted_as": done.preemption,
        "recomputed": schedule.computed_tokens - needed,
        "max_latency": short(float(per_request(done)["latency"].max())),
        "lower": short(bounds[0]),
        "lower_ttft": short(bounds[1]),
    }
    row |= {name: short(value) for name, value in figures.items() if value == value}
    return [row]


def arriving(instance: Instance, clock: BatchTime, load: float, seed: int) -> Instance:
    """Return the instance with arrivals at a share of what vLLM's default engine serves."""
    rate = load * capacity(bare(instance), clock) * TICK
    arrival = poisson_arrivals(stream(seed, "arrivals"), len(instance), rate)
    return instance.replace(arrival=arrival, tick_seconds=TICK)


def bare(instance: Instance) -> Instance:
    """Return the requests without predictions and words, so that equal ones compare equal."""
    return instance.without_predictions().replace(name="bare", source="")


@lru_cache(100)
def capacity(instance: Instance, clock: BatchTime) -> float:
    """Return the requests a second that vLLM's default engine serves when all are there at once."""
    together = instance.replace(arrival=[0] * len(instance), tick_seconds=TICK)
    return len(instance) / summary(simulate(together, make("vllm-fcfs"), clock=clock))["makespan"]


@lru_cache(1000)
def lower_bounds(
    instance: Instance, clock: BatchTime, preemption: Preemption
) -> tuple[float, float]:
    """Return bounds on mean latency and mean time to first token, seconds.

    That on latency is the better one of a machine and of prices of its time in closed form.
    """
    certified = seconds_certificate(instance, clock, preemption, cells=CELLS).bound / PICOSECONDS
    latency = max(clock_lower_bound(instance, clock, preemption), certified)
    return latency / len(instance), ttft_lower_bound(instance, clock) / len(instance)


def against_prices(cell: Cell) -> list[Row]:
    """Return the row of `against_bound`, under a clock with the bound of `lower_bounds`."""
    rows, clock = against_bound(cell), cell.clock()
    if clock is not None:
        instance = bare(cell.instance())
        mean, _ = lower_bounds(instance, clock, "restart")
        rows = [row | {"lower": short(mean * len(instance))} for row in rows]
    return rows


ROUTERS = (
    *("random", "round-robin", "jsq", "p2c", "least-kv", "least-work"),
    *("imd", "bf-io", "central"),
)
"""Routers of the page on fleets."""


def fleet_run(cell: Cell) -> list[Row]:
    """Return the mean latency behind each router of `ROUTERS`, and a bound for every schedule.

    The requests are ``each`` for each replica. Arrivals are Poisson: without a clock at a share of
    the rate whose volumes fill all memories, with one at a share of what the replicas serve with
    ``vllm-fcfs`` when all requests of one are there at once.
    """
    replicas, each = (int(cell.option(name)) for name in ("replicas", "each"))
    clock, load, policy = cell.clock(), float(cell.option("load")), cell.policy()
    fleet = _fleet(bare(cell.instance()), replicas, each, clock, load, cell.seed)
    rows: list[Row] = []
    for router in ROUTERS:
        run = simulate_fleet(fleet, policy, router, seed=cell.seed, clock=clock)
        frame = run.per_request
        rows.append(
            {
                "router": router,
                "requests": len(fleet),
                "outcome": run.outcome,
                "mean_latency": short(float(frame["latency"].mean())),
                "p99_latency": short(float(frame["latency"].quantile(0.99))),
                "mean_ttft": short(float(frame["ttft"].mean())),
                "evictions": run.evictions,
                "lower": short(_least_mean(fleet, clock, run.preemption)),
            }
        )
    return rows


@lru_cache(20)
def _fleet(
    instance: Instance, replicas: int, each: int, clock: BatchTime | None, load: float, seed: int
) -> Fleet:
    order = stream(seed, "cases").permutation(len(instance))
    chosen = instance.take(order[: each * replicas])
    if clock is None:
        rate = load * replicas * chosen.memory / float(chosen.volume.mean())
    else:
        rate = load * replicas * capacity(chosen.take(range(each)), clock) * TICK
    arrival = poisson_arrivals(stream(seed, "arrivals"), len(chosen), rate)
    return Fleet(chosen.replace(arrival=arrival, tick_seconds=TICK), replicas)


@lru_cache(20)
def _least_mean(fleet: Fleet, clock: BatchTime | None, preemption: Preemption) -> float:
    return fleet_bound(METRICS["mean"], fleet, clock, preemption)


LOAD: dict[str, Value] = {"load": 1.0}
FLEET: dict[str, Value] = {"load": 1.0, "replicas": 4, "each": 75}

TASKS = (
    Task("engine-run", engine_run, options=LOAD),
    Task("fleet-run", fleet_run, options=FLEET),
    Task("against-prices", against_prices),
)
