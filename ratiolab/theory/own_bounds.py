"""Bounds of this project, with proofs of their own; part of `ratiolab.theory.bounds`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from ratiolab.theory.bound import Bound
from ratiolab.theory.limits import independent_offsets, kill_restart, printed_a_min, volume_restart
from ratiolab.theory.rayleigh.asymptotics import closed_bound
from ratiolab.theory.worst_case import equal_prompts

if TYPE_CHECKING:
    from sympy import Expr


def _kill_restart(refill: bool, random_offset: bool) -> Callable[[int, int, int], Expr]:
    return lambda *_: kill_restart.best(refill=refill, random_offset=random_offset)[1]


_THEOREM = "own proof, ratiolab/papers/ours/proofs/"
_KILL = "own derivation; see ratiolab.theory.limits.kill_restart"
_VOLUME = "own; see ratiolab.theory.limits.volume_restart and papers/ours/proofs"
_STAGGERED = (
    "against the true optimum, fluid limit, all requests at round 0, every distribution and prompt"
)

ENTRIES: tuple[Bound, ...] = (
    Bound(
        "kill-restart/batches",
        "min_b b**3/(b-1) = 27/4 at b = 3/2",
        _KILL,
        "synchronous batches against H-SF, exact supremum over all lengths >= l, every s",
        _kill_restart(refill=False, random_offset=False),
        "constant",
    ),
    Bound(
        "kill-restart/refill",
        "min_b b(2b-1)/(b-1) = 3 + 2 sqrt(2) at b = 1 + sqrt(2)/2",
        _KILL,
        "immediate refill against H-SF, exact supremum over all lengths >= l, every s",
        _kill_restart(refill=True, random_offset=False),
        "constant",
    ),
    Bound(
        "kill-restart/batches-random-offset",
        "min_b b(b+1) / (2 ln b)",
        _KILL,
        "synchronous batches, random offset, against H-SF, exact supremum, every s",
        _kill_restart(refill=False, random_offset=True),
        "constant",
    ),
    Bound(
        "kill-restart/refill-random-offset",
        "min_b (b+1)(1 + ln b) / (2 ln b)",
        _KILL,
        "immediate refill, random offset, against H-SF, exact supremum at s = 0",
        _kill_restart(refill=True, random_offset=True),
        "constant",
    ),
    Bound(
        "kill-restart/refill-independent-offsets",
        "min_b (b-1)(1 + ln b) / ln(b)**2",
        _THEOREM + "independent_offsets.md",
        "immediate refill, an offset for each request, against H-SF, exact supremum at s = 0; the "
        "least of all rules that reserve their caps",
        lambda *_: independent_offsets.best()[1],
        "constant",
    ),
    Bound(
        "volume-restart",
        "min_r (r-1)(2-1/r) / ln(r)**2 at base r**2 = 13.807",
        _VOLUME,
        f"caps in volume, an offset for each request, {_STAGGERED}; exact supremum, and no policy "
        "that does not know the lengths has a smaller constant",
        lambda *_: volume_restart.best("request")[1],
        "constant",
    ),
    Bound(
        "volume-restart/one-offset",
        "min_r (2 r + 1 - 1/r) / (2 ln r) at base r**2 = 8.157",
        _VOLUME,
        f"caps in volume, one offset for all requests, {_STAGGERED}; exact supremum",
        lambda *_: volume_restart.best("run")[1],
        "constant",
    ),
    Bound(
        "volume-restart/no-offset",
        "min_r (r**2 + r - 1) / (r - 1) = 5 at base 4",
        _VOLUME,
        f"caps in volume, no offset, requests in random order, {_STAGGERED}; exact supremum",
        lambda *_: volume_restart.best("none")[1],
        "constant",
    ),
    Bound(
        "volume-restart/deterministic",
        "min_b 1 + 2 b**(3/2) / (b - 1) = 1 + 3 sqrt(3) at b = 3",
        _VOLUME,
        f"caps in volume, no offset, the adversary orders the requests, {_STAGGERED}",
        lambda *_: volume_restart.adversarial_order(3),
        "constant",
    ),
    Bound(
        "volume-restart/one-machine",
        "min_r (r-1)(2-1/r) / ln(r)**2 at base r**2 = 13.807",
        _VOLUME,
        "equal caps in processing time, one machine without memory, sum of completion times, "
        "every number of jobs, all at time 0; no randomised kill-and-restart rule is better",
        lambda *_: volume_restart.best("request")[1],
        "constant",
    ),
    Bound(
        "volume-restart/tokens-kept",
        "2",
        _VOLUME,
        "evicted requests keep their tokens at no cost; caps that grow slowly in volume, against "
        f"the optimum, {_STAGGERED}; no policy that does not know the lengths is better",
        lambda *_: 2,
        "constant",
    ),
    Bound(
        "volume-restart/finite-range",
        "min(V, (1 + sqrt(R)) / 2), R = u (2s+u+1) / (l (2s+l+1))",
        _VOLUME,
        "upper bound on the best constant for lengths in [l, u], fluid limit, all requests at "
        "round 0; the second is optimal for R <= 2.618",
        volume_restart.finite_range,
    ),
    Bound(
        "ours/mc-sf",
        "2 + 1/(3 (1 + 2 s/u)), 7/3 at s = 0",
        _THEOREM + "mc_sf_constant.md",
        "MC-SF/OPT; equal prompts, arrivals at 0, exact predictions, u the longest output, any M",
        lambda lower, upper, prompt: equal_prompts.ratio_bound_at(prompt, upper),
    ),
    Bound(
        "ours/mc-sf-equal",
        "2",
        _THEOREM + "mc_sf_constant.md",
        "MC-SF/OPT; as ours/mc-sf, equal outputs, s + o divides M; for every M it is less than "
        "2 + 2/m, m = floor(M/(s + o))",
        lambda *_: 2,
        "constant",
    ),
    Bound(
        "ours/mc-sf-predictions",
        "max(2 a**2, 1 + 4 a**2/3), a = u/l",
        _THEOREM + "mc_sf_constant.md",
        "MC-SF/OPT; as ours/mc-sf, with predictions from o to a o",
        lambda lower, upper, prompt: equal_prompts.ratio_bound(Fraction(upper, lower)),
    ),
    Bound(
        "ours/mc-sf-arrivals",
        "(n L + (n-1)(n-2)/2) / (L + n (n+1)/2) = 803/210 at n = 4, L = 200; tends to n",
        _THEOREM + "mc_sf_arrivals.md",
        "lower bound on MC-SF/OPT with arrivals over time; n requests, prompts L, M = 2L",
        lambda *_: Fraction(*equal_prompts.long_first(4, 200)[-2:]),
        "constant",
    ),
    Bound(
        "ours/a-min-square-root",
        "(256/337) / (8/(3 sqrt(u)) + 2/u + 32/(9 (u+1))), about 0.2849 sqrt(u)",
        _THEOREM + "a_min_square_root.md",
        "lower bound on Algorithm 2 (A_min) against the optimum, lengths 1 and u, n and M large",
        lambda lower, upper, prompt: printed_a_min.square_root_bound(upper),
        "lower 1, prompt 0",
    ),
    Bound(
        "chen2025/theorem-5",
        "1 + (1/2) (1 + 1/3 + ... + 1/(2u-1)), which grows as ln(u)/4",
        "own proof, ratiolab/papers/chen2025/proofs/theorem_5.md",
        "upper bound on the quotient of Lemma 2, which the printed A_min need not follow; in the "
        "limit a quarter of the trace H_u",
        closed_bound,
        "lower 1, prompt 0",
    ),
    Bound(
        "chen2025/corollary-2",
        "3/2 + (1/2) (1/(2l+1) + ... + 1/(2u-1)) for the interval [l, u] for which it is largest",
        "own proof, ratiolab/papers/chen2025/proofs/corollary_2.md",
        "upper bound on the revised A_min with disjoint intervals against H-SF, fluid model of "
        "Lemma 2 with a first bound for each interval",
        closed_bound,
        "prompt 0",
    ),
    Bound(
        "gogineni2024/rr-sjf-before-rr",
        "1",
        "own proof, ratiolab/papers/gogineni2024/proofs/round_robin.md",
        "RR-SJF over round robin in any order, sums of completion times; one server, all requests "
        "at time 0, slices of the same number of tokens, no memory limit",
        lambda *_: 1,
        "constant",
    ),
    Bound(
        "gogineni2024/rr-sjf-over-sjf",
        "2",
        "own proof, ratiolab/papers/gogineni2024/proofs/round_robin.md",
        "RR-SJF over SJF, as gogineni2024/rr-sjf-before-rr; less than 2 on every instance",
        lambda *_: 2,
        "constant",
    ),
)
