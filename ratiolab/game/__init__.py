"""The finite game: a policy that knows nothing but an interval against an adversary of lengths."""

from ratiolab.game.checker import check
from ratiolab.game.deterministic import Deterministic, deterministic_value
from ratiolab.game.randomised import Randomised, randomised_value
from ratiolab.game.rules import Game

__all__ = [
    "Deterministic",
    "Game",
    "Randomised",
    "check",
    "deterministic_value",
    "randomised_value",
]
