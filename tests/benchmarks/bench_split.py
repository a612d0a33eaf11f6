r"""Which part of a gap in seconds each relaxation of the bound gives away.

``python tests/benchmarks/bench_split.py [--seconds S] [--seeds SEED ..] [--write]`` finds both ends
of `LOGS`, as ``bench_seconds.py``, and splits the gap. With ``--write`` the table enters
``results/benchmarks.md``.

For the duals of a certificate (`ratiolab.hindsight.certificates.certify_seconds` has the symbols),
the latency of a schedule without evictions is the bound and four parts, none of them negative:

- *memory*: the price (p - q / F) F of the memory that a batch leaves idle beyond its growth row,
  what the row takes off, and the price of time in which the server idles;
- *others*: the own work of others in the batches of a request, as much of W A as the duals miss;
- *order*: the cost of each request at its start, less the least over all starts in the batches of
  this schedule: these cannot all have their cheapest start;
- *alone*: from there to what the bound pays for the request, which may be served in shorter
  batches than those of the schedule, and in pieces.
"""

import argparse
from collections.abc import Iterator
from statistics import fmean
from time import thread_time
from types import SimpleNamespace

import numpy as np
from bench_page import put
from bench_seconds import CLOCK, LOGS

from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.hindsight.certificates.certify_seconds import PRICE_BITS, ROOT_BITS
from ratiolab.model import Instance
from ratiolab.online import Simulation
from ratiolab.online.clock import PICOSECONDS
from ratiolab.seconds import certified_bound, order_search
from ratiolab.seconds.certified_bound import seconds_certificate
from ratiolab.seconds.order_search import FEW, compile_search, search_order, total_seconds

NAMES = ("conversations 500", "synthetic 300")
PARTS = ("memory", "others", "order", "alone")


