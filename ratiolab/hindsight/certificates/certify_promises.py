"""The checker of bounds on weighted latency, on goodput and on requests in time under a clock.

Weighted latency. The proof of `ratiolab.hindsight.certificates.duals` does not mention what
a round of latency costs: with c_i(p) = w_i (p + o - a) + prices, the same sum is a lower bound on
the sum of w (C - a). Evictions that lose all tokens never help, since weights are positive.

Goodput. A request is in time, without evictions, when it starts in [a, last] with
last = min(deadline - o, first_by - 1). Take the requests that a schedule serves in time, and leave
all others out: what remains is a feasible schedule, so every row holds for it, growth rows with
the completions of these requests alone. Weigh rows by prices and add them. With k_i(p) the price of
a start, each request in time adds at least min over its window of k_i, each other one nothing, so

    lost weight >= sum_i min(w_i, min over a <= p <= last of k_i(p)) - M sum_t (u_t + sum m0 y_kt).

The bound on goodput is all weight less that, rounded down. With deadlines of completions alone it
holds for schedules with evictions, too: runs that are evicted complete nothing and can be left out.
A limit of the first token may be met by a run that is evicted, so there the claim is about
schedules without evictions.

R replicas. Each has rows of its own, for the requests that it serves; their sum has R M in place of
M, and the credits stay those of one memory. Hence R M in place of M above.

Under a clock. The proof is that of `ratiolab.ratio.goodput_bound`. With prices u(t) >= 0 of a
second, the work W0 of the first token of a request and the work W1 of its other tokens,

    requests in time <= R integral of u + sum_i max(0, 1 - W0_i min over [a, f] of u
                                                      - W1_i min over [a, d] of u),

where requests that are late even alone count as late. The work of a token that a request makes with
h tokens in its cache is the share (h + 1) / M of the fixed time and what the request adds to the
batch: its prompt prefilled, or a decoding request and its cache read; or, where evicted requests
fill their cache again, the prefill of all h tokens if that is quicker.

Every limit is widened by `SLIP`: a simulation counts seconds in floats.
"""

from bisect import bisect_right
from itertools import accumulate

from ratiolab.hindsight.certificates.certificate import (
    InTimeCertificate,
    Promised,
)
from ratiolab.hindsight.certificates.certify_growth import Costs, checked_costs
from ratiolab.hindsight.certificates.effort import (
    CertificateError,
    Effort,
    piece_steps,
    require_claimed,
    require_plain,
    steps_effort,
)
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.fleet import Fleet, replicas_of
from ratiolab.model.instance import PICOSECONDS, Instance, shown

SLIP = 10**6
"""Picoseconds that every limit is widened by."""

UNIT = 2**30
"""Prices are in its inverse."""

NEVER = 2**200


def certify_in_time(claim: InTimeCertificate, given: Instance | Fleet) -> int:
    """Return the most requests in time that the prices of a certificate prove, as claimed."""
    instance, replicas = replicas_of(given)
    require_claimed(claim.digest, claim.replicas, given)
    require_plain(claim)
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


def certify_promises(certificate: Promised, given: Instance | Fleet) -> int:
    """Return the bound on an objective that a certificate proves; it is the one claimed.

    Raises
    ------
    CertificateError
        saying what is wrong, `TooCostlyError` when checking takes too long.
    """
    if isinstance(certificate, InTimeCertificate):
        return certify_in_time(certificate, given)
    if not isinstance(certificate, Promised):
        raise CertificateError("it bounds total latency: certify checks it")
    instance, replicas = replicas_of(given)
    require_claimed(certificate.digest, certificate.replicas, given)
    require_plain(certificate)
    duals = certificate.duals
    try:
        steps_effort(duals).require_affordable()
        costs = checked_costs(duals, instance, replicas * instance.memory)
    except CertificateError:
        raise
    except ValueError as error:
        raise CertificateError(str(error)) from None
    weights = [1] * len(instance) if instance.weight is None else instance.weight.tolist()
    if certificate.objective == "weighted":
        value = _weighted(costs, weights)
        bound = -(-value // duals.denominator)
    else:
        value = _lost(costs, weights)
        bound = sum(weights) - max(0, -(-value // duals.denominator))
    if value != certificate.value:
        claimed = shown(certificate.value)
        raise CertificateError(f"value {claimed} is claimed, the duals prove {shown(value)}")
    if bound != certificate.bound:
        raise CertificateError(f"bound {certificate.bound} is claimed, {bound} is proven")
    return bound


def _weighted(costs: Costs, weights: list[int]) -> int:
    """Return the least weighted latency that prices leave, times the denominator."""
    denominator, total, pieces = costs.unit, 0, 0
    for request, weight in zip(costs.instance.requests, weights, strict=True):
        costs.unit = weight * denominator
        best = costs.first_guess(*request)
        pieces += costs.pieces(*request, best)
        Effort(0, pieces * piece_steps(costs.prices) + costs.passed).require_affordable()
        total += costs.least(*request, best)
    return total - costs.room * costs.token.level[-1]


def _lost(costs: Costs, weights: list[int]) -> int:
    """Return the least lost weight that prices leave, times the denominator."""
    denominator, total, pieces, edges = costs.unit, 0, 0, costs.edges
    costs.unit = 0  # a round of latency costs nothing
    for number, (arrival, prompt, output) in enumerate(costs.instance.requests):
        least = weights[number] * denominator
        last = min(_last_start(costs.instance, number), max(arrival, edges[-1]))
        if arrival <= last:
            offsets = costs.offsets(prompt, output)
            for offset in offsets:
                pieces += 1 + bisect_right(edges, last + offset)
                pieces -= bisect_right(edges, arrival + offset)
            Effort(0, pieces * piece_steps(costs.prices)).require_affordable()
            request = arrival, prompt, output
            least = min(least, costs.least_within(arrival, last, *request, offsets))
        total += least
    return total - costs.room * costs.token.level[-1]


def _last_start(instance: Instance, request: int) -> int:
    """Return the last start with which a request is in time.

    A request without any date is in time whenever it starts.
    """
    dates = []
    if instance.deadline is not None:
        dates.append(int(instance.deadline[request]) - int(instance.output[request]))
    if instance.first_by is not None:
        dates.append(int(instance.first_by[request]) - 1)
    return min(dates, default=2**62)
