"""The setting of TRAIL's Appendix D: its densities, and the curves of its Figure 8.

Exponential sizes with mean 1; predictions perfect, or exponential with mean x given x.
The figure itself shows simulated response times and peak memory; here the response time
is exact and the memory (total age of the jobs in the system) is its time average, since
a peak grows with the length of the simulation.

Source: Shahout et al. (2025), Appendix D, arXiv 2410.01035.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratiolab.papers.shahout2025.queues import mg1
from ratiolab.papers.shahout2025.queues.quadrature import Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sympy import Expr


@dataclass(frozen=True)
class Curves:
    """Mean response time and mean memory over C and the arrival rate.

    Parameters
    ----------
    fractions : values of C, shape (c,).
    rates : arrival rates, equal to the load, shape (l,).
    response_time : E[T], shape (c, l).
    as_printed : what Lemma 1 gives to the letter, shape (c, l).
    memory : time average of the total age, shape (c, l).
    """

    fractions: Array
    rates: Array
    response_time: Array
    as_printed: Array
    memory: Array


def curves(
    model: mg1.PredictionModel, fractions: Sequence[float], rates: Sequence[float]
) -> Curves:
    """Evaluate the curves, accurate to 1e-9 (relative) for loads up to 0.99.

    Fractions are in [0, 1] and rates in (0, 1).

    Cost: two profiles of `mg1` per value of C.
    """
    exact = [mg1.corrected(model, c) for c in fractions]
    printed = [mg1.as_printed(model, c) for c in fractions]
    return Curves(
        fractions=np.array(fractions),
        rates=np.array(rates),
        response_time=np.array([[p.mean_response_time(r) for r in rates] for p in exact]),
        as_printed=np.array([[p.mean_response_time(r) for r in rates] for p in printed]),
        memory=np.array([[p.mean_memory(r) for r in rates] for p in exact]),
    )


def size_marginals() -> dict[str, Expr]:
    """Integrate each density over the prediction: a joint density must give f(x) = exp(-x).

    As printed both are densities of nothing, and their total mass is infinite:
    exp((-x-y)/x) gives x/e, and exp(-x) on the whole quadrant gives infinity. Meant are
    exp(-x - y/x)/x and exp(-x) delta(y - x).

    Returns
    -------
    the integral over y in (0, inf) of each density, in the symbol x > 0.

    Examples
    --------
    >>> for name, marginal in size_marginals().items():
    ...     print(name, marginal)
    exponential, printed x*exp(-1)
    exponential, corrected exp(-x)
    perfect, printed oo
    perfect, corrected exp(-x)
    """
    import sympy

    x, y = sympy.symbols("x y", positive=True)
    densities = {
        "exponential, printed": sympy.exp((-x - y) / x),
        "exponential, corrected": sympy.exp(-x - y / x) / x,
        "perfect, printed": sympy.exp(-x),
        "perfect, corrected": sympy.exp(-x) * sympy.DiracDelta(y - x),
    }
    return {
        name: sympy.simplify(sympy.integrate(g, (y, 0, sympy.oo))) for name, g in densities.items()
    }
