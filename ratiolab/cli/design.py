"""The commands of the best policies in the fluid limit: design, ranges."""

from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import Json, Memory, answer, app, end_interrupted, progress
from ratiolab.cli.kept_table import Anew, Page, fill_table

Gap = Annotated[
    float,
    typer.Option(
        help="Stop when the relative gap of an interval is at most this.", min=1e-4, max=1.0
    ),
]


@app.command()
def design(
    file: Annotated[Path | None, typer.Argument(help="An instance file.")] = None,
    memory: Memory = None,
    lower: Annotated[
        int | None, typer.Option(help="Least length; with --upper, in place of a file.", min=1)
    ] = None,
    upper: Annotated[int | None, typer.Option(help="Largest length.", min=1)] = None,
    prompt: Annotated[int, typer.Option(help="Prompt of every request, with --lower.", min=0)] = 0,
    atoms: Annotated[
        int,
        typer.Option(help="Largest number of volumes of the distribution; more are merged.", min=1),
    ] = 24,
    steps: Annotated[
        int, typer.Option(help="Time steps of the bound on all policies.", min=2, max=1000)
    ] = 160,
    gap: Gap = 0.01,
    json: Json = False,
) -> None:
    """Find the best caps for a distribution of volumes, and a lower bound on every policy.

    The requests of the file stand for a distribution that a policy knows, while it does not know
    which request has which length. Costs are over the optimum in the fluid limit: many requests,
    all at round 0. `ratiolab generate` and `ratiolab trace` make files of distributions and of
    traces.

    With --lower and --upper in place of a file, bound the best constant for all distributions of
    these lengths from both sides, by solving the game between policies and distributions. Ctrl-C
    keeps the best interval so far.

    Example: ratiolab lab design instances/small/geometric.json --steps 40
    """
    if file is None or lower is not None or upper is not None:
        if file is not None or lower is None or upper is None:
            raise ValueError("design needs a file, or both --lower and --upper")
        _any_law(lower, upper, prompt, gap, json=json)
        return
    from collections import Counter
    from dataclasses import asdict

    from ratiolab.game.ranges.cap_design import MOST_ATOMS, coarsened
    from ratiolab.game.ranges.cap_design import design as best_for
    from ratiolab.model import read_instance

    if atoms > MOST_ATOMS:
        raise ValueError(f"--atoms {atoms} must be at most {MOST_ATOMS}")
    instance = read_instance(file, memory)
    counted = sorted(Counter(instance.volume.tolist()).items())
    exact = [(float(v), n / len(instance)) for v, n in counted]
    law = coarsened(exact, atoms)
    with progress() as display:
        display.add_task(f"{len(law)} volumes, {steps} steps")
        found = best_for(law, steps)
    data = {"instance": instance.name, "digest": instance.digest, "volumes": len(law)}
    note = f", {len(exact)} of the file brought together" if len(law) < len(exact) else ""
    answer(
        json,
        "design",
        {**data, **asdict(found), "coarsened": len(law) < len(exact)},
        f"{instance.name}: {len(law)} volumes{note}",
        f"no policy that knows the distribution: below {found.bound:.4f}",
        f"best list of caps: {found.cost:.4f}, in volume "
        + ", ".join(f"{cap:,.0f}" for cap in found.caps),
        f"volume-restart, which knows nothing: {found.universal:.4f}",
        f"never to kill: {found.never_kill:.4f}",
    )


def _any_law(lower: int, upper: int, prompt: int, gap: float, *, json: bool) -> None:
    """Print an interval of the best constant for lengths from lower to upper."""
    from dataclasses import asdict

    from ratiolab.game.ranges import enclose
    from ratiolab.model.footprint import volume

    if upper < lower:
        raise ValueError(f"--upper {upper} must be at least --lower {lower}")
    with progress() as display:
        task = display.add_task("best constant: the first grid of volumes")
        searched = enclose(
            volume(prompt, upper) / volume(prompt, lower),
            gap,
            lambda ends: display.update(
                task, description=f"best constant: {ends.lower:.4f} to {ends.upper:.4f}"
            ),
        )
    found = searched.enclosure
    data = {"lower_length": lower, "upper_length": upper, "prompt": prompt}
    ended = {"gap": found.gap, "interrupted": searched.interrupted}
    exact = f"exactly {found.lower:.4f}, never to kill"
    answer(
        json,
        "design",
        {**data, **asdict(found), **ended},
        f"lengths {lower} to {upper}, prompt {prompt}: volumes within a factor {found.ratio:,.4g}",
        "best constant of policies that do not know the lengths, whether or not they know their "
        "distribution: " + (exact if not found.gap else f"{found.lower:.4f} to {found.upper:.4f}"),
        f"never to kill: {found.never_kill:.4f}",
    )
    if searched.interrupted:
        end_interrupted("both ends hold; closer ones were not searched for")


@app.command()
def ranges(
    most: Annotated[
        float, typer.Option(help="Largest factor between volumes, at most 1e8.", min=1)
    ] = 1024.0,
    gap: Gap = 0.01,
    anew: Anew = False,
    page: Page = Path("results/ranges.md"),
    json: Json = False,
) -> None:
    """Bound the best constant for many ranges of lengths from both sides; write their table, page
    and figure.

    Ranges that the table has already are taken from it; computing all takes some minutes. Ctrl-C
    keeps the table of what was computed, and leaves page and figure as they are.

    Example: ratiolab lab ranges --most 3 --page ranges.md
    """
    from ratiolab.game.ranges import table
    from ratiolab.report import ranges_page

    chosen = table.ratios(most)
    fill_table(
        "ranges",
        page,
        table,
        ranges_page,
        lambda known, tell, keep: table.rows(
            chosen, gap, known, lambda ratio: tell(f"R = {ratio:g}"), keep
        ),
        anew=anew,
        json=json,
    )
