"""One reading of Section 5.1 of Jaillet et al. on many draws."""

from ratiolab.papers.jaillet2025.interpretations import READINGS
from ratiolab.studies.cell import Cell, Row
from ratiolab.studies.tasks.task import Task


def run(cell: Cell) -> list[Row]:
    """One row a draw: total latencies of MC-SF and of the best schedule found for the optimum.

    Draws begin at the seed of the cell; a seed without arrivals is left out.
    """
    key, model = cell.option("reading"), cell.option("model")
    if key not in READINGS or model not in (1, 2):
        raise ValueError(f"reading {key!r}, model {model}: known are {', '.join(READINGS)}; 1, 2")
    reading = READINGS[key]
    rows: list[Row] = []
    for seed in range(cell.seed, cell.seed + cell.option("draws")):
        try:
            instance = reading.draw(model, seed)
        except ValueError:
            continue
        found = reading.evaluate(instance, seed=seed, steps=cell.option("steps"))
        rows.append(
            {"seed": seed, "requests": found.requests, "mc_sf": found.policy, "best": found.best}
        )
    return rows


TASKS = (
    Task(
        "reading",
        run,
        workload=False,
        policy=False,
        options={"reading": "described", "model": 1, "draws": 200, "steps": 2000},
    ),
)
