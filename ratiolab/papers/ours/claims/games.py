"""Lower bounds for every policy from games of a few requests."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from ratiolab.game import (
    Deterministic,
    Game,
    Randomised,
    check,
    deterministic_value,
    randomised_value,
)
from ratiolab.papers.claim import EXACT, ClaimResult, decided
from ratiolab.papers.ours import PAPER

Values: TypeAlias = dict[tuple[int, ...], Fraction]
"""By requests, prompt, memory, least and largest output."""

Found: TypeAlias = Deterministic | Randomised

DETERMINISTIC: Values = {
    (2, 1, 5, 1, 4): Fraction(4, 3),
    (4, 1, 5, 1, 3): Fraction(18, 11),
    (3, 1, 7, 1, 6): Fraction(7, 4),
    (4, 2, 8, 1, 5): Fraction(39, 22),
    (5, 0, 3, 1, 3): Fraction(5, 3),
    (6, 0, 3, 1, 3): Fraction(17, 10),
    (5, 1, 6, 1, 5): Fraction(13, 7),
}
RANDOMISED: Values = {
    (2, 1, 5, 1, 4): Fraction(89, 76),
    (4, 1, 5, 1, 3): Fraction(169, 132),
    (3, 1, 7, 1, 6): Fraction(764, 591),
    (5, 0, 3, 1, 3): Fraction(119, 90),
    (6, 0, 3, 1, 3): Fraction(11367, 8440),
    (8, 0, 3, 1, 3): Fraction(62, 45),
}
REPLAYED = 2
"""Certificates that are replayed each time; by a longer search all those of small games."""

LARGEST = 5000
"""Configurations of a game whose certificate is replayed in a longer search."""

GAME = (
    "requests at round 0, one prompt, lengths in an interval that is all the policy knows; "
    "a stopped request may start again in the same round"
)


def _judged(
    claimed: Values, found: Mapping[tuple[int, ...], Found], slow: bool, how: str
) -> ClaimResult:
    """Compare values with those claimed, and replay certificates by the checker's own rules."""
    small = [one for one in found.values() if len(one.arena.configurations) <= LARGEST]
    replayed = [check(one.to_dict()) for one in small[: None if slow else REPLAYED]]
    computed = {game: _exact(one) for game, one in found.items()}
    shown = ", ".join(f"{value} at {game}" for game, value in computed.items())
    return decided(
        computed == claimed,
        EXACT,
        shown,
        evidence=f"{how}; a checker with rules of its own replayed {len(replayed)} certificates",
        witness=shown,
    )


def _exact(found: Found) -> Fraction:
    """Return the value, or 0 where only bounds are known."""
    if isinstance(found, Deterministic):
        return found.value
    return found.lower if found.is_exact else Fraction(0)


@PAPER.claim(claimed=DETERMINISTIC, control={(2, 1, 5, 1, 4): Fraction(10, 7)}, assumes=GAME)
def game_values_deterministic(claimed: Values, slow: bool) -> ClaimResult:
    """Against an adversary of the lengths no policy without randomness guarantees a ratio below
    13/7 with 5 requests, and below 17/10 with 6 requests without prompts.

    Source: games with few requests
    """
    found = {game: deterministic_value(Game(*game)) for game in claimed}
    return _judged(claimed, found, slow, "each value by a table over all configurations")


@PAPER.claim(claimed=RANDOMISED, control={(2, 1, 5, 1, 4): Fraction(5, 4)}, assumes=GAME)
def game_values_randomised(claimed: Values, slow: bool) -> ClaimResult:
    """Against an adversary that draws the lengths no policy, with randomness or without, guarantees
    a ratio of expected latencies below 62/45 = 1.3778 with 8 requests.

    Source: games with few requests
    """
    found = {game: randomised_value(Game(*game)) for game in claimed}
    how = "weights of the lengths and a mixture of policies meet in one fraction"
    return _judged(claimed, found, slow, how)
