"""Times that a log observed for its own requests, and the clock that fits it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.evaluation.advice import NOTICED, figure
from ratiolab.evaluation.result import Evaluation
from ratiolab.evaluation.service import METRICS, Service, observed_bound
from ratiolab.model import Instance
from ratiolab.online import simulate
from ratiolab.online.clock import BatchTime
from ratiolab.workloads.traces import Trace

Seconds = NDArray[np.float64]

FEWEST = 8
"""Requests with two tokens to which a clock is fitted."""

EXPLAINED = 0.5
"""Share of the variance of TPOT that a clock must explain before ratios are given under it."""

CLOSE = 0.1
"""Error of TPOT, over its mean, that is close enough where there is little variance."""

FAR = 0.5
"""Error of TPOT, over its mean, that is too far whatever it explains."""

MISFIT = 0.25
"""Error of a mean that the clock alone tells, over it, beyond which it does not describe an engine:
TPOT from what ran beside each request, or the latency where nothing waits."""


def observed_service(trace: Trace) -> Service:
    """Return the latencies that a log observed of its requests.

    Raises
    ------
    ValueError
        when it has neither first-token nor finish times.
    """
    if trace.first is None and trace.finish is None:
        raise ValueError(
            f"{trace.name}: the log has neither first-token nor finish times, nor latencies: "
            "leave --observed out, or name them, as in --columns ...,ttft=COLUMN,latency=COLUMN"
        )
    unknown = np.full(len(trace), np.nan)
    first = unknown if trace.first is None else trace.first
    finish = unknown if trace.finish is None else trace.finish
    after = np.where(trace.output > 1, trace.output - 1, np.nan)
    arrival = 0.0 if trace.seconds is None else trace.seconds
    return Service(finish - arrival, first - arrival, (finish - first) / after)


@dataclass(frozen=True)
class FittedClock:
    """A clock fitted to a log, and how much of the variance of its TPOT it explains.

    Parameters
    ----------
    error : root mean square error of the TPOT of a request, over the mean.
    requests : number of requests in the fit.
    """

    clock: BatchTime
    explained: float
    error: float
    requests: int

    @property
    def fits(self) -> bool:
        """Whether the clock tells the batches of the engine: most of their variance, or closely."""
        return self.error <= CLOSE or (self.explained >= EXPLAINED and self.error <= FAR)


class Batches(NamedTuple):
    """Batches between the first and the last token of each request.

    Parameters
    ----------
    seconds : the mean length of them, shape (n,): the time per output token.
    contents : the constant 1, tokens prefilled, requests decoding and tokens held, means, (n, 4).
    weight : weight of each mean; one of many batches is known better.
    """

    seconds: Seconds
    contents: Seconds
    weight: Seconds

    def explained(self, coefficients: Seconds) -> float:
        """Return the share of the variance that these coefficients of a clock explain."""
        left = self.weight * (self.seconds - self.contents @ coefficients)
        middle = np.average(self.seconds, weights=self.weight**2)
        about = self.weight * (self.seconds - middle)
        return 1 - float(left @ left) / max(float(about @ about), 1e-300)

    def error(self, coefficients: Seconds) -> float:
        """Return the root mean square error of these coefficients, over the mean."""
        left = self.seconds - self.contents @ coefficients
        weights = self.weight**2
        spread = np.sqrt(np.average(left**2, weights=weights))
        return float(spread / np.average(self.seconds, weights=weights))


def observed_batches(trace: Trace) -> Batches:
    """Return what a log tells of the batches of its engine.

    Between its first and its last token, a request decodes in one batch for each further token. The
    mean length of these batches is its time per output token, and the mean of what they do follows
    from all requests: how many decode, what they hold, and how many tokens are prefilled, namely
    the prompts of those whose first token falls in between.

    Raises
    ------
    ValueError
        when the log has no arrivals, first-token and finish times, or too few requests of two
        tokens.
    """
    if trace.seconds is None or trace.first is None or trace.finish is None:
        raise ValueError(f"{trace.name}: a clock is fitted to first-token and finish times")
    first, finish = trace.first, trace.finish
    known = np.isfinite(first) & np.isfinite(finish) & (finish > first) & (trace.output > 1)
    if known.sum() < FEWEST:
        raise ValueError(f"{trace.name}: {known.sum()} requests with two tokens are too few to fit")
    begin, end, tokens = first[known], finish[known], trace.output[known] - 1
    prompt = trace.prompt[known]
    span = end - begin
    # requests that still run when the log ends decode beside the others until then
    last = max(float(np.nanmax(times)) for times in (first, finish))
    open_ = np.flatnonzero(np.isfinite(first) & ~np.isfinite(finish) & (first < last))
    begins, ends = np.append(begin, first[open_]), np.append(end, np.full(len(open_), last))
    prompts = np.append(prompt, trace.prompt[open_])
    pace = np.append(tokens / span, np.full(len(open_), np.median(tokens / span)))
    decoding, cached = np.zeros(len(span)), np.zeros(len(span))
    for i in range(len(span)):
        since, until = np.maximum(begins, begin[i]), np.minimum(ends, end[i])
        with_it = np.flatnonzero(until > since)
        share = (until - since)[with_it] / span[i]
        decoding[i] = share.sum()
        middle = (since + until)[with_it] / 2
        made = (middle - begins[with_it]) * pace[with_it]
        cached[i] = (share * (prompts[with_it] + 1 + made)).sum()
    moments = np.sort(begins)
    sums = np.concatenate([[0.0], np.cumsum(prompts[np.argsort(begins, kind="stable")])])
    between = sums[np.searchsorted(moments, end, "right")]
    between -= sums[np.searchsorted(moments, begin, "right")]
    contents = np.column_stack([np.ones(len(span)), between / tokens, decoding, cached])
    return Batches(span / tokens, contents, np.sqrt(tokens))


def fitted_clock(trace: Trace) -> FittedClock:
    """Fit a clock to what a log observed: least squares, no coefficient below 0.

    Raises
    ------
    ValueError
        when the log does not tell enough, as `observed_batches` says.
    """
    from scipy.optimize import nnls

    seen = observed_batches(trace)
    weighted = seen.contents * seen.weight[:, None]
    scale = np.linalg.norm(weighted, axis=0)
    scale[scale == 0] = 1
    found = nnls(weighted / scale, seen.seconds * seen.weight)[0] / scale
    fixed, prefill, decode, kv = found.tolist()
    clock = BatchTime(max(fixed, 1e-9), prefill, decode, kv)
    return FittedClock(clock, seen.explained(found), seen.error(found), len(seen.seconds))


def mean_tpot(clock: BatchTime, trace: Trace) -> tuple[float, float] | None:
    """Return the mean time per output token of a log, and the prediction of a clock, seconds.

    None where the log lacks columns. The policy of the engine does not matter: the prediction uses
    the requests that ran beside each request.
    """
    try:
        seen = observed_batches(trace)
    except ValueError:
        return None
    predicted = seen.contents @ np.array([clock.fixed, clock.prefill, clock.decode, clock.kv])
    weights = seen.weight**2
    both = (np.average(seen.seconds, weights=weights), np.average(predicted, weights=weights))
    return float(both[0]), float(both[1])


@dataclass(frozen=True)
class Judgement:
    """The judgement of an engine by the log that it made.

    Parameters
    ----------
    known, requests : how many requests have a finish time, and how many there are.
    means : mean latency, TTFT and TPOT of the log, by title, as far as the log has them.
    has_arrivals : whether the log tells when requests arrive.
    described : whether the chosen clock describes the engine, within `MISFIT`; None where that
        cannot be told.
    compared : what the log and the chosen clock say of the mean that tells, seconds, and its title;
        None where nothing tells.
    ratio : mean latency over the bound on the same requests under the chosen clock; NaN where the
        clock does not describe the engine.
    simulated : mean latency of the policy in use, simulated under the chosen clock, of the same
        requests.
    fitted : the clock that fits the log best; None where it does not tell enough.
    refitted : mean latency over the bound under the fitted clock; NaN where that does not fit.
    predicted : mean latency of the simulated policy in use under that clock, of the same requests.
    policy : the one in use.
    """

    known: int
    requests: int
    means: Mapping[str, float]
    has_arrivals: bool
    described: bool | None
    compared: tuple[float, float, str] | None
    ratio: float
    simulated: float
    fitted: FittedClock | None
    refitted: float
    predicted: float
    policy: str

    @property
    def mean(self) -> float:
        """Mean latency of the log; NaN where it knows none."""
        return self.means.get(METRICS["mean"].title, float("nan"))

    def lines(self) -> list[str]:
        """Return the judgement in sentences."""
        told = ", ".join(f"{title} {figure(value)} s" for title, value in self.means.items())
        words = [f"The log itself observed: {told}."]
        if self.known < self.requests:
            words.append(
                f"{self.requests - self.known:,} of {self.requests:,} requests have no finish time "
                "(still running when the log ended?): these figures, and the bound beside them, "
                f"are of the other {self.known:,}; {self.policy}, simulated, has a mean "
                f"latency of {figure(self.simulated)} s."
            )
        words.append(self._verdict())
        return [*words, self._of_fit()] if self.has_arrivals else words

    def _verdict(self) -> str:
        if not self.has_arrivals:
            return "Without arrival times the log is not compared with any schedule."
        if isnan(self.mean):
            return "Without finish times the log's mean latency is not compared with the bound."
        if self.described is False and self.compared is not None:
            seen, predicted, title = self.compared
            return (
                f"The chosen clock does not describe this engine: it predicts a {title} of "
                f"{figure(predicted)} s, the log has {figure(seen)} s. The policies' figures "
                "describe another server, and no ratio is given."
            )
        if isnan(self.ratio):
            return (
                "The log's mean latency is below the bound: this clock is slower than the engine, "
                "so no ratio is given."
            )
        sure = "" if self.described else "; whether the clock is that of the engine is not known"
        return (
            f"Its mean latency is at most {self.ratio + 0.0005:.3f} times that of the best "
            f"schedule of the same requests under this clock{sure}."
        )

    def _of_fit(self) -> str:
        if self.fitted is None:
            return "The log does not tell enough to fit a clock to it."
        clock, share = self.fitted.clock, self.fitted.explained
        close = self.fitted.error <= CLOSE and share < EXPLAINED
        error = f", with an error of {100 * self.fitted.error:.1f}% of its mean" if close else ""
        words = (
            f"The clock fitted to the log takes {1000 * clock.fixed:.3g} ms for a batch, "
            f"{1000 * clock.prefill:.3g} ms a token prefilled, {1000 * clock.decode:.3g} ms a "
            f"request decoding and {1000 * clock.kv:.3g} ms a token read; it explains "
            f"{100 * max(share, 0):.0f}% of the variance of TPOT{error}"
        )
        if not self.fitted.fits:
            return f"{words}: it does not fit, so no ratio is given under it."
        if isnan(self.refitted):
            return f"{words}."
        change = 100 * (self.predicted / self.mean - 1)
        return (
            f"{words}. Under it the log is at most {self.refitted + 0.0005:.3f} times the best "
            f"schedule, and {self.policy} simulated has a mean latency of "
            f"{figure(self.predicted)} s, {change:+.1f}%."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data; None for what is not given."""

        def given(value: float) -> float | None:
            return value if isfinite(value) else None

        fit = self.fitted
        return {
            "requests": self.requests,
            "with_finish_times": self.known,
            "mean": given(self.mean),
            "means": dict(self.means),
            "clock_describes_the_engine": self.described,
            "at_most_above_the_best": given(self.ratio),
            "policy": self.policy,
            "simulated_mean": given(self.simulated),
            "fitted_clock": None if fit is None else asdict(fit.clock),
            "explained": None if fit is None else fit.explained,
            "fits": None if fit is None else fit.fits,
            "at_most_under_the_fitted_clock": given(self.refitted),
            "predicted_mean": given(self.predicted),
        }


