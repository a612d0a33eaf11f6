"""Prefixes that the prompts of a log share: how much a cache could save, and a bound that holds.

A log names the blocks that each prompt begins with. The name of a block stands for the block and
all before it, so the blocks are a forest and a prompt is a path from a root.

The bound. Let requests hold shared blocks once: at each time, memory has the blocks that some
running request uses, and of each running request its own part s' and the tokens made. Let K_b be
the number of requests in the log that name block b, of z tokens. Then every such schedule is, in
rounds, a schedule of the requests with prompts s'' = s' + sum of z / K_b over their blocks, rounded
down, each on its own: at most K_b requests use b at a time, and they count at most z for it. Hence
every lower bound for these reduced requests holds for engines that share prefixes, whatever blocks
their caches keep.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ratiolab.model.footprint import IntArray

NOTE = (
    "hash_ids name shared prefixes; instances do not share: each request holds and prefills its "
    "whole prompt. `ratiolab trace --describe` says what could be shared"
)


@dataclass(frozen=True)
class Prefixes:
    """The blocks that the prompts of a log begin with.

    `paths` has the names of the whole blocks of each prompt, from the first on; a last block that a
    prompt does not fill is its own.
    """

    block: int
    paths: tuple[tuple[int, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, block: int, named: Sequence[Any], prompt: IntArray) -> "Prefixes":
        """Return the prefixes of prompts from the lists of names that a log has.

        Raises
        ------
        ValueError
            when a request has no list of integers, names more blocks than its prompt fills, or a
            block follows two others.
        """
        paths, before = [], dict[int, int | None]()
        for request, (names, tokens) in enumerate(zip(named, prompt.tolist(), strict=True)):
            if not isinstance(names, list) or not all(type(name) is int for name in names):
                raise ValueError(f"request {request} has no list of whole numbers")
            if len(names) * block > tokens + block - 1:
                raise ValueError(
                    f"request {request} names {len(names)} blocks of {block} tokens, but its "
                    f"prompt has {tokens}"
                )
            path = tuple(names[: tokens // block])
            for last, name in zip((None, *path), path, strict=False):
                if before.setdefault(name, last) != last:
                    raise ValueError(f"block {name} of request {request} follows two blocks")
            paths.append(path)
        return cls(block, tuple(paths))

    def take(self, requests: IntArray) -> "Prefixes":
        """Return the prefixes of some requests only."""
        return Prefixes(self.block, tuple(self.paths[i] for i in requests.tolist()))

    @cached_property
    def users(self) -> Counter[int]:
        """The number of requests that name each block."""
        return Counter(name for path in self.paths for name in path)

    def reduced(self, prompt: IntArray) -> IntArray:
        """Return the prompts s'' of the reduced requests, rounded down, tokens.

        >>> Prefixes(4, ((1,), (1, 2))).reduced(np.array([5, 9])).tolist()  # 1 + 4/2, 1 + 4/2 + 4
        [3, 7]
        """
        users, found = self.users, []
        for path, tokens in zip(self.paths, prompt.tolist(), strict=True):
            shares = sum((Fraction(self.block, users[name]) for name in path), Fraction(0))
            found.append(int(tokens - self.block * len(path) + shares))
        return np.array(found, np.int64)

    def hits(self) -> int:
        """Return the tokens of prompts that an earlier request has named, in order of arrival."""
        seen, tokens = set[int](), 0
        for path in self.paths:
            for name in path:
                if name not in seen:
                    break
                tokens += self.block
            seen.update(path)
        return tokens

    def to_dict(self, prompt: IntArray) -> dict[str, Any]:
        """Return figures on the tokens that requests could share, as plain data."""
        users = self.users
        whole = int(prompt.sum())
        return {
            "block": self.block,
            "blocks": len(users),
            "roots": len({path[0] for path in self.paths if path}),
            "deepest": max(map(len, self.paths), default=0),
            "most_users": max(users.values(), default=0),
            "shared_by_two_or_more": sum(number > 1 for number in users.values()),
            "named_before": self.hits() / whole if whole else 0.0,
        }
