"""The file formats of instances and schedules, as models that also give their JSON Schemas."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic.types import FailFast
from pydantic_core import PydanticCustomError

from ratiolab.model.eviction import Preemption
from ratiolab.model.fleet import MOST_REPLICAS
from ratiolab.model.instance import (
    ALL_COLUMNS,
    LARGEST,
    LATEST,
    LONGEST_TICK,
    MOST_REQUESTS,
    SHORTEST_TICK,
    is_one_line,
)
from ratiolab.model.run import LARGEST_ROUND, RUN_COLUMNS
from ratiolab.model.validation import Strict, absent


def one_line(value: Any) -> Any:
    """Return the value; refuse text whose control characters would reach the terminal."""
    if isinstance(value, str) and not is_one_line(value):
        raise PydanticCustomError("line", "must be one line of printable text")
    return value


Line = Annotated[str, AfterValidator(one_line)]
Column = Annotated[
    list[Annotated[int, Field(ge=0, le=LARGEST)]], FailFast(), Field(max_length=MOST_REQUESTS)
]
Positive = Annotated[
    list[Annotated[int, Field(ge=1, le=LARGEST)]], FailFast(), Field(max_length=MOST_REQUESTS)
]
Dates = Annotated[
    list[Annotated[int, Field(ge=1, le=2 * LATEST)]], FailFast(), Field(max_length=MOST_REQUESTS)
]
RunColumn = Annotated[list[Annotated[int, Field(ge=0, le=LARGEST_ROUND)]], FailFast()]


class InstanceFields(Strict):
    """Memory and requests, a column for each of their properties, all of the same length."""

    nouns: ClassVar[dict[str, str]] = {name: f"request {{}}: {name}" for name in ALL_COLUMNS}

    name: Line
    """Name of the instance in tables and pictures."""
    memory: Annotated[int, Field(ge=1, le=LARGEST)]
    """KV cache size M, tokens; no request needs more."""
    tick_seconds: Annotated[float, Field(ge=SHORTEST_TICK, le=LONGEST_TICK)] = absent()
    """Seconds of a tick, the unit of the arrivals; without it they are rounds without a length."""
    arrival: Annotated[
        list[Annotated[int, Field(ge=0, le=LATEST)]], FailFast(), Field(max_length=MOST_REQUESTS)
    ]
    """Rounds in which the requests become known."""
    prompt: Column
    """Prompt tokens."""
    output: Positive
    """Output tokens."""
    lower: Positive = absent()
    """Lower ends of predicted intervals of the outputs, tokens."""
    upper: Positive = absent()
    """Upper ends of predicted intervals of the outputs, tokens."""
    predicted: Positive = absent()
    """Point predictions of the outputs, tokens; they may be wrong."""
    location: Column = absent()
    """Locations of predicted distributions of ln(output), thousandths; with scale and freedom, or
    none."""
    scale: Positive = absent()
    """Scales of these distributions, thousandths."""
    freedom: Positive = absent()
    """Degrees of freedom of these distributions, thousandths; 10^9 stands for the normal
    distribution."""
    weight: Positive = absent()
    """Values of serving the requests; 1 each without the column."""
    deadline: Dates = absent()
    """Latest completions, in the unit of the arrivals."""
    first_by: Dates = absent()
    """Latest first tokens, in the unit of the arrivals."""
    source: Line = absent()
    """Where the instance comes from."""


class InstanceFile(InstanceFields):
    """An instance: a memory size and the requests that share it."""

    format: Literal["ratiolab-instance/1"]


class FleetFile(InstanceFields):
    """A fleet: requests, and replicas that serve them, each with this memory or one of its own."""

    format: Literal["ratiolab-fleet/1"]
    replicas: Annotated[int, Field(ge=2, le=MOST_REPLICAS)]
    """Number of replicas R; one replica is an instance."""
    memories: Positive = absent()
    """Tokens of each replica, where they differ; the largest is the memory."""


class ScheduleFile(Strict):
    """Runs on an instance: a run of a request is the rounds start to stop, half open."""

    nouns: ClassVar[dict[str, str]] = {name: f"run {{}}: {name}" for name in RUN_COLUMNS}

    format: Literal["ratiolab-schedule/1"]
    instance: str
    """Name of the instance."""
    digest: str
    """Digest of the instance."""
    request: RunColumn
    """The requests that run, by their positions in the instance."""
    start: RunColumn
    """The rounds in which the runs start."""
    stop: RunColumn
    """The rounds before which the runs stop."""
    preemption: Preemption = "restart"
    """Cost of an eviction: all tokens (restart), time alone (recompute, swap), or nothing until
    others need the memory (pause)."""
    release: RunColumn = absent()
    """Under pause, the rounds until which the caches of the runs stay in memory."""
    lead: RunColumn = absent()
    """Rounds of the runs before the first token, while the prompt is prefilled in chunks."""
    unfilled: RunColumn = absent()
    """Tokens that evicted runs left unprefilled."""
    total_latency: int = absent()
    """Total end-to-end latency (TEL), rounds; it follows from the runs."""


class FleetScheduleFile(ScheduleFile):
    """Runs on a fleet, with their replicas; the digest is that of the fleet."""

    format: Literal["ratiolab-fleet-schedule/1"]  # type: ignore[assignment]
    replicas: Annotated[int, Field(ge=2, le=MOST_REPLICAS)]
    """Number of replicas of the fleet."""
    replica: RunColumn
    """The replicas of the runs, 0 to R - 1, the same one for all runs of a request."""
