"""The witness that is shipped is the one that the claim describes."""

from ratiolab.hindsight import solve
from ratiolab.papers import read_witness
from ratiolab.papers.gogineni2024.claims import sjf_optimal as claim


def test_shipped_witness_is_the_claims_own_and_optimal() -> None:
    shipped = read_witness(claim.NAME)
    assert shipped.schedules == {"shortest first": (0, 1, 1, 1), "better": (2, 0, 0, 0)}
    assert shipped.figures == {"shortest first": 10, "better": 9}
    assert shipped.instance == claim.INSTANCE
    assert solve(shipped.instance).lower == shipped.schedule("better").total_latency
