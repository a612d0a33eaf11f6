"""Checks of the numbers that a caller gives: options, limits and sizes."""

from math import isnan

import numpy as np

from ratiolab.model.instance import is_integer, shown


def require_integer(name: str, value: object, least: int | None = None) -> int:
    """Return an integer of any kind as an int.

    `ValueError` unless the value is one, and not below the least that is allowed.
    """
    if not is_integer(value):
        raise ValueError(f"{name} {shown(value)} must be an integer")
    _require_least(name, value, least)
    return int(value)  # type: ignore[call-overload, no-any-return]


def require_number(name: str, value: object, least: float | None = None) -> None:
    """Raise ValueError unless a value is a number, and not below the least that is allowed."""
    known = isinstance(value, int | float | np.integer | np.floating)
    if not known or isinstance(value, bool) or isnan(value):  # type: ignore[arg-type]
        raise ValueError(f"{name} {shown(value)} must be a number")
    _require_least(name, value, least)


def _require_least(name: str, value: object, least: float | None) -> None:
    if least is not None and value < least:  # type: ignore[operator]
        raise ValueError(f"{name} {value} must be at least {least}")
