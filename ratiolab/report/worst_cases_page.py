"""The page of the worst instances known: every policy, its ratio, and what bounds it."""

from collections.abc import Sequence
from pathlib import Path

from ratiolab.adversary.known import ANY_PROMPTS, FAMILIES, PUBLISHED, known_bound, known_family
from ratiolab.adversary.library import Entry
from ratiolab.model.files import write_text

HEAD = """# Worst cases

For every policy, the worst instance that the adversary has found: total latency over the proven
optimum. Each is small, stands in [instances/worst-cases](../instances/worst-cases), and is replayed
by the command that it names as its source, with `--evaluations 1` behind it. `ratiolab worst-cases`
writes this page from the files, `ratiolab worst-cases --seconds S` searches for worse ones first, S
seconds of the processor for each policy.

Ratios of policies with randomness are means over fresh seeds, which no search has used, with the
half width of a 95 % interval. Every optimum is exact, by a search of its own; *confirmed* are those
that `ratiolab solve` proves, too, in {nodes:,} nodes. Policies that read intervals are told 1 and
the largest output, those that read predictions the true lengths. The optimum runs requests without
a break: a policy that keeps the tokens of what it evicts, marked with a star, is compared all
the same.

The *gap* is the bound over the ratio: 1 would mean that the bound is attained. A ratio here is a
lower bound on the constant of a policy, no more: a search proves nothing about what it did not
find. Small instances cannot show the limits of families with many requests: *family* names the
largest limit known of such a family. Where the known bound is *none*, a family of instances shows
that there is none. That of a long request and short ones, of which any two fill the memory, is
[proved and tested](../ratiolab/theory/worst_case/one_at_a_time.py): n is the number of requests.
"""

CONSTANTS = """## Published constants

The constants that papers state for all requests at round 0, beside the worst that is known of the
policy simulated here. None of the papers' own algorithms is simulated: each policy is our reading
of an abstract, so no line refutes a paper. The constants of gsa, gba and sorted-f were read in
abstracts alone. That of svf is known in full at second hand: 1 + 2/(1 - alpha) when no request ever
holds more than alpha M, so 5 at alpha = 1/2 and 3 as alpha tends to 0 (Theorem 3.2 of version 2, as
others restate it; proved in ours/svf-headroom). Where prompts differ, requests here may be as large
as the memory, of which neither that theorem nor the constants for large memory speak.

| policy | published | worst instance, equal prompts | worst instance, any prompts | families |
|---|---|--:|--:|---|
"""


def write_page(
    entries: Sequence[Entry], path: Path, nodes: int, missing: Sequence[str] = ()
) -> None:
    """Write the page."""
    write_text(path, page(entries, nodes, missing))


def page(entries: Sequence[Entry], nodes: int, missing: Sequence[str] = ()) -> str:
    """Return the page as Markdown; `missing` are targets for which nothing was searched yet."""
    lines = [HEAD.format(nodes=nodes)]
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
    for title, (prompts, arrivals, headroom) in groups.items():
        own = [
            entry
            for entry in entries
            if (entry.target.limits.prompts, entry.target.limits.arrivals) == (prompts, arrivals)
            and entry.target.limits.headroom == headroom
        ]
        if own:
            lines += [f"## {title}", "", *_table(own), ""]
    lines += _constants(entries)
    if missing:
        names = ", ".join(missing)
        lines += [f"Not searched: {names}. `ratiolab worst-cases --seconds S` does.", ""]
    confirmed = sum(entry.confirmed for entry in entries)
    lines.append(f"{confirmed} of {len(entries)} optima are confirmed by `ratiolab solve`.")
    return "\n".join(lines) + "\n"


def _table(entries: Sequence[Entry]) -> list[str]:
    lines = [
        "| policy | ratio | optimum | n | M | longest | known bound | gap | family |",
        "|---|--:|--:|--:|--:|--:|---|--:|---|",
    ]
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
        cells = [
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
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _ratio(entry: Entry | None) -> str:
    if entry is None:
        return ""
    ratio = "never completes" if entry.ratio is None else f"{float(entry.ratio):.4f}"
    return ratio + f" ± {entry.error:.4f}" * (entry.error > 0)


def _constants(entries: Sequence[Entry]) -> list[str]:
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
        rows.append("| " + " | ".join([*cells, "; ".join(families)]) + " |")
    return [*CONSTANTS.rstrip("\n").split("\n"), *rows, ""]
