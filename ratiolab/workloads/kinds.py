"""Kinds of workload: functions of a generator and typed parameters.

The signature of the function is the only place where parameters, defaults and ranges stand.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.instance import LARGEST, MOST_REQUESTS, shown


@dataclass(frozen=True)
class Domain:
    """The closed range of a parameter and its unit."""

    least: float
    most: float
    unit: str


MOST_LENGTH = 10**5
"""Longest output of a generated length distribution, tokens."""

Requests: TypeAlias = Annotated[int, Domain(1, MOST_REQUESTS, "requests")]
Memory: TypeAlias = Annotated[int, Domain(1, LARGEST, "tokens")]
Prompt: TypeAlias = Annotated[int, Domain(0, LARGEST, "tokens")]
Length: TypeAlias = Annotated[int, Domain(1, MOST_LENGTH, "tokens")]
Round: TypeAlias = Annotated[int, Domain(1, LARGEST, "rounds")]
Rate: TypeAlias = Annotated[float, Domain(0, 10**6, "requests a round; 0: all at round 0")]
Share: TypeAlias = Annotated[float, Domain(0, 1, "probability")]
Decay: TypeAlias = Annotated[float, Domain(0, 1 - 2**-20, "probability of one more token")]


@dataclass(frozen=True)
class Parameter:
    """Parameter of a kind: its name, type, default and domain."""

    name: str
    type: type[int] | type[float]
    default: int | float
    domain: Domain

    def check(self, value: object) -> int | float:
        """Return the value as an int or float of the domain, or raise `ValueError`."""
        numbers = (int, np.integer) if self.type is int else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, numbers):
            noun = "an integer" if self.type is int else "a number"
            raise ValueError(f"{self.name} {shown(value)} must be {noun}")
        domain = self.domain
        if not domain.least <= value <= domain.most:
            limits = f"between {domain.least} and {domain.most}"
            raise ValueError(f"{self.name} {shown(value)} must be {limits} ({domain.unit})")
        return self.type(value)

    def parse(self, text: str) -> int | float:
        """Return the value that a command line gives as text."""
        value: object = text
        if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            value = int(text)
        elif self.type is float and re.fullmatch(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", text, re.I):
            try:
                value = float(text)
            except ValueError:
                value = text
        return self.check(value)


@dataclass(frozen=True)
class Kind:
    """One kind of workload: what the list shows, and the function that builds an instance."""

    name: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...]
    build: Callable[..., Instance]

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of this name, or raise `ValueError` with the known names."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(parameter.name for parameter in self.parameters)
        raise ValueError(f"unknown setting {shown(name)} for kind {self.name!r}; known are {known}")

    def complete(self, given: Mapping[str, object]) -> dict[str, int | float]:
        """Return all settings in order, the given ones checked and the others at their defaults."""
        checked = {name: self.parameter(name).check(value) for name, value in given.items()}
        return {p.name: checked.get(p.name, p.default) for p in self.parameters}

    def parse(self, assignments: Sequence[str]) -> dict[str, int | float]:
        """Return the settings that texts of the form ``name=value`` give."""
        given: dict[str, int | float] = {}
        for text in assignments:
            name, equals, value = text.partition("=")
            if not equals:
                raise ValueError(f"setting {shown(text)} must have the form name=value")
            if name in given:
                raise ValueError(f"setting {shown(name)} is given twice")
            given[name] = self.parameter(name).parse(value)
        return given


def kind_of(name: str, source: str, build: Callable[..., Instance]) -> Kind:
    """Make a kind of a function: keyword arguments are parameters, the first line the summary."""
    return Kind(name, summary_of(build), source, parameters_of(build), build)


def summary_of(function: Callable[..., object]) -> str:
    """Return the first line of a function's docstring."""
    return (function.__doc__ or "").partition("\n")[0]


def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """Return the keyword arguments of a function, each annotated by an alias of this module."""
    hints: dict[str, Any] = get_type_hints(function, include_extras=True)
    return tuple(
        Parameter(parameter.name, type_, parameter.default, domain)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        for type_, domain in [get_args(hints[parameter.name])]
    )
