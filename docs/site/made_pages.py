"""Reference pages made from the code: the public names, the commands and the policies."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import typer
from matplotlib import pyplot

import ratiolab
from ratiolab.cli.commands import app
from ratiolab.model.instance import Instance
from ratiolab.online.registry import summary

SHOWN = "docs/site/gallery.json"
"""The instance on which every policy is drawn; it has every column that a policy may read."""

TOPICS = {
    "instances": (
        "Instances and schedules",
        "Instance Schedule generate read_instance write_instance read_schedule write_schedule "
        "violations",
    ),
    "optimum": (
        "The hindsight optimum",
        "solve bracket OptResult certify read_certificate write_certificate",
    ),
    "policies": (
        "Policies and simulations",
        "simulate Simulation make_policy policies Policy Decision View Setting Information NEVER",
    ),
    "ratios": (
        "Ratios and worst cases",
        "compare Comparison bound attack Limits Case Game deterministic_value",
    ),
    "logs": (
        "Request logs",
        "read_trace instance_from_trace add_predictions evaluate Evaluation write_report "
        "clock_of BatchTime",
    ),
    "papers": (
        "Papers, claims and experiments",
        "claims run_claims ClaimResult Verdict decided Paper add_paper experiments reproduce",
    ),
    "studies": ("Studies", "read_study run_study"),
}
"""The pages of the public names: title and names of each; a further page has those of none."""


MODULES = {
    "testing": ("Tests of policies", "testing"),
    "formulas": ("Formulas of the papers", "formulas"),
    "figures": ("Figures of the papers", "figures"),
    "tables": ("Stored tables", "tables"),
}
"""The pages of modules whose names are public, too."""


def api_pages(folder: Path) -> None:
    """Write a page for each topic of the public names, each name with its docstring."""
    folder.mkdir(parents=True, exist_ok=True)
    public = {name for name in ratiolab.__all__ if not name.startswith("__")}
    others = public.difference(*(names.split() for _, names in TOPICS.values()))
    topics = dict(TOPICS)
    if others:
        topics["others"] = ("Other names", " ".join(sorted(others, key=str.lower)))
    rows = ["| topic | names |", "|---|---|"]
    for key, (title, names) in topics.items():
        present = [name for name in names.split() if name in public]
        lines = [f"# {title}", ""]
        for name in present:
            lines += _documented(name)
        (folder / f"{key}.md").write_text("\n".join(lines))
        listed = ", ".join(f"[{name}]({key}.md#{name.lower()})" for name in present)
        rows.append(f"| [{title}]({key}.md) | {listed} |")
    for key, (title, module) in MODULES.items():
        names = importlib.import_module(f"ratiolab.{module}").__all__
        lines = [f"# {title}", "", f"Names of `ratiolab.{module}`.", ""]
        for name in names:
            lines += _documented(name, module)
        (folder / f"{key}.md").write_text("\n".join(lines))
        rows.append(f"| [{title}]({key}.md) | {', '.join(f'`{name}`' for name in names)} |")
    topics |= dict.fromkeys(MODULES, ("", ""))
    head = (
        "# Python interface\n\nThese are the public names; all other names may change with any "
        "version. `import ratiolab` loads nothing: each name is imported when it is first used.\n\n"
    )
    contents = "\n".join(["", "```{toctree}", ":hidden:", *topics, "```", ""])
    (folder / "index.md").write_text(head + "\n".join(rows) + "\n" + contents)


def _documented(name: str, module: str = "") -> list[str]:
    place = f"ratiolab.{module}" if module else "ratiolab"
    value = getattr(importlib.import_module(place), name)
    lines = [f"## {name}", ""]
    if not inspect.isclass(value) and not inspect.isfunction(value):
        words = inspect.getdoc(value) if inspect.ismodule(value) else None
        return [*lines, _described(name) if not module else words or "", ""]
    kind = "class" if inspect.isclass(value) else "function"
    members = ["   :members:", "   :undoc-members:"] if inspect.isclass(value) else []
    return [*lines, "```{eval-rst}", f".. auto{kind}:: {place}.{name}", *members, "```", ""]


def _described(name: str) -> str:
    """Return what stands below a constant in its module."""
    place, there = ratiolab._PLACES[name]
    source = inspect.getsource(importlib.import_module(_home(place, there)))
    _, _, rest = source.partition(f"\n{there}")
    return rest.split('"""')[1] if '"""' in rest else ""


def _home(place: str, name: str) -> str:
    """Return the module that defines a constant which a package re-exports."""
    source = inspect.getsource(importlib.import_module(place))
    for line in source.replace("(\n", "(").splitlines():
        if line.startswith("from ") and f" {name}" in line.replace(",", " "):
            return line.split()[1]
    return place


def commands_page() -> str:
    """Return the page of the commands, each with its options, from their own help texts."""
    lines = ["# Commands", "", "Every command also has `--help`.", ""]
    group: Any = typer.main.get_command(app)
    heading = ""
    for name in group.list_commands(None):
        command = group.commands[name]
        if command.hidden:  # an old name
            continue
        if command.rich_help_panel != heading:
            heading = command.rich_help_panel
            lines += [f"## {heading}", ""]
        inner = getattr(command, "commands", None)
        if inner:
            lines += [f"### `ratiolab {name}`", "", inspect.cleandoc(command.help or ""), ""]
        for key, each in sorted(inner.items()) if inner else [("", command)]:
            lines += _command(f"ratiolab {name} {key}".strip(), each, "####" if inner else "###")
    return "\n".join(lines)


def _command(words: str, command: Any, heading: str) -> list[str]:
    lines = [f"{heading} `{words}`", "", _with_examples(command.help or ""), ""]
    for option in command.params:
        if option.name == "help":
            continue
        names = (
            ", ".join(option.opts) if option.param_type_name == "option" else option.name.upper()
        )
        lines += [f"`{names}`", f": {' '.join((option.help or '').split()) or 'see above'}", ""]
    return lines


def _with_examples(words: str) -> str:
    """Return the help of a command, its example as code that can be copied."""
    parts = inspect.cleandoc(words).split("\n\n")
    for number, part in enumerate(parts):
        if part.startswith("Example: ratiolab "):
            parts[number] = f"```sh\n{' '.join(part.removeprefix('Example: ').split())}\n```"
    return "\n\n".join(parts)


def policy_pages(folder: Path) -> None:
    """Write a page for each policy, with a picture of its schedule, and a page that lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    instance = ratiolab.read_instance(Path(__file__).parents[2] / SHOWN)
    optimum = ratiolab.solve(instance, time_limit=20)
    rows = ["| policy | knows | rule | ratio here |", "|---|---|---|---|"]
    for key in ratiolab.policies:
        policy = ratiolab.make_policy(key)
        ratio = _draw(policy, instance, optimum.lower, folder / f"{key}.svg")
        knows = policy.information.value
        rows.append(f"| [{key}]({key}.md) | {knows} | {summary(key).split('. ')[0]} | {ratio} |")
        (folder / f"{key}.md").write_text(_policy(key, knows, ratio))
    head = (
        "# Policies\n\nEvery policy that can be simulated: what it knows about output lengths, its "
        f"rule, and its ratio to the optimum on `{SHOWN}` with seed 0. One instance says little "
        "about a policy; the pages of [results](../results/index.md) compare them on many.\n\n"
    )
    contents = "\n".join(["", "```{toctree}", ":hidden:", *ratiolab.policies, "```", ""])
    (folder / "index.md").write_text(head + "\n".join(rows) + "\n" + contents)


def _draw(policy: Any, instance: Instance, lower: int, path: Path) -> str:
    """Draw a policy's schedule, and return its ratio to the optimum in words."""
    simulation = ratiolab.simulate(instance, policy, seed=0)
    figure = simulation.plot()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    if simulation.outcome != "complete":
        return simulation.outcome
    return f"{simulation.total_latency / lower:.3f}"


def _policy(key: str, knows: str, ratio: str) -> str:
    kind = ratiolab.policies[key]
    place = f"{kind.__module__}.{kind.__qualname__}"
    lines = [f"# {key}", "", f"Knows: **{knows}**. Source: {kind.source}.", ""]
    lines += ["```{eval-rst}", f".. autoclass:: {place}", "   :no-index:", "```", ""]
    lines += ["## A schedule", "", f"On `{SHOWN}`; ratio to the optimum: {ratio}.", ""]
    lines += [f"![Schedule of {key}]({key}.svg)", ""]
    command = f"ratiolab simulate {SHOWN} --policy {key} --plot {key}.svg"
    return "\n".join([*lines, "```sh", command, "```", ""])
