"""Shortest work first: order by the seconds of a batch that a request uses up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ratiolab.online.clock import BatchTime
from ratiolab.online.policies.svf import SVF
from ratiolab.online.policies.svf_fit import SVFFit

ROUNDS = BatchTime(fixed=1)
"""The clock that counts rounds."""


@dataclass(frozen=True)
class SWF(SVF):
    """Shortest work first: start the longest prefix of the queue that fits until completion.

    The work of a request is the time that the request adds to its batches under the clock: prefill
    of its prompt, decoding of its tokens, and reading of its cache. The request also counts a share
    of the fixed time of each batch, equal to its share of the memory. Admission is that of ``svf``;
    without a clock, the order is that of ``svf``, too.
    """

    name: ClassVar[str] = "swf"
    source: ClassVar[str] = "ratiolab, after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"

    def _size(self, memory: int, clock: BatchTime | None) -> Callable[[int, int], int]:
        time = ROUNDS if clock is None else clock
        return lambda prompt, output: time.work(prompt, output, memory)


@dataclass(frozen=True)
class SWFFit(SWF, SVFFit):
    """Shortest work first, with a choice among the next few so that memory is filled.

    As ``svf-fit``, with the work of ``swf`` in place of the volume.

    Parameters
    ----------
    ratio : largest work that is looked at over the smallest, at least 1, read as a decimal.
    candidates : requests that are looked at, at least 1.
    """

    name: ClassVar[str] = "swf-fit"
    source: ClassVar[str] = "ratiolab, after Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327"
