"""Commands about theory: bound, rayleigh, claims."""

from pathlib import Path
from typing import Annotated

import typer

from ratiolab.cli.app import (
    Json,
    answer,
    app,
    end_interrupted,
    keeping,
    line_width,
    print_json,
    progress,
)

NARROW = 70
"""Letters in a line below which verdicts are lines and no table."""

Lower = Annotated[int | None, typer.Option(help="Lower bound l of the outputs, tokens.", max=10**9)]
Upper = Annotated[int | None, typer.Option(help="Upper bound u of the outputs, tokens.", max=10**9)]
Prompt = Annotated[int, typer.Option(help="Prompt length s of every request, tokens.", max=10**9)]


@app.command()
def bound(
    name: Annotated[
        str | None, typer.Argument(help="Name of the formula; none lists them.")
    ] = None,
    lower: Lower = None,
    upper: Upper = None,
    prompt: Prompt = 0,
    json: Json = False,
) -> None:
    """Evaluate a formula of the papers, or a better one; without a name, list them.

    Example: ratiolab bound chen2025/theorem-7 --lower 1 --upper 4
    """
    from dataclasses import asdict

    from ratiolab.report.tables import bounds_table
    from ratiolab.theory.bounds import BOUNDS, evaluate

    if name is None:
        about = ("name", "source", "assumptions", "domain")
        listed = [{key: getattr(b, key) for key in about} for b in BOUNDS.values()]
        answer(json, "bounds", {"bounds": listed}, bounds_table(BOUNDS.values()))
        return
    value = evaluate(name, lower, upper, prompt)
    exact = "" if value.exact is None else f" = {value.exact}"
    shown = f"{value.name}: {value.value:.10g}{exact}", value.source, value.assumptions
    answer(json, "bound", asdict(value), *shown)


@app.command()
def rayleigh(
    upper: Annotated[
        int, typer.Option(help="Upper bound u of the outputs, tokens.", min=1, max=10**9)
    ],
    lower: Annotated[
        int, typer.Option(help="Lower bound l of the outputs, tokens.", min=1, max=10**9)
    ] = 1,
    prompt: Prompt = 0,
    json: Json = False,
) -> None:
    """Compute the spectral radius of A_min's quotient, its exact worst ratio over all
    distributions.

    The trace beside it is the bound that the paper uses in its place.

    Example: ratiolab lab rayleigh --upper 1000
    """
    from ratiolab.theory.rayleigh.amin import trace
    from ratiolab.theory.rayleigh.spectrum import spectral_radius

    with progress() as display:
        display.add_task(f"lengths {lower}..{upper}, prompt {prompt}")
        found = spectral_radius(upper, lower, prompt)
        # the exact trace is a sum of u fractions: harmonic numbers get long
        exact = upper - lower <= 2000
        size = float(trace(lower, upper, prompt)) if exact else _trace(lower, upper, prompt)
    data = {
        "rho": found.rho,
        "trace": size,
        "method": found.method,
        "seconds": round(found.seconds, 4),
        "error": found.error,
        "lower": lower,
        "upper": upper,
        "prompt": prompt,
    }
    answer(
        json,
        "spectral-radius",
        data,
        f"rho = {found.rho:.12g} (error at most {found.error:.1g}), trace = {size:.12g}",
        f"{found.method}, {found.seconds:.2f} s",
    )


def _trace(lower: int, upper: int, prompt: int) -> float:
    """Return 1 + H_{s+u} - H_{s+l}, by the digamma function."""
    from scipy.special import digamma

    return float(1 + digamma(prompt + upper + 1) - digamma(prompt + lower + 1))