def split(instance: Instance, run: Simulation, claim: SecondsCertificate) -> dict[str, float]:
    """Return the parts of the gap between a run and a bound, seconds of mean latency."""
    fixed, decode = CLOCK.fixed, CLOCK.decode
    unit = claim.unit / PICOSECONDS
    width, levels = claim.width * unit, np.array(claim.levels) * unit
    steps = np.diff(1 / levels, prepend=0.0)
    price = np.array([*claim.price, 0]) / 2**PRICE_BITS
    decoding = np.array([*claim.decoding, 0]) / 2**ROOT_BITS
    prefilled = np.array([[*row, 0] for row in claim.prefilled]) * unit
    q = decode * decoding**2 + steps @ prefilled**2 / 2
    rest, edges = price - q / fixed, np.arange(len(price)) * width
    arrivals = np.asarray(run.arrivals) - np.min(run.arrivals)
    times = np.asarray(run.times) - np.min(run.arrivals)
    begins, lengths, middle = times[:-1], np.diff(times), (times[:-1] + times[1:]) / 2

    def mean(dual):  # type: ignore[no-untyped-def]
        sums = np.concatenate([[0.0], np.cumsum(dual[:-1] * width)])
        return np.diff(np.interp(times, edges, sums)) / np.maximum(lengths, 1e-12)

    p, r, q, s = map(mean, (price, rest, q, decoding))
    g = np.array([mean(row) for row in prefilled])
    credit = np.vstack([np.zeros(len(p)), np.cumsum(steps[:, None] * g, axis=0)])
    work_of, done_of, use, roots, busy = (np.zeros(len(p)) for _ in range(5))
    for start, output in zip(run.schedule.starts, instance.output, strict=True):
        busy[start : start + output] = 1
    batches = np.flatnonzero(busy)
    place = np.cumsum(busy).astype(int) - 1
    p_at, r_at, s_at, at = p[batches], r[batches], s[batches], middle[batches]
    highest = np.maximum.accumulate(rest[::-1])[::-1]
    running = np.zeros_like(g)
    memory = float(price.sum() * width - (p * lengths * busy).sum())
    order = constants = 0.0
    tokens, rounds = claim.row
    for j, start in enumerate(np.asarray(run.schedule.starts)):
        prompt, output = int(instance.prompt[j]), int(instance.output[j])
        k = np.arange(output)
        own = decode + CLOCK.kv * (prompt + k)
        own[0] = CLOCK.prefill * prompt
        share = (prompt + k + 1) / instance.memory
        if rounds:
            share = share + rounds * np.minimum(share / tokens, 1 / instance.memory)
            share -= np.maximum(rounds + 1 + k - output, 0) / tokens
            relief = -share[share < 0].sum()
            share = np.maximum(share, 0)
            memory += fixed * relief * highest[min(int(arrivals[j] / width), len(price) - 1)]
        part = own + fixed * share
        work = part.sum()
        before = np.cumsum(part) - part
        done = (before + part / 2) / work
        level = int((work <= levels).sum())
        mine = own[0] / np.sqrt(output)
        batch = start + k
        work_of[batch] += own
        done_of[batch] += done
        use[batch] += share
        roots[batch[1:]] += np.sqrt(done[1:])
        running[:level, batch] += mine
        constants += (own * (before + own / 2)).sum() / work - decode * done[1:].sum()
        constants -= own[0] ** 2 / levels[level - 1] / 2 if level else 0
        root = 2 * decode * np.sqrt(done) * (k > 0) * (share > 0)
        cost = np.correlate(at, part, "valid") / work + np.correlate(p_at, own, "valid")
        cost += np.correlate(r_at, fixed * share, "valid") + np.correlate(s_at, root, "valid")
        cost += np.correlate(credit[level][batches], mine * (share > 0), "valid")
        may = begins[batches[: len(cost)]] >= arrivals[j] - 1e-9
        order += cost[place[start]] - cost[may].min()
    memory += float((fixed * r * (1 - use) * busy).sum())
    met = 2 * decode * s * roots + steps @ (2 * g * running) / 2 - q
    others = float(((work_of * done_of - met) * busy).sum()) - constants
    n = len(instance)
    gap = total_seconds(run) - claim.bound / PICOSECONDS
    found = {"memory": memory, "others": others, "order": order}
    found["alone"] = gap - sum(found.values())
    assert min(found.values()) > -1e-6 * gap, found
    return {"gap": gap / n} | {name: value / n for name, value in found.items()}


def section(rows: list[tuple[str, float, dict[str, float]]]) -> Iterator[str]:
    """Yield the lines of the page's table: means over seeds, and parts of the gap."""
    yield "| log | gap | memory | others | order | alone |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in NAMES:
        own = [(bound, parts) for log, bound, parts in rows if log == name]
        gap = fmean(parts["gap"] / bound for bound, parts in own)
        shares = [fmean(parts[key] / parts["gap"] for _, parts in own) for key in PARTS]
        yield f"| {name} | {gap:.1%} | {' | '.join(f'{share:.0%}' for share in shares)} |"


def main() -> None:
    """Split the gaps of the logs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10, help="of each end")
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12])
    parser.add_argument("--write", action="store_true", help="write results/benchmarks.md")
    asked = parser.parse_args()
    for requests in FEW, FEW + 1:
        compile_search(requests)
    for module in (certified_bound, order_search):
        module.time = SimpleNamespace(perf_counter=thread_time)
    rows = []
    for name in NAMES:
        for seed in asked.seeds:
            instance = LOGS[name].draw(seed)
            run = search_order(instance, CLOCK, asked.seconds)
            claim = seconds_certificate(instance, CLOCK, "restart", seconds=asked.seconds)
            parts = split(instance, run, claim)
            rows.append((name, claim.bound / PICOSECONDS / len(instance), parts))
            print(name, seed, {key: round(value, 3) for key, value in parts.items()}, flush=True)
    if asked.write:
        put("split", section(rows))


if __name__ == "__main__":
    main()
