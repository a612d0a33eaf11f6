"""Geometric batches with staggered starts: ``gsa`` for lengths that are known.

Source: Feng, Yang, Zhang (2026), arXiv 2601.22996v1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from ratiolab.online.policies.gsa import GSA, GSARun
from ratiolab.online.policy import Setting
from ratiolab.online.view import Decision, Information, View


@dataclass(frozen=True)
class GBA(GSA):
    """The phases of ``gsa``, each serving those requests that end in its slice: none is killed.

    A request of output o is of the first phase whose slice is at least o. The batches of the
    phases follow one another, shorter outputs first, equals by arrival; a request starts when its
    staggered start is due and the prospective check, with slices in place of outputs, allows it.

    The paper's abstract calls it the clairvoyant counterpart of its algorithm, from the same
    framework, and gives no more. This is the natural reading of that; its constants are not
    claimed for it.

    Parameters
    ----------
    base : growth b > 1 of the slices.
    """

    name: ClassVar[str] = "gba"
    source: ClassVar[str] = "after Feng, Yang, Zhang (2026), arXiv 2601.22996v1"
    information: ClassVar[Information] = Information.TRUE_LENGTH

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        return GSARun(setting.memory, self.base, length=lambda view, i: view.output[i])
