"""Time the public simulator Vidur, and two policies here, on the same requests and clock.

Run ``python tests/benchmarks/bench_vidur.py PYTHON [--requests N] [--write]``. PYTHON is that of
another environment, made by ``python -m venv FOLDER`` and ``FOLDER/bin/pip install vidur==0.0.26``.
The requests are those of bench_long_runs.py under the measured clock at a load of 0.8. There is
room for all, as this version of Vidur stops at its first eviction. Its policy, the oldest of vLLM,
then starts each request in the next batch, and lets others wait while it prefills; `fcfs` starts it
beside those that decode, and `vllm-fcfs` keeps the limits of vLLM. Seconds are of the processor,
for the run alone. With ``--write`` the table enters ``results/benchmarks.md``.
"""

import argparse
import json
import subprocess
from pathlib import Path
from time import process_time

from bench_long_runs import CLOCK, TICK, WIDE, repeated
from bench_page import put

from ratiolab.online import make, simulate
from ratiolab.online.clock import clock_of

ROOM = 10**8


def main() -> None:
    """Print a table, and write it if asked to."""
    parser = argparse.ArgumentParser(description="Time Vidur and fcfs.")
    parser.add_argument("python", help="of an environment in which Vidur is installed")
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--write", action="store_true", help="write results/benchmarks.md")
    options = parser.parse_args()
    clock = clock_of(CLOCK)
    instance = repeated(options.requests, WIDE, 0.8, clock).replace(memory=ROOM)
    columns = (instance.arrival * TICK).tolist(), instance.prompt.tolist(), instance.output.tolist()
    given = {
        "requests": list(zip(*columns, strict=True)),
        "memory": ROOM,
        "batch": [clock.fixed, clock.prefill, clock.decode, clock.kv],
    }
    child = [options.python, str(Path(__file__).with_name("peer_vidur.py"))]
    told = subprocess.run(child, input=json.dumps(given), capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(told.stderr)
    theirs = json.loads(told.stdout.splitlines()[-1])
    figures = [("Vidur 0.0.26", theirs["seconds"], theirs["end"])]
    for key in ("fcfs", "vllm-fcfs"):
        for _ in range(2):  # the first may compile
            began = process_time()
            run = simulate(instance, make(key), clock=clock)
            seconds = process_time() - began
        assert run.times is not None
        figures.append((f"`{key}`", seconds, float(run.times[run.schedule.makespan])))
    lines = ["| simulator | seconds | requests a second | ends at, s |", "|---|--:|--:|--:|"]
    for name, took, end in figures:
        lines.append(f"| {name} | {took:.3f} | {options.requests / took:,.0f} | {end:,.1f} |")
    print("\n".join(lines))
    if options.write:
        put("vidur", lines)


if __name__ == "__main__":
    main()
