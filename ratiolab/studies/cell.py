"""One cell of a study: what is computed in one go, written once, and never computed again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ratiolab.model import Instance
from ratiolab.online import Policy, make
from ratiolab.online.clock import BatchTime, clock_of
from ratiolab.studies.instances import build

Value: TypeAlias = "str | int | float | bool"
Row: TypeAlias = "dict[str, Value | None]"

FORMAT = "ratiolab-study/2"
"""Version of the files of a study; a new number computes everything again."""

LABELS = ("workload.label", "policy.label")


@dataclass(frozen=True, eq=False)
class Cell:
    """A flat description of one computation; equal descriptions have equal results.

    Parameters
    ----------
    fields : ``task``, ``seed``, and as far as the task takes them: ``workload`` and
        ``workload.SETTING``, ``policy`` and ``policy.PARAMETER``, ``preemption``, ``clock``,
        ``option.NAME``. Labels are for people and no part of the identity.
    traces : folder of the traces and instances that the fields name.
    home : folder of the policies of one's own and of the profiles that the fields name. The
        content of these files is part of the identity (``workload.sha256`` and so on), their place
        is not.
    """

    fields: Mapping[str, Value]
    traces: Path = field(default=Path(), repr=False)
    home: Path = field(default=Path(), repr=False)

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits of SHA-256 over the fields and the version of the format."""
        named = {key: value for key, value in self.fields.items() if key not in LABELS}
        text = FORMAT + json.dumps(named, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def files(self) -> set[Path]:
        """Files that the fields may name: an instance or a trace, and the profile of a clock."""
        places = {"workload.file": self.traces, "clock": self.home}
        return {place / str(self[key]) for key, place in places.items() if key in self.fields}

    def __getitem__(self, key: str) -> Value:
        return self.fields[key]

    def __str__(self) -> str:
        """Return the cell in one line: how an error message begins."""
        hidden = ("label", "sha256")
        return " ".join(
            f"{key}={value}"
            for key, value in self.fields.items()
            if key.partition(".")[2] not in hidden
        )

    @property
    def seed(self) -> int:
        """Seed of the instance, its predictions and the run, with a stream for each."""
        return int(self.fields["seed"])

    def part(self, prefix: str) -> dict[str, Any]:
        """Return the fields ``PREFIX.name`` by name, labels left out.

        >>> Cell({"policy": "a-min", "policy.ties": "worst", "seed": 0}).part("policy")
        {'ties': 'worst'}
        """
        start = prefix + "."
        return {
            key.removeprefix(start): value
            for key, value in self.fields.items()
            if key.startswith(start) and key not in LABELS
        }

    def option(self, name: str) -> Any:
        """Return the value of an option of the task."""
        return self.fields[f"option.{name}"]

    def instance(self) -> Instance:
        """Return the instance of the cell; cells of one process share the object."""
        settings = json.dumps(self.part("workload"))
        return build(str(self.fields["workload"]), settings, self.seed, self.traces)

    def policy(self) -> Policy:
        """Return the policy of the cell."""
        parameters = self.part("policy")
        key = str(self.fields["policy"])
        if parameters.pop("sha256", None) is not None:
            key = str(self.home / key)
        return make(key, parameters)

    def clock(self) -> BatchTime | None:
        """Return how long a batch takes; None for unit rounds."""
        word = str(self.fields.get("clock", "unit"))
        return clock_of(str(self.home / word) if "clock.sha256" in self.fields else word)
