r"""A lower bound on total latency in seconds by prices of machine time, and its checker.

Batches. A batch lasts at least F + W: a fixed time F, and the *own* work of the requests in it,
which is prompts prefilled, tokens decoded and cache read. At its end it holds at most M tokens.
Token k = 0, 1, ... of request j counts with the batch that makes it for good: the last one, if
evictions lose tokens. Let s + k + 1 be what j holds at its end, share = (s + k + 1) / M, own the
least work of its own that the token needs, and

    part_k = own_k + F share_k,  w = sum of all parts,  before_k = sum of the parts before k.

Under ``restart`` and ``swap`` own_k is that of decoding for k > 0; under ``recompute`` and
``pause`` a batch may prefill again all that j holds, and own_k is the smaller of both. D is the
time of decoding a token, or of prefilling one if that is shorter and allowed: a batch that makes
token k > 0 has at least D of own work of j. A prompt may be prefilled in chunks, over several
batches, and the last makes the token; then the own work is spread over them, and the share
belongs to the last.

Identity. Let f_j(t) be the part of the work w of j that is done by time t. In a batch it rises at
a constant rate. With m_j the mean time of its work, the integral of t df_j, and completion C_j,

    sum C_j = sum m_j + sum over batches of (their length) A,   A = mean over the batch of the sum
                                                                of f_j over started, incomplete j,

up to idle time, which only adds. A batch lasts F + W, so sum C_j >= sum m_j + sum F A + sum W A.

1. *Fixed tails.* Over the batch of token k, f_j is in the mean at least done_k = (before_k + part_k
   / 2) / w, and exactly that without chunks. Hence sum F A >= F sum done_k, over all tokens of all
   requests.
2. *Own work in own tail.* The own work of token k meets f_j from before_k / w on, rising at least
   with itself: own_k (before_k + own_k / 2) / w, in one batch or in chunks.
3. *Decoding.* Let i, j make tokens after their first in a batch. Each does at least D there, so
   pairs i != j give at least D sum (done_i + done_j) / 2 >= D sum sqrt(done_i done_j)
   = D [X^2 - sum done_j], X = sum of sqrt(done_j) over decoding requests.
4. *Prefills.* Let i and j share a batch that makes a token of each. Neither completes before all
   of both prompts is prefilled. Let x_i, x_j be the prefilled work by time t; f >= x / w. Their
   terms of W A are at least the integral of x_j dx_i / w_j + x_i dx_j / w_i, and this at least the
   integral of d(x_i x_j) / max(w_i, w_j) = own_i own_j / max(w_i, w_j) with own of token 0. They
   share at most min(o_i, o_j) <= sqrt(o_i o_j) batches; in each count g_i g_j min(1/w_i, 1/w_j)
   with g = own_0 / sqrt(o). For works w_1 > w_2 > ... (the *levels*) and v_l = 1/w_l - 1/w_{l-1},
   min(1/w_i, 1/w_j) >= sum of v_l over levels l with w_i, w_j <= w_l. Hence a batch counts at least
   sum over l of v_l (Y_l^2 - sum g_j^2) / 2, Y_l = sum of g_j over j in it with w_j <= w_l; and
   the squares g_j^2, o times for j, are at most own_0^2 (sum of v_l) = own_0^2 / w_{level of j}.

Terms 2 to 4 are different terms of W A: own work of j with f_j; of decoding i with decoding j; of
prefills with any.

Duals. Let the price p(t), and S(t), G_l(t), be nonnegative, constant in cells of time, zero after
the last, with q = D S^2 + sum v_l G_l^2 / 2 <= F p. As X^2 >= 2 S X - S^2 for every S, a batch
with averages p, S, G, and q (convex: q of the averages is no more) counts in 3 and 4 at least

    sum over j of [2 D S sqrt(done_j) + g_j sum_l v_l G_l] - q - constants.

Batches do not overlap: integral of p >= sum over batches of (their length) p >= (F + W) p. As the
shares in a batch add up to at most 1 and F p - q >= 0, adding up gives sum C_j >= constants
- integral of p + the sum over tokens of averages over their batches of

    own_k (t / w + p)  +  F share_k (t / w + p - q / F) + 2 D S sqrt(done_k) + g sum_l v_l G_l,

the own work where it is done and the rest in the batch that makes the token (S for k > 0 alone).

Growth rows. Where evictions lose tokens (``restart``), a request that counts in a batch makes a
token in every batch from then on until it completes. Let J be the requests of a batch, m_j what j
holds at its end, and r_j the batches that j then still needs. A *row* has m0 tokens and w rounds,
and says

    sum over J of [m_j / M + (w / M) min(1, m_j / m0) - max(0, w - r_j) / m0] <= 1.

Proof: let d be the least of w and all r_j. At the end of the d-th batch from here all of J are
still in memory, so sum (m_j + d) <= M, and sum m_j / M + (d / M) sum min(1, m_j / m0) <= 1. If
d = w, nothing is taken off. If d < w, a request with r_j = d takes off (w - d) / m0, and the growth
still missing is no more: (w - d) / M sum min(1, m_j / m0) <= (w - d) / (m0 M) sum m_j <= (w - d) /
m0.

The bracket, where it is positive, may thus be the share in all of the above: only that shares in a
batch add up to at most 1 is used of them. A negative bracket is a share of 0 with a *relief*, whose
product with F p - q is paid at the largest p - q / F from the arrival on.

A request's least cost. Let V bound the cost of groups of its tokens in their order: of the own
works (first token; others) and, independently, of the rest (first token; others in groups). Divide
the cost of a group by its work: a function of time, constant in cells; take the least over its
tokens, and below it the largest quasi-convex function, max(least so far, least from now on). A
group's work lies between the begin of its first batch and the end of its last, and density is at
most r, the largest of work / (F + own) over its batches. Of a quasi-convex function the cheapest
place of a work A with density at most r within an interval is one block of A / r seconds. Groups do
not overlap. Cells: block lengths are rounded down to whole cells. A block that begins at a part e
of cell c costs (1 - e) of the block that begins with c and e of the block with c + 1; by induction
from the last group to the first the least cost from time (c + e) on is at least (1 - e) V(c) + e
V(c + 1), as V rises; for a block shorter than a cell the smaller of cells c - 1 and c is taken. The
first batch begins after the arrival a, and tokens after the first come after a + F + own_0.

Rounding. All times are in units of ``unit`` picoseconds; work and time are rounded down, q up, and
so on: each rounding makes the bound smaller. Works that are less than the true ones are proper,
because only inequalities on them are used.

The bound holds for every schedule with the evictions of its ``preemption``, waiting and idling at
will, and any chunks.
"""

