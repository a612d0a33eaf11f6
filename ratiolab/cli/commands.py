"""The application with every command registered on it."""

from ratiolab.cli import certify, instances, policies, records, schema, solving, studies, theory  # noqa: F401 - registers commands
from ratiolab.cli.app import app

__all__ = ["app"]
