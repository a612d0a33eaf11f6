"""The rules of an instance: each broken alone, each named in one line."""

import numpy as np
import pytest

from ratiolab.model import Instance
from ratiolab.model.instance import LARGEST, LATEST, MOST_REQUESTS

GOOD = {
    "name": "good",
    "memory": 10,
    "arrival": [0, 1],
    "prompt": [1, 2],
    "output": [3, 4],
    "lower": [1, 4],
    "upper": [3, 9],
    "predicted": [7, 1],
    "location": [1099, 0],
    "scale": [500, 1],
    "freedom": [3500, 10**9],
    "weight": [5, 1],
    "deadline": [3, 2 * 10**12],
    "first_by": [1, 9],
}
COLUMNS = [name for name in GOOD if name not in ("name", "memory")]


def test_columns_become_read_only_int64():
    instance = Instance(**GOOD)
    for name in COLUMNS:
        column = getattr(instance, name)
        assert column.dtype == np.int64
        assert column.tolist() == GOOD[name]
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 5


BROKEN = {
    "memory 0": ({"memory": 0}, "memory 0 must be between 1 and 1000000000"),
    "memory float": ({"memory": 10.0}, "memory 10.0 must be an integer"),
    "memory bool": ({"memory": True}, "memory True must be an integer"),
    "memory text": ({"memory": "10"}, "memory '10' must be an integer"),
    "memory huge": ({"memory": 10**30}, f"memory {10**30} must be between 1 and 1000000000"),
    "name number": ({"name": 5}, "name 5 must be a string"),
    "name lines": ({"name": "a\nb"}, r"name 'a\nb' must be one line of printable text"),
    "name surrogate": ({"name": "\ud800"}, r"name '\ud800' must be one line of printable text"),
    "source lines": ({"source": "\x00"}, r"source '\x00' must be one line of printable text"),
    "float": ({"output": [3, 4.0]}, "request 1: output 4.0 must be an integer"),
    "bool": ({"output": [True, 4]}, "request 0: output True must be an integer"),
    "nested": ({"prompt": [[1], 2]}, "request 0: prompt [1] must be an integer"),
    "nan": ({"prompt": [float("nan"), 2]}, "request 0: prompt nan must be an integer"),
    "not a list": ({"prompt": 5}, "prompt must be a list or a one-dimensional array of integers"),
    "missing": ({"prompt": None}, "prompt must be a list or a one-dimensional array of integers"),
    "output 0": ({"output": [0, 4]}, f"request 0: output 0 must be between 1 and {LARGEST}"),
    "output -1": ({"output": [3, -1]}, f"request 1: output -1 must be between 1 and {LARGEST}"),
    "prompt -1": ({"prompt": [-1, 2]}, f"request 0: prompt -1 must be between 0 and {LARGEST}"),
    "arrival -1": ({"arrival": [0, -1]}, f"request 1: arrival -1 must be between 0 and {LATEST}"),
    "arrival huge": ({"arrival": [0, LATEST + 1]}, f"request 1: arrival {LATEST + 1} must be "),
    "arrival beside a huge memory": (
        {"arrival": [LATEST, 0], "memory": 10**7},
        f"request 0: arrival {LATEST} times memory 10000000 exceeds 10^18",
    ),
    "lower 0": ({"lower": [0, 4]}, f"request 0: lower 0 must be between 1 and {LARGEST}"),
    "predicted 0": ({"predicted": [0, 4]}, "request 0: predicted 0 must be between 1 and "),
    "huge": ({"output": [3, 10**20]}, f"request 1: output {10**20} must be between 1 and "),
    "too big for memory": ({"memory": 5}, "request 1: prompt+output 6 exceeds memory 5"),
    "lower": ({"lower": [1, 5]}, "request 1: lower 5 exceeds output 4"),
    "upper": ({"upper": [2, 9]}, "request 0: upper 2 is below output 3"),
    "ragged": ({"output": [3]}, "output has 1 values but arrival has 2: columns must have"),
    "empty": ({name: [] for name in COLUMNS}, "arrival is empty: an instance must have at least"),
    "float array": ({"output": np.array([3.0, 4.0])}, "output must be a list or a one-dimen"),
    "bool array": ({"output": np.array([True, True])}, "output must be a list or a one-dimen"),
    "flat": ({"output": np.array(3)}, "output must be a list or a one-dimensional array of"),
    "masked": (
        {"output": np.ma.array([3, 4], mask=[False, True])},
        "output has masked values: drop them, or fill them in",
    ),
    "array out of range": (
        {"output": np.array([3, 2**63], dtype=np.uint64)},
        f"request 1: output {2**63} must be between 1 and {LARGEST}",
    ),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_each_broken_rule_is_named_with_request_field_value_and_limit(change, message):
    with pytest.raises(ValueError) as caught:
        Instance(**GOOD | change)
    assert str(caught.value).startswith(message)


def test_long_and_deep_values_are_cut_in_messages():
    deep: list = []
    for _ in range(500):
        deep = [deep]
    for value in ("x" * 10**6, [list(range(1000))] * 1000, deep):
        with pytest.raises(ValueError) as caught:
            Instance(**GOOD | {"memory": value})
        assert len(str(caught.value)) < 400


def test_more_requests_than_allowed_are_refused_before_their_values_are_read():
    with pytest.raises(ValueError, match="at most 1000000 are allowed"):
        Instance(**GOOD | {"arrival": range(MOST_REQUESTS + 1)})


def test_requests_are_taken_by_number_or_by_mask():
    instance = Instance("three", 9, [0, 1, 2], [1, 1, 1], [2, 3, 4])
    assert instance.take(np.array([False, False, True])).output.tolist() == [4]
    assert instance.take(instance.to_frame()["output"] < 4).output.tolist() == [2, 3]
    assert instance.take([True, False, True]).output.tolist() == [2, 4]
    assert instance.take((2, np.int64(0), 2)).output.tolist() == [4, 2, 4]


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([-1], "index 0: request -1 must be between 0 and 1"),
        (np.array([0, 2]), "index 1: request 2 must be between 0 and 1"),
        ([0.7], "index 0: request 0.7 must be an integer"),
        ([0, True], "index 1: request True must be an integer"),
        ([True], "requests has 1 booleans: a mask must have one for each of the 2"),
        (np.array([0.7]), "request must be a list or a one-dimensional array of integers"),
        (np.array([True]), "requests has 1 booleans: a mask must have one for each of the 2"),
        (np.ma.array([True, True], mask=[0, 1]), "requests has masked values"),
        (5, "request must be a list or a one-dimensional array of integers"),
    ],
)
def test_requests_that_are_none_are_not_taken(requests, message):
    with pytest.raises(ValueError, match=message):
        Instance(**GOOD).take(requests)


