"""What a log observed of its own requests, and the clock that fits it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import Instance
from ratiolab.online import simulate
from ratiolab.online.clock import BatchTime
from ratiolab.ratio.evaluation import Evaluation
from ratiolab.ratio.service import METRICS, Service, bound_of
from ratiolab.workloads.traces import Trace

Seconds = NDArray[np.float64]


def observed_service(trace: Trace) -> Service:
    """Return the latencies that a log observed of its requests.

    Raises
    ------
    ValueError
        when it has neither first-token nor finish times.
    """
    if trace.seconds is None or (trace.first is None and trace.finish is None):
        raise ValueError(f"{trace.name}: the log has neither first-token nor finish times")
    unknown = np.full(len(trace), np.nan)
    first = unknown if trace.first is None else trace.first
    finish = unknown if trace.finish is None else trace.finish
    after = np.where(trace.output > 1, trace.output - 1, np.nan)
    return Service(finish - trace.seconds, first - trace.seconds, (finish - first) / after)


@dataclass(frozen=True)
class FittedClock:
    """A clock fitted to a log, and how much of the variance of its TPOT it explains.

    Parameters
    ----------
    requests : those that the fit rests on.
    """

    clock: BatchTime
    explained: float
    requests: int


def fitted_clock(trace: Trace) -> FittedClock:
    """Fit a clock to what a log observed: least squares, no coefficient below 0.

    Between its first and its last token, a request decodes in one batch for each further token. The
    mean length of these batches is its time per output token, and the mean of what they do follows
    from all requests: how many decode, what they hold, and how many tokens are prefilled, namely
    the prompts of those whose first token falls in between.

    Raises
    ------
    ValueError
        when the log has no first-token and finish times, or too few requests of two tokens.
    """
    from scipy.optimize import nnls

    if trace.first is None or trace.finish is None:
        raise ValueError(f"{trace.name}: a clock is fitted to first-token and finish times")
    first, finish = trace.first, trace.finish
    known = np.isfinite(first) & np.isfinite(finish) & (finish > first) & (trace.output > 1)
    if known.sum() < 8:
        raise ValueError(f"{trace.name}: {known.sum()} requests with two tokens are too few to fit")
    begin, end, tokens = first[known], finish[known], trace.output[known] - 1
    prompt = trace.prompt[known]
    batches = (end - begin) / tokens  # seconds of each
    span = end - begin
    decoding, cached = np.zeros(len(span)), np.zeros(len(span))
    for i in range(len(span)):
        lapse = np.minimum(end, end[i]) - np.maximum(begin, begin[i])
        with_it = np.flatnonzero(lapse > 0)
        share = lapse[with_it] / span[i]
        decoding[i] = share.sum()
        middle = (np.maximum(begin[with_it], begin[i]) + np.minimum(end[with_it], end[i])) / 2
        made = (middle - begin[with_it]) / (end - begin)[with_it] * tokens[with_it]
        cached[i] = (share * (prompt[with_it] + 1 + made)).sum()
    moments = np.sort(begin)
    sums = np.concatenate([[0.0], np.cumsum(prompt[np.argsort(begin, kind="stable")])])
    between = sums[np.searchsorted(moments, end, "right")]
    between -= sums[np.searchsorted(moments, begin, "right")]
    table = np.column_stack([np.ones(len(span)), between / tokens, decoding, cached])
    weight = np.sqrt(tokens)  # a mean of many batches is known better
    scale = np.linalg.norm(table * weight[:, None], axis=0)
    scale[scale == 0] = 1
    found = nnls(table * weight[:, None] / scale, batches * weight)[0] / scale
    left = batches - table @ found
    explained = 1 - float((weight * left) @ (weight * left)) / max(
        float((weight * (batches - batches.mean())) @ (weight * (batches - batches.mean()))), 1e-300
    )
    fixed, prefill, decode, kv = found.tolist()
    clock = BatchTime(max(fixed, 1e-9), prefill, decode, kv)
    return FittedClock(clock, explained, int(known.sum()))


@dataclass(frozen=True)
class Judgement:
    """The judgement of an engine by the log that it made.

    Parameters
    ----------
    ratio : mean latency over the bound under the chosen clock; below 1 the clock is too slow for
        the engine, and says nothing of it.
    fitted : the clock that fits the log best; None where it does not tell enough.
    refitted : mean latency over the bound under the fitted clock.
    mean, predicted : mean latency of the log, and of the simulated policy in use under that clock.
    policy : the one in use.
    """

    ratio: float
    fitted: FittedClock | None
    refitted: float
    mean: float
    predicted: float
    policy: str

    def lines(self) -> list[str]:
        """Return the judgement in sentences."""
        words = f"The log's own mean latency is {self.mean:.4g} s, "
        if self.ratio < 1:
            words += "below the bound: this clock is slower than the engine, fit one to it."
        else:
            words += f"at most {self.ratio:.3f} times that of the best schedule under this clock."
        if self.fitted is None:
            return [words, "The log does not tell enough to fit a clock to it."]
        clock, share = self.fitted.clock, self.fitted.explained
        return [
            words,
            f"The clock fitted to it takes {clock.fixed:.3g} s for a batch, {clock.prefill:.3g} "
            f"a token prefilled, {clock.decode:.3g} a request decoding, {clock.kv:.3g} a token "
            f"read, and explains {100 * share:.0f} % of the variance of TPOT; under it the log is "
            f"at most {self.refitted:.3f} times the best schedule, and {self.policy} simulated "
            f"has a mean latency of {self.predicted:.4g} s, "
            f"{100 * (self.predicted / self.mean - 1):+.1f} %.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        clock = None if self.fitted is None else asdict(self.fitted.clock)
        explained = None if self.fitted is None else self.fitted.explained
        figures = {"mean": self.mean, "at_most_above_the_best": self.ratio}
        if clock is None:
            return figures | {"fitted_clock": None}
        return figures | {
            "fitted_clock": clock,
            "explained": explained,
            "at_most_under_the_fitted_clock": self.refitted,
            "policy": self.policy,
            "predicted_mean": self.predicted,
        }


def judged(log: Trace, instance: Instance, made: Evaluation) -> Judgement:
    """Judge what a log observed as a schedule, under the clock of an evaluation and a fitted one.

    Parameters
    ----------
    log : of the requests of the instance, in their order.
    made : an evaluation of the instance with a clock and the row ``observed``.
    """
    mean = METRICS["mean"]
    observed = made.row("observed").value(mean)
    ratio = mean.ratio(observed, made.bounds["mean"])
    try:
        fitted = fitted_clock(log)
    except ValueError:
        return Judgement(ratio, None, float("nan"), observed, float("nan"), made.current)
    bound = bound_of(mean, instance, fitted.clock, made.preemption)
    policy = made.row(made.current).policy
    assert policy is not None
    run = simulate(instance, policy, preemption=made.preemption, clock=fitted.clock)
    predicted = mean.value(Service.of(run))
    again = mean.ratio(observed, bound)
    return Judgement(ratio, fitted, again, observed, predicted, made.current)
