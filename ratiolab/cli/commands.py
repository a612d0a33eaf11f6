"""The application with every command registered on it."""

# imported for the commands that they register
from ratiolab.cli import (  # noqa: F401
    adversary,
    baselines,
    certify,
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

__all__ = ["app"]
