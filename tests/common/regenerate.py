"""Instances from the command line that stands in them as their source."""

import shlex

from ratiolab.model import Instance
from ratiolab.workloads.generators import find_kind, generate


def regenerate(source: str) -> Instance:
    """Generate an instance again from the source text that `generate` gave it."""
    words = shlex.split(source)
    predict = words.pop() if words[-2:-1] == ["--predict"] else None
    if predict is not None:
        words.pop()
    well_formed = (
        len(words) >= 5
        and len(words) % 2 == 1
        and (words[:2], words[3]) == (["ratiolab", "generate"], "--seed")
        and words[4].isascii()
        and words[4].isdigit()
        and set(words[5::2]) <= {"--set"}
    )
    if not well_formed:
        raise ValueError(f"source {source!r} is not a command line of ratiolab generate")
    chosen = find_kind(words[2])
    return generate(chosen.name, int(words[4]), predict, **chosen.parse(words[6::2]))
