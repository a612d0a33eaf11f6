"""The oracle for tiny instances: every vector of starts that could still be best.

It shares nothing with the other solvers but the footprint and is written to be believed at
sight, not to be fast.
"""

from collections.abc import Sequence

from ratiolab.model import Instance, Schedule, held

MOST_REQUESTS = 8
"""More requests than this are refused: the search is exponential."""


def brute_force(instance: Instance, weight: Sequence[int] | None = None) -> Schedule:
    """Return an optimal schedule without evictions, by complete enumeration.

    Requests are placed one after another, each at every start from its arrival on. A start is
    tried only while the latency so far, plus the bare outputs of the requests still to be placed,
    is below the best schedule known; latency grows with the start, so this ends, and no horizon
    is needed. The first schedule known runs the requests one at a time. The cost is exponential in
    the number of requests.

    Parameters
    ----------
    instance : at most `MOST_REQUESTS` requests; few rounds, too, or patience.
    weight : what a round of each request's latency counts; 1 if absent.

    Raises
    ------
    ValueError
        when the instance has more requests.

    >>> brute_force(Instance("equal", 2, [0, 0, 0], [1, 1, 1], [1, 1, 1])).total_latency
    6
    """
    if len(instance) > MOST_REQUESTS:
        raise ValueError(f"{len(instance)} requests: brute force takes at most {MOST_REQUESTS}")
    requests = list(instance.requests)
    worth = [1] * len(requests) if weight is None else list(weight)
    order = sorted(range(len(requests)), key=lambda i: requests[i])
    best_starts, free = [0] * len(requests), 0
    for i in order:
        best_starts[i] = max(free, requests[i].arrival)
        free = best_starts[i] + requests[i].output
    ends = zip(worth, best_starts, requests, strict=True)
    best = sum(w * (p + r.output - r.arrival) for w, p, r in ends)
    usage: dict[int, int] = {}
    starts = [0] * len(requests)

    def place(i: int, latency: int) -> None:
        nonlocal best, best_starts
        if i == len(requests):
            best, best_starts = latency, list(starts)
            return
        arrival, prompt, output = requests[i]
        rest = sum(worth[k] * requests[k].output for k in range(i + 1, len(requests)))
        start = arrival
        while latency + worth[i] * (start + output - arrival) + rest < best:
            tokens = {start + age: held(prompt, age) for age in range(1, output + 1)}
            if all(usage.get(t, 0) + y <= instance.memory for t, y in tokens.items()):
                starts[i] = start
                for t, y in tokens.items():
                    usage[t] = usage.get(t, 0) + y
                place(i + 1, latency + worth[i] * (start + output - arrival))
                for t, y in tokens.items():
                    usage[t] -= y
            start += 1

    place(0, 0)
    return Schedule.from_starts(instance, best_starts)


def brute_force_goodput(instance: Instance) -> tuple[int, list[int]]:
    """Return the most weight that a schedule without evictions serves in time, and its starts.

    Requests are placed one after another: at every start from which the first token and the
    completion come by their dates, or left out, which is start -1. A choice is given up when all
    weight that is still to be placed would not exceed the best known.

    Parameters
    ----------
    instance : at most `MOST_REQUESTS` requests, each with dates soon after its arrival.

    Raises
    ------
    ValueError
        when the instance has more requests.

    >>> two = Instance("two", 4, [0, 0], [1, 1], [3, 3], deadline=[3, 5])
    >>> brute_force_goodput(two)
    (1, [0, -1])
    """
    n = len(instance)
    if n > MOST_REQUESTS:
        raise ValueError(f"{n} requests: brute force takes at most {MOST_REQUESTS}")
    requests = list(instance.requests)
    worth = [1] * n if instance.weight is None else instance.weight.tolist()
    best, best_starts = 0, [-1] * n
    usage: dict[int, int] = {}
    starts = [-1] * n

    def timely(i: int, start: int) -> bool:
        ends = instance.deadline is None or start + requests[i].output <= instance.deadline[i]
        return bool(ends and (instance.first_by is None or start + 1 <= instance.first_by[i]))

    def place(i: int, gained: int) -> None:
        nonlocal best, best_starts
        if gained > best:
            best, best_starts = gained, list(starts)
        if gained + sum(worth[i:]) <= best:
            return
        arrival, prompt, output = requests[i]
        start = arrival
        while timely(i, start):
            tokens = {start + age: held(prompt, age) for age in range(1, output + 1)}
            if all(usage.get(t, 0) + y <= instance.memory for t, y in tokens.items()):
                starts[i] = start
                for t, y in tokens.items():
                    usage[t] = usage.get(t, 0) + y
                place(i + 1, gained + worth[i])
                for t, y in tokens.items():
                    usage[t] -= y
            start += 1
        starts[i] = -1
        place(i + 1, gained)

    place(0, 0)
    return best, best_starts
