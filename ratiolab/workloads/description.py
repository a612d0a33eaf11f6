"""Description of a trace: its span, rates, quantiles of lengths, and the load that it offers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.model.footprint import volume
from ratiolab.model.instance import LARGEST
from ratiolab.workloads.traces import Trace, select

QUANTILES = (0, 25, 50, 75, 90, 99, 100)
"""Percents of the quantiles that are told."""

WINDOW = 60.0
"""Seconds of the windows whose largest rate is told."""


@dataclass(frozen=True, eq=False)
class Description:
    """Figures of a trace, most of them as they are printed."""

    trace: Trace
    memory: int | None
    speed: float

    @property
    def span(self) -> float | None:
        """Seconds from the first arrival to the last; None without times."""
        seconds = self.trace.seconds
        return None if seconds is None else float(seconds[-1])

    @property
    def rate(self) -> float | None:
        """Requests a second, on average over the span."""
        return len(self.trace) / self.span if self.span else None

    @cached_property
    def largest_rate(self) -> float | None:
        """Requests a second in the busiest minute that begins with an arrival.

        None for a log of less than a minute.
        """
        seconds = self.trace.seconds
        if seconds is None or seconds[-1] < WINDOW:
            return None
        ends = np.searchsorted(seconds, seconds + WINDOW, side="left")
        return float((ends - np.arange(len(seconds))).max() / WINDOW)

    @property
    def variation(self) -> float | None:
        """Coefficient of variation of the times between arrivals; 1 for a Poisson process."""
        seconds = self.trace.seconds
        if seconds is None or len(seconds) < 3 or not self.span:
            return None
        gaps = np.diff(seconds)
        return float(gaps.std() / gaps.mean())

    @cached_property
    def load(self) -> float | None:
        """Token-rounds of the requests over token-rounds of the memory in the span.

        Requests that exceed the memory alone do not count. Above 1 no scheduler keeps up.
        """
        if self.memory is None or not self.span:
            return None
        kept = select(self.trace, memory=self.memory).kept
        needed = volume(self.trace.prompt[kept], self.trace.output[kept]).astype(float).sum()
        return float(needed / (self.memory * self.span * self.speed))

    @property
    def observed_means(self) -> dict[str, float]:
        """Mean latency, TTFT and TPOT that the log observed, seconds, as far as it did."""
        trace = self.trace
        arrival = 0.0 if trace.seconds is None else trace.seconds
        found: dict[str, float] = {}
        if trace.finish is not None:
            found["latency"] = _mean(trace.finish - arrival)
        if trace.first is not None:
            found["TTFT"] = _mean(trace.first - arrival)
        if trace.finish is not None and trace.first is not None:
            after = np.where(trace.output > 1, trace.output - 1, np.nan)
            found["TPOT"] = _mean((trace.finish - trace.first) / after)
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def quantiles(self, tokens: NDArray[np.int64]) -> dict[str, float]:
        """Return the quantiles of a column of tokens, by name."""
        values = np.percentile(tokens, QUANTILES)
        return {f"p{p}": float(v) for p, v in zip(QUANTILES, values, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        trace = self.trace
        dropped = select(trace, memory=self.memory or 2 * LARGEST).dropped
        return {
            "trace": trace.name,
            "layout": trace.layout,
            "requests": len(trace),
            "dropped": dropped,
            "span_seconds": self.span,
            "rate": self.rate,
            "largest_rate_in_a_minute": self.largest_rate,
            "variation_of_gaps": self.variation,
            "prompt": {"mean": float(trace.prompt.mean()), **self.quantiles(trace.prompt)},
            "output": {"mean": float(trace.output.mean()), **self.quantiles(trace.output)},
            "memory": self.memory,
            "rounds_per_second": self.speed,
            "load": self.load,
            "times": trace.units,
            "notes": list(trace.notes),
            "observed_means_seconds": self.observed_means,
            **(
                {} if trace.prefixes is None else {"prefixes": trace.prefixes.to_dict(trace.prompt)}
            ),
            "observed": [
                role for role in ("start", "first", "finish") if getattr(trace, role) is not None
            ],
        }


def _mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
