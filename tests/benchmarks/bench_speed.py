"""Measure how fast simulations, evaluations and first answers are, against targets.

Run ``python tests/benchmarks/bench_speed.py [ROW ...]``; ``--list`` names the rows. Each row runs
in a process of its own. Seconds are of the processor, user and system, of that process: for
simulations of the run alone, made a second time, and for commands of the whole command. Rows that
are called cold begin without any compiled code. The log is the Azure conversation trace of 2023
from the folder that RATIOLAB_TRACES names, as often as it takes.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from time import process_time
from typing import NamedTuple

from bench_long_runs import CLOCK, MEMORY, TICK, WIDE, repeated, textbook

from ratiolab.model import Instance
from ratiolab.model.io import write_instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.online.policy import Policy
from ratiolab.workloads.generators import generate

TRACE = "AzureLLMInferenceTrace_conv.csv"
SERVER = "--clock llama2-70b-2xa100 --memory 60000"


class Row(NamedTuple):
    """What is measured: its words, target and unit, and a command, or a function of this file."""

    what: str
    target: str
    command: str = ""
    requests: int = 0
    cold: bool = False
    measure: Callable[[], str] | None = None


def timed(instance: Instance, policy: Policy, clock: BatchTime | None = None) -> float:
    """Return the seconds of a second run."""
    for _ in range(2):
        began = process_time()
        simulate(instance, policy, clock=clock)
        took = process_time() - began
    return took


def unit_rounds(key: str, requests: int) -> str:
    """Time a policy at a load of 0.9 in unit rounds."""
    return f"{timed(repeated(requests, MEMORY, 0.9, None), make(key)):.2f}"


def under_a_clock() -> str:
    """Time vllm-fcfs with 200,000 tokens at a load of 1.2, and how many times quicker it is."""
    clock = clock_of(CLOCK)
    instance, policy = repeated(100_000, WIDE, 1.2, clock), make("vllm-fcfs")
    compiled = timed(instance, policy, clock)
    type(policy).many = 10**9
    began = process_time()
    simulate(instance, policy, clock=clock)
    asked = process_time() - began
    return f"{compiled:.2f} ({asked:.1f} asked in Python)"


def beside_textbook() -> str:
    """Return requests a second of fcfs over those of a compiled loop that goes batch by batch."""
    clock = clock_of(CLOCK)
    instance = repeated(100_000, WIDE, 1.2, clock)
    columns = instance.arrival * TICK, instance.prompt, instance.output
    times = clock.fixed, clock.prefill, clock.decode, clock.kv
    textbook(*(column[:100] for column in columns), WIDE, *times)
    began = process_time()
    textbook(*columns, WIDE, *times)
    loop = process_time() - began
    return f"{loop / timed(instance, make('fcfs'), clock):.3f} of the loop's"


ROWS = {
    "fcfs": Row("fcfs, 10^6 requests", "5 s", measure=lambda: unit_rounds("fcfs", 10**6)),
    "mc-sf": Row("mc-sf, 10^6 requests", "5 s", measure=lambda: unit_rounds("mc-sf", 10**6)),
    "vllm-fcfs": Row("vllm-fcfs, 10^5, clock", "a 20th of Python's", measure=under_a_clock),
    "textbook": Row("fcfs: requests a second", "a tenth of a loop's", measure=beside_textbook),
    "rr-sjf": Row("rr-sjf, 10^5", "5 s", measure=lambda: unit_rounds("rr-sjf", 10**5)),
    "mlfq": Row("mlfq, 10^5", "5 s", measure=lambda: unit_rounds("mlfq", 10**5)),
    "evaluate": Row("evaluate, all policies", "25 s", f"evaluate LOG {SERVER}", 20_000),
    "evaluate-many": Row(
        "evaluate, three policies",
        "20 s, 1 GB",
        f"evaluate LOG {SERVER} --policies fcfs,svf,vllm-fcfs",
        200_000,
    ),
    "solve-12": Row("solve, cold", "3 s", "solve INSTANCE", 12, cold=True),
    "solve-20": Row("solve, cold", "8 s", "solve INSTANCE", 20, cold=True),
    "solve-2000": Row("solve, cold", "10 s", "solve INSTANCE", 2_000, cold=True),
    "search": Row(
        "evaluate --search 1, cold",
        "5 s",
        f"evaluate LOG {SERVER} --policies fcfs --search 1",
        500,
        cold=True,
    ),
    "compare": Row("compare", "1.2 s", "compare INSTANCE", 10),
    "policies": Row("policies", "0.4 s", "policies"),
    "help": Row("--help", "0.25 s", "--help"),
}


def log(path: Path, requests: int) -> None:
    """Write a log of so many requests, the trace one time after the other."""
    folder = Path(os.environ["RATIOLAB_TRACES"])
    rows = list(csv.DictReader((folder / TRACE).open(newline="")))
    times = [datetime.fromisoformat(row["TIMESTAMP"][:26]) for row in rows]
    once = times[-1] - times[0] + timedelta(seconds=0.1)
    with path.open("w") as file:
        file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for number in range(requests):
            turn, k = divmod(number, len(rows))
            moment = (times[k] + turn * once).isoformat(sep=" ", timespec="microseconds")
            file.write(f"{moment},{rows[k]['ContextTokens']},{rows[k]['GeneratedTokens']}\n")


def prepared(row: Row, folder: Path) -> Iterator[str]:
    """Yield the words of a command, with the files that it reads."""
    for word in row.command.split():
        if word == "LOG":
            log(folder / "log.csv", row.requests)
            yield str(folder / "log.csv")
        elif word == "INSTANCE":
            instance = generate("uniform", seed=1, n=row.requests)
            write_instance(instance, folder / "instance.json")
            yield str(folder / "instance.json")
        else:
            yield word


def measured(key: str) -> tuple[str, float]:
    """Return the seconds of a row, and the gigabytes of its process at most."""
    row = ROWS[key]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = ["-m", "ratiolab", *prepared(row, folder)]
        if row.measure is not None:
            command = [__file__, "--child", key]
        places = {"NUMBA_CACHE_DIR": str(folder)} if row.cold else {}
        once = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, env=os.environ | places
        )
        assert once.stdout is not None
        words = once.stdout.read().decode()
        _, status, used = os.wait4(once.pid, 0)
        if status:
            raise SystemExit(f"row {key} fails: {' '.join(command)}")
    seconds = used.ru_utime + used.ru_stime
    return words.strip() if row.measure else f"{seconds:.2f}", used.ru_maxrss / 1e6


def main() -> None:
    """Print a table of rows."""
    parser = argparse.ArgumentParser(description="Measure against targets.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="default: all")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    parser.add_argument("--child", choices=ROWS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        measure = ROWS[options.child].measure
        assert measure is not None
        print(measure())
        return
    if options.list:
        print("\n".join(ROWS))
        return
    print("| row | what | requests | seconds | at most, GB | target |\n|---|---|---|---|---|---|")
    for key in options.rows or ROWS:
        row, (seconds, memory) = ROWS[key], measured(key)
        number = f"{row.requests:,}" if row.requests else ""
        cells = key, row.what, number, seconds, f"{memory:.2f}", row.target
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
