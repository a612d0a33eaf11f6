"""The witness that is shipped is the one that the claim describes."""

from ratiolab.hindsight import solve
from ratiolab.papers import read_witness
from ratiolab.papers.gogineni2024.claims import sjf_optimal_memory as claim


def test_shipped_witness_is_the_claims_own_and_optimal() -> None:
    shipped, own = read_witness(claim.NAME), claim.witness()
    assert shipped.schedules == own.schedules
    assert shipped.figures == own.figures
    assert shipped.instance == own.instance
    assert solve(shipped.instance).lower == shipped.schedule("better").total_latency
