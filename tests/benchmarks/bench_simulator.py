"""Time every policy in the simulator, and the literal reference of the tests beside it.

Run ``python tests/benchmarks/bench_simulator.py [--requests N] [--small N]``. Lengths are those of
the Azure conversation trace of 2023 where it is at hand, in the folder that RATIOLAB_TRACES names,
and log-normal with about its means and medians otherwise; the first line says which. Requests with
prompts above half the memory are left out. The predicted laws are log-t, of each output. Seconds
are of the processor. Compare ratios, not seconds: machines differ.
"""

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.instance import LAW_COLUMNS
from ratiolab.model.streams import stream
from ratiolab.online import POLICIES, Policy, make, simulate
from ratiolab.online.clock import LLAMA2_70B_2XA100
from ratiolab.online.registry import parameters_of
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.lengths import log_normal
from ratiolab.workloads.predictions import add_predictions, buckets
from ratiolab.workloads.traces import instance_from_trace, read_trace

ROOT = Path(__file__).resolve().parents[2]

MEMORY = 16_492
"""Tokens; Llama-2-70B on two A100: Jaillet et al. (2025), Section 5.2, arXiv 2502.07115v5."""

LOAD = 1.2
"""Poisson arrivals, in multiples of the rate at which they bring M token-rounds a round."""


def workload(requests: int, seed: int = 0) -> Instance:
    """Requests at round 0 with their buckets of 100 tokens and predictions that err by half."""
    folder = Path(os.environ.get("RATIOLAB_TRACES", ROOT.parent / "shared" / "traces"))
    path = folder / "AzureLLMInferenceTrace_conv.csv"
    rng = stream(seed, "instance")
    if path.is_file():
        instance = instance_from_trace(
            read_trace(path),
            memory=MEMORY,
            max_prompt=MEMORY // 2,
            sample=requests,
            arrivals="zero",
            seed=seed,
        )
    else:
        prompt = log_normal(6.9, 1.0, MEMORY // 2).sample(rng, requests)
        output = log_normal(5.0, 0.9, 1000).sample(rng, requests)
        source = "log-normal lengths: the trace is not at hand"
        instance = Instance("log-normal", MEMORY, [0] * requests, prompt, output, source=source)
    output = instance.output
    predicted = np.maximum(
        1, stream(seed, "predictions").integers(output // 2, output + output // 2, endpoint=True)
    )
    laws = add_predictions(instance, "log-t", seed)
    told = {name: getattr(laws, name) for name in LAW_COLUMNS} | {"predicted": predicted}
    return buckets(instance.replace(**told))


def arriving(instance: Instance, seed: int = 1) -> Instance:
    """The same requests as a Poisson process."""
    rate = LOAD * instance.memory / float(instance.volume.mean())
    arrival = poisson_arrivals(stream(seed, "arrivals"), len(instance), rate)
    return instance.replace(arrival=arrival)


def timed(instance: Instance, policy: Policy) -> str:
    began = process_time()
    simulation = simulate(instance, policy)
    seconds = process_time() - began
    mark = "" if simulation.outcome == "complete" else f" {simulation.outcome}"
    asked, evicted = simulation.decisions, simulation.schedule.evictions
    return f"{seconds:9.2f} {asked:10,d} {evicted:10,d}{mark}"


def against_reference(instance: Instance, key: str) -> str:
    """Seconds of the literal reference, and how many times those of the simulator they are."""
    sys.path.insert(0, str(ROOT / "tests" / "online"))  # here: long runs do not need its memory
    import reference
    import reference_predictions

    rules = reference.RULES | reference_predictions.RULES
    if key not in rules or key == "trail":  # its reference filters in fractions: hours for these
        return "no literal reference"
    parameters = {"ties": "index"} if "ties" in parameters_of(key) else {}
    if key in ("rr", "rr-sjf"):
        parameters["quantum"] = "5"
    policy, driven = make(key, parameters), float("inf")
    for _ in range(5):  # milliseconds each: the least is the one that nothing disturbed
        began = process_time()
        simulation = simulate(instance, policy)
        driven = min(driven, process_time() - began)
    if simulation.outcome != "complete":
        return simulation.outcome
    began = process_time()
    rule = partial(rules[key], **parameters)
    runs, _ = reference.serve(instance, rule, 10**6, simulation.preemption)
    literal = process_time() - began
    if runs != [(run.request, run.start, run.stop) for run in simulation.schedule.runs]:
        raise SystemExit(f"{key}: simulator and reference differ")
    return f"{literal:9.2f} {literal / driven:10,.0f}"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="Time every policy in the simulator.")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--small", type=int, default=60, help="requests for the reference")
    options = parser.parse_args()
    together = workload(options.requests)
    spread = arriving(together)
    print(f"{options.requests} requests, memory {MEMORY}. {together.source}")
    print(f"\n{'':20}{'all at round 0':>31}{f'Poisson, load {LOAD}':>33}")
    print(f"{'policy':20}" + f"{'seconds':>9} {'decisions':>10} {'evictions':>10}  " * 2)
    for key in POLICIES:
        print(f"{key:20}{timed(together, make(key))}  {timed(spread, make(key))}", flush=True)
    print("\nwith the clock of Llama-2-70B on two A100, all at once")
    for key in ("fcfs", "mc-sf", "rr-sjf", "srpt"):
        began = process_time()
        simulation = simulate(together, make(key), clock=LLAMA2_70B_2XA100)
        print(f"{key:20}{process_time() - began:9.2f} s, {simulation.schedule.makespan:,} batches")
    small = arriving(workload(options.small))
    print(f"\n{options.small} requests, Poisson: the literal reference, which makes the same runs")
    print(f"{'policy':20}{'seconds':>9} {'times ours':>10}")
    for key in POLICIES:
        print(f"{key:20}{against_reference(small, key)}", flush=True)


if __name__ == "__main__":
    main()
