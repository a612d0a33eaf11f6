"""Commands for several replicas."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.cli.app import end_interrupted, print_json, print_rich, progress

if TYPE_CHECKING:
    from ratiolab.hindsight.result import Progress, Report
    from ratiolab.model.fleet import Fleet


def require_none(refused: Mapping[str, object]) -> None:
    """Refuse options that are for one replica alone."""
    for option, value in refused.items():
        if value is not None:
            raise ValueError(f"{option} is for one replica: leave it out, or take --replicas 1")


def solve_replicas(
    fleet: "Fleet",
    options: Mapping[str, Any],
    refused: Mapping[str, object],
    tell: "Report | None",
    schedule: Path | None,
    certificate: Path | None,
    *,
    json: bool,
) -> None:
    """Solve a fleet, write the requested files, and print the interval.

    Parameters
    ----------
    options : of `ratiolab.hindsight.fleets.solve.solve_fleet`.
    refused : options of the command that are for one replica, with their values.
    tell : streams progress; None shows it on the terminal.
    """
    from ratiolab.hindsight.certificates.io import write_certificate
    from ratiolab.hindsight.fleets.solve import solve_fleet
    from ratiolab.model.fleet_io import write_fleet_schedule
    from ratiolab.report.tables import stages_line

    require_none(refused)
    with progress(silent=tell is not None) as display:
        task = display.add_task(fleet.headline)

        def show(now: "Progress") -> None:
            interval = f"optimum in [{now.lower:,}, {now.upper:,}]"
            display.update(task, description=f"{fleet.name}: {interval}, {now.stage}")

        result = solve_fleet(fleet, progress=tell or show, **options)
    proved = ""
    try:
        if schedule is not None:
            write_fleet_schedule(result.schedule, schedule)
        if certificate is not None:
            write_certificate(result.certificate, certificate)
            proved = f"{certificate}: proves >= {result.certified:,}"
    finally:  # a file that cannot be written does not cost the answer
        if json:
            print_json("optimum", result.to_dict())
        else:
            print_rich(fleet.headline)
            print_rich(f"{result.status}: {result.headline}, {result.seconds:.1f} s")
            print_rich(*[result.note] * bool(result.note))
            print_rich(stages_line(result))
            print_rich(*[proved] * bool(proved))
    if result.interrupted:
        end_interrupted("the schedule and the bound are the best found so far")
