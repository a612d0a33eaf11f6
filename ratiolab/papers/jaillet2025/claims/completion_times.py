"""Jaillet et al., Section 4: which moments MC-SF has to look at before it admits a request."""

from itertools import product

from ratiolab.model.footprint import held
from ratiolab.papers.claim import PROVED, ClaimResult, decided
from ratiolab.papers.jaillet2025 import PAPER

MEMORY = 9

Run = tuple[int, int, int]
"""Age, prompt, and tokens still to come."""


def needs(runs: tuple[Run, ...], ahead: int) -> int:
    """Return the tokens held so many rounds ahead."""
    return sum(held(prompt, age + ahead) for age, prompt, left in runs if ahead <= left)


@PAPER.claim(
    "Section 4.1, pp. 8-9",
    claimed="every",
    control="last",
    assumes="the requests that run and are admitted now, no later ones; predictions are believed",
    proof="completion_times",
)
def completion_times(checked: str) -> ClaimResult:
    """It suffices to check the memory at the predicted completion times of the requests that run
    or are admitted.
    """
    missed, cases = None, 0
    kinds = list(product((0, 1, 2), (0, 2), (1, 2, 4)))
    for runs in product(kinds, repeat=3):
        ends = sorted({left for _, _, left in runs})
        seen = ends if checked == "every" else ends[-1:]
        cases += 1
        passes = all(needs(runs, end) <= MEMORY for end in seen)
        fits = all(needs(runs, ahead) <= MEMORY for ahead in range(1, ends[-1] + 1))
        if passes != fits and missed is None:
            missed = f"(age, prompt, left) = {runs}, M = {MEMORY}"
    return decided(
        missed is None,
        PROVED,
        "the same as looking at every round" if missed is None else f"not for {missed}",
        evidence=f"{cases} sets of three compared",
        witness=missed,
    )
