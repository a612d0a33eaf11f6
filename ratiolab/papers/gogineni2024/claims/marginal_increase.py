"""RR-SJF, abstract: what its first tokens cost in end-to-end latency."""

from fractions import Fraction

from ratiolab.papers.claim import NOT_IMPLIED, PROVED, WITNESSED, ClaimResult, decided
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.gogineni2024.claims._service import ONE_SERVER, small, total
from ratiolab.theory.worst_case.round_robin import cost_bound

QUANTUM = 5  # the paper's choice in Section 3.4
CROWDS = tuple((1024,) * n for n in (2, 10, 50))


def recheck() -> str:
    """Serve two equal requests of 1024 tokens in slices of 5, by hand."""
    # Both need 205 slices, the last of 4 tokens: they end at 2044 and 2048, under SJF at 1024.
    mixed = total("completion", (1024, 1024), shortest_first=True, quantum=QUANTUM)
    assert mixed == 2044 + 2048
    plain = total("completion", (1024, 1024), shortest_first=True, quantum=None)
    assert plain == 1024 + 2048
    ten = Fraction(
        total("completion", CROWDS[1], shortest_first=True, quantum=QUANTUM),
        total("completion", CROWDS[1], shortest_first=True, quantum=None),
    )
    assert ten > Fraction(9, 5)
    return f"4092/3072 for two requests of 1024 tokens, {float(ten):.4f} for ten"


@PAPER.claim(
    "abstract",
    expected=NOT_IMPLIED,
    claimed=Fraction(1, 10),
    control=Fraction(1),
    recheck=recheck,
    assumes=(
        ONE_SERVER,
        "marginal read as at most 10% of the mean; control: at most 100%, which is proved",
        "the paper measured vLLM on its own data, where half the requests were cut at 1024 "
        "tokens; the model shows what the rule alone allows",
    ),
    proof="round_robin",
)
def marginal_increase(limit: Fraction, slow: bool) -> ClaimResult:
    """RR-SJF has only a marginally larger end-to-end latency than shortest job first."""
    cases = [(lengths, 1) for lengths in small(slow)]
    cases += [(lengths, QUANTUM) for lengths in CROWDS]
    factors = {}
    for lengths, quantum in cases:
        mixed = total("completion", lengths, shortest_first=True, quantum=quantum)
        plain = total("completion", lengths, shortest_first=True, quantum=None)
        assert mixed <= cost_bound(lengths) == 2 * plain - sum(lengths)
        factors[lengths, quantum] = Fraction(mixed, plain)
    (lengths, quantum), worst = max(factors.items(), key=lambda item: item[1])
    example = (
        f"{len(lengths)} requests of {lengths[0]} tokens, slices of {quantum}: "
        f"{worst} = {float(worst):.4f}"
    )
    holds = worst <= 1 + limit
    return decided(
        holds,
        PROVED if holds else WITNESSED,
        f"up to {example}",
        evidence="equal lengths come near the factor 2, a mean latency nearly doubled",
        witness=example,
        otherwise=NOT_IMPLIED,
    )
