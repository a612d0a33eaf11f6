"""Measure how fast simulations, evaluations and first answers are, against targets.

Run ``python tests/benchmarks/bench_speed.py [ROW ...] [--write]``; ``--list`` names the rows. Each
row runs in a process of its own. Seconds are of the processor, user and system, of that process
and of those that it starts: for simulations of the run alone, made a second time, and for commands
of the whole command, whose source has been made byte code as an installation does it, with the time
on the wall beside. Rows that are called cold begin without any compiled code; before all other
commands ``ratiolab compile`` has run.
The log is the Azure conversation trace of 2023 from the folder that RATIOLAB_TRACES names, as often
as it takes. With ``--write`` the rows enter
``results/benchmarks_speed.csv``, and the section of ``results/benchmarks.md`` is made anew from it.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from compileall import compile_dir
from datetime import date, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from bench_long_runs import CLOCK, MEMORY, TICK, WIDE, repeated, textbook
from bench_page import kept, put

import ratiolab
from ratiolab.model import Instance
from ratiolab.model.io import write_instance
from ratiolab.online import make, simulate
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.online.policy import Policy
from ratiolab.workloads.generators import generate

TRACE = "AzureLLMInferenceTrace_conv.csv"
SERVER = "--clock llama2-70b-2xa100 --memory 60000"
COLUMNS = ("row", "what", "requests", "seconds", "gigabytes", "target", "day")
"""Of the table."""


class Row(NamedTuple):
    """What is measured, target, requests, and a command or a function of this file."""

    what: str
    target: str
    requests: int
    command: str = ""
    cold: bool = False
    measure: Callable[[int], str] | None = None


def timed(instance: Instance, policy: Policy, clock: BatchTime | None = None) -> float:
    """Return the seconds of a second run."""
    for _ in range(2):
        began = process_time()
        simulate(instance, policy, clock=clock)
        took = process_time() - began
    return took


def unit_rounds(key: str) -> Callable[[int], str]:
    """Return what times a policy at a load of 0.9 in unit rounds."""
    return lambda requests: f"{timed(repeated(requests, MEMORY, 0.9, None), make(key)):.2f}"


def under_a_clock(requests: int) -> str:
    """Time vllm-fcfs with 200,000 tokens at a load of 1.2, compiled and not."""
    clock = clock_of(CLOCK)
    instance, policy = repeated(requests, WIDE, 1.2, clock), make("vllm-fcfs")
    compiled = timed(instance, policy, clock)
    type(policy).many = 10**9
    began = process_time()
    simulate(instance, policy, clock=clock)
    asked = process_time() - began
    return f"{compiled:.2f}; asked in Python {asked:.1f}"


def beside_textbook(requests: int) -> str:
    """Return requests a second of fcfs over those of a compiled loop that goes batch by batch."""
    clock = clock_of(CLOCK)
    instance = repeated(requests, WIDE, 1.2, clock)
    columns = instance.arrival * TICK, instance.prompt, instance.output
    times = clock.fixed, clock.prefill, clock.decode, clock.kv
    textbook(*(column[:100] for column in columns), WIDE, *times)
    began = process_time()
    textbook(*columns, WIDE, *times)
    loop = process_time() - began
    return f"{loop / timed(instance, make('fcfs'), clock):.3f} of its requests a second"


THREE = "fcfs,svf,vllm-fcfs"
ROWS = {
    "fcfs": Row("fcfs, unit rounds", "5 s, 0.5 GB", 10**6, measure=unit_rounds("fcfs")),
    "mc-sf": Row("mc-sf, unit rounds", "5 s, 0.5 GB", 10**6, measure=unit_rounds("mc-sf")),
    "vllm-fcfs": Row("vllm-fcfs, clock", "a 20th of Python's", 10**5, measure=under_a_clock),
    "textbook": Row("fcfs, clock, beside a compiled loop", "0.1", 10**5, measure=beside_textbook),
    "rr-sjf": Row("rr-sjf, unit rounds", "5 s", 10**5, measure=unit_rounds("rr-sjf")),
    "mlfq": Row("mlfq, unit rounds", "5 s", 10**5, measure=unit_rounds("mlfq")),
    "evaluate": Row("evaluate, all policies, 5 seeds", "25 s", 20_000, f"evaluate LOG {SERVER}"),
    "evaluate-many": Row(
        "evaluate, fcfs, svf, vllm-fcfs, with bounds",
        "20 s, 1 GB",
        200_000,
        f"evaluate LOG {SERVER} --policies {THREE}",
    ),
    "solve-12": Row("solve, cold", "3 s", 12, "solve MODEL", cold=True),
    "solve-20": Row("solve, cold", "8 s", 20, "solve MODEL", cold=True),
    "solve-2000": Row("solve, cold", "10 s", 2_000, "solve INSTANCE", cold=True),
    "solve-12-compiled": Row("solve", "", 12, "solve MODEL"),
    "solve-20-compiled": Row("solve", "", 20, "solve MODEL"),
    "solve-2000-compiled": Row("solve", "", 2_000, "solve INSTANCE"),
    "search": Row(
        "evaluate --search 1, cold",
        "5 s",
        500,
        f"evaluate LOG {SERVER} --policies fcfs --search 1",
        cold=True,
    ),
    "compare": Row("compare", "1.2 s", 10, "compare INSTANCE"),
    "policies": Row("policies", "0.4 s", 0, "policies"),
    "help": Row("--help", "0.25 s", 0, "--help"),
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
        elif word in ("INSTANCE", "MODEL"):
            instance = generate("uniform", seed=1, n=row.requests)
            if word == "MODEL":
                sizes = {"n_least": row.requests, "n_most": row.requests}
                instance = generate("jaillet-model-1", seed=1, **sizes)
            write_instance(instance, folder / "instance.json")
            yield str(folder / "instance.json")
        else:
            yield word


def measured(key: str) -> dict[str, str]:
    """Return the line of a row."""
    row = ROWS[key]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = ["-m", "ratiolab", *prepared(row, folder)]
        if row.measure is not None:
            command = [__file__, "--child", key]
        places = {"NUMBA_CACHE_DIR": str(folder)} if row.cold else {}
        began = perf_counter()
        once = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, env=os.environ | places
        )
        assert once.stdout is not None
        words = once.stdout.read().decode().strip()
        _, status, used = os.wait4(once.pid, 0)
        wall = perf_counter() - began
        if status:
            raise SystemExit(f"row {key} fails: {' '.join(command)}")
    seconds = f"{used.ru_utime + used.ru_stime:.2f}"
    if row.command:
        seconds += f"; on the wall {wall:.1f}"
    number = f"{row.requests:,}" if row.requests else ""
    # a process counts the memory of the one that started it, too
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = f"{used.ru_maxrss / 2**20:.2f}" if used.ru_maxrss > 1.1 * own else ""
    figures = words if row.measure else seconds, memory
    values = key, row.what, number, *figures, row.target, date.today().isoformat()
    return dict(zip(COLUMNS, values, strict=True))


def section(lines: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the page's table."""
    titles = ("what", "requests", "seconds", "at most, GB", "target", "measured")
    yield f"| {' | '.join(titles)} |"
    yield "|---|--:|--:|--:|--:|---|"
    for row in lines:
        yield f"| {' | '.join(row[column] for column in COLUMNS[1:])} |"


def main() -> None:
    """Measure the rows that are named, or all."""
    parser = argparse.ArgumentParser(description="Measure against targets.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="default: all")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    parser.add_argument("--write", action="store_true", help="write results/benchmarks*")
    parser.add_argument("--child", choices=ROWS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        measure = ROWS[options.child].measure
        assert measure is not None
        print(measure(ROWS[options.child].requests))
        return
    if options.list:
        print("\n".join(ROWS))
        return
    compile_dir(Path(ratiolab.__file__).parent, quiet=1)
    if any(ROWS[key].command and not ROWS[key].cold for key in options.rows or ROWS):
        subprocess.run([sys.executable, "-m", "ratiolab", "compile"], check=True)
    places = {key: place for place, key in enumerate(ROWS)}
    for key in options.rows or ROWS:
        line = measured(key)
        print(" | ".join(line.values()), flush=True)
        if options.write:
            lines = kept("benchmarks_speed.csv", COLUMNS, line, lambda row: places.get(row["row"]))
            put("speed", section(lines))


if __name__ == "__main__":
    main()
