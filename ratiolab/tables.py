"""Stored tables of studies, games and worst cases, and what is read from them: public names."""

from ratiolab.adversary.library import replays
from ratiolab.adversary.limit import limit_of
from ratiolab.game.ranges.table import read_rows as read_ranges
from ratiolab.game.table import read_rows as read_games
from ratiolab.studies.ablations import ablation
from ratiolab.studies.frames import intervals, with_bounds
from ratiolab.studies.store import Store

__all__ = [
    "Store",
    "ablation",
    "intervals",
    "limit_of",
    "read_games",
    "read_ranges",
    "replays",
    "with_bounds",
]
