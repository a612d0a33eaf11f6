"""Columns of an instance as compiled code takes them."""

from typing import NamedTuple

import numpy as np

from ratiolab.model import Instance, IntArray


class Requests(NamedTuple):
    """Columns of all requests, int64, and the memory that they share."""

    arrival: IntArray
    prompt: IntArray
    output: IntArray
    memory: int

    @classmethod
    def of(cls, instance: Instance) -> "Requests":
        """Return the columns of an instance as writeable copies, of one type for the compiler."""
        arrival, prompt, output = map(
            np.array, (instance.arrival, instance.prompt, instance.output)
        )
        return cls(arrival, prompt, output, instance.memory)
