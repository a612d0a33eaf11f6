"""Instances in units of KV blocks, as paged caches allocate memory."""

import re
from typing import TypeVar

from ratiolab.model import Instance, IntArray

NOTE = "in blocks of {} tokens"
"""Source text of an instance whose unit of memory is a block."""

Count = TypeVar("Count", int, IntArray)


def blocks_of(tokens: Count, block: int) -> Count:
    """Return the number of blocks of a size that hold some tokens, rounded up.

    >>> blocks_of(33, 16)
    3
    """
    return -(-tokens // block)


def unit_of(instance: Instance) -> str:
    """Return the unit of an instance's memory: ``tokens``, or ``blocks of N tokens``.

    It is what the source text of the instance says, as `in_blocks` and traces write it.
    """
    found = re.search(NOTE.format(r"(\d+)"), instance.source)
    return f"blocks of {found[1]} tokens" if found else "tokens"


def in_blocks(instance: Instance, block: int) -> Instance:
    """Return the same requests with a block of tokens as the unit of memory and of time.

    One round stands for ``block`` rounds in which every running request produces one token.
    Prompts, outputs, predictions and arrivals are rounded up, the memory is rounded down.

    The model is conservative: while the j-th long round goes on, a request has produced at most ``j
    * block`` tokens, so a paged cache gives it at most ``ceil(s/block) + j`` blocks: what the
    footprint of the new instance says. Every feasible schedule of the new instance, its starts
    times ``block``, is therefore feasible for the tokens (and for paged blocks of them) and
    completes each request by ``block`` times its new completion, at most ``block - 1`` rounds
    early. The loss is the freedom to start between long rounds, and the rounding. With n requests
    the optima satisfy ``OPT <= block * OPT' + n (block - 1)``, the last term for the waits of
    arrivals until the next long round. Raise ValueError if ``block`` < 1 or a request no longer
    fits in memory.

    Examples
    --------
    >>> instance = Instance("two", 100, [0, 17], [1, 16], [16, 33])
    >>> list(in_blocks(instance, 16).requests)
    [Request(arrival=0, prompt=1, output=1), Request(arrival=2, prompt=1, output=3)]
    >>> in_blocks(instance, 16).memory
    6
    """
    if block < 1:
        raise ValueError(f"block {block} must be at least 1 token")
    if block == 1:
        return instance

    def rounded(column: IntArray | None) -> IntArray | None:
        return None if column is None else blocks_of(column, block)

    return instance.replace(
        memory=instance.memory // block,
        arrival=rounded(instance.arrival),
        prompt=rounded(instance.prompt),
        output=rounded(instance.output),
        lower=rounded(instance.lower),
        upper=rounded(instance.upper),
        predicted=rounded(instance.predicted),
        source="; ".join(filter(None, (instance.source, NOTE.format(block)))),
    )
