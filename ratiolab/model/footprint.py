"""The one memory convention of the project, written once.

A request with prompt ``s`` that starts at round ``p`` and produces ``o`` tokens holds
``s + (t - p)`` tokens of KV cache at the integer times ``t = p + 1, ..., p + o`` and nothing at
other times; it completes at ``p + o``. Its *age* at time ``t`` is ``t - p``: from 1 to ``o``. If
its prompt is prefilled in chunks, ``p`` is the round of its first token, and from its start to
``p`` it holds ``s + 1`` tokens.

Every function takes integers or integer arrays and broadcasts.

Source: Jaillet et al. (2025), constraint (3), arXiv 2502.07115v5; Chen, Ye, Zhou (2025),
(1) and (3), arXiv 2508.14544v2. The two papers describe this set.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
Tokens = TypeVar("Tokens", int, IntArray)


def held(prompt: Tokens, age: Tokens) -> Tokens:
    """Return the tokens held at an age between 1 and the output length.

    >>> held(5, 1)
    6
    """
    return prompt + age


def peak(prompt: Tokens, output: Tokens) -> Tokens:
    """Return the most tokens that a request ever holds, those of its last round.

    >>> peak(5, 3)
    8
    """
    return prompt + output


def volume(prompt: Tokens, output: Tokens) -> Tokens:
    """Return the token-rounds that a request uses in all: s o + o (o + 1) / 2.

    >>> volume(5, 3) == held(5, 1) + held(5, 2) + held(5, 3)
    True
    """
    return prompt * output + output * (output + 1) // 2
