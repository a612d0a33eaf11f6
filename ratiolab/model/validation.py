"""Validation of what comes from outside, by pydantic: strict models, and their errors in one line.

Every file format is a `Strict` model. Readers import this module when they read, because pydantic
takes longer to import than all the rest of `ratiolab.model`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.types import FailFast
from pydantic_core import PydanticCustomError

from ratiolab.model.files import FormatError, PathLike, json_object, read_text
from ratiolab.model.instance import shown

Kind = TypeVar("Kind")

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)
"""No conversions, no unknown keys, no NaN; docstrings of fields stand in the JSON Schema."""

Integers = Annotated[list[int], FailFast()]
"""Any integers; the first value that is none ends the reading."""


def absent() -> Any:
    """Return the default of a key that may be missing but never null."""
    return Field(default=None, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class Strict(BaseModel):
    """An object with known keys whose values are of the declared types, without conversion."""

    model_config = STRICT
    nouns: ClassVar[Mapping[str, str]] = {}
    """How messages name the items of a list: ``request {}: output`` those of ``output``."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: object) -> object:
        """Refuse a key that no field has."""
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields and cls.model_config["extra"] == "forbid":
                known = ", ".join(name for name in cls.model_fields if name != "format")
                message = f"unknown key {shown(key)}; known are {known}"
                raise PydanticCustomError("sentence", "{message}", {"message": message})
        return data

    @classmethod
    def place(cls, steps: Sequence[int | str]) -> str:
        """Return how messages name a value by its path."""
        match steps:
            case [str(name), int(number), *rest] if name in cls.nouns:
                return f"{cls.nouns[name].format(number)} {path(rest)}".rstrip()
        return path(steps)

    def given(self) -> dict[str, Any]:
        """Return the values that were given, by key, without the format."""
        return {name: getattr(self, name) for name in type(self).model_fields if self._has(name)}

    def _has(self, name: str) -> bool:
        return name in self.model_fields_set and name != "format"


def validated(kind: type[Kind], data: object) -> Kind:
    """Return data as a type that pydantic knows; `ValueError` names the first broken rule."""
    try:
        return adapter(kind).validate_python(data)
    except ValidationError as error:
        raise ValueError(in_words(error, kind, data)) from None


def read_file(
    path: PathLike, version: str, kind: type[Kind], *, largest: int | None = None
) -> Kind:
    """Return a JSON file of a format, at most `largest` bytes, as this type."""
    text = read_text(path, largest)
    try:
        return validated(kind, json_object(text, version))
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def in_words(error: ValidationError, kind: object, data: object) -> str:
    """Return the first error of the library as one line: place, field, value and rule."""
    first = error.errors(include_url=False)[0]
    place = getattr(kind, "place", path)(_steps(first["loc"], data))
    value = first["input"]
    match first["type"]:
        case "missing":
            words = [place, "is missing"]
        case "union_tag_not_found":
            words = [place, "kind is missing"]
        case "union_tag_invalid":
            known = first["ctx"]["expected_tags"].replace("'", "")
            words = [place, f"kind {shown(value['kind'])} must be one of {known}"]
        case "sentence":
            words = [place, first["msg"]]
        case _:
            words = [place, shown(value), _rule(first["msg"])]
    return " ".join(filter(None, words))


def _rule(message: str) -> str:
    """Return the rule that a message of the library states."""
    rule = re.sub(r"^\w+ should ", "must ", message)
    choices = re.findall(r"'([^']*)'", rule)
    if len(choices) > 1:
        return f"must be one of {', '.join(choices)}"
    for theirs, ours in _WORDS:
        rule = rule.replace(theirs, ours)
    return rule


_WORDS = (
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
    ("a valid integer", "an integer"),
    ("a valid tuple", "a list"),
    ("a valid dictionary or object to extract fields from", "an object"),
    ("a valid ", "a "),
    (" after validation", ""),
)


def _steps(location: tuple[int | str, ...], data: Any) -> list[int | str]:
    """Return the steps to a value in the data; the library also names members of unions."""
    steps: list[int | str] = []
    tag = data.get("kind") if isinstance(data, dict) else None
    for step in location:
        if isinstance(step, str) and step == tag:  # a member
            tag = None
            continue
        if isinstance(step, int) and not isinstance(data, list):  # one value in place of a list
            continue
        steps.append(step)
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            data = None
        tag = data.get("kind") if isinstance(data, dict) else None
    return steps


def path(steps: Sequence[int | str]) -> str:
    """Return the steps to a value as one word: ``schedules.best[3]``."""
    words = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(words).removeprefix(".")


def adapter(kind: type[Kind]) -> TypeAdapter[Kind]:
    """Return what validates data as a type and knows its JSON Schema."""
    return _adapter(kind)  # type: ignore[arg-type]  # types can be hashed


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
