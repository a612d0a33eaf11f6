"""The checker of bounds by labelling over paths, backward in time.

Claim: no schedule has a latency below ``bound``. All numbers are integers, scaled by U. The duals
give every item the weight W_t(m, r) and every time R_t, such that W_t(Q) <= R_t for what may be
held at t; in units of 1 / U both are rounded down, which keeps this, as a sum of integers that is
at most x is at most floor(x). With multipliers v_i <= min c_i, c_i(p) the latency of i started at p
plus the weights of its items, a schedule with starts p_i that holds Q_t at t has

    U latency = sum v - sum R + sum of (c_i(p_i) - v_i) + sum of (R_t - W_t(Q_t)),

and no term of the two last sums is negative; together they are its cost. A path starts in each
round any arrived requests that fit until all complete, whether they have run before or not. The
claim is proven when no path that starts each request of some set once costs at most

    B = U (bound - 1) - sum v + sum R.

Each pass goes through all layers backward in time, and keeps what may belong to a path of cost at
most B. Paid at layer t is the rho = c - v of all that started before t and what times up to t have
left of R, both counted from the end. Dropped are

- states for which paid, with the least later rho of watched requests that have not started, exceeds
  B; watched requests start once, equal ones in order;
- states that another replaces, with the same watched requests started, which holds no more at any
  later time and whose total, paid less all that what runs will pay, is no larger: what completes
  the former completes the latter, at no more cost;
- states whose total and rest, as some pass before has it of their part that it watched, exceed B,
  or for which it has none.

The rest of a state is a lower bound on the total still to pay after it: the least, over the sets
that may start in its layer, of their cost plus the rest of the successor. That is at least the rest
of every state of the next layer that has started the same watched requests and holds no more, as a
completion of the former completes the latter and costs as much. Hence the largest of these
counts. The pass of the state bounds its rest, too: by the least total of its successors, where a
replacement counts from the replacement on.

A single pass that watches no request may merge states of a layer, too: the merged one holds, at
each later time, the least that one of them holds, its total is the least of theirs, and only what
runs in all of them runs in it. A completion of one of them completes it, and adds as much to the
total. It has paid its total and the future payments of its running requests, which never fall:
these hold no more than it does, so they fit beside any completion. Hence no path is lost. The
solver may have merged other states: wider passes are tried, too.

Nothing else is left out, so the last pass must keep no path. Watched sets may only grow from pass
to pass. Nothing here is the solver's but the footprint.
"""

import numpy as np

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.certificate import PathCertificate
from ratiolab.hindsight.certificates.path_bounds import Bounds
from ratiolab.hindsight.certificates.path_costs import Costs
from ratiolab.hindsight.certificates.path_rests import rests
from ratiolab.hindsight.certificates.path_walks import Walk
from ratiolab.model.instance import Instance

WIDER = 1, 2, 4
"""Multiples of the width of a certificate that are tried. Its own is enough for seven of eight
records, and for three draws of 60 requests."""


def require_no_path(
    certificate: PathCertificate, instance: Instance, items: list[list[list[int]]], paid: list[int]
) -> None:
    """Raise `ValueError` unless the passes prove the bound of a certificate.

    The check takes at most `effort.most_states` states at each width that it tries.

    Parameters
    ----------
    items : dual cost of request i at age g = 1, 2, ..., output at times 1..T,
        ``items[i][g-1][t-1]``.
    paid : R_t at times 1..T.

    Raises
    ------
    ValueError
        when they do not, or checking would take too long.
    """
    n, unit, denominator = len(instance), certificate.unit, certificate.duals.denominator
    multipliers, passes, width = certificate.multipliers, certificate.passes, certificate.width
    if unit < 1 or len(multipliers) != n or not 1 <= len(passes) <= effort.MOST_PASSES:
        raise ValueError(f"paths need a unit, {n} multipliers, 1 to {effort.MOST_PASSES} passes")
    if width and (width < 0 or passes != (0,)):
        raise ValueError(f"width {width}: only a single pass that watches no request merges states")
    known = 0
    for number, watched in enumerate(passes):
        if not 0 <= watched < 2**n or known & ~watched:
            raise ValueError(f"pass {number}: {watched} is no set with all that was watched before")
        known = watched
    weight = [[[x * unit // denominator for x in row] for row in own] for own in items]
    capacity = [x * unit // denominator for x in paid]
    limit = unit * (certificate.bound - 1) - sum(multipliers) + sum(capacity)
    costs = Costs(instance, unit, multipliers, weight, capacity, limit)
    least = _least(certificate, instance, costs, limit)
    if limit >= 0 and least <= limit:
        latency = (sum(multipliers) - sum(capacity) + least) / unit
        raise ValueError(f"bound {certificate.bound} is claimed, a path costs {latency:.3f}")


def _least(certificate: PathCertificate, instance: Instance, costs: Costs, limit: int) -> int:
    """Return the least cost that is left by the last of the passes."""
    passes, least = certificate.passes, -1
    for factor in WIDER if certificate.width else (1,):
        left = effort.most_states()  # a width that fails takes nothing from the next
        behind: list[tuple[int, list[Bounds]]] = []
        for number, watched in enumerate(passes, 1):
            follow = number < len(passes)
            walk = Walk(instance, costs, watched, limit, left, behind, factor * certificate.width)
            layers = walk.run(follow=follow)
            done = layers[-1].paid[layers[-1].begun == np.uint64(watched)]
            least = int(done.min(initial=limit + 1))
            if follow:
                behind = [(watched, rests(walk, layers)), *behind]
            left = walk.left
        if least > limit:
            break
    return least
