"""Chen et al., Theorem 2: a lower bound on the ratio of A_max that lies above its upper bounds.

The proof has N_l = a u, N_u = b l, M = l u and r = a/b = sqrt(alpha), with s = 0. Its ratio is
(1/alpha) (r + alpha) (r + 1) / (r**2 + 2 alpha r + 1); the last equality, to
(1/alpha) (1 + alpha**-0.5) / 2, fails (3 against 6 at alpha = 1/4), and the l**2 a b before it
stands for 2 l a b. Bounds are written (1/alpha) (1 + sqrt(R)) / 2, so that exact comparisons need
R alone. Over two lengths the supremum has R = 2 / (1 + alpha), over all lengths
R = 1 + ln(1/alpha) / 2; Theorem 2 has R = 1/alpha.

As printed, A_max is not that server system either: see the second claim. With memory that s + u
does not divide, rounding alone gives more than the bound for l = 1, u <= 7: with one token less
than two servers, M = 2 u - 1, on equal requests of length 1 the ratio tends to 2 u - 1. That is
not the asymptotic statement.
"""

from collections.abc import Callable
from fractions import Fraction
from heapq import heapreplace
from itertools import product

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.chen2025 import PAPER
from ratiolab.papers.chen2025.claims._a_max import (
    all_lengths_radicand,
    equal_requests_ratio,
    printed_bound,
    root_below,
)
from ratiolab.papers.chen2025.staggered import max_length_stream_latency
from ratiolab.papers.claim import FALSE, HOLDS, PROVED, UNDECIDED, WITNESSED, ClaimResult, decided
from ratiolab.papers.limits import fluid_ratio
from ratiolab.papers.witness import read_witness
from ratiolab.theory.laws.distributions import two_point
from ratiolab.theory.limits.fluid import max_length_ratio, shortest_first_latency
from ratiolab.theory.limits.suprema import max_length_maximiser

NAME = "chen2025-theorem-2-servers"

Radicand = Callable[[Fraction], Fraction]


def proof_ratio(alpha: Fraction, r: Fraction) -> Fraction:
    """Return the ratio of the proof's instances for a/b = r and large a, b.

    >>> proof_ratio(Fraction(1, 4), Fraction(1, 2))
    Fraction(3, 1)
    """
    return (r + alpha) * (r + 1) / (alpha * (r * r + 2 * alpha * r + 1))


def two_lengths(alpha: Fraction) -> Fraction:
    """Return R of the supremum of `proof_ratio` over r, attained."""
    return 2 / (1 + alpha)


def _check_two_lengths(alphas: list[Fraction]) -> None:
    """Assert the supremum over r, by the discriminant, and that theory agrees on the ratio.

    With q = alpha times a bound, q (r**2 + 2 alpha r + 1) - (r + alpha) (r + 1) has the
    discriminant (1 - alpha)**2 - (1 - alpha**2) (4 q**2 - 4 q), and 4 q**2 - 4 q = R - 1.
    """
    for alpha in alphas:
        assert (two_lengths(alpha) - 1) * (1 - alpha**2) == (1 - alpha) ** 2
        low, high = alpha.numerator, alpha.denominator
        for r in (Fraction(1, 3), Fraction(1), Fraction(5, 2)):
            share = low / (r * high + low)
            assert proof_ratio(alpha, r) == max_length_ratio(two_point(low, high, share))


def server_starts(outputs: tuple[int, ...], servers: int) -> tuple[int, ...]:
    """Return the starts in list order on parallel servers, each keeping a request until it ends."""
    free = [0] * servers
    starts = []
    for output in outputs:
        starts.append(free[0])
        heapreplace(free, free[0] + output)
    return tuple(starts)


def printed_starts(
    outputs: tuple[int, ...], interval: tuple[int, int], memory: int
) -> tuple[int, ...]:
    """Return the starts of A_max as printed, s = 0, when its random order is that of the tuple."""
    n = len(outputs)
    lower, upper = ([bound] * n for bound in interval)
    instance = Instance("servers", memory, [0] * n, [0] * n, outputs, lower, upper)
    starts = simulate(instance, make("a-max", {"ties": "index"})).schedule.starts
    return tuple(starts.tolist())


