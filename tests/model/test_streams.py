"""Random streams: one for each purpose, none of which depends on the others."""

import re
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from ratiolab.model.streams import Purpose, stream

PURPOSES = get_args(Purpose)
CODE = Path(__file__).parents[2] / "ratiolab"


def test_streams_of_different_purposes_seeds_and_numbers_differ():
    given = [
        (seed, purpose, *which)
        for seed in (0, 1)
        for purpose in PURPOSES
        for which in ((), (0,), (1,))
    ]
    drawn = {tuple(stream(*each).integers(2**62, size=2).tolist()) for each in given}
    assert len(drawn) == len(given)


def test_streams_of_one_seed_are_uncorrelated():
    n = 20_000
    drawn = {purpose: stream(3, purpose).random(n) for purpose in PURPOSES}
    for one, other in combinations(PURPOSES, 2):
        assert abs(np.corrcoef(drawn[one], drawn[other])[0, 1]) * n**0.5 < 5


def test_what_a_purpose_draws_is_pinned():
    """It depends on its own word alone, so a new purpose changes none of these."""
    drawn = {purpose: int(stream(7, purpose).integers(1000)) for purpose in PINNED}
    assert drawn == PINNED
    assert int(stream(7, "instance").integers(1000)) == int(np.random.default_rng(7).integers(1000))


PINNED = {"instance": 944, "predictions": 342}


@pytest.mark.parametrize(
    ("given", "rule"),
    [((0, "weather"), "unknown"), ((-1, "ties"), "at least"), ((0, "ties", -1), "at least")],
)
def test_no_stream_without_a_known_purpose_and_a_seed(given, rule):
    with pytest.raises(ValueError, match=rule):
        stream(*given)


MAKES = re.compile(
    r"default_rng|RandomState|np\.random\.(seed|rand|random|normal|integers)\b|import random\b"
)
TESTS = Path(__file__).resolve().parents[1]


def test_nothing_else_makes_a_generator():
    """Neither the package, nor benchmarks, nor what several tests draw their cases with."""
    folders = CODE, TESTS / "benchmarks", TESTS / "common"
    found = [
        path.name
        for folder in folders
        for path in folder.rglob("*.py")
        if MAKES.search(path.read_text("utf-8"))
    ]
    assert found == ["streams.py"]
