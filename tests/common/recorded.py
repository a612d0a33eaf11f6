"""What tests of the record library share: small instances, and stores of one record."""

import gzip
from functools import cache
from pathlib import Path

from ratiolab.hindsight import OptResult, bracket, solve
from ratiolab.model import Instance
from ratiolab.records.store import FOLDER, RecordStore
from ratiolab.workloads.generators import generate

EASY = Instance("easy", 9, [0, 0, 1, 1, 2], [1, 2, 1, 3, 2], [4, 5, 2, 3, 4])


NAME = "families/easy"


def hard(n: int = 11) -> Instance:
    return generate("jaillet-model-1", 9, n_least=n, n_most=n, memory_least=30, memory_most=30)


@cache
def weak() -> OptResult:
    return bracket(hard(), steps=0)


@cache
def bound() -> OptResult:
    """A better bound and the weak schedule."""
    return solve(hard(), method="cuts", steps=0)


@cache
def better() -> OptResult:
    """A better schedule and the weak bound."""
    return bracket(hard())


def strays(store: RecordStore) -> list[str]:
    """Return files of the library that no record names, such as a stopped write leaves."""
    named = {
        name
        for record in store.records().values()
        for name in (record.certificate, record.schedule)
    }
    folder = store.results / FOLDER
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(p) for p in found if p.relative_to(store.results).as_posix() not in named]


def with_text(path: Path, old: str, new: str) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new, 1).encode()))