def recheck_servers() -> str:
    """Run both systems on the witness, in the order of the file."""
    found = read_witness(NAME)
    instance, outputs = found.instance, tuple(found.instance.output.tolist())
    assert instance.lower is not None
    assert instance.upper is not None
    lower, upper = int(instance.lower[0]), int(instance.upper[0])
    assert instance.memory == lower * upper
    assert not instance.prompt.any()
    assert printed_starts(outputs, (lower, upper), instance.memory) == found.schedules["printed"]
    assert server_starts(outputs, lower) == found.schedules["servers"]
    for name in ("printed", "servers"):
        assert found.schedule(name).total_latency == found.figures[name]
    assert found.figures["printed"] != found.figures["servers"]
    return (
        f"s = 0, [l, u] = [{lower}, {upper}], M = {lower * upper}, o = {outputs}: latency "
        f"{found.figures['printed']} as printed, {found.figures['servers']} on servers"
    )


@PAPER.claim(
    claimed=lambda upper: range(1, upper + 1),
    control=lambda upper: range(1, 2),
    recheck=recheck_servers,
)
def theorem_2_servers(claimed: Callable[[int], range], slow: bool) -> ClaimResult:
    """With s = 0 and M = l u, A_max is M/u = l parallel servers. Each server processes one request
    at a time and takes the next when it ends.

    Source: proof of Theorem 2, p. 11
    Verdict: false
    Assumes: A_max as printed, Algorithm 1 with Eq. (3), in a given order
    Assumes: outputs in [l, u]; the control has l = 1, memory for one request only
    Evidence: Eq. (3) looks at what running requests will hold later: an older one frees memory
        before a newer one needs it, so more than M/u run at once
    """
    longest, most = (4, 6) if slow else (3, 5)
    tested, first, different = 0, "", 0
    for upper in range(1, longest + 1):
        for lower in claimed(upper):
            for n in range(1, most + 1):
                for outputs in product(range(lower, upper + 1), repeat=n):
                    tested += 1
                    printed = printed_starts(outputs, (lower, upper), lower * upper)
                    model = server_starts(outputs, lower)
                    if printed != model:
                        different += 1
                        first = first or (
                            f"s = 0, [l, u] = [{lower}, {upper}], M = {lower * upper}, "
                            f"o = {outputs}: starts {printed}, servers {model}"
                        )
    return decided(
        not different,
        WITNESSED if different else f"{tested} orders",
        f"different in {different} of {tested} orders",
        witness=first,
    )


def recheck_printed() -> str:
    """Verify at alpha = 1/25, in fractions, that 75 is stated and less than 70 bounds every
    instance.
    """
    radicand = 1 + sum((Fraction(1, 2 * k - 1) for k in range(2, 26)), Fraction())
    stated = 25 * Fraction(1 + 5, 2)
    # 1 + 25 (1 + sqrt(radicand)) < stated
    assert radicand < ((stated - 1) / 25 - 1) ** 2
    assert proof_ratio(Fraction(1, 25), Fraction(1, 5)) < stated / 2
    return f"alpha = 1/25: {stated} is stated; 1 + 25 (1 + sqrt({float(radicand):.4f})) is smaller"


