"""Draw the two figures of concepts.md: ``python docs/figures.py``."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ratiolab import read_instance, solve
from ratiolab.hindsight.cells import kernels
from ratiolab.hindsight.cells.engine import CellProgram, Proof
from ratiolab.hindsight.params import CellsParams
from ratiolab.model import Schedule

DOCS = Path(__file__).parent
EXAMPLE = DOCS.parent / "instances/traces/conversations-04096-12.json"
WIDTH = 8
"""Rounds of a cell in the first figure."""

RUNNING = ("A", 120, 26, 3, 5), ("B", 60, 21, 12, 12), ("C", 80, 17, 18, 18)
"""Name, prompt, output, earliest start and true start of the requests of a label."""


def label() -> None:
    """Draw what a label knows of three running requests, beside what they hold in truth."""
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    time = np.arange(1, 49)
    below = np.zeros(len(time))
    truth = np.zeros(len(time))
    for number, (name, prompt, output, earliest, start) in enumerate(RUNNING):
        right = (earliest // WIDTH + 1) * WIDTH - 1
        known = (time > right) & (time <= earliest + output)
        held = np.where(known, prompt + time - right, 0)
        real = (time > start) & (time <= start + output)
        truth = truth + np.where(real, prompt + time - start, 0)
        axes.bar(time, held, 1, below, color=f"C{number}", alpha=0.8, label=f"{name}: certain")
        below = below + held
    axes.step(time, truth, "k", where="mid", lw=1.5, label="one schedule of the label")
    for left in range(0, 49, WIDTH):
        axes.axvline(left + 0.5, color="0.8", lw=0.8, zorder=0)
    axes.axvline(3 * WIDTH + 0.5, color="k", ls="--", lw=1)
    axes.text(3 * WIDTH, 335, "boundary of the label", ha="right")
    axes.set(xlabel=f"round (cells of {WIDTH} rounds)", ylabel="tokens held", ylim=(0, 360))
    axes.set_xlim(0.5, 48.5)
    axes.legend(frameon=False, loc="upper right", fontsize=8)
    save(figure, "label")


def certificate() -> None:
    """Draw the prices of a certificate, and the bound of each level that they lead to."""
    instance = read_instance(EXAMPLE)
    optimum = solve(instance)
    assert optimum.is_exact
    proofs: list[Proof] = []

    def found(_: Schedule | None, proof: Proof | None) -> None:
        if proof is not None:
            proofs.append(proof)

    program = CellProgram(
        instance, lambda: optimum.upper, lambda: False, found, CellsParams(width=10**6)
    )
    program.run(optimum.schedule.starts, lambda: False)
    prices = proofs[-1].prices
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
    paid = -np.diff(prices.capacities) / kernels.ONE  # of each row
    for k, name in enumerate(("tokens", "configurations")):
        own = (prices.rows.table > 0) == k
        if own.any():
            left.vlines(prices.rows.time[own], 0, paid[own], f"C{k}", lw=1.5, label=name)
    left.set(xlabel="round of the row", ylabel="price x cap, rounds", title="The certificate")
    left.legend(frameon=False, fontsize=8)
    steps = range(len(proofs))
    right.plot(steps, [proof.bound for proof in proofs], "o-", label="bound")
    right.axhline(optimum.upper, color="k", lw=1, label="schedule")
    names = ["prices", *(f"level {k}" for k in steps[1:])]
    right.set_xticks(steps, names, rotation=30, ha="right")
    right.set(ylabel="total latency, rounds", title="What the checker repeats")
    right.legend(frameon=False, fontsize=8)
    save(figure, "certificate")


def save(figure: plt.Figure, name: str) -> None:
    """Write a picture beside the page."""
    figure.savefig(DOCS / f"{name}.png", dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("agg")
    label()
    certificate()
