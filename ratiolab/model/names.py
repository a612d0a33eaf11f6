"""Messages about names that nothing has: the nearest names, and the command that lists all."""

from collections.abc import Iterable
from difflib import SequenceMatcher

from ratiolab.model.instance import shown

FEW = 4
"""Lists of at most this length are shown in full."""

NEAREST = 3


def unknown(what: str, name: object, known: Iterable[str], listing: str = "") -> str:
    """Return the message for an unknown name.

    `what` is the kind of thing, as in ``policy``. `listing` is the command that lists the known
    names, in backticks.

    Examples
    --------
    >>> unknown("policy", "mc_sf", ["fcfs", "mc-sf", "sjf", "srpt", "svf"], "`ratiolab policies`")
    "policy 'mc_sf' is unknown; did you mean mc-sf? `ratiolab policies` lists all"
    >>> unknown("kind", "unifrm", ["uniform", "two-point"])
    "kind 'unifrm' is unknown; known are uniform, two-point"
    """
    names = list(known)
    head = f"{what} {shown(name)} is unknown"
    if len(names) <= FEW:
        head += f"; known are {', '.join(names)}" if names else ""
    else:
        *others, last = nearest(str(name), names)
        head += f"; did you mean {', '.join(others) + ' or ' * bool(others)}{last}?"
    if not listing:
        return head
    joint = "" if head.endswith("?") else ";"
    return f"{head}{joint} {listing} lists all"


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return the names most alike, the best first; one alone where it differs in spelling only."""
    sought = _plain(name)
    same = [each for each in names if _plain(each) == sought]
    if same:
        return same[:1]

    def likeness(each: str) -> float:
        plain = _plain(each)
        part = bool(sought) and (sought in plain or plain in sought)
        return SequenceMatcher(None, sought, plain).ratio() + part

    return sorted(names, key=likeness, reverse=True)[:NEAREST]


def _plain(name: str) -> str:
    """Return the letters and digits of a name."""
    return "".join(letter for letter in name.lower() if letter.isalnum())
