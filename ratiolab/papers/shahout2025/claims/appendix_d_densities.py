"""TRAIL, Appendix D: two joint densities of size and prediction."""

from fractions import Fraction
from math import exp

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict
from ratiolab.papers.shahout2025.appendix_d import size_marginals


def check(variant: str, budget: Budget) -> ClaimResult:
    """Integrate each density over the prediction, symbolically."""
    import sympy

    size = sympy.exp(-sympy.symbols("x", positive=True))
    found = {
        name.split(",")[0]: marginal
        for name, marginal in size_marginals().items()
        if name.endswith(variant)
    }
    agrees = all(sympy.simplify(marginal - size) == 0 for marginal in found.values())
    values = "; ".join(f"{name}: {marginal}" for name, marginal in found.items())
    return ClaimResult(
        Verdict.HOLDS if agrees else Verdict.FALSE,
        "proved",
        "integrated over the prediction, both densities give exp(-x)",
        values.replace("oo", "infinity"),
        "symbolic integration. Right are exp(-x - y/x)/x, without which factor 1/x the mass is "
        "infinite, and the point mass exp(-x) at y = x",
        None if agrees else "sizes up to 3 alone would have probability 9/(2 e) = 1.655",
    )


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


CLAIM = Claim(
    id="shahout2025/appendix-d-densities",
    source="Shahout et al. (2024), Appendix D (p. 17), arXiv 2410.01035",
    statement=(
        "With sizes exponential of mean 1, g(x, y) = exp((-x - y)/x) is the joint density for "
        "predictions exponential with mean x, and g(x, y) = exp(-x) that for perfect ones."
    ),
    direction=Direction.EQUAL,
    assumptions=("the paper's rule: g integrated over the prediction is f(x) = exp(-x)",),
    expected=Verdict.FALSE,
    check=check,
    claimed="printed",
    control="corrected",
    control_verdict=Verdict.HOLDS,
    recheck=recheck,
)
