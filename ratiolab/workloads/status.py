"""Which rows of a log are of requests that were served, by the words of a column."""

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

SERVED = frozenset(
    (
        *("", "ok", "success", "successful", "succeeded", "complete", "completed", "done"),
        *("finish", "finished", "served", "passed", "pass", "true", "yes", "normal"),
        # reasons why an output ended, in the words of engines and providers
        *("stop", "stopped", "stop_sequence", "stop_token", "stop_str", "end", "end_turn"),
        *("eos", "eos_token", "eos_token_id", "length", "length_capped", "model_length"),
        *("max_tokens", "max_token", "max_length", "max_output_tokens", "max_new_tokens"),
        *("tool_calls", "tool_call", "tool_use", "function_call", "pause_turn", "refusal"),
        *("content_filter", "safety", "recitation", "no_error", "noerror", "none", "2xx"),
    )
)
"""Words of a request that was served, as `plain` writes them."""

FLAGS = {"true": True, "t": True, "yes": True, "1": True, "false": False, "f": False}
FLAGS |= {"no": False, "0": False, "y": True, "n": False}
"""Words of a flag."""

OF_FAILURE = ("error", "exception", "fail", "cancel", "abort", "timeout", "timed_out", "reject")
"""Parts of names of columns that say what went wrong: empty, 0 or false means served."""

OF_SUCCESS = ("success", "served", "succeeded", "is_ok", "completed")
"""Parts of names of columns whose flag means served."""

CODES = ("code", "grpc", "exit")
"""Parts of names of code columns, whose 0 means served."""

NAMED = 3
"""Words of requests that were not served that are named in a message."""

HTTP = re.compile(r"(?:http(?:/\d(?:\.\d)?)?\s+)?([1-5]\d\d)(?:\.0)?(?:\s.*)?")


class Served(NamedTuple):
    """Which requests were served, and what to tell of the others.

    `words` are reasons of failed requests, the most frequent first. `note` says how the column was
    understood, where that is not plain.
    """

    served: NDArray[np.bool_]
    words: list[tuple[str, int]]
    note: str

    @property
    def reason(self) -> str:
        """Why rows are dropped, with the words that say so."""
        named = ", ".join(f"{word!r} {count:,}" for word, count in self.words[:NAMED])
        more = len(self.words) - NAMED
        return f"not served ({named}{f' and {more} more words' if more > 0 else ''})"


def plain(word: str) -> str:
    """Return a word of a status in the form that is looked up.

    >>> [plain(w) for w in ("RequestStatus.FINISHED_STOPPED", "HTTP/1.1 200", "End-Turn")]
    ['stopped', '200', 'end_turn']
    >>> plain("['stop']")  # a list of one word
    'stop'
    """
    word = word.strip().lower()
    if alone := re.fullmatch(r"""\[\s*(["'])([^"',]+)\1\s*\]""", word):
        word = alone[2]
    if http := HTTP.fullmatch(word):
        return http[1]
    word = re.sub(r"[\s-]+", "_", word.rpartition(".")[2] if re.search(r"[a-z]\.", word) else word)
    return re.sub(r"^(finish_reason_|finished_|finish_)(?=.)", "", word)


def served(values: "pd.Series", name: str, more: tuple[str, ...] = ()) -> Served:
    """Return which requests were served, by the values and the name of a column.

    A value that is not there means served. In a column that says what went wrong, anything else
    than false, 0 or nothing means not served; in one of codes, 0 means served. The layout may know
    `more` words that mean served.
    """
    words = values.map(lambda value: plain(str(value))).where(values.notna(), "")
    there = (words != "").to_numpy(bool)
    kinds = set(words[there])
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    note = ""
    flags = {FLAGS.get(re.sub(r"\.0$", "", word)) for word in kinds}
    if "error" in name and "code" in name:
        good = {word for word in kinds if word in ("0", "0.0", "200", "ok", *more)}
    elif any(part in name for part in OF_FAILURE):
        good = {w for w in kinds if FLAGS.get(re.sub(r"\.0$", "", w)) is False}
        good |= kinds & {"ok", "no_error", "noerror", "success", "[]", "{}", "200"}
    elif kinds and None not in flags:
        good, note = _of_flags(kinds, flags, name)
    else:
        good = {word for word in kinds if word in SERVED or word in more or _is_good_code(word)}
        if kinds - good and all(word.isdigit() or word in SERVED for word in kinds):
            good |= kinds & {"0"}
        elif "0" in kinds and not kinds - good - {"0"}:
            good |= {"0"}  # ok and 0: codes of gRPC, written in two ways
    found = (~there) | words.isin([*good]).to_numpy(bool)
    wrong = Counter(str(value).strip() for value in values[~found])
    return Served(found, wrong.most_common(), note)


def _of_flags(kinds: set[str], flags: set[bool | None], name: str) -> tuple[set[str], str]:
    """Return the words of a flag that mean served; a flag that is always false is one of errors."""
    of_codes = any(part in name for part in CODES) and kinds <= {"0", "1", "0.0", "1.0"}
    wanted = not of_codes
    if flags == {False} and not any(part in name for part in OF_SUCCESS):
        return kinds, f"{name} is false in every row: read as a flag of errors"
    return {word for word in kinds if FLAGS[re.sub(r"\.0$", "", word)] is wanted}, ""


def _is_good_code(word: str) -> bool:
    return bool(re.fullmatch(r"2\d\d", word))
