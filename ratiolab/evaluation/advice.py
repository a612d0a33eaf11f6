"""Sentences of an evaluation: the demand of the log, which policies keep up, which to deploy."""

from abc import abstractmethod
from math import ceil, floor, isnan, log10
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.evaluation.needs import need_in_words
from ratiolab.evaluation.saving import RESAMPLES
from ratiolab.online.registry import rule

if TYPE_CHECKING:
    from ratiolab.evaluation.demand import Demand
    from ratiolab.evaluation.promise import Promise
    from ratiolab.evaluation.row import Row
    from ratiolab.evaluation.saving import Saving
    from ratiolab.evaluation.service import Metric
    from ratiolab.hindsight.certificates.certificate import SecondsCertificate
    from ratiolab.model import Instance
    from ratiolab.online import Policy

NOTICED = 0.01
"""Part by which another metric must get worse, or servers get fewer, before it is told."""

LOOSE = 1.2
"""Factor between both ends from which on an interval is said to be wide."""

GRAVE = 1.5
"""Factor by which another metric gets worse before the recommendation depends on it."""

NAMED = 4
"""Policies that a sentence names."""


class Advice:
    """The sentences of an evaluation."""

    instance: "Instance"
    metric: "Metric"
    metrics: "tuple[Metric, ...]"
    bounds: dict[str, float]
    current: str
    saving: "Saving | None"
    optimum: tuple[float, float] | None
    certificate: "SecondsCertificate | None"
    promise: "Promise | None"

    @property
    @abstractmethod
    def unit(self) -> str: ...

    @property
    @abstractmethod
    def demand(self) -> "Demand": ...

    @property
    @abstractmethod
    def deployable(self) -> "list[Row]": ...

    @property
    @abstractmethod
    def predicting(self) -> "list[Row]": ...

    @property
    @abstractmethod
    def knowing(self) -> "list[Row]": ...

    @property
    @abstractmethod
    def enclosure(self) -> tuple[float, float]: ...

    @abstractmethod
    def row(self, wanted: "str | Policy") -> "Row":
        """Return the row of a policy, or of its name."""

    @property
    def nothing_waits(self) -> bool:
        """Whether in use hardly any latency is waiting, and no policy at all is better."""
        now = self.row(self.current)
        if not now.services or now.waiting > NOTICED:
            return False
        return all(
            self._gain(row) <= NOTICED
            for row in (*self.deployable, *self.predicting, *self.knowing)
        )

    @property
    def noticeable(self) -> bool:
        """Whether another policy is ready to deploy that is better by more than `NOTICED`."""
        saving = self.saving
        return saving is not None and saving.relative > NOTICED and not self.nothing_waits

    @property
    def overloaded(self) -> bool:
        """Whether no schedule keeps up with the log."""
        load = self.demand.load
        return load is not None and load > 1 and not self.demand.is_burst

    @property
    def situation(self) -> list[str]:
        """Demand of the log, which policies keep up, and the certain loss of an objective."""
        told = self._load_in_words + ([] if self.promise is None else self.promise.sentences)
        if self.instance.promises:
            named = ", ".join(self.instance.promises)
            told.append(f"Policies alone read the promises ({named}); --slo is what is judged.")
        return told

    @property
    def _load_in_words(self) -> list[str]:
        demand, now = self.demand, self.row(self.current)
        n = f"{demand.requests:,} requests"
        if not demand.span or demand.rate is None or demand.load is None:
            return [f"{n} arrive at once: how much of a load they are cannot be told."]
        unit = "a second" if self.unit == "s" else "a round"
        words = f"{n} arrive over {span(demand.span, self.unit)}, {demand.rate:.3g} {unit}"
        if now.running is not None:
            words += f"; under {self.current}, {now.running:.2g} run at a time"
        if demand.is_burst and not self.nothing_waits:
            return [f"{words}.", self._burst]
        return [f"{words}.", self._load(f"{share(demand.load)} what this memory")]

    @property
    def _burst(self) -> str:
        return (
            "That is a burst, shorter than the longest request takes alone: what a longer log "
            "would ask of this memory cannot be told."
        )

    def _load(self, load: str) -> str:
        """Return who keeps up with a load."""
        now = self.row(self.current)
        if self.overloaded:
            return (
                f"The log asks for {load} sustains: no policy keeps up. More GPUs or fewer "
                "requests would help; scheduling moves the mean, not the backlog."
            )
        if self.nothing_waits:
            share = 100 * now.waiting
            why = (
                "every request starts in the first batch after it arrives"
                if share < 0.005
                else f"{share:.2g}% of the latency is waiting"
            )
            return (
                f"{'Nothing' if share < 0.005 else 'Hardly anything'} waits: the log asks for "
                f"{load} sustains, and {why}. Scheduling changes nothing."
            )
        if now.keeps_up:
            return f"{self.current} keeps up: the log asks for at least {load} sustains."
        others = [row.name for row in (*self.deployable, *self.predicting) if row.keeps_up]
        words = f"The log asks for at least {load} sustains, and {self.current} does not keep up: "
        if not others:
            return words + "nor does any other policy here. More GPUs or fewer requests would help."
        return words + f"its latencies grow with the length of the log. {_names(others)} keep up."

    @property
    def headline(self) -> str:
        """The recommendation, in a sentence or two."""
        best, current = self.deployable[0], self.row(self.current)
        title = self.metric.title
        now, then = current.value(self.metric), best.value(self.metric)
        if isnan(now):
            return f"{self.current} never ends; {best.name} has a {title} of {self._shown(then)}."
        if self.nothing_waits:
            return f"Keep {self.current}: no policy is noticeably better, whatever it knows."
        saving = self.saving
        if saving is None:
            return (
                f"Keep {self.current}: no other policy that needs nothing new has a better {title} "
                f"than {self._shown(now)}."
            )
        if not self.noticeable:
            return (
                f"Keep {self.current}: no other policy that needs nothing new is better by more "
                f"than {100 * NOTICED:.0f}% ({best.name}: {title} {self._shown(then)}, "
                f"{self.current} {self._shown(now)})."
            )
        change = f"{percent(abs(saving.relative))} {'better' if saving.relative > 0 else 'worse'}"
        values = f"{title} of {self._shown(then)} instead of {self._shown(now)}, {change}"
        grave = self._worse(best, GRAVE)
        but = f", but {_listed(grave)}" if grave else ""
        if saving.low <= 0:
            return (
                f"Keep {self.current} unless more requests say otherwise: on this log {best.name} "
                f"has a {values}{but}; that may be chance."
            )
        if grave:
            words = f"{best.name} has a {values}{but}: switch only if that is acceptable."
        else:
            words = f"Switch from {self.current} to {best.name}: a {values}."
        if self.overloaded:
            words += " That is the mean of this log alone: the backlog grows either way."
        if saving.servers is not None and saving.servers > NOTICED:
            words += f" At equal {title}, about {100 * saving.servers:.0f}% fewer GPUs."
        return words

    @property
    def milder(self) -> str:
        """A sentence on the next policy that makes nothing much worse; or nothing."""
        if not self.noticeable or not self._worse(self.deployable[0], GRAVE):
            return ""
        for row in self.deployable[1:]:
            if self._gain(row) > NOTICED and not self._worse(row, GRAVE):
                value = self._shown(row.value(self.metric))
                return (
                    f"Without such a cost, {row.name} has on this log a {self.metric.title} of "
                    f"{value}, {percent(self._gain(row))} better than {self.current}."
                )
        return ""

    @property
    def with_predictions(self) -> str:
        """A sentence on the best policy that needs a prediction; or nothing."""
        best = next((row for row in self.predicting if row.services), None)
        if best is None or best.policy is None or self.nothing_waits:
            return ""
        least = self.deployable[0].value(self.metric)
        better = self.metric.better(best.value(self.metric), least)
        if not better or abs(best.value(self.metric) - least) <= NOTICED * abs(least):
            return ""
        grave = self._worse(best, GRAVE)
        but = f", but {_listed(grave)}" if grave else ""
        return (
            f"Not recommended as it stands: {best.name} has a {self.metric.title} of "
            f"{self._shown(best.value(self.metric))}{but}. It needs "
            f"{need_in_words(best.policy, self.instance)}; a predictor would have to supply it."
        )

    @property
    def drawbacks(self) -> str:
        """A sentence on what a switch makes worse by more than `NOTICED`; or nothing."""
        if not self.noticeable:
            return ""
        best = self.deployable[0]
        told = self._worse(best, GRAVE)
        if words := [each for each in self._worse(best, 1 + NOTICED) if each not in told]:
            return f"Metrics that {'also ' * bool(told)}get worse by {best.name}: {_listed(words)}."
        return f"Nothing else that is measured here gets worse by {best.name}."

    def _worse(self, row: "Row", factor: float) -> list[str]:
        """Return the other metrics that a row has worse than the current one, by a factor."""
        current, words = self.row(self.current), []
        for metric in self.metrics:
            now, then = current.value(metric), row.value(metric)
            if metric.key == self.metric.key or not then or not now:
                continue
            ratio = now / then if metric.larger_is_better else then / now
            if ratio > factor:
                old, new = self._shown(now, metric), self._shown(then, metric)
                times = f" ({ratio:.1f} times)" if ratio > GRAVE else ""
                words.append(f"{metric.title} {new} instead of {old}{times}")
        return words

    @property
    @abstractmethod
    def taken_on_trust(self) -> bool: ...

    @property
    def enclosed(self) -> str:
        """A sentence on the proven interval of the best schedule, or on that of the caller."""
        if self.taken_on_trust and self.optimum is not None:
            first, last = (f"{end:,.0f}" for end in self.optimum)
            return (
                f"The caller states that the hindsight optimum is between {first} and {last} "
                "rounds of total latency. This evaluation does not prove it."
            )
        low, high = self.enclosure
        title = self.metric.title
        if self.optimum is not None and self.metric.key == "mean" and low == high:
            return (
                f"The hindsight optimum is proven: {self.optimum[1]:,.0f} rounds of total latency, "
                f"a {title} of {self._shown(high)}."
            )
        if abs(high - low) <= 1e-9 * abs(high):
            return f"The best schedule is proven to have a {title} of {self._shown(high)}."
        if self.nothing_waits:
            return (
                f"The proven bound on the {title} is {self._shown(self.bounds[self.metric.key])}: "
                f"the gap to {self._shown(high)} is what cannot be proven, not what can be saved."
            )
        limit = "exceeds" if self.metric.larger_is_better else "is below"
        return (
            f"The best schedule has a {title} between {self._shown(low)} and {self._shown(high)}: "
            f"it is proven that none {limit} {self._shown(self.bounds[self.metric.key])}."
        )

    @property
    def answer(self) -> str:
        """How far the policy in use is from the best possible schedule; or nothing.

        It stands where both ends were worked on, and something waits.
        """
        low, high = self.enclosure
        now = self.row(self.current).value(self.metric)
        if self.certificate is None or self.metric.key != "mean" or isnan(now):
            return ""
        title, unit = self.metric.title, self.unit
        words = f"The best possible schedule has a {title} of {_range(low, high)} {unit}; "
        times = now / high
        if times > 1 + NOTICED:
            words += f"{self.current} has {figure(now)} {unit}, at least {times:.2f} times as much."
        else:
            words += f"{self.current} has {figure(now)} {unit}, at most {now / low:.2f} times."
        if high > LOOSE * low:
            words += (
                " The width of this range is what the bound leaves open: it is loose where few "
                "requests wait at a time."
            )
        return words

    @property
    def advice(self) -> list[str]:
        """Situation, recommendation, rule of the policy, drawbacks, what is possible: sentences."""
        best = self.deployable[0]
        told = ""
        if self.noticeable and best.policy is not None:
            told = f"The rule of {best.name}: {rule(type(best.policy))}".replace("``", "")
            if alike := [row for row in self.deployable[1:] if self._nearly(best, row)]:
                words = [f"{row.name} ({self._shown(row.value(self.metric))})" for row in alike]
                told += f" Nearly as good: {_names(words)}."
        judgement = self.judgement if self.noticeable else ""
        sentences = [
            self.headline,
            self.answer,
            self.milder,
            judgement,
            told,
            self.drawbacks,
            self.with_predictions,
            "" if self.answer else self.enclosed,
        ]
        return [words for words in sentences if words]

    def _nearly(self, best: "Row", other: "Row") -> bool:
        """Return whether a row is worse than the best one by no more than `NOTICED`."""
        one, two = best.value(self.metric), other.value(self.metric)
        return abs(one - two) <= NOTICED * abs(one) and other.name != self.current

    def _gain(self, row: "Row") -> float:
        """Return by which part a row is better than the current one."""
        now, then = self.row(self.current).value(self.metric), row.value(self.metric)
        if isnan(then) or not now:
            return 0.0
        return (then - now if self.metric.larger_is_better else now - then) / abs(now)

    @property
    def judgement(self) -> str:
        """How sure the saving is: in parts of the log that had no say in the choice; or nothing."""
        saving = self.saving
        if saving is None:
            return ""
        if not np.isfinite(saving.low):
            return "There are too few requests to judge the choice."
        change = f"{percent(abs(saving.held_out))} {'better' if saving.held_out >= 0 else 'worse'}"
        return (
            f"Chosen on a part of the log and judged on the rest, {RESAMPLES} times, a switch is "
            f"{change} (95% interval {percent(saving.low)} to "
            f"{percent(saving.high)}); "
            f"{100 * saving.again:.0f}% of these choices are {self.deployable[0].name}."
        )

    def _shown(self, value: float, metric: "Metric | None" = None) -> str:
        share = (metric or self.metric).key == "goodput"
        return percent(value) if share else f"{figure(value)} {self.unit}"


