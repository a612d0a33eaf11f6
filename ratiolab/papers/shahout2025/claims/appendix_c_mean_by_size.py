"""TRAIL, end of Appendix C: the mean response time of the jobs of one size."""

from fractions import Fraction
from math import factorial

from ratiolab.papers.claim import FALSE, WITNESSED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.theory.queues.mg1_light_traffic import two_jobs


def recheck() -> str:
    """Integrate the two parts by hand: waiting 1/4, residence 1/8 where 1/4 is due."""

    def integral(n: int, k: int) -> Fraction:  # of u^n e^(-k u)
        return Fraction(factorial(n), k ** (n + 1))

    # int_0^y t^2 e^-t dt + y^2 e^-y = 2 - (2 y + 2) e^-y, averaged with e^-y.
    waiting = (2 * integral(0, 1) - 2 * integral(1, 2) - 2 * integral(0, 2)) / 2
    # Age a and rank u = y - a are passed when x > a: int int e^-a e^-(a+u) m(u) da du.
    passing = integral(0, 1) - integral(0, 2) - integral(1, 2)
    assert waiting + passing == two_jobs(Fraction(1)) == Fraction(1, 2)
    assert waiting + passing * integral(0, 2) == Fraction(3, 8)
    return "with independent x and y the derivative is 3/8; with y given x it is 1/2"


@PAPER.claim(
    "end of Appendix C (p. 16 or 17)",
    expected=FALSE,
    claimed="of all predictions",
    control="given the size",
    recheck=recheck,
    assumes=("one server, Poisson arrivals", "E[T(x, y)] by the corrected Lemma 1"),
)
def appendix_c_mean_by_size(law: str) -> ClaimResult:
    """The mean response time of jobs of size x is E[T(x, y)] averaged over y with f_p(y), the
    density of the predictions of all jobs.
    """
    import sympy

    x, y, a, s = sympy.symbols("x y a s", positive=True)
    size = sympy.exp(-x)

    def load(u: sympy.Expr) -> sympy.Expr:
        return 1 - (1 + u) * sympy.exp(-u)

    # C = 1, perfect predictions: waiting and residence of a job (x, y), both per unit of rate.
    waiting = (2 - (y**2 + 2 * y + 2) * sympy.exp(-y) + y**2 * sympy.exp(-y)) / 2
    if law == "of all predictions":  # f_p(y), whatever the size
        shorter = sympy.integrate(load(y - a).expand(), (a, 0, x))
        longer = sympy.integrate(load(y - a).expand(), (a, 0, y))
        weight = size * sympy.exp(-y)
        slope = sympy.integrate(waiting * sympy.exp(-y), (y, 0, sympy.oo))
        slope += sympy.integrate((longer * weight).expand(), (x, y, sympy.oo), (y, 0, sympy.oo))
        late = (shorter * weight).subs(y, x + s).expand()
        slope += sympy.integrate(late, (s, 0, sympy.oo), (x, 0, sympy.oo))
    else:  # g(x, y) / f(x), all mass at y = x
        residence = sympy.integrate(load(x - a).expand(), (a, 0, x))
        both = (waiting.subs(y, x) + residence) * size
        slope = sympy.integrate(both.expand(), (x, 0, sympy.oo))
    found, truth = Fraction(str(sympy.nsimplify(slope))), two_jobs(Fraction(1))
    return decided(
        found == truth,
        WITNESSED,
        f"d/dlambda at 0: {found} against {truth}",
        evidence="exponential sizes, perfect predictions, C = 1, corrected formula, symbolic "
        "integrals; E[T] to first order from two jobs. Sizes and predictions depend on each "
        "other, so the law of y must be g(x, y)/f(x)",
        witness=f"derivative at rate 0: {found}, not {truth}",
    )
