"""The checker of bounds on how many requests are in time under a clock, in plain Python integers.

The proof is that of `ratiolab.ratio.goodput_bound`. With prices u(t) >= 0 of a second of time, the
work W0 of the first token of a request and the work W1 of its other tokens,

    requests in time <= R integral of u + sum_i max(0, 1 - W0_i min over [a, f] of u
                                                      - W1_i min over [a, d] of u),

where requests that are late even alone count as late. The work of a token that a request makes with
h tokens in its cache is the share (h + 1) / M of the fixed time and what the request adds to the
batch: its prompt prefilled, or a decoding request and its cache read; or, where evicted requests
fill their cache again, the prefill of all h tokens if that is quicker.

Every limit is widened by `SLIP`: a simulation counts seconds in floats.
"""

from itertools import accumulate

from ratiolab.hindsight.certificates.certificate import InTimeCertificate
from ratiolab.hindsight.certificates.effort import (
    CertificateError,
    Effort,
    require_claimed,
    require_short_numbers,
)
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.fleet import Fleet, replicas_of
from ratiolab.model.instance import PICOSECONDS, Instance

SLIP = 10**6
"""Picoseconds that every limit is widened by."""

UNIT = 2**30
"""Prices are in its inverse."""

NEVER = 2**200


def certify_in_time(claim: InTimeCertificate, given: Instance | Fleet) -> int:
    """Return the most requests in time that the prices of a certificate prove, as claimed.

    Raises
    ------
    CertificateError
        saying what is wrong, `TooCostlyError` when checking takes too long.
    """
    instance, replicas = replicas_of(given)
    require_claimed(claim.digest, claim.replicas, given)
    require_short_numbers(claim)
    _require_form(claim, instance)
    top = int((instance.prompt + instance.output).max())
    Effort(4 * 64 * top, top + len(instance) * (10 + len(claim.price) // 20)).require_affordable()
    bound = in_time_value(claim, instance, replicas)
    if claim.bound != bound:
        raise CertificateError(f"bound {claim.bound} is claimed, {bound} is proven")
    return bound


def in_time_value(claim: InTimeCertificate, instance: Instance, replicas: int) -> int:
    """Return the bound that the prices prove."""
    fixed, prefill, decode, kv = claim.clock
    ttft, tpot, latency = (limit + SLIP if limit else NEVER for limit in claim.limits)
    top = int((instance.prompt + instance.output).max())
    refills = EVICTIONS[claim.preemption].refills
    added = [min(decode + kv * h, prefill * h if refills else NEVER) for h in range(top)]
    times = [0, *accumulate(fixed + each for each in added)]
    extra = [0, *accumulate(added)]
    memory, width, price = instance.memory, claim.width, claim.price
    whole = memory * width * UNIT  # the worth of a request, in the unit of the costs

    def least(start: int, end: int) -> int:
        first, last = (start - claim.begin) // width, (end - claim.begin) // width
        return min(price[first : last + 1]) if first >= 0 and last < len(price) else 0

    reachable, lost = 0, -replicas * sum(price) * memory * width
    for ticks, prompt, output in instance.requests:
        end, later = prompt + output, output - 1
        first = fixed + prefill * prompt
        rest = times[end] - times[prompt + 1]
        if first > ttft or rest > tpot * later or first + rest > latency:
            continue
        reachable += 1
        held = later * (prompt + 2 + end) // 2  # tokens at the ends of the batches after the first
        work = fixed * held + memory * (extra[end] - extra[prompt + 1])
        arrival = claim.tick * ticks
        deadline = arrival + min(latency, ttft + tpot * later)
        cost = work * least(arrival, deadline)
        cost += (fixed * (prompt + 1) + memory * prefill * prompt) * least(
            arrival, min(deadline, arrival + ttft)
        )
        lost += min(whole, cost)
    return reachable - max(0, -(-lost // whole))


def _require_form(claim: InTimeCertificate, instance: Instance) -> None:
    """Raise CertificateError unless all numbers are in their ranges."""
    stated = instance.tick_seconds
    tick = claim.tick if claim.in_rounds or stated is None else round(stated * PICOSECONDS)
    checks = {
        f"preemption {claim.preemption!r} is unknown": claim.preemption in EVICTIONS,
        "the instance states another tick": tick == claim.tick >= 0,
        "a clock has nonnegative picoseconds": claim.clock[0] > 0 and min(claim.clock) >= 0,
        "a limit is needed, and none is negative": min(claim.limits) >= 0 < max(claim.limits),
        "buckets of time need a length": claim.width > 0,
        "prices must not be negative": min(claim.price, default=0) >= 0,
    }
    for words, right in checks.items():
        if not right:
            raise CertificateError(words)