def figure(value: float) -> str:
    """Return a number for people: four digits that count, without an exponent.

    >>> [figure(v) for v in (10142.3, 497.26, 4.1306, 0.02451, 0.0000123)]
    ['10,142', '497.3', '4.131', '0.02451', '0.0000123']
    """
    if not np.isfinite(value):
        return "-" if isnan(value) else "inf"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    plain = np.format_float_positional(value, precision=4, unique=False, fractional=False, trim="-")
    return str(plain)


def _range(low: float, high: float) -> str:
    """Return two numbers with the digits that tell them apart, the lower one rounded down.

    >>> _range(118.46, 129.71), _range(8.128, 11.685), _range(0.0241, 0.0243)
    ('118 to 130', '8.1 to 11.7', '0.0241 to 0.0243')
    """
    digits = 2 - floor(log10(high))
    step = 10.0**-digits
    ends = floor(low / step) * step, ceil(high / step) * step
    return " to ".join(f"{end:,.{max(digits, 0)}f}" for end in ends)


def percent(share: float) -> str:
    """Return a share in percent; a share rounded to zero has no sign."""
    return f"{100 * share:.1f}%".replace("-0.0%", "0.0%")


def span(value: float, unit: str) -> str:
    """Return a time, in hours or days when it is long.

    >>> span(23.0, "s"), span(8640.0, "s"), span(120, "rounds")
    ('23 s', '8,640 s (2.4 hours)', '120 rounds')
    """
    words = f"{figure(value)} {unit}"
    if unit != "s" or value < 3600:
        return words
    part, name = (value / 3600, "hours") if value < 48 * 3600 else (value / 86_400, "days")
    return f"{words} ({part:.3g} {name})"


def share(load: float) -> str:
    """Return a load in words, for a sentence that goes on with its unit.

    >>> share(0.996), share(0.0123), share(1.02)
    ('99.6% of', '1.23% of', '1.02 times')
    """
    return f"{100 * load:.3g}% of" if load < 1 else f"{load:.3g} times"


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _names(names: list[str]) -> str:
    more = len(names) - NAMED
    shown = names[:NAMED] + ([f"{more} more"] if more > 0 else [])
    return _listed(shown)
