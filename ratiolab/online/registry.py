"""Every policy by its key, and keys with parameters made into policies."""

import dataclasses
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ratiolab.model.names import unknown
from ratiolab.online import policies
from ratiolab.online.policy import Policy, require_policy
from ratiolab.online.user_policy import contained, is_user_policy, load_user_policy

Kind = TypeVar("Kind")


def discovered() -> dict[str, type[Policy]]:
    """Return every policy that a module of `ratiolab.online.policies` defines, by key."""
    modules = [name for _, name, _ in iter_modules(policies.__path__, f"{policies.__name__}.")]
    values = [value for name in modules for value in vars(import_module(name)).values()]
    kinds = [value for value in values if isinstance(value, type) and issubclass(value, Policy)]
    named = {kind.name: kind for kind in kinds if vars(kind).get("name")}
    return dict(sorted(named.items()))


POLICIES = discovered()
"""The policies of the laboratory; a new one is a file in `policies`."""


def make(key: str, parameters: Mapping[str, Any] | None = None) -> Policy:
    """Make the policy of a key with some parameters; texts are converted to the declared types.

    A key is one of `POLICIES`, or ``path/to/file.py:ClassName`` for a policy of your own.

    Raises
    ------
    ValueError
        for an unknown key or parameter, a value that is not of the declared type, or a policy with
        a wrong attribute, such as a negative budget.

    Examples
    --------
    >>> make("a-min", {"ties": "worst"})
    AMin(ties='worst', bound='certified', victim='smallest')
    """
    policy = made_of(f"policy {key}", _class_of(key), parameters)
    with contained():
        require_policy(policy)
    return policy


def made_of(title: str, kind: type[Kind], parameters: Mapping[str, Any] | None) -> Kind:
    """Return an object of a frozen dataclass of parameters, texts converted to their types.

    Parameters
    ----------
    title : what messages call it.
    """
    known: dict[str, tuple[Any, Any]] = _parameters(kind)  # type: ignore[arg-type]
    for name in parameters or {}:
        if name not in known:
            raise ValueError(f"{title}: {unknown('parameter', name, known)}")
    values = {
        name: _convert(f"{title}: parameter {name}", value, known[name][0])
        for name, value in (parameters or {}).items()
    }
    with contained():
        return kind(**values)


def as_policy(given: Policy | str) -> Policy:
    """Return a policy, made from its key where only that is given.

    Raises
    ------
    ValueError
        for an unknown key, for what is neither, and for a policy with a wrong attribute.
    """
    if isinstance(given, str):
        return make(given)
    with contained():
        require_policy(given)
    return given


def parameters_of(key: str) -> dict[str, tuple[Any, Any]]:
    """Return the type and default of every parameter of a policy, by name."""
    return _parameters(POLICIES[key])


def _class_of(key: str) -> type[Policy]:
    if not isinstance(key, str):
        raise ValueError(f"policy {key!r} must be a key of `ratiolab policies`")
    if is_user_policy(key):
        return load_user_policy(key)
    if key not in POLICIES:
        message = unknown("policy", key, POLICIES, "`ratiolab policies`")
        raise ValueError(f"{message}, and path/to/file.py:ClassName is one of your own")
    return POLICIES[key]


@lru_cache
def _parameters(policy: Any) -> dict[str, tuple[Any, Any]]:
    hints = get_type_hints(policy)
    return {field.name: (hints[field.name], field.default) for field in dataclasses.fields(policy)}


def parameter_values(policy: Policy) -> dict[str, Any]:
    """Return the parameters of a policy with their values."""
    return dataclasses.asdict(policy)


def identity(policy: Policy) -> tuple[Any, ...]:
    """Return what two policies that decide alike share: class, name and parameters.

    A file of a user's policy that is loaded twice has two classes, which share these.
    """
    kind = type(policy)
    return kind.__module__, kind.__qualname__, policy.name, parameter_values(policy)


def labels(policies: Iterable[Policy]) -> list[str]:
    """Return the name of each policy, with parameters where different ones share a name.

    Examples
    --------
    >>> labels([make("fcfs"), make("fcfs", {"batch": 1}), make("svf")])
    ['fcfs', 'fcfs(batch=1)', 'svf']
    """
    given = list(policies)
    return [
        policy.name
        if all(identity(policy) == identity(each) for each in given if each.name == policy.name)
        else _with_parameters(policy)
        for policy in given
    ]


def _with_parameters(policy: Policy) -> str:
    """Return the name of a policy with the parameters that differ from their defaults."""
    known = _parameters(type(policy))
    words = [f"{k}={v}" for k, v in parameter_values(policy).items() if v != known[k][1]]
    return f"{policy.name}({', '.join(words)})" if words else policy.name


def describe(policy: Policy) -> dict[str, Any]:
    """Return key, parameters, information level and default semantics of preemption."""
    return {
        "policy": policy.name,
        "params": parameter_values(policy),
        "information": policy.information.value,
        "preemption": policy.preemption,
    }


def summary(key: str) -> str:
    """Return the first sentence of a policy's description."""
    return rule(POLICIES[key])


def rule(kind: type) -> str:
    """Return the first paragraph of the description of a class, on one line."""
    return " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split())


def _convert(name: str, value: Any, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{name} {value!r} must be one of {', '.join(get_args(kind))}")
        return value
    if kind is bool and isinstance(value, str):  # bool("false") is true
        value = {"true": True, "false": False}.get(value, value)
    try:
        if kind is bool and not isinstance(value, bool):
            raise TypeError
        if kind is int and isinstance(value, float) and not value.is_integer():
            raise TypeError  # int(2.7) is 2
        return kind(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} {value!r} must be of type {kind.__name__}") from None