@PAPER.claim(
    claimed=lambda alpha: 1 / alpha, control=lambda alpha: Fraction(1), recheck=recheck_printed
)
def theorem_2_printed(claimed: Radicand, slow: bool) -> ClaimResult:
    """The ratio of A_max, Algorithm 1 as printed, is at least (1/alpha) (1 + alpha**-0.5) / 2.

    Source: Theorem 2, p. 10
    Verdict: false
    Assumes: A_max as printed with Eq. (3); s = 0, u divides M, any n and any such M
    Assumes: false from 1/alpha = 25 on; the control is the bound 1/alpha
    Proof: a_max_printed
    """
    above = []
    attained = True
    for upper in (4, 9, 16, 25, 36, 64):
        alpha = Fraction(1, upper)
        if claimed(alpha) > 1:
            attained = False
            stated = upper * (1 + root_below(claimed(alpha))) / 2
            if stated > printed_bound(1, upper):
                above.append((alpha, stated, printed_bound(1, upper)))
    short = FALSE if above else UNDECIDED
    verdict = HOLDS if attained else short
    # for the record, alpha = 1/4: equal requests, the proof's shares, the server model's worst case
    equal = equal_requests_ratio(4, 399)
    assert equal == Fraction(4 * 399 + 1, 400)
    scale = 4 if slow else 1
    memory = 64 * scale
    shares = (two_point(1, 4, Fraction(1, 3)), max_length_maximiser(1, 4))
    proof, worst = (
        fluid_ratio(make("a-max"), each, 0, memory, 30 * memory, range(5)) for each in shares
    )
    stream = max_length_stream_latency(shares[0]) / shortest_first_latency(shares[0])
    return ClaimResult(
        verdict,
        PROVED,
        f"alpha = 1/4: {float(equal):.3f} on equal requests, tending to 1/alpha; {proof} on the "
        f"proof's shares, where the servers have 3 and evenly spread starts {stream}; {worst} at "
        "the servers' worst case",
        witness="; ".join(
            f"alpha = {alpha}: stated {stated}, at most {float(bound):.4f}"
            for alpha, stated, bound in above
        )
        or None,
    )


def recheck() -> str:
    """Verify at alpha = 1/4, in fractions, and on the proof's own instance with l = 1, M = u."""
    radicand = 1 + Fraction(1, 3) + Fraction(1, 5) + Fraction(1, 7)
    assert radicand < (Fraction(5) / 2 - 1) ** 2
    # M = u: one request runs at a time, every order costs (n + 1)/2 sum(o) on average
    a, b, u = 20, 40, 4
    n = u * a + b
    assert set(printed_starts((1, 4, 1, 1, 4), (1, u), u)) == {0, 1, 5, 6, 7}
    outputs = [1] * (u * a) + [u] * b
    h_sf = simulate(Instance("proof", u, [0] * n, [0] * n, outputs), make("h-sf"))
    ratio = Fraction((n + 1) * sum(outputs), 2 * h_sf.schedule.total_latency)
    assert ratio < proof_ratio(Fraction(1, 4), Fraction(1, 2)) == 3 < 6
    return f"alpha = 1/4: {ratio} on the proof's instance, below 5 on any, 6 is stated"


@PAPER.claim(claimed=lambda alpha: 1 / alpha, control=two_lengths, recheck=recheck)
def theorem_2(claimed: Radicand, slow: bool) -> ClaimResult:
    """In the fluid limit of parallel servers the ratio of A_max is at least (1/alpha) (1 +
    alpha**-0.5) / 2.

    Source: Theorem 2, p. 10
    Verdict: false
    Assumes: as in its proof: s = 0, n and M large, A_max as M/u parallel servers, H-SF in batches
    Assumes: the control is the supremum over two lengths, R = 2 / (1 + alpha)
    Proof: a_max_servers
    """
    highest = 200 if slow else 40
    alphas = [Fraction(low, high) for high in range(2, highest) for low in range(1, high)]
    attained = above = 0
    for alpha in alphas:
        # ln x <= (x - 1/x) / 2 for x >= 1 makes 1 + ln(1/alpha)/2 rational from above.
        ceiling = 1 + (1 / alpha - alpha) / 4
        assert all_lengths_radicand(alpha.numerator, alpha.denominator) < ceiling
        attained += claimed(alpha) <= two_lengths(alpha)
        above += claimed(alpha) > ceiling
    _check_two_lengths(alphas[:60])
    quarter = Fraction(1, 4)
    verdict = HOLDS if attained == len(alphas) else FALSE if above else UNDECIDED
    return ClaimResult(
        verdict,
        PROVED,
        f"two lengths attain it for {attained} of {len(alphas)} alphas; for {above} it is above "
        "the supremum over all lengths, R < 1 + ln(1/alpha)/2",
        witness=f"alpha = 1/4: the proof's ratio is {proof_ratio(quarter, Fraction(1, 2))}, the "
        f"supremum over [1, 4] is 2 (1 + sqrt({all_lengths_radicand(1, 4)})) < 5, stated are 6"
        if above
        else None,
    )
