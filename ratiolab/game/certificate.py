"""Files of game certificates."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ratiolab.model.files import PathLike, write_text
from ratiolab.model.validation import Strict, absent, read_file

FORMAT = "ratiolab-game/1"


def _pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_FROM_LIST = BeforeValidator(_pair, json_schema_input_type=list[Any])
Number = Annotated[str, Field(pattern=r"^-?\d{1,400}(/[1-9]\d{0,400})?$")]
SortRow = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=3, max_length=3)]
"""State (0 waits, 1 runs, 2 done), bound that the output exceeds, and tokens.

Of a done request the bound is its output.
"""
Known = list[SortRow]
TableRow = Annotated[tuple[Known, int | Number], _FROM_LIST]
WeightRow = Annotated[tuple[list[int], Number], _FROM_LIST]
RunsRow = Annotated[tuple[SortRow, int], _FROM_LIST]
ActionRow = Annotated[tuple[Known, list[RunsRow]], _FROM_LIST]
PolicyRow = Annotated[tuple[Number, list[ActionRow]], _FROM_LIST]


class GameClaim(Strict):
    """The value of one game, or bounds of it, with what proves them."""

    game: Annotated[list[Annotated[int, Field(ge=0, le=10**6)]], Field(min_length=5, max_length=5)]
    """Requests, prompt, memory, lower, upper."""
    kind: Literal["deterministic", "randomised"]
    value: Number = absent()
    """Value for policies without randomness."""
    table: list[TableRow]
    """Cost of each configuration: scaled integers, or for weights a fraction, over all orders.
    """
    lower: Number = absent()
    """Bound from below for policies with randomness."""
    upper: Number | None = absent()
    """Bound from above."""
    weights: list[WeightRow] = absent()
    """Outputs that the adversary draws, in random order, and their probabilities."""
    mixture: list[PolicyRow] = absent()
    """Probabilities of policies, each an action by configuration."""


class GameFile(Strict):
    """Certificates of values of finite games."""

    format: Literal["ratiolab-game/1"]
    claims: list[GameClaim]


def write_certificates(claims: Sequence[Mapping[str, Any]], path: PathLike) -> None:
    """Write certificates as JSON, in one step."""
    write_text(path, json.dumps({"format": FORMAT, "claims": list(claims)}) + "\n")


def read_certificates(path: PathLike) -> list[dict[str, Any]]:
    """Read certificates; `FormatError` with one line when the file is not of this format."""
    data = read_file(path, FORMAT, GameFile)
    return [claim.model_dump(exclude_unset=True) for claim in data.claims]
