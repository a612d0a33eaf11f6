"""The witness that is shipped is the one that the claim describes."""

from ratiolab.claims import read_witness
from ratiolab.claims.gogineni2024 import sjf_optimal_memory as claim
from ratiolab.hindsight import solve


def test_shipped_witness_is_the_claims_own_and_optimal() -> None:
    shipped, own = read_witness(claim.NAME), claim.witness()
    assert shipped.schedules == own.schedules
    assert shipped.figures == own.figures
    assert shipped.instance == own.instance
    assert solve(shipped.instance).lower == shipped.schedule("better").total_latency