def test_equality_is_name_source_and_content():
    instance = Instance(**GOOD)
    assert instance == Instance(**GOOD)
    assert hash(instance) == hash(Instance(**GOOD))
    for change in ({"name": "x"}, {"source": "x"}, {"memory": 11}, {"predicted": None}):
        assert instance != Instance(**GOOD | change)
    assert instance != "good"


def test_digest_tells_every_column_apart_and_ignores_names():
    digests = {Instance(**GOOD).digest, Instance(**GOOD | {"name": "x", "source": "y"}).digest}
    assert len(digests) == 1
    moved = {"lower": None, "predicted": GOOD["lower"], "upper": None}
    variants = [
        {},
        {"memory": 11},
        {"arrival": [1, 0]},
        {"prompt": [2, 1]},
        {"lower": None},
        {"upper": None},
        {"predicted": None},
        {"location": [1, 1]},
        {"freedom": [3500, 3500]},
        {"location": None, "scale": None, "freedom": None},
        moved,
        {"weight": None},
        {"deadline": None},
        {"first_by": None},
        {"deadline": GOOD["first_by"], "first_by": None},
    ]
    assert len({Instance(**GOOD | change).digest for change in variants}) == len(variants)


def test_a_law_is_given_whole_or_not_at_all():
    rule = "location, scale, freedom must be given together"
    with pytest.raises(ValueError, match=f"location does not make a distribution: {rule}"):
        Instance(**GOOD | {"scale": None, "freedom": None})


def test_arrivals_do_not_move_away_from_dates_in_silence():
    promised = Instance(**GOOD)
    with pytest.raises(ValueError, match="leave the dates of column deadline behind"):
        promised.replace(arrival=[1, 1])
    moved = promised.replace(arrival=[1, 1], deadline=[4, 9], first_by=None)
    assert moved.promises == ("weight", "deadline")


def test_replace_validates_again():
    assert Instance(**GOOD).replace(memory=6).memory == 6
    with pytest.raises(ValueError, match="request 1: prompt\\+output 6 exceeds memory 5"):
        Instance(**GOOD).replace(memory=5)
