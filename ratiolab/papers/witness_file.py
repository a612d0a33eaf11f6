"""The file format of witnesses."""

from typing import Literal

from ratiolab.model.formats import InstanceFields
from ratiolab.model.validation import Integers, Strict


class WitnessFile(Strict):
    """Counterexample to a claim: an instance, schedules of it, and the figures that they give."""

    format: Literal["ratiolab-witness/1"]
    claim: str
    """The id of the claim."""
    instance: InstanceFields
    schedules: dict[str, Integers]
    """Start rounds of all requests, by name of the schedule."""
    figures: dict[str, int | str]
    """Integers, or fractions as strings p/q, by name."""
