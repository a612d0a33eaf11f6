"""The game of a policy that knows nothing but a range of volumes against a distribution, in the
limit."""

from ratiolab.game.ranges.play import Found, enclose

__all__ = ["Found", "enclose"]
