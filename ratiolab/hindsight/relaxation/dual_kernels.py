"""The compiled sweep of `dual_bound`: every request chooses its cheapest start.

Duals are int64, then everything is exact, or float64. Times are counted from the first arrival.
"""

import numpy as np

from ratiolab.hindsight.arrays import compiled


@compiled
def choose(arrival, prompt, output, duals, width, unit):  # type: ignore[no-untyped-def]
    """Return the least cost of each request, a start that attains it, and the pieces looked at.

    ``duals[b]`` is the dual of a token at times ``b width + 1 .. (b + 1) width``, and ``unit``
    what a round of latency costs. A start p costs

        c(p) = unit (p + o - a) + sum over ages g = 1..o of dual(p + g) (s + g).

    While neither p + 1 nor p + o + 1 changes bucket, with duals alpha and beta, the differences
    c(p + 1) - c(p) = unit - (sum of the duals at p+1..p+o) - s alpha + (s + o) beta grow by
    alpha - beta a step: c is quadratic there, and its least value stands at an end or at the sign
    change of the differences. Latency alone is at most c: no start needs a look once its latency
    reaches the least cost so far.
    """
    buckets, end = len(duals), len(duals) * width
    zero = duals[0] * 0
    level = np.zeros(buckets + 1, duals.dtype)  # sum of the duals before a bucket
    moment = np.zeros(buckets + 1, duals.dtype)  # the same, each times its time
    for b in range(buckets):
        level[b + 1] = level[b] + width * duals[b]
        moment[b + 1] = moment[b] + duals[b] * (width * (2 * b * width + width + 1) // 2)
    least = np.zeros(len(arrival), duals.dtype)
    starts = np.zeros(len(arrival), np.int64)
    pieces = 0
    for i in range(len(arrival)):
        a, s, o = arrival[i], prompt[i], output[i]
        cost = unit * o
        window = zero
        if a < end:
            for sign in (-1, 1):
                t = a if sign < 0 else min(a + o, end)
                b = t // width
                before, times = level[b], moment[b]
                if b < buckets:
                    past = t - b * width
                    before += past * duals[b]
                    times += duals[b] * (past * (2 * b * width + past + 1) // 2)
                window += sign * before
                cost += sign * (times + (s - a) * before)
        best, at, p = cost, a, a
        while p < end and unit * (p + o - a) < best:
            pieces += 1
            b, e = p // width, (p + o) // width
            run = (b + 1) * width - p
            alpha, beta = duals[b], zero
            if e < buckets:
                beta = duals[e]
                run = min(run, (e + 1) * width - p - o)
            step = alpha - beta
            difference = unit - window - s * alpha + (s + o) * beta
            jump = run
            if difference < 0 and -difference < step * run:
                jump = np.int64(-difference // step) + 1
            value = cost + jump * difference + jump * (jump - 1) // 2 * step
            if value < best:
                best, at = value, p + jump
            cost += run * difference + run * (run - 1) // 2 * step
            window -= run * step
            p += run
        least[i], starts[i] = best, at
    return least, starts, pieces


@compiled
def bucket_usage(starts, prompt, output, buckets, width):  # type: ignore[no-untyped-def]
    """Return the token-rounds that these starts use in each bucket, float64."""
    usage = np.zeros(buckets)
    for i in range(len(starts)):
        p, stop = starts[i], min(starts[i] + output[i], buckets * width)
        t = p
        while t < stop:
            b = t // width
            upto = min(stop, (b + 1) * width)
            count = upto - t
            usage[b] += count * (prompt[i] - p) + count * (t + upto + 1) / 2
            t = upto
    return usage
