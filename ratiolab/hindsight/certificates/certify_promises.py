"""The checker of bounds on weighted latency and on goodput, in plain Python integers.

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
"""

from bisect import bisect_right

from ratiolab.hindsight.certificates.certificate import (
    InTimeCertificate,
    Promised,
)
from ratiolab.hindsight.certificates.certify_growth import Costs, checked_costs
from ratiolab.hindsight.certificates.certify_in_time import certify_in_time
from ratiolab.hindsight.certificates.effort import (
    CertificateError,
    Effort,
    piece_steps,
    require_claimed,
    steps_effort,
)
from ratiolab.model.fleet import Fleet, replicas_of
from ratiolab.model.instance import Instance, shown


def certify_promises(certificate: Promised, given: Instance | Fleet) -> int:
    """Return the bound on an objective that a certificate proves; it is the one claimed.

    Raises
    ------
    CertificateError
        saying what is wrong, `TooCostlyError` when checking takes too long.
    """
    if isinstance(certificate, InTimeCertificate):
        return certify_in_time(certificate, given)
    instance, replicas = replicas_of(given)
    require_claimed(certificate.digest, certificate.replicas, given)
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
