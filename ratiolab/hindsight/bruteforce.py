"""The oracle for tiny instances: every vector of starts that could still be best.

It shares nothing with the other solvers but the footprint and is written to be believed at
sight, not to be fast.
"""

from ratiolab.model import Instance, Schedule, held

MOST_REQUESTS = 8
"""More requests than this are refused: the search is exponential."""


def brute_force(instance: Instance) -> Schedule:
    """Return an optimal schedule without evictions, by complete enumeration.

    Requests are placed one after another, each at every start from its arrival on. A start is
    tried only while the latency so far, plus the bare outputs of the requests still to be placed,
    is below the best schedule known; latency grows with the start, so this ends, and no horizon
    is needed. The first schedule known runs the requests one at a time.

    Parameters
    ----------
    instance : at most `MOST_REQUESTS` requests; few rounds, too, or patience.

    Raises
    ------
    ValueError
        when the instance has more requests.

    Cost is exponential in the number of requests.

    >>> brute_force(Instance("equal", 2, [0, 0, 0], [1, 1, 1], [1, 1, 1])).total_latency
    6
    """
    if len(instance) > MOST_REQUESTS:
        raise ValueError(f"{len(instance)} requests: brute force takes at most {MOST_REQUESTS}")
    requests = list(instance.requests)
    order = sorted(range(len(requests)), key=lambda i: requests[i])
    best_starts, free = [0] * len(requests), 0
    for i in order:
        best_starts[i] = max(free, requests[i].arrival)
        free = best_starts[i] + requests[i].output
    best = sum(p + r.output - r.arrival for p, r in zip(best_starts, requests, strict=True))
    usage: dict[int, int] = {}
    starts = [0] * len(requests)

    def place(i: int, latency: int) -> None:
        nonlocal best, best_starts
        if i == len(requests):
            best, best_starts = latency, list(starts)
            return
        arrival, prompt, output = requests[i]
        rest = sum(request.output for request in requests[i + 1 :])
        start = arrival
        while latency + (start + output - arrival) + rest < best:
            tokens = {start + age: held(prompt, age) for age in range(1, output + 1)}
            if all(usage.get(t, 0) + y <= instance.memory for t, y in tokens.items()):
                starts[i] = start
                for t, y in tokens.items():
                    usage[t] = usage.get(t, 0) + y
                place(i + 1, latency + start + output - arrival)
                for t, y in tokens.items():
                    usage[t] -= y
            start += 1

    place(0, 0)
    return Schedule.from_starts(instance, best_starts)
