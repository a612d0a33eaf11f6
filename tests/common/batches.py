"""The best schedule of a few requests under a clock: every way to fill every batch is tried."""

from math import inf

from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.online.clock import BatchTime


def least_picoseconds(instance: Instance, clock: BatchTime, *, evictions: bool) -> int:
    """Least total latency; evicted requests keep their tokens and prefill them again.

    Without evictions nothing is lost by ``restart``: a run that is given up need not begin.
    """
    fixed, prefill, decode, kv, _ = clock.whole
    due = clock.arrivals(instance)
    prompt, output = instance.prompt.tolist(), instance.output.tolist()
    n, best = len(due), inf
    made = [0] * n

    def go(now: int, before: int, cost: int) -> None:
        nonlocal best
        open_ = [i for i in range(n) if made[i] < output[i]]
        rest = sum(max(now, due[i]) - due[i] + fixed * (output[i] - made[i]) for i in open_)
        if cost + rest >= best:
            return
        if not open_:
            best = cost
            return
        here = [i for i in open_ if due[i] <= now]
        for chosen in range(1, 1 << len(here)):
            batch = [i for k, i in enumerate(here) if chosen >> k & 1]
            if not evictions and any(made[i] and i not in batch for i in open_):
                continue
            if sum(prompt[i] + made[i] + 1 for i in batch) > instance.memory:
                continue
            end, inside = now + fixed, 0
            for i in batch:
                held = prompt[i] + made[i]
                end += decode + kv * held if before >> i & 1 else prefill * held
                inside |= 1 << i
            for i in batch:
                made[i] += 1
            done = sum(end - due[i] for i in batch if made[i] == output[i])
            go(end, inside, cost + done)
            for i in batch:
                made[i] -= 1
        later = [due[i] for i in open_ if due[i] > now]
        if later and (evictions or not any(made[i] for i in here)):
            go(min(later), 0, cost)

    go(min(due), 0, 0)
    return int(best)


def drawn_case(seed: int) -> tuple[Instance, BatchTime]:
    """One to three requests, often equal, and a clock; memory is often just enough."""
    rng = stream(seed, "instance")
    n = int(rng.integers(1, 4))
    prompt, output = rng.integers(0, 7, n), rng.integers(1, 5, n)
    if rng.random() < 0.6:
        prompt[:], output[:] = prompt[0], output[0]
    memory = int((prompt + output).max() + rng.integers(0, 12))
    arrival = rng.integers(0, 6, n) * int(rng.integers(0, 2))
    prefill, decode = rng.choice([0, 0.3, 1, 2.5]), rng.choice([0, 0.3, 0.5])
    clock = BatchTime(1, float(prefill), float(decode), float(rng.choice([0, 0.03])), tick=0.5)
    return Instance("drawn", memory, arrival, prompt, output), clock
