"""The file format of studies; ``example.toml`` shows every field."""

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.types import FailFast
from pydantic_core import PydanticCustomError

from ratiolab.model import Preemption
from ratiolab.model.formats import Line
from ratiolab.model.instance import LONGEST_TICK, SHORTEST_TICK
from ratiolab.model.validation import STRICT, Strict, absent, path
from ratiolab.studies.tasks import TASKS

MOST_SEEDS = 10**5
"""Most seeds of one study."""


def _rule(words: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{words}", {"words": f"must {words}"})


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _task(name: str) -> str:
    if name not in TASKS:
        raise _rule(f"be one of {', '.join(TASKS)}")
    return name


def _seeds(value: object) -> object:
    if type(value) is int and 1 <= value <= MOST_SEEDS:
        return list(range(value))
    if isinstance(value, list) and 1 <= len(value) <= MOST_SEEDS:
        return value
    raise _rule(f"be how many, 1 to {MOST_SEEDS}, or a list")


def _swept(value: object) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise _rule("have at least one value")
    for one in values:
        if not isinstance(one, str | int) and not (isinstance(one, float) and isfinite(one)):
            raise _rule("be a number, a string or a boolean, or a list of them")
    return values


def _list_or_one(item: Any) -> BeforeValidator:
    return BeforeValidator(_as_list, json_schema_input_type=item | list[item])


_SCALAR = {"type": ["number", "string", "boolean"]}
_AXIS = {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR, "minItems": 1}]}

Text = Annotated[Line, Field(min_length=1)]
Modes = Annotated[list[Preemption], Field(min_length=1), _list_or_one(Preemption)]
Swept = Annotated[Any, AfterValidator(_swept), WithJsonSchema(_AXIS)]
"""One value or a list of them, which the study sweeps; a list after reading."""

_Count = Annotated[int, Field(ge=1, le=MOST_SEEDS)]
_Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]
Seeds = Annotated[
    list[_Seed], FailFast(), BeforeValidator(_seeds, json_schema_input_type=_Count | list[_Seed])
]


class Head(Strict):
    """Name, tasks, seeds, and what holds for all policies."""

    name: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,80}$")]
    """Results are named so."""
    tasks: Annotated[
        list[Annotated[str, AfterValidator(_task)]], Field(min_length=1), _list_or_one(str)
    ] = ["simulate"]
    """Tasks of a cell; register_tasks of `ratiolab.papers` adds to `ratiolab.studies.tasks`."""
    seeds: Seeds = [0]
    """How many, or a list: of the instance, its predictions and the run."""
    preemption: Modes = absent()
    """Cost of an eviction; by default the semantics that each policy is made for."""
    clock: Annotated[list[str], _list_or_one(str)] = []
    """How long a batch takes: the name of a clock, or a profile FILE.csv; by default a round."""
    tick_seconds: Annotated[float, Field(ge=SHORTEST_TICK, le=LONGEST_TICK)] = absent()
    """Seconds of a tick of the arrivals of workloads that state none; clocks need it."""


class Workload(Strict):
    """A kind of workload, a trace or an instance, and its settings; lists are swept."""

    model_config = STRICT | ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Swept]

    kind: Text = absent()
    """As `ratiolab generate` lists them."""
    trace: Text = absent()
    """A file; its settings are the options of `ratiolab trace`."""
    instance: Text = absent()
    """A file; its settings are memory and predict."""
    label: Text = absent()
    """Name of the workload in tables and pictures."""
    clocks: Annotated[list[Text], Field(min_length=1), _list_or_one(Text)] = absent()
    """Clocks of the study under which it is run; by default all."""
    tasks: Annotated[list[Text], Field(min_length=1), _list_or_one(Text)] = absent()
    """Tasks of the study that are done with it; by default all."""
    seeds: _Count = absent()
    """Number of seeds, the first ones of the study; by default all."""

    @property
    def source(self) -> tuple[Literal["kind", "trace", "instance"], str]:
        """Return the one source that is given, and its name; `ValueError` for none or two."""
        given = self.given()
        sources = [word for word in ("kind", "trace", "instance") if word in given]
        if len(sources) != 1:
            raise ValueError("must have one of kind, trace, instance")
        return sources[0], given[sources[0]]


class PolicyEntry(Strict):
    """A policy and its parameters; lists are swept."""

    model_config = STRICT | ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Swept]

    key: Text
    """As `ratiolab policies` lists them, or path/to/file.py:ClassName."""
    label: Text = absent()
    """Name of the policy in tables and pictures."""
    preemption: Modes = absent()
    """Cost of an eviction for this policy alone."""
    workloads: Annotated[list[Text], _list_or_one(Text)] = absent()
    """Labels of the workloads that it is run on; by default all."""


class Quick(Strict):
    """What --quick changes: seeds, and values that the other tables state."""

    seeds: Seeds = absent()
    workload: dict[str, Any] = {}
    policy: dict[str, Any] = {}
    options: dict[str, Any] = {}


class StudyFile(Strict):
    """A study: every workload, seed and policy makes a cell, which is computed once."""

    study: Head
    workload: list[Workload] = []
    policy: list[PolicyEntry] = []
    options: dict[str, Swept] = {}
    """Options of the tasks."""
    quick: Quick = Quick()

    @classmethod
    def place(cls, steps: Sequence[int | str]) -> str:
        """Return the path of a value as TOML writes its table."""
        match steps:
            case ["workload" | "policy" as table, int(number), *rest]:
                return f"[[{table}]] {number + 1}: {path(rest)}".rstrip()
            case [str(table), *rest]:
                return f"[{table}] {path(rest)}".rstrip()
        return path(steps)
