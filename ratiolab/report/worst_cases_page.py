"""The page of the worst instances known: every policy, its ratio, and what bounds it."""

from collections.abc import Sequence
from pathlib import Path

from ratiolab.adversary.known import known_bound
from ratiolab.adversary.library import Entry
from ratiolab.model.io import write_text

HEAD = """# Worst cases

For every policy, the worst instance that the adversary has found: total latency over the proven
optimum. Each is small, stands in [instances/worst-cases](../instances/worst-cases), and is replayed
by `ratiolab attack --policy KEY --start FILE --evaluations 1`. `ratiolab worst-cases` writes this
page from the files, `ratiolab worst-cases --evaluations N` searches for worse ones first.

Ratios of policies with randomness are means over fresh seeds, which no search has used, with the
half width of a 95 % interval. Every optimum is exact, by a search of its own; *confirmed* are those
that `ratiolab solve` proves, too, in {nodes:,} nodes. Policies that read intervals are told 1 and
the largest output, those that read predictions the true lengths. The optimum runs requests without
a break: a policy that keeps the tokens of what it evicts, marked with a star, is compared all
the same.

The *gap* is the bound over the ratio: 1 would mean that the bound is attained. A ratio here is a
lower bound on the constant of a policy, no more: a search proves nothing about what it did not
find. Small instances cannot show the limits of families with many requests.
"""


def write_page(entries: Sequence[Entry], path: Path, nodes: int) -> None:
    """Write the page."""
    write_text(path, page(entries, nodes))


def page(entries: Sequence[Entry], nodes: int) -> str:
    """Return the page as Markdown."""
    lines = [HEAD.format(nodes=nodes)]
    groups = {
        "Equal prompts, all requests at round 0": ("equal", "zero", 1),
        "Equal prompts, all at round 0, memory at least twice the largest request": (
            "equal", "zero", 2,
        ),
        "Any prompts, all requests at round 0": ("any", "zero", 1),
        "Equal prompts, arrivals over time": ("equal", "any", 1),
    }  # fmt: skip
    for title, (prompts, arrivals, headroom) in groups.items():
        own = [
            entry
            for entry in entries
            if (entry.target.limits.prompts, entry.target.limits.arrivals) == (prompts, arrivals)
            and entry.target.limits.headroom == headroom
        ]
        if own:
            lines += [f"## {title}", "", *_table(own), ""]
    confirmed = sum(entry.confirmed for entry in entries)
    lines.append(f"{confirmed} of {len(entries)} optima are confirmed by `ratiolab solve`.")
    return "\n".join(lines) + "\n"


def _table(entries: Sequence[Entry]) -> list[str]:
    lines = [
        "| policy | ratio | optimum | n | M | longest | known bound | gap |",
        "|---|--:|--:|--:|--:|--:|---|--:|",
    ]
    ordered = sorted(entries, key=lambda e: (e.ratio is not None, -(e.ratio or 0), e.target.name))
    for entry in ordered:
        target, instance = entry.target, entry.instance
        star = "\\*" if target.make().preemption != "restart" else ""
        parameters = "".join(f", {name} {value}" for name, value in target.parameters.items())
        link = f"[{target.policy}{parameters}](../instances/worst-cases/{target.name}.json){star}"
        ratio = "never completes" if entry.ratio is None else f"{float(entry.ratio):.4f}"
        ratio += f" ± {entry.error:.4f}" * (entry.error > 0)
        known = known_bound(target.policy, target.limits, instance)
        gap = ""
        if known is not None and known.value is not None and entry.ratio is not None:
            gap = f"{float(known.value) / float(entry.ratio):.2f}"
        cells = [
            link,
            ratio,
            f"{entry.optimum:,}" + ("" if entry.confirmed else " (one route)"),
            str(len(instance)),
            f"{instance.memory:,}",
            str(int(instance.output.max())),
            "" if known is None else known.text,
            gap,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
