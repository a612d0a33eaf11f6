"""Every router by its key."""

from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ratiolab.model.names import unknown
from ratiolab.online import routers
from ratiolab.online.registry import POLICIES, made_of, rule
from ratiolab.online.router import Router


def discovered() -> dict[str, type[Router]]:
    """Return every router that a module of `ratiolab.online.routers` defines, by key."""
    modules = [name for _, name, _ in iter_modules(routers.__path__, f"{routers.__name__}.")]
    values = [value for name in modules for value in vars(import_module(name)).values()]
    kinds = [value for value in values if isinstance(value, type) and issubclass(value, Router)]
    return dict(sorted((kind.name, kind) for kind in kinds if vars(kind).get("name")))


ROUTERS = discovered()
"""The routers of the laboratory; a new one is a file in `routers`."""


def make_router(key: str, parameters: Mapping[str, Any] | None = None) -> Router:
    """Make the router of a key with some parameters; texts are converted to the declared types.

    Raises
    ------
    ValueError
        for an unknown key or parameter, or a value that is not of the declared type.

    >>> make_router("bf-io", {"horizon": "16"})
    BFIO(horizon=16, lengths='true')
    """
    if not isinstance(key, str):
        raise ValueError(f"router {key!r} must be a key of `ratiolab policies --routers`")
    if key in POLICIES:
        raise ValueError(f"router {key!r} is a policy: `ratiolab policies --routers` lists routers")
    if key not in ROUTERS:
        raise ValueError(unknown("router", key, ROUTERS, "`ratiolab policies --routers`"))
    return made_of(f"router {key}", ROUTERS[key], parameters)


def described(key: str) -> dict[str, Any]:
    """Return the summary, the parameters and the source of a router."""
    kind = ROUTERS[key]
    return {
        "router": key,
        "summary": rule(kind),
        "params": asdict(kind()),
        "late": kind.late,
        "source": kind.source,
    }


def as_router(given: Router | str) -> Router:
    """Return a router, made from its key where only that is given; ValueError for all else."""
    return given if isinstance(given, Router) else make_router(given)
