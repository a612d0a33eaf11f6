"""Groups of options that several commands take, each declared once."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from ratiolab.cli.app import EachMemory, Replicas, Seed, Where
from ratiolab.cli.instances import Predict

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ratiolab.executors import Executor
    from ratiolab.model import Instance
    from ratiolab.model.files import Content
    from ratiolab.model.fleet import Fleet
    from ratiolab.online import Policy
    from ratiolab.workloads.traces import Trace

ENOUGH = 1_000
"""Requests from which on further processes save more time than it takes to start them."""

Command = TypeVar("Command", bound=Callable[..., Any])

Log = Annotated[
    Path,
    typer.Argument(
        help="Request log: CSV, JSON lines, JSON or Parquet, also packed; - for standard input. "
        "Known layouts are recognised by their columns; for another layout, name the columns with "
        "--columns."
    ),
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Spread every parameter of a command that is a data class into its fields, as options.

    Options of equal names, in groups or beside them, are one option; the first declares it.
    """
    places = inspect.signature(command, eval_str=True).parameters
    groups = {name: p.annotation for name, p in places.items() if is_dataclass(p.annotation)}
    taken: dict[str, inspect.Parameter] = {}
    for name, place in places.items():
        if name not in groups:
            taken.setdefault(name, place)
            continue
        hints = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            kind = inspect.Parameter.KEYWORD_ONLY
            option = inspect.Parameter(
                field.name, kind, default=field.default, annotation=hints[field.name]
            )
            taken.setdefault(field.name, option)

    def run(**values: Any) -> None:
        filled = {
            name: kind(**{field.name: values[field.name] for field in fields(kind)})  # type: ignore[operator]
            for name, kind in groups.items()
        }
        command(**{name: values[name] for name in places if name not in groups}, **filled)

    ordered = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in taken.values()]
    run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in ordered}
    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, __name__
    return run


@dataclass(frozen=True)
class Logged:
    """How a request log is read, and which of its requests are kept."""

    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns of an unknown layout, as arrival=ts,prompt=n_in,output=n_out; further "
            "roles: start, first, finish (instants), deadline, first_by (promised instants), wait, "
            "ttft, latency (durations), gap, weight, status. "
            "Fields inside JSON objects have dots, as in usage.prompt_tokens."
        ),
    ] = None
    time_unit: Annotated[
        str | None,
        typer.Option(
            help="Unit of times that are numbers: s, ms, us, ns, 100ns, min, h or d (days); or for "
            "some roles or columns only, as arrival=s,ttft=ms. Default: as the log states, or as "
            "is plausible."
        ),
    ] = None
    rows: Annotated[
        str | None,
        typer.Option(help="Where in a JSON file the requests are, as benchmarks.0.requests."),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse the log rather than leave any request out.")
    ] = False
    sample: Annotated[
        int | None, typer.Option(help="Keep this many requests, drawn at random.", min=1)
    ] = None
    seed: Seed = 0
    start: Annotated[float | None, typer.Option(help="Window: from this second on.")] = None
    stop: Annotated[float | None, typer.Option(help="Window: before this second.")] = None
    predict: Predict = None

    def read(self, content: "Content") -> "Trace":
        """Read a log; with --strict, one with requests that cannot be read is refused."""
        from ratiolab.workloads.traces import read_trace

        log = read_trace(content, columns=self.columns, time_unit=self.time_unit, rows=self.rows)
        if self.strict and log.dropped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in log.dropped.items())
            raise ValueError(f"{content.name}: --strict refuses a log with requests {reasons}")
        return log

    @property
    def window(self) -> tuple[float, float] | None:
        """The requested window; None for the whole log."""
        from math import inf

        if self.start is None and self.stop is None:
            return None
        return self.start or 0.0, inf if self.stop is None else self.stop

    def cut(self, log: "Trace", memory: int, **options: Any) -> "Instance":
        """Return the instance of the requests that are kept, with predictions as asked for."""
        from ratiolab.workloads.traces import instance_from_trace

        instance = instance_from_trace(
            log,
            memory=memory,
            sample=self.sample,
            seed=self.seed,
            window=self.window,
            strict=self.strict,
            **options,
        )
        return self.predicted(instance)

    def predicted(self, instance: "Instance") -> "Instance":
        """Return an instance with the predictions that are asked for."""
        return predicted(instance, self.predict, self.seed)


