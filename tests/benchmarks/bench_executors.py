"""Overhead of executors: processor time of a cell that does nothing, wherever it runs.

``python tests/benchmarks/bench_executors.py`` prints a line for each executor: milliseconds a cell
of this process (which sends, receives and saves), and of all its workers and of a scheduler on this
machine together. ``--cells N`` for another number than 10,000.
"""

import argparse
import tempfile
import time
from pathlib import Path

import psutil

from ratiolab.executors import Executor, opened
from ratiolab.studies.cell import Cell
from ratiolab.studies.store import Store


def nothing(cell: Cell) -> list[dict[str, int]]:
    return [{"seed": cell.seed}]


def used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def all_used() -> tuple[float, float]:
    """Return the processor seconds of this process, and of it and its children."""
    me = psutil.Process()
    return used(me), used(me) + sum(used(child) for child in me.children(recursive=True))


def measure(executor: Executor, cells: list[Cell]) -> tuple[float, float, float]:
    """Return milliseconds a cell: here, on all processes, and on the clock of the wall."""
    list(executor.unordered(nothing, cells[: 2 * executor.slots]))  # workers are there now
    with tempfile.TemporaryDirectory() as folder:
        store, (here, there), wall = Store(Path(folder)), all_used(), time.perf_counter()
        for cell, rows in executor.unordered(nothing, cells):
            store.save(cell, rows)
        wall = time.perf_counter() - wall
        now = all_used()
    return tuple(1000 * t / len(cells) for t in (now[0] - here, now[1] - there, wall))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    count = parser.parse_args()
    cells = [Cell({"task": "simulate", "seed": seed}) for seed in range(count.cells)]
    for words, workers in (("local", 1), ("local", count.workers), ("dask", count.workers)):
        with opened(words, workers) as executor:
            here, there, wall = measure(executor, cells)
        print(f"{words} {workers}: {here:.2f} ms here, {there:.2f} ms in all, {wall:.2f} ms passed")


if __name__ == "__main__":
    main()