@app.command()
def claims(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Only these claims, as in chen2025/theorem-4.")
    ] = None,
    paper: Annotated[str | None, typer.Option(help="Only this paper, as in chen2025.")] = None,
    path: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a paper outside the package: its files are run, and its claims are "
            "checked with their controls."
        ),
    ] = None,
    id: Annotated[list[str] | None, typer.Option(help="Only this claim; repeatable.")] = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Let checks that search take minutes.")
    ] = False,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls",
            help="Check the control of each claim, too: a variant that must get another verdict.",
        ),
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the claims, check none.")] = False,
    recheck: Annotated[
        str | None,
        typer.Option(help="Verify the witness of this claim, without any solver, and stop."),
    ] = None,
    proof: Annotated[
        str | None, typer.Option(help="Print the proof that this claim points to, and stop.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write the verdicts to this Markdown page.", writable=True)
    ] = None,
    json: Json = False,
) -> None:
    """Check the numbered statements of the papers and print the verdicts.

    holds: with scope `proved` or the number of cases. tightened: true, and a better value is
    given. consistent: the paper's own figures agree, and nothing was measured again. false: with a
    witness that --recheck verifies. not reproduced: a statistic that a repetition rejects. not
    implied: measured on a real system, and not given by the model alone. undecided: what is known
    does not decide. The exit code is 1 when a verdict is not the expected one.

    Example: ratiolab claims --path my_paper/ --page verdicts.md
    """
    from ratiolab.papers import Verdict, add_paper, run_claims, run_controls, select
    from ratiolab.papers.verdict_table import VerdictTable
    from ratiolab.papers.verdicts import claims_lines, claims_pages, claims_table, listing_table

    if path is not None:
        added = add_paper(path)
        controls = True
        if paper is None and not (ids or id):
            paper = added.key
    if recheck is not None:
        (claim,) = select(ids=[recheck])
        if claim.recheck is None:
            raise ValueError(f"claim {recheck} has no witness: its verdict is {claim.expected}")
        try:
            verified = claim.recheck()
        except AssertionError as error:
            typer.echo(f"{recheck}: the witness fails: {error}", err=True)
            raise typer.Exit(1) from None
        data = {"id": recheck, "statement": claim.statement, "verdict": claim.expected.value}
        answer(
            json,
            "recheck",
            data | {"verified": verified},
            f"{recheck}: {claim.statement}",
            f"verdict: {claim.expected.value}",
            f"witness verified, without any solver: {verified}",
        )
        return
    if proof is not None:
        from ratiolab.papers.proof import read_proof

        (claim,) = select(ids=[proof])
        if claim.proof is None:
            raise ValueError(f"claim {proof} points to no proof")
        found = read_proof(claim.paper, claim.proof)
        data = {"id": proof, "title": found.title, "place": found.place, "text": found.text}
        print_json("proof", data) if json else typer.echo(f"{found.title}\n\n{found.text}")
        return
    chosen = select(paper, [*(ids or ()), *(id or ())])
    if listing:
        listed = {"claims": [claim.to_dict() for claim in chosen]}
        answer(json, "claims", listed, listing_table(chosen))
        return
    reports, found_by_control = VerdictTable(), dict[str, Verdict]()
    with progress() as display, keeping(reports) as ended:
        task = display.add_task("claims", total=len(chosen) * (1 + controls))
        for claim in chosen:
            reports += run_claims([claim], slow)
            display.update(task, advance=1, description=claim.id)
        for claim in chosen if controls else ():
            found_by_control |= run_controls([claim], slow)
            display.update(task, advance=1, description=f"control of {claim.id}")
    wrong = [
        c for c in chosen if found_by_control.get(c.id, c.control_verdict) != c.control_verdict
    ]
    lines = [
        f"{c.id}: its control gets {found_by_control[c.id]}, not {c.control_verdict}: the check "
        "does not tell them apart"
        for c in wrong
    ]
    if found_by_control and not wrong:
        lines = [f"controls: {len(found_by_control)} get another verdict, as they must"]
    verdicts = {**reports.to_dict(), "interrupted": ended.interrupted}
    if controls:
        verdicts["controls"] = {key: verdict.value for key, verdict in found_by_control.items()}
    narrow = (line_width() or NARROW) < NARROW
    shown = claims_lines(reports) if narrow else [claims_table(reports)]
    answer(json, "verdicts", verdicts, *shown, *lines)
    if ended.interrupted:
        kept = f"{len(reports)} of {len(chosen)} claims were checked"
        end_interrupted(kept if page is None else f"{kept}; {page} is as it was")
    if page is not None:  # last: a page that cannot be written does not cost the verdicts
        from ratiolab.report.templating import write_page

        for target, text in claims_pages(reports, page).items():
            write_page(target, text)
    if wrong or not all(report.is_expected for report in reports):
        raise typer.Exit(1)
