"""Time the spectral radius: structured against dense, and its growth with the longest output.

Run ``python tests/benchmarks/bench_spectrum.py [exponent]``; the last sweep has 10**exponent
lengths (default 7; 8 takes about four gigabytes). Compare ratios, not seconds: machines differ.
"""

import sys
from time import perf_counter

from scipy.linalg import eigh

from ratiolab.theory.rayleigh.amin import matrices
from ratiolab.theory.rayleigh.spectrum import spectral_radius


def dense_seconds(upper: int) -> tuple[float, float]:
    """Radius by LAPACK's generalised eigensolver, and the time it took."""
    began = perf_counter()
    top = [upper - 1, upper - 1]
    rho = eigh(*matrices(1, upper), eigvals_only=True, subset_by_index=top)[0]
    return float(rho), perf_counter() - began


def main() -> None:
    """Print both tables."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print("lengths  dense s  structured s  dense/structured  difference")
    for upper in (250, 500, 1000, 2000):
        rho, dense = dense_seconds(upper)
        result = min((spectral_radius(upper) for _ in range(5)), key=lambda r: r.seconds)
        ratio = dense / result.seconds
        print(
            f"{upper:7d}  {dense:7.3f}  {result.seconds:12.5f}  {ratio:16.0f}  "
            f"{abs(rho - result.rho):10.1e}"
        )
    print("\nlengths  rho               iterations  error    seconds  growth")
    previous = 0.0
    for exponent in range(4, largest + 1):
        result = spectral_radius(10**exponent)
        growth = f"{result.seconds / previous:6.1f}" if previous else ""
        print(
            f"10^{exponent:<5d} {result.rho:.13f}  {result.iterations:10d}  {result.error:.1e}  "
            f"{result.seconds:7.3f}  {growth}"
        )
        previous = result.seconds


if __name__ == "__main__":
    main()
