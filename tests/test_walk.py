"""An instance and a claim go down through the layers: no function calls one that stands above it.

Functions that are handed in are called back where they were given: what shows progress, keeps a
finding, or runs on an executor. They are the only steps up. Whoever calls a function that may be
compiled calls it through `ratiolab.machine_code`, which does not count.
"""

import sys
import tomllib
from collections.abc import Callable
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType

import pytest

from ratiolab import Instance, claims, compare, make_policy, run_claims, simulate, solve
from ratiolab.workloads.generators import generate

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
RANKS = {
    f"{container}.{name.strip(' ()')}": rank
    for contract in PROJECT["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
    for container in contract.get("containers", [""])
    for rank, layer in enumerate(contract["layers"])
    for name in layer.replace("ratiolab.", "").split("|")
}
"""The layer of each package, and of each part of packages that have layers of their own."""

HANDED_IN = {"_simulate"}
"""Functions of modules that executors are given."""

SMALL = Instance("small", 9, [0, 0, 1], [1, 1, 2], [2, 3, 4])
MANY = generate("jaillet-model-1", 1, n_least=7, n_most=7)

WAYS: dict[str, Callable[[], object]] = {
    "solve": lambda: solve(MANY, steps=200, threads=1),
    "simulate": lambda: simulate(SMALL, make_policy("mc-sf")),
    "compare": lambda: compare(SMALL, runs=2),
    "claim": lambda: run_claims(claims(ids=["chen2025/example-1"])),
}


def ranks(module: str, other: str) -> tuple[int, int] | None:
    """Return the layers of two modules where a contract orders them."""
    mine, yours = module.split("."), other.split(".")
    places = [".".join(["", one[1]] if mine[1] != yours[1] else one[:3]) for one in (mine, yours)]
    return (RANKS[places[0]], RANKS[places[1]]) if RANKS.keys() >= set(places) else None


def counts(frame: FrameType) -> bool:
    """Return whether a frame is one of this package that calls others for itself."""
    module = frame.f_globals.get("__name__", "")
    return module.startswith("ratiolab.") and module != "ratiolab.machine_code"


def steps_up(way: Callable[[], object]) -> tuple[int, set[str]]:
    """Return how many calls between layers there were, and those that went up."""
    down, up = 0, set()

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal down
        back, callee = frame.f_back, frame.f_globals.get("__name__", "")
        if event != "call" or not callee.startswith("ratiolab.") or "<" in frame.f_code.co_qualname:
            return
        while back is not None and not counts(back):
            back = back.f_back
        if back is None or frame.f_code.co_name in HANDED_IN:
            return
        if frame.f_code.co_flags & CO_GENERATOR:  # resumed, or closed once nothing refers to it
            return
        caller = back.f_globals["__name__"]
        if (found := ranks(caller, callee)) is not None:
            down += found[0] < found[1]
            if found[0] > found[1]:
                up.add(f"{caller}.{back.f_code.co_qualname} -> {callee}.{frame.f_code.co_qualname}")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        way()
    finally:
        sys.setprofile(before)
    return down, up


@pytest.mark.parametrize("name", WAYS)
def test_the_way_goes_down(name):
    down, up = steps_up(WAYS[name])
    assert down > 0
    assert up == set()


def test_a_step_up_would_be_noticed():
    assert ranks("ratiolab.model.instance", "ratiolab.online.simulate") == (11, 9)
    assert ranks("ratiolab.hindsight.state", "ratiolab.hindsight.stages") == (6, 4)
    assert ranks("ratiolab.online.view", "ratiolab.online.policy") is None
