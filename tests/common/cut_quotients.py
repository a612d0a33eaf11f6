"""The reduced quotient of `ratiolab.theory.rayleigh.geometric` for many cut laws at once."""

import numpy as np
from numpy.typing import NDArray


def truncated_quotients(q: NDArray[np.float64], upper: int) -> NDArray[np.float64]:
    """Return the Lemma 2 quotients of geometric lengths conditioned on 1..upper, s = 0.

    q = 1 is the uniform distribution. O(len(q) upper) time and memory.

    The quotient is not monotone in q for any u >= 2: it follows the uncut curve towards
    10 - 12 ln 2 while 1/(1-q) is small against u, then falls to the value of the uniform
    distribution, 17/14 for u = 2 and near 11/8 for large u. See `truncated_peak`.
    """
    k = np.arange(1.0, upper + 1)
    x = np.asarray(q, dtype=np.float64)[:, None] ** (k - 1)
    x /= x.sum(axis=1, keepdims=True)
    tails = np.cumsum(x[:, ::-1], axis=1)[:, ::-1]
    cubes = np.cumsum(k**3 * x, axis=1) - k**3 * x
    longest = (2 * x * cubes / k + k * k * x * x).sum(axis=1)
    smallest = ((2 * k - 1) * tails**2).sum(axis=1)
    result: NDArray[np.float64] = 1 + ((x @ k) ** 2 - longest) / (2 * smallest)
    return result


def truncated_peak(upper: int) -> tuple[float, float]:
    """Return (q, quotient) at the maximum over q in [0, 1] of the quotient cut at ``upper``.

    Found by refining a grid in q**upper, the scale on which the cut matters. The top is flat: the
    value is good to about 1e-14, q only to about 1e-7. A single peak is assumed.
    """
    low, high = 0.0, 1.0
    best = 1.0
    for _ in range(8):
        powers = np.linspace(low, high, 401)
        values = truncated_quotients(powers ** (1 / upper), upper)
        i = int(values.argmax())
        best = float(powers[i])
        low, high = float(powers[max(i - 1, 0)]), float(powers[min(i + 1, 400)])
    q = best ** (1 / upper)
    return q, float(truncated_quotients(np.array([q]), upper)[0])
