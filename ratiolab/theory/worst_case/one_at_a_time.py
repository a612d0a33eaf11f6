"""Requests that fit one at a time: what a policy pays that neither knows lengths nor kills.

Prompts s = u and memory M = s + u, all requests at round 0: two requests never fit, since
2 (s + 1) > M, and nothing ever overflows. One output is u, the other n - 1 are one token. Whoever
serves the long one first and lets it run pays n u + n(n - 1)/2, the shortest first pays
u + n - 1 + n(n - 1)/2. As u grows, the ratio tends to n. Where chance orders them, the long one
delays half of the others in the mean, and the ratio tends to (n + 1)/2. So neither has a constant.

Own; the argument is that against first come, first served on one machine.
"""

from typing import NamedTuple


class LongFirst(NamedTuple):
    """An instance whose long request stands first.

    Parameters
    ----------
    memory, prompt : tokens; the prompt is that of all.
    outputs : in the order of the file.
    in_order : total latency in the order of the file.
    shortest_first : total latency in the other order, which is optimal.
    """

    memory: int
    prompt: int
    outputs: tuple[int, ...]
    in_order: int
    shortest_first: int


def long_first_alone(requests: int, longest: int) -> LongFirst:
    """Return the instance of one long request before short ones.

    >>> case = long_first_alone(4, 1000)
    >>> case.in_order, case.shortest_first, round(case.in_order / case.shortest_first, 2)
    (4006, 1009, 3.97)
    """
    if requests < 1 or longest < 1:
        raise ValueError(f"requests {requests} and longest {longest} must be at least 1")
    short = requests - 1
    waits = requests * short // 2
    return LongFirst(
        memory=2 * longest,
        prompt=longest,
        outputs=(longest, *[1] * short),
        in_order=requests * longest + waits,
        shortest_first=longest + short + waits,
    )
