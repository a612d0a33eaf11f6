"""Smallest volume first: order by what a request uses of memory and time together.

Source: Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from ratiolab.model.footprint import volume
from ratiolab.online.policies.mc_sf import Believing, believed
from ratiolab.online.policies.prefix import PrefixRun
from ratiolab.online.view import Decision, Setting, View


@dataclass(frozen=True)
class SVF(Believing):
    """Smallest volume s o + o (o + 1) / 2 first: the longest prefix that fits for ever.

    Admission is that of ``mc-sf``: the prospective check, up to the first misfit. On equal prompts
    the order is that of ``mc-sf``, too. Built from the paper's abstract and the definition of the
    volume; the constants that it proves are not claimed for this reading.

    Parameters
    ----------
    lengths : output lengths that are believed, as for ``mc-sf``.
    """

    name: ClassVar[str] = "svf"
    source: ClassVar[str] = "after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        length = believed(self.lengths)
        return PrefixRun(
            setting,
            key=lambda view, i: (volume(view.prompt[i], length(view, i)),),
            length=length,
        )
