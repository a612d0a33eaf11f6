"""Every policy by its key, and keys with parameters made into policies."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ratiolab.online.policies.a_ell import AEll, ASwitch
from ratiolab.online.policies.a_max import AMax, ARandom
from ratiolab.online.policies.a_min import AMin
from ratiolab.online.policies.a_min_fluid import AMinFluid
from ratiolab.online.policies.gba import GBA
from ratiolab.online.policies.greedy import FCFS, SJF
from ratiolab.online.policies.gsa import GSA
from ratiolab.online.policies.h_sf import HSF
from ratiolab.online.policies.kill_restart import KillRestart
from ratiolab.online.policies.ltr import LTR, SSJF
from ratiolab.online.policies.mc_sf import MCSF, MCBenchmark
from ratiolab.online.policies.protection import AlphaBetaClearing, AlphaProtection
from ratiolab.online.policies.round_robin import RR, RRSJF
from ratiolab.online.policies.sorted_f import SortedF
from ratiolab.online.policies.svf import SVF, SVFOneBit
from ratiolab.online.policies.tie import SEPT, TIE
from ratiolab.online.policies.trail import SPRPT, SRPT, TRAIL
from ratiolab.online.user_policy import is_user_policy, load
from ratiolab.online.view import Policy

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        *(HSF, MCSF, MCBenchmark),
        *(SVF, SVFOneBit, SortedF),
        *(AMax, AMin, AEll, ASwitch, ARandom, AMinFluid, KillRestart, GSA, GBA),
        *(FCFS, SJF, RR, RRSJF, AlphaProtection, AlphaBetaClearing),
        *(SSJF, LTR, SEPT, TIE, SRPT, SPRPT, TRAIL),
    )
}
"""The policies of the laboratory; a new one is a file in `policies` and a word here."""


def make(key: str, parameters: Mapping[str, Any] | None = None) -> Policy:
    """The policy of a key with some parameters; texts are converted to the declared types.

    A key is one of `POLICIES`, or ``path/to/file.py:ClassName`` for a policy of your own.

    Raises
    ------
    ValueError
        for an unknown key or parameter, or a value that is not of the declared type.

    Examples
    --------
    >>> make("a-min", {"ties": "worst"})
    AMin(ties='worst', bound='certified')
    """
    policy = _class_of(key)
    known = _parameters(policy)
    for name in parameters or {}:
        if name not in known:
            choices = ", ".join(known) or "none"
            raise ValueError(f"policy {key}: parameter {name!r} is unknown; known are {choices}")
    values = {
        name: _convert(f"policy {key}: parameter {name}", value, known[name][0])
        for name, value in (parameters or {}).items()
    }
    return policy(**values)


def parameters_of(key: str) -> dict[str, tuple[Any, Any]]:
    """Type and default of every parameter of a policy, by name."""
    return _parameters(POLICIES[key])


def _class_of(key: str) -> type[Policy]:
    if is_user_policy(key):
        return load(key)
    if key not in POLICIES:
        raise ValueError(
            f"policy {key!r} is unknown; known are {', '.join(POLICIES)}, "
            "or path/to/file.py:ClassName"
        )
    return POLICIES[key]


def _parameters(policy: Any) -> dict[str, tuple[Any, Any]]:
    hints = get_type_hints(policy)
    return {field.name: (hints[field.name], field.default) for field in dataclasses.fields(policy)}


def parameter_values(policy: Policy) -> dict[str, Any]:
    """The parameters of a policy with their values."""
    return dataclasses.asdict(policy)  # type: ignore[call-overload, no-any-return]


def describe(policy: Policy) -> dict[str, Any]:
    """Return key, parameters, information level and default semantics of preemption."""
    return {
        "policy": policy.name,
        "params": parameter_values(policy),
        "information": policy.information.value,
        "preemption": getattr(policy, "preemption", "restart"),
    }


def summary(key: str) -> str:
    """The first sentence of a policy's description."""
    return (POLICIES[key].__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


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
        return kind(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} {value!r} must be of type {kind.__name__}") from None