@dataclass(frozen=True)
class Routed:
    """How many replicas serve, and what routes requests to them."""

    replicas: Replicas = None
    router: Annotated[
        str | None,
        typer.Option(
            help="Routers before the replicas, comma separated (see `ratiolab policies --routers`),"
            " or all; the first is the one in use. Default: round-robin, jsq, least-kv, central."
        ),
    ] = None

    memory: EachMemory = None

    @property
    def largest(self) -> int | None:
        """The largest memory, if any is given."""
        most: int | None = self.memory
        return max(self.memory) if isinstance(self.memory, tuple) else most

    def fleet(self, instance: "Instance") -> "Fleet | None":
        """Return the requested fleet; None for one replica, which has no router."""
        from ratiolab.model.fleet import Fleet

        if isinstance(self.memory, tuple):
            return Fleet(instance, self.replicas or len(self.memory), self.memory)
        if (self.replicas or 1) > 1:
            return Fleet(instance, self.replicas or 1)
        if self.router is not None:
            raise ValueError("--router is for several replicas: give their number as --replicas")
        return None

    def routers(self) -> list[str]:
        """Return the keys of the requested routers, or of the default ones."""
        from ratiolab.evaluation.fleets import ROUTERS as BY_DEFAULT
        from ratiolab.online.fleets.registry import ROUTERS

        if self.router is None:
            return list(BY_DEFAULT)
        return list(ROUTERS) if self.router == "all" else keys_of(self.router, "--router")


@dataclass(frozen=True)
class Judged:
    """Which policies are run, where, and how they are judged."""

    policies: Annotated[
        str | None,
        typer.Option(help="Keys, comma separated (see `ratiolab policies`); default: all."),
    ] = None
    param: Annotated[
        list[str] | None,
        typer.Option(help="A parameter of a policy, as trail.c=0.8; repeatable."),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric that sorts policies: mean (the default), p99 (latency), ttft, p99-ttft, "
            "tpot, p99-tpot, or goodput, the share of requests within --slo."
        ),
    ] = None
    slo: Annotated[
        str | None,
        typer.Option(help="Limits of goodput, seconds: ttft=1,tpot=0.05, or latency=10."),
    ] = None
    current: Annotated[
        str, typer.Option(help="The policy in use, with which others are compared.")
    ] = "fcfs"
    seed: Seed = 0
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes; -1 takes all cores. Default: all cores from 1,000 requests on.",
            min=-1,
        ),
    ] = None
    executor: Where = "local"
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write a report: one .html page that works offline, a .pdf or .tex for papers, or "
            ".md with charts.",
            writable=True,
        ),
    ] = None

    def place(self, requests: int) -> "AbstractContextManager[Executor]":
        """Open what simulates a number of requests."""
        from ratiolab.executors import opened

        fitting = 1 if requests < ENOUGH else -1
        return opened(self.executor, fitting if self.workers is None else self.workers)

    def chosen(self) -> "list[Policy] | None":
        """Return the policies that are named; None for all that make sense."""
        from ratiolab.online import make

        settings = self.parameters()
        if self.policies is None:
            if settings:
                raise ValueError("--param needs --policies: name the policies that are to run")
            return None
        keys = keys_of(self.policies, "--policies")
        for key in settings:
            if key not in keys:
                raise ValueError(f"--param {key!r} is none of --policies {self.policies}")
        return [make(key, settings.get(key)) for key in keys]

    def in_use(self) -> "Policy":
        """Return the policy in use, with its parameters."""
        from ratiolab.online import make

        return make(self.current, self.parameters().get(self.current))

    def parameters(self) -> dict[str, dict[str, str]]:
        """Return the parameters by policy and name."""
        found: dict[str, dict[str, str]] = {}
        for pair in self.param or ():
            target, sign, value = pair.partition("=")
            key, dot, name = target.rpartition(".")
            if not (sign and dot and key and name):
                raise ValueError(f"--param {pair!r} must be POLICY.NAME=VALUE")
            if name in found.setdefault(key, {}):
                raise ValueError(f"--param {target!r} is given twice")
            found[key][name] = value
        return found


def predicted(instance: "Instance", predict: str | None, seed: int) -> "Instance":
    """Return an instance with predictions attached; itself when none are asked for."""
    from ratiolab.workloads.predictions import add_predictions

    return instance if predict is None else add_predictions(instance, predict, seed)


def keys_of(words: str, option: str) -> list[str]:
    """Return the keys of a comma separated list, each once."""
    keys = [key.strip() for key in words.split(",")]
    for key in keys:
        if not key:
            raise ValueError(f"{option} {words!r} has an empty place between its commas")
        if keys.count(key) > 1:
            raise ValueError(f"{option} names {key!r} twice")
    return keys
