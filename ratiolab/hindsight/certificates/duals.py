"""Weights of items and duals of rows: what a proof consists of, without what finds or checks it.

`ratiolab.hindsight.relaxation.configurations` explains tables, and
`ratiolab.hindsight.relaxation.lagrangian` the duals of memory and cuts. Why prices of growth rows
are a proof stands here.

Growth rows. Choose m0 >= 1 and w >= 1. In every feasible schedule, at every time t,

    m0 sum_i m_i(t) + w sum_i min(m0, m_i(t)) - M sum over completions C in [t, t+w) of (w - (C-t))
        <= m0 M,

where m_i(t) are the tokens that request i holds. The row says that memory must leave room for
requests to grow until one of them completes.

Proof. If no request holds memory at t, the left side is at most 0. Otherwise let N requests hold
some, S tokens in all, and let D >= 0 be the time from t until the first of these N completes, at t
+ D. All N still hold memory then, D tokens more each: S + D N <= M. Write F for the sum of min(m0,
m_i(t)), so F <= m0 N and F <= S <= M. If D >= w, then m0 S + w F <= m0 (S + w N) <= m0 (S + D N) <=
m0 M, and credits only lower this. If D < w, the completion at t + D alone earns M (w - D). As m0 S
<= m0 M - D m0 N <= m0 M - D F,

    m0 S + w F - M (w - D) <= m0 M - D F + w F - M (w - D) = m0 M - (w - D) (M - F) <= m0 M.

The bound. Let u_t >= 0 and y_{k,t} >= 0 be prices of the memory row and of growth row k at time t,
zero beyond T. Adding to latency price times (left side - right side), which is at most 0, and then
letting every request choose its start alone,

    latency >= sum over i of min over p >= a_i of c_i(p) - M sum_t u_t - M sum_k m0_k sum_t y_{k,t},
    c_i(p) = p + o - a + sum over ages g = 1..o of [u m + sum_k y_k (m0_k m + w_k min(m0_k, m))]
             - M sum_k sum over t from C - w_k + 1 to C of y_{k,t} (w_k - (C - t)),

with m = s + g, prices at time p + g, and C = p + o. Credits make c smaller than the latency, by at
most M sum_k w_k (w_k + 1) / 2 max y_k: starts whose latency exceeds a known cost by more are out
of the question, and so no horizon of the schedules is assumed.

Fleets. Replicas have memories M_1, ..., M_R, the largest M. Each obeys the row of its own memory,
requests and completions, and still does when its completions earn M (w - (C - t)) in place of M_r
(w - (C - t)), which lowers the left side. Summed over them, the row has the right side m0 (M_1 +
... + M_R), and a completion anywhere earns M (w - (C - t)): the bound pays the sum of the memories
for prices in place of M, and credits are those of M.
"""

from dataclasses import dataclass, field

import numpy as np

from ratiolab.model.footprint import IntArray


@dataclass(frozen=True)
class Table:
    """Weights that no feasible multiset exceeds: W(Q) <= cap.

    Parameters
    ----------
    cap : positive.
    items : (m, r, weight) in falling r; an item weighs the most that those below it weigh.
    """

    cap: int
    items: tuple[tuple[int, int, int], ...] = field(repr=False)

    def dense(self, memory: int) -> IntArray:
        """Return the weight of every (m, r), shape (M + 1, M + 1).

        >>> Table(1, ((3, 1, 1),)).dense(4)[:, 1].tolist()
        [0, 0, 0, 1, 1]
        """
        weights = np.zeros((memory + 1, memory + 1), np.int64)
        for m, r, weight in self.items:
            np.maximum(weights[m:, r:], weight, out=weights[m:, r:])
        return weights


@dataclass(frozen=True)
class Duals:
    """Nonnegative integer duals over a denominator.

    Parameters
    ----------
    memory : dual of the memory row of times 1..T.
    cuts : (table, begin, end, dual): the table has this dual at times begin <= t < end.
    """

    denominator: int
    memory: tuple[int, ...] = field(repr=False)
    tables: tuple[Table, ...] = field(repr=False)
    cuts: tuple[tuple[int, int, int, int], ...] = field(repr=False)


@dataclass(frozen=True)
class GrowthDuals:
    """Nonnegative integer prices over a denominator, constant over runs of times.

    Parameters
    ----------
    begin : no time up to this one has a price.
    ends : last times of the runs, ascending; the first run begins after ``begin``, and times after
        the last have no price.
    token : price of the memory row in each run.
    rows : m0 and w of each growth row; none where prices of memory alone prove the bound.
    growth : price of each growth row in each run.
    """

    denominator: int
    begin: int
    ends: tuple[int, ...] = field(repr=False)
    token: tuple[int, ...] = field(repr=False)
    rows: tuple[tuple[int, int], ...] = ()
    growth: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
