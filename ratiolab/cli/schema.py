"""The command that prints the JSON Schemas of the file formats."""

from importlib import import_module
from typing import Annotated, Any

import typer

from ratiolab.cli.app import Json, app, print_json, print_rich

DIALECT = "https://json-schema.org/draft/2020-12/schema"

SCHEMAS = {
    "instance": ("ratiolab.model.formats:InstanceFile", "an instance, JSON"),
    "fleet": ("ratiolab.model.formats:FleetFile", "requests and replicas, JSON"),
    "schedule": ("ratiolab.model.formats:ScheduleFile", "a schedule of an instance, JSON"),
    "fleet-schedule": ("ratiolab.model.formats:FleetScheduleFile", "a schedule of a fleet, JSON"),
    "certificate": (
        "ratiolab.hindsight.certificates.certificate_file:CertificateFile",
        "a proof of a lower bound, JSON",
    ),
    "witness": ("ratiolab.papers.witness_file:WitnessFile", "what shows a claim false, JSON"),
    "study": ("ratiolab.studies.study_file:StudyFile", "a study, TOML"),
    "baseline": ("ratiolab.baseline:BaselineFile", "pinned values, JSON"),
    "game": ("ratiolab.game.certificate:GameFile", "proofs of values of finite games, JSON"),
    "record": ("ratiolab.records.record:Record", "a row of the record library's table, CSV"),
}
"""Where the model of each format stands, and what a file of it is."""


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format; `ValueError` with the known names for another one."""
    from ratiolab.model.names import unknown
    from ratiolab.model.validation import adapter

    if name not in SCHEMAS:
        raise ValueError(unknown("schema", name, SCHEMAS, "`ratiolab lab schema`"))
    module, _, model = SCHEMAS[name][0].partition(":")
    return {"$schema": DIALECT, **adapter(getattr(import_module(module), model)).json_schema()}


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="File format; none lists them.")] = None,
    json: Json = False,
) -> None:
    """Print the JSON Schema of a file format; without a name, list the formats.

    The schema says what each field holds. Rules that tie several fields together, such as columns
    of one length, are checked when a file is read.

    Example: ratiolab lab schema instance
    """
    import json as json_library

    from ratiolab.report.tables import folding_table

    if name is not None:
        found = schema_of(name)
        if json:
            print_json("schema", {"name": name, "schema": found})
        else:
            typer.echo(json_library.dumps(found, indent=2))
    elif json:
        listed = [{"name": name, "describes": what} for name, (_, what) in SCHEMAS.items()]
        print_json("schemas", {"schemas": listed})
    else:
        table = folding_table("name", "describes", show_lines=False, keys=SCHEMAS)
        for key, (_, what) in SCHEMAS.items():
            table.add_row(key, what)
        print_rich(table)