from itertools import pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np

from ratiolab.hindsight.certificates.certificate import SecondsCertificate
from ratiolab.hindsight.certificates.effort import CertificateError, Effort
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

PRICE_BITS, ROOT_BITS, PART_BITS = 20, 10, 24
"""Binary digits after the point of prices, of S, and of parts of a work."""

LARGEST = 2**62


def seconds_value(claim: SecondsCertificate, instance: Instance) -> int:
    """Return the total latency in picoseconds that the duals of a certificate prove.

    The check takes O(n T g) steps for T cells and g groups.
    """
    _require_form(claim, instance)
    cells = len(claim.price)
    steps = len(instance) * (3 + claim.groups) * (80 + cells // 20)
    steps += int(instance.output.sum()) + 10 * cells * (1 + len(claim.levels))
    Effort(64 * cells * (4 + len(claim.levels)), steps).require_affordable()
    duals = _Duals.of(claim)
    due = [claim.tick * arrival for arrival in instance.arrival.tolist()]
    first, unit = min(due), claim.unit
    total, lost = 0, 0
    for (_, prompt, output), arrival in zip(instance.requests, due, strict=True):
        begin, rest = divmod(arrival - first, unit)
        lost += rest
        total += _request(claim, duals, instance.memory, begin, prompt, output)
    total -= -(-claim.width * sum(claim.price) >> PRICE_BITS)
    return total * unit - lost


def _require_form(claim: SecondsCertificate, instance: Instance) -> None:
    """Raise CertificateError unless all numbers are in their ranges."""
    fixed, *others = claim.clock
    cells, levels = len(claim.price), claim.levels
    stated = instance.tick_seconds
    tick = claim.tick if stated is None else round(stated * 10**12)
    eviction = EVICTIONS.get(claim.preemption)
    checks = {
        f"preemption {claim.preemption!r} is unknown": eviction is not None,
        "the instance states another tick": tick == claim.tick >= 0,
        "a clock has nonnegative picoseconds": fixed > 0 and min(others) >= 0,
        "unit, width and groups must be positive": min(claim.unit, claim.width, claim.groups) > 0,
        "a growth row has positive tokens and rounds": min(claim.row) > 0 or claim.row == (0, 0),
        "growth rows do not hold where evictions keep tokens": claim.row == (0, 0)
        or (eviction is not None and not eviction.keeps_tokens),
        "a batch must last some units": fixed >= claim.unit,
        "duals must not be negative": min(
            (*claim.price, *claim.decoding, *(min(row, default=0) for row in claim.prefilled)),
            default=0,
        )
        >= 0,
        "there must be a dual for each cell": len(claim.decoding) == cells > 0
        and all(len(row) == cells for row in claim.prefilled),
        "levels must be falling positive works": len(claim.prefilled) == len(levels)
        and min(levels, default=1) > 0
        and all(a > b for a, b in pairwise(levels)),
    }
    for words, right in checks.items():
        if not right:
            raise CertificateError(words)


class _Duals(NamedTuple):
    """Duals of cells as arrays, with a last cell of zeros for all times after them.

    ``rest`` is p - q / F, ``highest`` its largest from a cell on, ``credit[m]`` the sum of v_l G_l
    over the first m levels.
    """

    price: IntArray
    rest: IntArray
    highest: IntArray
    decoding: IntArray
    credit: list[IntArray]
    fixed: int
    decode: int

    @classmethod
    def of(cls, claim: SecondsCertificate) -> "_Duals":
        """Return the duals of a claim; CertificateError where q exceeds F p."""
        fixed, prefill, decode = (part // claim.unit for part in claim.clock[:3])
        if EVICTIONS[claim.preemption].refills:
            decode = min(decode, prefill)
        q = [decode * s * s for s in claim.decoding]  # S^2 has twice ROOT_BITS: those of a price
        credit = [[0] * len(q)]
        above = 0  # the work of the level above, 0 for none
        for work, row in zip(claim.levels, claim.prefilled, strict=True):
            top, below = (above - work, above * work) if above else (1, work)
            q = [
                x - (-g * g * top << PRICE_BITS) // (2 * below) for x, g in zip(q, row, strict=True)
            ]
            added = [(g * top << PART_BITS) // below for g in row]
            credit.append([x + y for x, y in zip(credit[-1], added, strict=True)])
            above = work
        rest = [p - -(-x // fixed) for p, x in zip(claim.price, q, strict=True)]
        if min(rest) < 0:
            raise CertificateError("a batch's price is below the congestion that it pays for")
        rests = _array(rest)
        return cls(
            _array(claim.price),
            rests,
            np.maximum.accumulate(rests[::-1])[::-1],
            _array(claim.decoding),
            [_array(row) for row in credit],
            fixed,
            decode,
        )


def _array(numbers: "list[int] | tuple[int, ...]") -> IntArray:
    _require_small(max(numbers, default=0))
    return np.array([*numbers, 0], dtype=np.int64)


def _require_small(number: int) -> None:
    """Raise CertificateError for what 64-bit integers may not hold."""
    if number >= LARGEST:
        raise CertificateError("numbers are too large to be checked in 64 bits")


def _request(
    claim: SecondsCertificate, duals: _Duals, memory: int, due: int, prompt: int, output: int
) -> int:
    """Return the least cost of a request, its latency in units if all were free."""
    _, prefill, decode, kv = claim.clock
    fixed, per_token = duals.fixed, duals.decode
    _require_small((prompt + output) * max(prefill, kv + decode, claim.clock[0]))
    held = np.arange(prompt, prompt + output, dtype=np.int64)
    own = decode + kv * held
    if EVICTIONS[claim.preemption].refills:
        own = np.minimum(own, prefill * held)
    own[0] = prefill * prompt
    own //= claim.unit
    share, relief = _shares(claim.row, fixed, memory, held + 1)
    part = own + share
    _require_small(int(part.max()) * output)
    work = int(part.sum())
    _require_small(work << PART_BITS)
    _require_small(work * output)
    if not work:
        raise CertificateError("the unit is so coarse that a request has no work")
    before = part.cumsum() - part
    twice = 2 * before + part  # done = twice / (2 work)
    met = int(np.dot(own.astype(object), (2 * before + own).astype(object)))
    constant = fixed * int(twice.sum()) + met - per_token * int(twice[1:].sum())
    cost = constant // (2 * work)
    filled = int(own[0])
    level = sum(work <= each for each in claim.levels)
    if level:
        cost -= -(-(filled**2) // (2 * claim.levels[level - 1]))
    begin = due // claim.width
    cells = len(duals.price) - 1
    if begin >= cells:
        return cost
    _require_small((cells + 1) * claim.width)
    cost += -relief * int(duals.highest[begin]) >> PRICE_BITS
    times = np.maximum(np.arange(begin, cells + 1, dtype=np.int64) * claim.width - due, 0)
    top = (int(times[-1]) // work) + (int(duals.price.max()) >> PRICE_BITS) + 1
    bits = min(PRICE_BITS, 36 - top.bit_length())
    if bits < 0:
        raise CertificateError("times and prices are too long for the works of requests")
    _require_small(int(times[-1]) << bits)
    time = (times << bits) // work
    whole, rest = (time + (x[begin:] >> (PRICE_BITS - bits)) for x in (duals.price, duals.rest))
    later = (due + fixed + filled) // claim.width - begin
    chains: list[list[_Group]] = [[_Group(filled, fixed + filled, 0, whole)], []]
    if output > 1 and (most := int(own[1:].max())):
        size = work_of = int(own[1:].sum())
        chains[0].append(_Group(size, work_of * (fixed + most) // most, later, whole))
    root = _roots((twice << (PART_BITS - 1)) // work)
    mean = isqrt(filled**2 // output)
    ends = [0, *(1 + (output - 1) * g // claim.groups for g in range(claim.groups + 1))]
    for first, last in pairwise(ends):
        size = int(share[first:last].sum())
        if not size:  # its cost is at least 0
            continue
        longest = int(share[first:last].max())
        gain = (mean << ROOT_BITS) // longest
        price = rest + _scaled(duals.credit[level][begin:], gain, PART_BITS + ROOT_BITS - bits)
        length = fixed
        if first:
            some = share[first:last] > 0
            least = 2 * per_token * root[first:last][some] // share[first:last][some]
            slope = int(least.min())
            price = price + _scaled(duals.decoding[begin:], slope, PART_BITS + ROOT_BITS - bits)
            length = size * (fixed + per_token) // longest
        chains[1].append(_Group(size, length, later if first else 0, price))
    paid = sum(_least(chain, work, claim.width) for chain in chains)
    return cost + (work * paid >> bits)


def _shares(row: tuple[int, int], fixed: int, memory: int, held: IntArray) -> tuple[IntArray, int]:
    """Return the share of each token times the fixed time, rounded down, and the relief, up.

    Parameters
    ----------
    held : tokens that the request holds when it makes its first token, its second, and so on.
    """
    tokens, rounds = row
    if not rounds:
        return fixed * held // memory, 0
    _require_small(max(fixed, len(held)) * memory * (tokens + rounds))
    left = np.arange(len(held), dtype=np.int64)[::-1]
    taken = memory * np.maximum(rounds - left, 0)
    over = tokens * held + rounds * np.minimum(held, tokens) - taken
    relief = -int(over[over < 0].sum())
    return fixed * np.maximum(over, 0) // (memory * tokens), -(-fixed * relief // (memory * tokens))


class _Group(NamedTuple):
    """Tokens of a request that are placed together.

    Parameters
    ----------
    size : work of the tokens, units.
    length : units in which it can be done at least.
    earliest : first cell, from that of the arrival on.
    price : price of a unit of work in each cell.
    """

    size: int
    length: int
    earliest: int
    price: IntArray


def _roots(squares: IntArray) -> IntArray:
    """Return roots of parts with `PART_BITS` digits, rounded down."""
    _require_small(int(squares.max()) << PART_BITS)
    wide = squares << PART_BITS
    found = np.sqrt(wide.astype(np.float64)).astype(np.int64)
    found -= found * found > wide
    return found


def _scaled(numbers: IntArray, factor: int, shift: int) -> IntArray:
    _require_small(int(numbers.max()) * factor)
    return numbers * factor >> shift


def _least(groups: list[_Group], work: int, width: int) -> int:
    """Return the least cost of groups that are served one after the other, over the work."""
    count = len(groups[0].price) if groups else 1
    ahead = np.zeros(count, dtype=np.int64)
    for group in reversed(groups):
        _require_small(int(group.price.max()) << PART_BITS)
        so_far = np.minimum.accumulate(group.price)
        from_now = np.minimum.accumulate(group.price[::-1])[::-1]
        price = np.maximum(so_far, from_now)
        cover = group.length // width
        places = np.arange(count)
        if cover:
            _require_small(int(price.max()) * (count + cover))
            sums = np.concatenate([[0], price.cumsum()])
            end = np.minimum(places + cover, count)
            block = sums[end] - sums[:count] + (places + cover - end) * price[-1]
            price = block // cover
        else:
            price = np.minimum(price, np.concatenate([price[:1], price[:-1]]))
        weight = (group.size << PART_BITS) // work
        after = ahead[np.minimum(places + cover, count - 1)]
        cost = (weight * price >> PART_BITS) + after
        cost = np.minimum.accumulate(cost[::-1])[::-1]
        ahead = cost[np.maximum(places, min(group.earliest, count - 1))]
    return int(ahead[0])
