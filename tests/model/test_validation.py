"""The one translator of the library's errors: place, field, value and rule in one line."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest
from processes import PATIENCE
from pydantic import Field

from ratiolab.model import FormatError
from ratiolab.model.validation import Integers, Strict, absent, read_file, validated
from ratiolab.papers.witness import read_witness


class Cat(Strict):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=1, le=9)]


class Dog(Strict):
    kind: Literal["dog"]
    name: str = absent()


class House(Strict):
    nouns: ClassVar[dict[str, str]] = {"steps": "floor {}: steps", "pets": "pet {}:"}

    format: Literal["house/1"]
    steps: Integers = absent()
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = absent()
    rooms: dict[str, list[int]] = absent()
    mood: Literal["calm", "loud"] = "calm"
    share: float = 0.5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"steps": [3, 2.5]}, "floor 1: steps 2.5 must be an integer"),
        ({"steps": [3, True]}, "floor 1: steps True must be an integer"),
        ({"steps": 3}, "steps 3 must be a list"),
        ({"steps": None}, "steps None must be a list"),
        ({"pets": [{"kind": "cat", "lives": 0}]}, "pet 0: lives 0 must be at least 1"),
        ({"pets": [{"kind": "cat", "lives": 10**30}]}, f"pet 0: lives {10**30} must be at most 9"),
        ({"pets": [{"kind": "cat"}]}, "pet 0: lives is missing"),
        ({"pets": [{"kind": "dog", "cat": 1}]}, "pet 0: unknown key 'cat'; known are kind, name"),
        ({"pets": [{"kind": "dog", "name": None}]}, "pet 0: name None must be a string"),
        ({"pets": [{"kind": "cow"}]}, "pet 0: kind 'cow' must be one of cat, dog"),
        ({"pets": [{"kind": ["cat"]}]}, "pet 0: kind ['cat'] must be one of cat, dog"),
        ({"pets": [{}]}, "pet 0: kind is missing"),
        ({"pets": [7]}, "pet 0: 7 must be an object"),
        ({"rooms": {"hall": [1, "x"]}}, "rooms.hall[1] 'x' must be an integer"),
        ({"mood": "sad"}, "mood 'sad' must be one of calm, loud"),
        ({"mood": ["calm"]}, "mood ['calm'] must be one of calm, loud"),
        ({"share": "1"}, "share '1' must be a number"),
        ({"share": float("nan")}, "share nan must be a finite number"),
        ({"roof": 1}, "unknown key 'roof'; known are steps, pets, rooms, mood, share"),
        ({"format": "house/2"}, "format 'house/2' must be 'house/1'"),
    ],
)
def test_each_broken_rule_is_one_line(data: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        validated(House, {"format": "house/1"} | data)
    assert str(caught.value) == message


def test_the_first_of_a_million_wrong_values_ends_the_reading() -> None:
    with pytest.raises(ValueError) as caught:
        validated(House, {"format": "house/1", "steps": ["x"] * 10**6})
    assert str(caught.value) == "floor 0: steps 'x' must be an integer"


def test_a_file_is_named_before_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "house.json"
    path.write_text('{"format": "house/1", "mood": "x\\ny"}')
    with pytest.raises(FormatError) as caught:
        read_file(path, "house/1", House)
    assert str(caught.value) == f"{path}: mood 'x\\ny' must be one of calm, loud"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "line 1: is not JSON"),
        ('{"format": "ratiolab-witness/1", "claim": "a", "claim": "b"}', "key 'claim' stands"),
        ('{"format": "ratiolab-witness/1", "claim": NaN}', "NaN is not a number of JSON"),
        ('{"format": "ratiolab-witness/1"}', "claim is missing"),
        ('{"format": "ratiolab-witness/1", "claim": 5}', "claim 5 must be a string"),
    ],
)
def test_a_broken_witness_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setattr("ratiolab.papers.witness.folder", lambda: tmp_path)
    (tmp_path / "w.json").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_witness("w")
    assert str(caught.value).startswith(f"{tmp_path / 'w.json'}: {message}")


def test_the_library_is_imported_by_readers_alone() -> None:
    code = (
        "import sys, ratiolab.model, ratiolab.studies, ratiolab.hindsight, ratiolab.papers.witness;"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 0
