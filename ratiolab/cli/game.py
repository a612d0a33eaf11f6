"""The commands of the finite game: game, games."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ratiolab.cli.app import (
    Json,
    answer,
    app,
    end_interrupted,
    keeping,
    progress,
)
from ratiolab.cli.kept_table import Anew, Page, fill_table


@app.command()
def game(
    requests: Annotated[int, typer.Option(help="Number of requests, all at round 0.")] = 2,
    prompt: Annotated[int, typer.Option(help="Prompt of every request, tokens.")] = 1,
    memory: Annotated[int, typer.Option(help="KV cache size, tokens.")] = 5,
    lower: Annotated[int, typer.Option(help="Least output, tokens.")] = 1,
    upper: Annotated[int, typer.Option(help="Largest output, tokens.")] = 4,
    kind: Annotated[str, typer.Option(help="deterministic, randomised, or both.")] = "both",
    multiset: Annotated[
        list[str] | None,
        typer.Option(
            help="Outputs such as 1,1,2,2,3 that the adversary draws in random order: a lower "
            "bound for policies with randomness; repeatable."
        ),
    ] = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Print the optimal deterministic policy as a tree.")
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write a proof of the values to this JSON file.", writable=True),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Check such a file by independent code, and compute nothing else."),
    ] = None,
    json: Json = False,
) -> None:
    """Compute the best ratio that a policy can guarantee when it knows only an interval of outputs.

    The ratio is to the optimum, and an adversary decides the outputs while the policy runs; the
    value is an exact fraction. For policies with randomness the adversary decides first, and the
    ratio is of expected costs.

    Example: ratiolab lab game --requests 2 --prompt 1 --memory 5 --lower 1 --upper 4 --tree
    """
    from ratiolab.game import Game, deterministic_value, randomised_value
    from ratiolab.game.certificate import read_certificates, write_certificates
    from ratiolab.game.checker import CheckError
    from ratiolab.game.checker import check as replay
    from ratiolab.game.configurations import arena
    from ratiolab.game.tree import tree as lines_of

    if check is not None:
        try:
            proved = [replay(claim) for claim in read_certificates(check)]
        except CheckError as error:
            typer.echo(f"{check}: the certificate fails: {error}", err=True)
            raise typer.Exit(1) from None
        answer(json, "game-check", {"proved": proved}, *proved)
        return
    if kind not in ("deterministic", "randomised", "both"):
        raise ValueError(f"kind {kind!r} must be one of deterministic, randomised, both")
    if multiset and kind == "deterministic":
        raise ValueError(
            "--multiset is for policies with randomness, and --kind deterministic has none: use "
            "--kind randomised"
        )
    if tree and kind == "randomised":
        raise ValueError(
            "--tree prints the policy without randomness, and --kind randomised computes none: use "
            "--kind deterministic"
        )
    played = Game(requests, prompt, memory, lower, upper)
    drawn = [_lengths(text, played.requests, lower, upper) for text in multiset or ()]
    data: dict[str, Any] = {
        "requests": requests, "prompt": prompt, "memory": memory, "lower": lower, "upper": upper,
    }  # fmt: skip
    claims: list[dict[str, Any]] = []
    lines = [str(played)]
    with progress() as display, keeping(claims) as ended:
        task = display.add_task("configurations")
        board = arena(played)
        lines.append(f"{len(board.configurations):,} configurations, {len(board.first):,} actions")
        if kind != "randomised":
            display.update(task, description=f"deterministic, {lines[-1]}")
            exact = deterministic_value(played, board)
            data["deterministic"] = str(exact.value)
            lines.append(f"without randomness: {exact.value} = {float(exact.value):.6f}")
            claims.append(exact.to_dict())
            if tree:
                lines += lines_of(exact)
        if kind != "deterministic":
            display.update(task, description=f"randomised, {lines[1]}")
            mixed = randomised_value(played, multisets=drawn or None, known=board)
            data["randomised"] = [str(mixed.lower), mixed.upper and str(mixed.upper)]
            data["weights"] = {",".join(map(str, k)): str(w) for k, w in mixed.weights.items()}
            if mixed.is_exact:
                lines.append(f"with randomness: {mixed.lower} = {float(mixed.lower):.6f}")
            else:
                top = "" if mixed.upper is None else f", at most {float(mixed.upper):.6f}"
                lines.append(f"with randomness: at least {float(mixed.lower):.6f}{top}")
            lines += [f"  {w} on {','.join(map(str, k))}" for k, w in mixed.weights.items()]
            claims.append(mixed.to_dict())
            ended.interrupted = mixed.interrupted
    answer(json, "game", data | {"interrupted": ended.interrupted}, *lines)
    if certificate is not None:  # last: a file that cannot be written does not cost the values
        write_certificates(claims, certificate)
    if ended.interrupted:
        if "randomised" in data:
            end_interrupted("the bounds with randomness hold; closer ones were not searched for")
        end_interrupted("the value without randomness is exact; there is none with randomness yet")


def _lengths(text: str, requests: int, lower: int, upper: int) -> tuple[int, ...]:
    """Return the outputs of a comma separated list, ascending."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise ValueError(f"--multiset {text!r} must be integers with commas between them")
    lengths = tuple(sorted(map(int, words)))
    if len(lengths) != requests or lengths[0] < lower or lengths[-1] > upper:
        raise ValueError(
            f"--multiset {text!r} must hold {requests} outputs between {lower} and {upper}"
        )
    return lengths


@app.command()
def games(
    anew: Anew = False,
    page: Page = Path("results/games.md"),
    json: Json = False,
) -> None:
    """Compute the values of many finite games, and write their table, page and figure.

    Games that the table has already are taken from it; computing all takes some minutes. Ctrl-C
    keeps the table of what was computed, and leaves page and figure as they are.

    Example: ratiolab lab games
    """
    from ratiolab.game import table
    from ratiolab.report import games_page

    fill_table(
        "games",
        page,
        table,
        games_page,
        lambda known, tell, keep: table.rows(table.games(), known, lambda g: tell(str(g)), keep),
        anew=anew,
        json=json,
    )
