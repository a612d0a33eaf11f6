"""Lower bounds for every policy from games of a few requests."""

from fractions import Fraction
from typing import TypeAlias

from ratiolab.game import Game, check, deterministic_value, randomised_value
from ratiolab.game.configurations import arena
from ratiolab.papers.claim import EXACT, ClaimResult, decided
from ratiolab.papers.ours import PAPER

Values: TypeAlias = dict[tuple[int, ...], Fraction]
"""By requests, prompt, memory, least and largest output."""

DETERMINISTIC: Values = {
    (2, 1, 5, 1, 4): Fraction(10, 7),
    (4, 1, 5, 1, 3): Fraction(18, 11),
    (3, 1, 7, 1, 6): Fraction(23, 13),
    (4, 2, 8, 1, 5): Fraction(16, 9),
    (5, 0, 3, 1, 3): Fraction(5, 3),
    (6, 0, 3, 1, 3): Fraction(17, 10),
}
RANDOMISED: Values = {
    (2, 1, 5, 1, 4): Fraction(5, 4),
    (4, 1, 5, 1, 3): Fraction(169, 132),
    (3, 1, 7, 1, 6): Fraction(6530, 4983),
    (5, 0, 3, 1, 3): Fraction(119, 90),
    (6, 0, 3, 1, 3): Fraction(11367, 8440),
}
REPLAYED = 2
"""Certificates that are replayed each time; all of them by a longer search."""

GAME = "requests at round 0, one prompt, lengths in an interval that is all the policy knows"


def _shown(values: Values) -> str:
    return ", ".join(f"{value} at {game}" for game, value in values.items())


@PAPER.claim(
    "games with few requests",
    claimed=DETERMINISTIC,
    control={(2, 1, 5, 1, 4): Fraction(13, 9)},
    assumes=GAME,
)
def game_values_deterministic(claimed: Values, slow: bool) -> ClaimResult:
    """Against an adversary of the lengths no policy without randomness guarantees a ratio below
    23/13 with 3 requests, and below 17/10 with 6 requests without prompts.
    """
    found = {game: deterministic_value(Game(*game)) for game in claimed}
    again = list(found.values())[: None if slow else REPLAYED]
    replayed = [check(value.to_dict()) for value in again]
    computed = {game: value.value for game, value in found.items()}
    return decided(
        computed == claimed,
        EXACT,
        _shown(computed),
        evidence="each value by a table over all configurations; a checker with rules of its own "
        f"replayed {len(replayed)} of the tables in integers",
        witness=_shown(computed),
    )


@PAPER.claim(
    "games with few requests",
    claimed=RANDOMISED,
    control={(2, 1, 5, 1, 4): Fraction(4, 3)},
    assumes=GAME,
)
def game_values_randomised(claimed: Values, slow: bool) -> ClaimResult:
    """Against an adversary that draws the lengths no policy, with randomness or without, guarantees
    a ratio of expected latencies below 11367/8440 = 1.3468 with 6 requests.
    """
    computed: Values = {}
    replayed: list[str] = []
    for game in claimed:
        found = randomised_value(Game(*game), known=arena(Game(*game)))
        if slow or len(replayed) < REPLAYED:
            replayed.append(check(found.to_dict()))
        computed[game] = found.lower if found.is_exact else Fraction(0)
    return decided(
        computed == claimed,
        EXACT,
        _shown(computed),
        evidence="weights of the lengths and a mixture of policies meet in one fraction; a "
        f"checker with rules of its own replayed both {len(replayed)} times",
        witness=_shown(computed),
    )
