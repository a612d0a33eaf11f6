"""The instances of the record library: which there are, and how each is drawn.

`jaillet2025` holds instances as Jaillet et al. (2025), Section 5.1, describe them: 40 of each
arrival model, and the first model at fixed sizes. `families` holds what users meet otherwise, at
the same sizes: equal prompts, two output lengths, long prompts, heavy tails, all at round 0 and
(where the kind of workload has a rate) with Poisson arrivals a little above what memory sustains.
Shapes of traces stand there, too: scaled down while they are small, in full up to 10,000 requests.
`traces` holds few requests of the same shapes with all their tokens, at two sizes of memory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ratiolab.model import Instance
from ratiolab.workloads.generators import generate

SIZES = (10, 15, 20, 25, 30, 40, 50, 60, 100, 200, 1000)
"""Requests of the fixed-size instances."""

DRAWN = 40
"""Instances of each arrival model of the paper."""

TWICE = 60
"""Largest size with two instances; larger sizes have one."""

FOLDERS = ("jaillet2025", "families", "traces")
"""Folders of the instances."""

FEW = ((4_096, (8, 12, 16, 30, 60)), (16_492, (16, 24, 30, 40, 60)))
"""Memory, and numbers of requests with the lengths of a trace."""

MOST_AT_ONCE = 24
"""Up to this number, all arrive at round 0; more of them arrive over time."""


@dataclass(frozen=True)
class Recipe:
    """One instance: its name with the folder, its family, and the call that draws it."""

    name: str
    family: str
    kind: str
    seed: int
    settings: Mapping[str, int | float] = field(default_factory=dict)

    def build(self) -> Instance:
        """Draw the instance; its source is the command that generates it."""
        instance = generate(self.kind, self.seed, None, **self.settings)
        return instance.replace(name=self.name.rpartition("/")[2])


def recipes() -> Iterator[Recipe]:
    """Yield every instance of the library, in the order of the table."""
    for model in (1, 2):
        family = f"model-{model}"
        for seed in range(DRAWN):
            yield Recipe(f"jaillet2025/{family}-{seed:02}", family, f"jaillet-model-{model}", seed)
    for family, kind, settings, rate in _FAMILIES:
        folder = "jaillet2025" if kind == _PAPER and family == "fixed-size" else "families"
        for n in SIZES:
            for seed in range(2 if n <= TWICE else 1):
                given = settings | ({"n_least": n, "n_most": n} if kind == _PAPER else {"n": n})
                given |= {"rate": rate} if rate and seed else {}
                yield Recipe(f"{folder}/{family}-{n:04}-{seed}", family, kind, seed, given)
    for shape, load in _SHAPES:
        for n, memory, scale in _SHAPED:
            given = {"n": n, "memory": memory, "load": load, "scale": scale}
            name = f"families/{shape}-{n:05}-0"
            yield Recipe(name, shape, f"trace-{shape}", 0, given)
    for shape, load in _SHAPES:
        for memory, sizes in FEW:
            for n in sizes:
                given = {"n": n, "memory": memory, "load": load if n > MOST_AT_ONCE else 0}
                name = f"traces/{shape}-{memory:05}-{n:02}"
                yield Recipe(name, f"few {shape}", f"trace-{shape}", n, given)


_PAPER = "jaillet-model-1"

_FAMILIES: tuple[tuple[str, str, dict[str, int | float], float], ...] = (
    ("fixed-size", _PAPER, {}, 0.0),
    ("equal-prompts", "uniform", {"memory": 50, "prompt": 3, "upper": 30}, 0.25),
    ("two-point", "two-point", {"memory": 50, "prompt": 1, "lower": 2, "upper": 20}, 0.45),
    ("long-prompts", _PAPER, {"memory_least": 50, "memory_most": 50, "prompt_most": 45}, 0.0),
    ("heavy-tails", "heavy-tail", {"memory": 80, "prompt": 5, "mu": 2.5, "upper": 70}, 0.18),
)
"""Family, kind, settings, and the rate of the second instance of each size, 0 for none."""

_SHAPES = ("conversations", 1.1), ("code", 1.2), ("summaries", 1.2)
"""Shape of a trace, and load."""

_SHAPED = (
    *((n, 8_000, 40) for n in (20, 40, 80, 200)),
    *((n, 16_492, 1) for n in (500, 1_000, 2_000, 10_000)),
)
"""Requests, memory, and what lengths and memory are divided by."""
