"""Time to proof: the plain integer program, and cuts with dynamic programming and a stronger one.

Run ``python tests/benchmarks/bench_solve.py [--limit SECONDS] [--seeds N] [n ...]``. Requests are
drawn as in Jaillet et al. (2025), Section 5.1, with n fixed: M in 30..50, prompts 1..5, outputs
1..M-s, all at round 0. Each cell is CPU seconds, with the proven interval when time ran out; the
last column is their ratio. Compare ratios, not seconds: machines differ.
"""

import argparse
from time import process_time

from ratiolab.hindsight import OptResult, solve
from ratiolab.model import Instance
from ratiolab.workloads.generators import generate


def drawn(n: int, seed: int) -> Instance:
    return generate("jaillet-model-1", seed, n_least=n, n_most=n)


def timed(instance: Instance, method: str, limit: float) -> tuple[float, OptResult]:
    began = process_time()
    result = solve(instance, method=method, time_limit=limit)
    return process_time() - began, result


def cell(seconds: float, result: OptResult) -> str:
    open_ = "" if result.is_exact else f" open [{result.lower}, {result.upper}]"
    return f"{seconds:.1f}{open_}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", nargs="*", type=int, default=[8, 10, 12])
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    timed(drawn(7, 0), "auto", options.limit)  # compile first
    print(f"{'n':>3} {'seed':>4}  {'plain program':28} {'auto':28} ratio")
    for n in options.n:
        for seed in range(options.seeds):
            plain = timed(drawn(n, seed), "ip", options.limit)
            auto = timed(drawn(n, seed), "auto", options.limit)
            sign = "" if plain[1].is_exact else ">"
            ratio = f"{sign}{plain[0] / auto[0]:.1f}" if auto[1].is_exact else "-"
            print(f"{n:3} {seed:4}  {cell(*plain):28} {cell(*auto):28} {ratio}", flush=True)


if __name__ == "__main__":
    main()
