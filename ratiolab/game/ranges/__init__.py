"""The fluid game of a policy that knows a range of volumes against a distribution."""

from ratiolab.game.ranges.play import Found, enclose

__all__ = ["Found", "enclose"]
