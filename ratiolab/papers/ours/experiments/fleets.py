"""Routers before several replicas: findings, tables and the chart of their page."""

from collections.abc import Iterator

import pandas as pd

from ratiolab.papers.drawing import Panel, Panels
from ratiolab.papers.finding import Finding, Rule, higher, in_settings, lower
from ratiolab.papers.markdown import grid
from ratiolab.papers.ours.experiments._engines import short
from ratiolab.papers.page import Page
from ratiolab.papers.runs import Ratio, Runs, mean_with_interval
from ratiolab.studies.frames import intervals

WORKLOAD, LOAD, REPLICAS, CLOCK, POLICY = (
    *("workload.label", "option.load", "option.replicas"),
    *("clock", "policy.label"),
)
PLACE = [WORKLOAD, LOAD, REPLICAS, CLOCK]
AT_ONCE = ("random", "round-robin", "jsq", "p2c", "least-kv", "least-work", "imd")


class Fleets:
    """Runs by setting (workload, load, replicas and clock), policy and router."""

    def __init__(self, frame: pd.DataFrame) -> None:
        frame = frame.assign(clock=frame[CLOCK].fillna("unit") if CLOCK in frame else "unit")
        self.frame = frame.assign(over=frame["mean_latency"] / frame["lower"])
        self.runs = Runs(self.frame, [*PLACE, POLICY, "router"])
        keys = frame[PLACE].drop_duplicates().itertuples(index=False)
        self.settings = {
            f"{workload}, R = {replicas:g}, load {load:g}, "
            f"{'rounds' if clock == 'unit' else short(clock)}": (workload, load, replicas, clock)
            for workload, load, replicas, clock in keys
        }

    def over(self, setting: str, policy: str, router: str) -> Ratio:
        """Return the mean latency over the bound."""
        place = (*self.settings[setting], policy, router)
        return mean_with_interval(self.runs.values(place, "over"))

    def ratio(self, setting: str, one: tuple[str, str], other: tuple[str, str]) -> Ratio:
        """Return the paired ratio of mean latencies of two pairs of policy and router."""
        place = self.settings[setting]
        return self.runs.ratio((*place, *one), (*place, *other), "mean_latency")

    def best_at_once(self, setting: str, policy: str) -> str:
        """Return the router that decides on arrival and has the least mean latency."""
        place = (*self.settings[setting], policy)
        return min(AT_ONCE, key=lambda r: self.runs.mean((*place, r), "mean_latency"))

    def price(self, setting: str, policy: str) -> Ratio:
        """Return the best router that decides on arrival over the central queue."""
        best = self.best_at_once(setting, policy)
        return self.ratio(setting, (policy, best), (policy, "central"))


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and the chart."""
    fleets = Fleets(frame)
    policies = list(frame[POLICY].unique())
    prices = [fleets.price(s, p).mean - 1 for s in fleets.settings for p in policies]
    order = [fleets.ratio(s, ("fcfs", "central"), ("svf", "central")) for s in fleets.settings]
    routers = list(frame["router"].unique())

    def table(policy: str) -> str:
        return grid(
            "setting",
            fleets.settings.keys(),
            routers,
            lambda s, router: f"{fleets.over(s, policy, router).mean:.2f}",
        )

    def price(setting: str, policy: str) -> str:
        found = fleets.price(setting, policy)
        return f"{found.mean - 1:.1%} ({fleets.best_at_once(setting, policy)})"

    slots = {
        "dearest": max(prices),
        "order_low": f"{min(r.mean for r in order):.2f}",
        "order_high": f"{max(r.mean for r in order):.2f}",
        "each": int(frame["option.each"].max()),
        "svf": table("svf"),
        "vllm": table("vllm-fcfs"),
        "price": grid("setting", fleets.settings.keys(), policies, price),
    }
    return Page(slots, list(findings(fleets)), {"routers": _chart(fleets, routers)})


def findings(fleets: Fleets) -> Iterator[Finding]:
    """Compare what queueing theory and engines say of routers with the runs."""
    every = list(fleets.settings)
    long_prompts = [s for s in every if not s.startswith("conversations")]

    def compared(
        statement: str,
        rule: Rule,
        names: list[str],
        one: tuple[str, str],
        other: tuple[str, str],
        why: str = "",
    ) -> Finding:
        found = {name: fleets.ratio(name, one, other) for name in names}
        means = [ratio.mean for ratio in found.values()] or [float("inf")]
        said = f"{min(means):.2f} to {max(means):.2f} in {len(found)} settings"
        return in_settings(statement, "our question", found, rule, why, said=said)

    yield compared(
        "A better order on the replicas helps more than late binding: svf behind round robin "
        "against fcfs behind a central queue",
        lower(),
        every,
        ("svf", "round-robin"),
        ("fcfs", "central"),
    )
    yield compared(
        "Late binding beats a random replica, under svf",
        lower(),
        every,
        ("svf", "central"),
        ("svf", "random"),
    )
    yield compared(
        "The least used KV cache beats the fewest requests, under vllm-fcfs",
        lower(),
        every,
        ("vllm-fcfs", "least-kv"),
        ("vllm-fcfs", "jsq"),
    )
    yield compared(
        "Least work with true volumes is worse than the fewest requests, on code and summaries, "
        "under svf",
        higher(),
        long_prompts,
        ("svf", "least-work"),
        ("svf", "jsq"),
        "volume does not say whether a replica has room, see ours/router-least-work",
    )


def _chart(fleets: Fleets, routers: list[str]) -> Panels:
    """Return the chart of mean latencies over the bound, a panel for each policy."""
    names = {place: name for name, place in fleets.settings.items()}
    places = fleets.frame[PLACE].itertuples(index=False, name=None)
    frame = fleets.frame.assign(setting=[names[place] for place in places])
    panels = [
        Panel(intervals(frame[frame[POLICY] == policy], ["setting", "router"], "over"), policy)
        for policy in ("svf", "vllm-fcfs")
    ]
    options = {"x_label": "mean latency over the proven bound", "log_x": True}
    height = 1.2 + 0.42 * len(fleets.settings)
    return Panels(
        *("dots", "setting", "router", panels, routers),
        size=(10, height),
        legend=6,
        options=options,
    )
