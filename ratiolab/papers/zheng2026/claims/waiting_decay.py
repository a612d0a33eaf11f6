"""TIE's waiting decay: Score * gamma^(wait / tau), with gamma = 0.9 and tau = 30 s."""

from math import exp, inf, log

import numpy as np

from ratiolab.model.streams import stream
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.zheng2026 import PAPER
from ratiolab.theory.laws.log_t import head_start

TAU = 30.0
RATIOS = (1.5, 3.0, 10.0, 100.0)

Waiting = tuple[float, int]
"""Score and arrival, in seconds."""


@PAPER.claim(claimed=0.9, control=1.0)
def waiting_decay(gamma: float, slow: bool) -> ClaimResult:
    """Decaying the score of waiting requests prevents starvation.

    Source: TIE score
    Assumes: bounded scores, at least 1 token; finitely many arrivals in finite time
    Assumes: decay read as part of the order at every decision
    Proof: waiting_decay
    """
    horizon = 20_000 if slow else 2000
    waits = {ratio: _flooded(ratio, gamma, horizon) for ratio in RATIOS}
    starved = [ratio for ratio in RATIOS if waits[ratio] == inf]
    rng = stream(30, "cases")
    passes = late = 0
    for _ in range(100 if slow else 5):
        scores = np.exp(rng.normal(0, 1.5, 150)).tolist()
        arrivals = sorted(rng.integers(0, 100, 150).tolist())
        order = _serve(list(zip(scores, arrivals, strict=True)), gamma)
        for place, (score, arrival) in enumerate(order):
            for other, earlier in order[place + 1 :]:
                if earlier < arrival:
                    passes += 1
                    late += gamma == 1 or arrival - earlier > head_start(other / score, gamma, TAU)
    kept = not starved and not late
    return decided(
        kept,
        PROVED if kept else f"{len(RATIOS)} floods of {horizon} s",
        "flooded requests served after "
        + ", ".join(f"{waits[ratio]} s (ratio {ratio:g})" for ratio in RATIOS)
        + f"; {late} of {passes} overtakings in random queues break the bound",
        witness=f"a ratio of {starved[0]} is never served" if starved else None,
    )


def _flooded(ratio: float, gamma: float, horizon: int) -> float:
    """Return the seconds until a request of score `ratio` is served, one of score 1 arriving each
    second.
    """
    queue: list[Waiting] = [(ratio, 0)]
    for now in range(horizon):
        queue.append((1.0, now))
        served = _first(queue, now, gamma)
        if served[0] == ratio:
            return now
        queue.remove(served)
    return inf


def _serve(requests: list[Waiting], gamma: float) -> list[Waiting]:
    """Serve one request a second, the least decayed score among arrived requests."""
    queue: list[Waiting] = []
    order = []
    coming = sorted(requests, key=lambda request: -request[1])
    now = 0
    while queue or coming:
        while coming and coming[-1][1] <= now:
            queue.append(coming.pop())
        if queue:
            order.append(_first(queue, now, gamma))
            queue.remove(order[-1])
        now += 1
    return order


def _first(queue: list[Waiting], now: int, gamma: float) -> Waiting:
    return min(queue, key=lambda request: request[0] * exp(log(gamma) * (now - request[1]) / TAU))
