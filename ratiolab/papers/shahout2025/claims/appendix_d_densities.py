"""TRAIL, Appendix D: two joint densities of size and prediction."""

from fractions import Fraction
from math import exp

from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.papers.shahout2025.appendix_d import size_marginals


def recheck() -> str:
    """Differentiate the inner integral numerically, and integrate x/e up to 3 exactly."""
    # -x exp((-x - y)/x) is an antiderivative in y; at y = 0 and infinity it gives x/e.
    for x in (0.5, 2.0, 3.0):
        steps = [1e-3 * x * (k + 0.5) for k in range(40_000)]
        total = sum(exp((-x - y) / x) for y in steps) * 1e-3 * x
        assert abs(total - x * exp(-1)) < 1e-5
        assert abs(total - exp(-x)) > 0.1
    assert Fraction(3**2, 2) > Fraction(272, 100) > exp(1)
    return "the printed exponential density integrates to x/e; up to x = 3 that is 9/(2 e) > 1"


@PAPER.claim(
    "Appendix D (p. 17)",
    expected=FALSE,
    claimed="printed",
    control="corrected",
    recheck=recheck,
    assumes="the paper's rule: g integrated over the prediction is f(x) = exp(-x)",
)
def appendix_d_densities(variant: str) -> ClaimResult:
    """With sizes exponential of mean 1, g(x, y) = exp((-x - y)/x) is the joint density for
    predictions exponential with mean x, and g(x, y) = exp(-x) that for perfect ones.
    """
    import sympy

    size = sympy.exp(-sympy.symbols("x", positive=True))
    found = {
        name.split(",")[0]: marginal
        for name, marginal in size_marginals().items()
        if name.endswith(variant)
    }
    values = "; ".join(f"{name}: {marginal}" for name, marginal in found.items())
    return decided(
        all(sympy.simplify(marginal - size) == 0 for marginal in found.values()),
        WITNESSED,
        values.replace("oo", "infinity"),
        evidence="symbolic integration. Right are exp(-x - y/x)/x, without which factor 1/x the "
        "mass is infinite, and the point mass exp(-x) at y = x",
        witness="sizes up to 3 alone would have probability 9/(2 e) = 1.655",
    )
