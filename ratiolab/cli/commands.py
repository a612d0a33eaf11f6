"""The application with every command registered on it, in the groups of its help."""

from copy import copy
from typing import Any

import typer
from typer.core import TyperGroup

# imported for the commands that they register
from ratiolab.cli import (  # noqa: F401
    adversary,
    baselines,
    certify,
    compilation,
    design,
    evaluation,
    export,
    game,
    instances,
    policies,
    records,
    schema,
    solving,
    studies,
    theory,
    traces,
    worst_cases,
)
from ratiolab.cli.app import app
from ratiolab.cli.outputs import Command

__all__ = ["app"]

GROUPS = {
    "Everyday": ("compare", "solve", "certify", "simulate", "policies", "generate"),
    "Request logs": ("evaluate", "trace"),
    "Theory": ("claims", "bound", "attack"),
    "Experiments": ("study", "reproduce"),
    "CI": ("check", "baseline", "compile"),
    "Research": ("records", "lab"),
}
"""Commands by the heading of `ratiolab --help` that shows them, in its order."""

LAB = (
    *("game", "games", "ranges", "design", "rayleigh"),
    *("worst-cases", "export", "schema"),
)
"""Rarely used commands, below ``ratiolab lab``; their names without it stay as hidden aliases."""

PLACES = {name: heading for heading, names in GROUPS.items() for name in names}

lab = typer.Typer()


@lab.callback(invoke_without_command=True)
def _lab(context: typer.Context) -> None:
    """Run a rarely used command of a single line of research; without a name, list them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class InGroups(TyperGroup):
    """The commands in the order of `GROUPS`, then the hidden aliases."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return sorted(super().list_commands(ctx), key=[*PLACES, *LAB].index)


def _arrange() -> None:
    """Give every command its class and heading, and the rarely used ones a place below ``lab``."""
    app.add_typer(lab, name="lab")
    groups = [group.typer_instance for group in app.registered_groups]
    for each in (app, *filter(None, groups)):
        for command in each.registered_commands:
            command.cls = Command
    app.info.cls = InGroups
    for group in app.registered_groups:
        group.rich_help_panel = PLACES[group.name or ""]
    for command in app.registered_commands:
        name = command.name or str(getattr(command.callback, "__name__", ""))
        if name in LAB:
            lab.registered_commands.append(copy(command))
            command.hidden = True
        else:
            command.rich_help_panel = PLACES[name]


_arrange()
