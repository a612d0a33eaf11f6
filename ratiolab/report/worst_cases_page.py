"""The page of the worst instances known: every policy, its ratio, and what bounds it."""

from collections.abc import Sequence
from pathlib import Path

from ratiolab.adversary.known import ANY_PROMPTS, FAMILIES, PUBLISHED, known_bound, known_family
from ratiolab.adversary.library import Entry
from ratiolab.report import templating
from ratiolab.report.templating import filled


def write_page(
    entries: Sequence[Entry], path: Path, nodes: int, missing: Sequence[str] = ()
) -> None:
    """Write the page."""
    templating.write_page(path, page(entries, nodes, missing))


def page(entries: Sequence[Entry], nodes: int, missing: Sequence[str] = ()) -> str:
    """Return the page as Markdown; `missing` are targets for which nothing was searched yet."""
    groups = {
        "Equal prompts, all requests at round 0": ("equal", "zero", 1),
        "Equal prompts, all at round 0, memory at least twice the largest request": (
            "equal", "zero", 2,
        ),
        "Any prompts, all requests at round 0": ("any", "zero", 1),
        "Any prompts, all at round 0, memory at least twice the largest request": (
            "any", "zero", 2,
        ),
        "Equal prompts, arrivals over time": ("equal", "any", 1),
    }  # fmt: skip
    tables = {
        title: _cells([entry for entry in entries if _place(entry) == place])
        for title, place in groups.items()
    }
    slots = {
        "nodes": nodes,
        "groups": {title: cases for title, cases in tables.items() if cases},
        "constants": _constants(entries),
        "missing": missing,
        "confirmed": sum(entry.confirmed for entry in entries),
        "count": len(entries),
    }
    return filled("worst-cases.md", slots)


def _place(entry: Entry) -> tuple[str, str, int]:
    limits = entry.target.limits
    return limits.prompts, limits.arrivals, limits.headroom


def _cells(entries: Sequence[Entry]) -> list[list[str]]:
    """Return the cells of a table, the worst first."""
    cases = []
    ordered = sorted(entries, key=lambda e: (e.ratio is not None, -(e.ratio or 0), e.target.name))
    for entry in ordered:
        target, instance = entry.target, entry.instance
        star = "\\*" if target.make().preemption != "restart" else ""
        parameters = "".join(f", {name} {value}" for name, value in target.parameters.items())
        link = f"[{target.policy}{parameters}](../instances/worst-cases/{target.name}.json){star}"
        ratio = _ratio(entry)
        known = known_bound(target.policy, target.limits, instance)
        gap = ""
        if known is not None and known.value is not None and entry.ratio is not None:
            gap = f"{float(known.value) / float(entry.ratio):.2f}"
        case = [
            link,
            ratio,
            f"{entry.optimum:,}" + ("" if entry.confirmed else " (one route)"),
            str(len(instance)),
            f"{instance.memory:,}",
            str(int(instance.output.max())),
            "none known" if known is None else known.text,
            gap,
            known_family(target.policy, target.limits),
        ]
        cases.append(case)
    return cases


def _ratio(entry: Entry | None) -> str:
    if entry is None:
        return ""
    ratio = "never completes" if entry.ratio is None else f"{float(entry.ratio):.4f}"
    return ratio + f" ± {entry.error:.4f}" * (entry.error > 0)


def _constants(entries: Sequence[Entry]) -> list[list[str]]:
    """Return the table of published constants beside the worst instances and families."""
    rows = []
    for policy, published in PUBLISHED.items():
        worst = {}
        for prompts in ("equal", "any"):
            own = [
                entry
                for entry in entries
                if entry.target.policy == policy
                and entry.target.limits.prompts == prompts
                and entry.target.limits.arrivals == "zero"
            ]
            worst[prompts] = max(own, key=lambda entry: entry.ratio or 0, default=None)
        families = [f"equal prompts: {FAMILIES[policy]}"] if policy in FAMILIES else []
        if policy in ANY_PROMPTS:
            families.append(f"any prompts: {ANY_PROMPTS[policy]}")
        cells = [policy, published.text, _ratio(worst["equal"]), _ratio(worst["any"])]
        rows.append([*cells, "; ".join(families)])
    return rows