def judged(log: Trace, instance: Instance, made: Evaluation) -> Judgement:
    """Judge what a log observed as a schedule, under the clock of an evaluation and a fitted one.

    Parameters
    ----------
    log : of the requests of the instance, in their order.
    made : an evaluation of the instance with a clock and the row ``observed``.
    """
    mean = METRICS["mean"]
    row = made.row("observed")
    (service,) = row.services
    known = np.flatnonzero(np.isfinite(service.latency))
    titles = {metric.title: metric.value(service) for metric in METRICS.values() if not metric.tail}
    means = {title: value for title, value in titles.items() if isfinite(value)}
    observed = row.value(mean)
    now = made.row(made.current)
    policy = now.policy
    assert policy is not None

    def over(services: Sequence[Service]) -> float:
        own = [mean.value(each.take(known)) for each in services] if len(known) else []
        return float(np.mean(own)) if own else nan

    tpot = None if made.clock is None else mean_tpot(made.clock, log)
    compared = None if tpot is None else (*tpot, "mean TPOT")
    if (
        compared is None
        and made.clock is not None
        and log.seconds is not None
        and now.waiting <= NOTICED
    ):
        compared = (observed, over(now.services), mean.title)  # nothing but the clock tells it
    described = None
    if compared is not None and isfinite(compared[0]):
        described = abs(compared[1] / compared[0] - 1) <= MISFIT
    ratio = made.ratio(row, mean) if len(known) else nan
    if described is False or not ratio >= 1:
        ratio = nan
    fitted, refitted, predicted = None, nan, nan
    with suppress(ValueError):  # the log does not tell enough
        fitted = fitted_clock(log)
    if fitted is not None and fitted.fits and len(known):
        bound = observed_bound(mean, service, instance, fitted.clock, made.preemption)
        refitted = mean.ratio(observed, bound)
        run = simulate(instance, policy, preemption=made.preemption, clock=fitted.clock)
        predicted = over([Service.of(run)])
    return Judgement(
        *(len(known), len(log), means, log.seconds is not None, described, compared, ratio),
        *(over(now.services), fitted, refitted, predicted, made.current),
    )
