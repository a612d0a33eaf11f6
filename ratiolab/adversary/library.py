"""The worst instances known: one file for each policy and what the adversary may do."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from time import process_time

from ratiolab.adversary.attack import attack, fresh_seeds
from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.evaluate import costs_of
from ratiolab.adversary.result import Attack
from ratiolab.hindsight import solve
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import FormatError, Instance, read_instance, write_instance
from ratiolab.online import POLICIES, Policy, make
from ratiolab.theory.estimate import Estimate

STATES = 2_000_000
PROOF_NODES = 2_000
"""Search nodes of the independent solve of each instance."""


@dataclass(frozen=True)
class Target:
    """A policy with parameters, and what the adversary may do."""

    policy: str
    parameters: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    @property
    def name(self) -> str:
        """File name of its worst case, without the suffix."""
        words = [self.policy, *self.parameters.values()]
        words += ["prompts"] * (self.limits.prompts == "any")
        words += ["arrivals"] * (self.limits.arrivals == "any")
        words += [f"headroom-{self.limits.headroom}"] * (self.limits.headroom > 1)
        return "-".join(words)

    @property
    def command(self) -> str:
        """The command that searches as this target says."""
        limits = self.limits
        words = ["ratiolab", "attack", "--policy", self.policy]
        for name, value in self.parameters.items():
            words += ["--param", f"{name}={value}"]
        words += ["--headroom", str(limits.headroom)]
        words += ["--prompts", limits.prompts, "--arrivals", limits.arrivals]
        words += ["--requests", str(limits.requests), "--memory", str(limits.memory)]
        return shlex.join(words)

    def make(self) -> Policy:
        """Return the policy."""
        return make(self.policy, self.parameters)


def targets() -> Iterator[Target]:
    """Yield what the library holds: every policy, and variations that papers state bounds for.

    Policies of weights and deadlines are left out: without these they are others of the library.
    """
    for key, policy in POLICIES.items():
        if not policy.reads:
            yield Target(key)
    for key in ("a-min", "a-max", "a-ell"):
        yield Target(key, {"ties": "worst"})
    for key in ("mc-sf", "gsa", "gba"):
        yield Target(key, limits=Limits(headroom=2, requests=16, memory=40))
    for key in ("svf", "mc-sf"):
        yield Target(key, limits=Limits(headroom=2, prompts="any", requests=12, memory=64))
    for key in ("svf", "svf-1bit", "sorted-f", "mc-sf", "gba", "gsa"):
        yield Target(key, limits=Limits(prompts="any", requests=12, memory=4096))
    for key in ("mc-sf", "svf"):
        yield Target(key, limits=Limits(arrivals="any", requests=10, memory=24))


@dataclass(frozen=True)
class Entry:
    """A file of the library, replayed: costs of the policy over the proven optimum.

    Parameters
    ----------
    costs : total latencies, one for each fresh seed; empty when a run comes back to a state that
        leads to itself.
    optimum : exact, by the search for tiny optima.
    confirmed : whether `solve`, which shares nothing with it, proves the same in its nodes.
    """

    target: Target
    instance: Instance
    costs: tuple[int, ...]
    optimum: int
    confirmed: bool

    @property
    def ratio(self) -> Fraction | None:
        """Mean cost over the optimum; None for a policy that never completes."""
        if not self.costs:
            return None
        return Fraction(sum(self.costs), len(self.costs)) / self.optimum

    @property
    def error(self) -> float:
        """Half width of Student's 95% interval of the ratio, 0 without randomness."""
        if len(self.costs) < 2:
            return 0.0
        return Estimate.of(self.costs, confidence=0.95).half_width / self.optimum


def instance_for(target: Target, instance: Instance) -> Instance:
    """Return an instance with the columns that a target's policy reads."""
    made = Case.of_instance(instance).instance(target.make().information, target.name)
    return made.replace(source=f"{target.command} --start instances/worst-cases/{target.name}.json")


def read(target: Target, folder: Path) -> Instance | None:
    """Return the instance of a target; None when there is no file."""
    path = folder / f"{target.name}.json"
    if not path.exists():
        return None
    instance = read_instance(path)
    if (broken := target.limits.broken(Case.of_instance(instance))) is not None:
        raise FormatError(f"{path}: {broken}")
    return instance


def replay(target: Target, instance: Instance, runs: int = 400) -> Entry:
    """Run the policy on fresh seeds and prove the optimum twice."""
    policy = target.make()
    costs = costs_of(instance, policy, fresh_seeds(policy, runs)) or ()
    optimum = tiny_optimum(instance, states=STATES).latency
    if optimum is None:
        raise ValueError(f"{instance.name}: the optimum is not found in {STATES:,} states")
    proved = solve(instance, node_limit=PROOF_NODES)
    if not proved.lower <= optimum <= proved.upper:
        raise AssertionError(f"{instance.name}: {optimum} is outside what solve proves")
    return Entry(target, instance, costs, optimum, proved.is_exact)


def replays(
    folder: Path,
    runs: int = 400,
    *,
    only: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[list[Entry], list[str]]:
    """Replay the library; return its entries, and the names of targets without a file.

    Parameters
    ----------
    only : names of targets; all when empty.
    tell : called with the name of each target before it is replayed.
    """
    entries, missing = [], []
    for target in targets():
        if only and target.name not in only:
            continue
        tell(target.name)
        instance = read(target, folder)
        if instance is None:
            missing.append(target.name)
        else:
            entries.append(replay(target, instance, runs))
    return entries, missing


def improve(
    folder: Path,
    evaluations: int | None = None,
    *,
    seconds: float | None = None,
    seed: int = 0,
    only: Sequence[str] = (),
    extra: Iterable[Instance] = (),
    tell: Callable[[str, Attack | None], None] | None = None,
) -> None:
    """Search for worse instances, beginning with those of all targets, and keep what is worse.

    Parameters
    ----------
    evaluations : largest number for each target, beside those of the instances to begin with.
    seconds : processor seconds for each target, including the instances to begin with. Either
        `evaluations` or `seconds` is needed.
    only : names of targets; all when empty.
    extra : further instances to begin with.
    tell : called with a target's name and, when a worse instance was found, the search.

    Raises
    ------
    KeyboardInterrupt
        after Ctrl-C, when what the search had found is kept.
    """
    chosen = [target for target in targets() if not only or target.name in only]
    for target in chosen:
        known = [read(other, folder) for other in targets()]
        pool = [Case.of_instance(instance) for instance in [*known, *extra] if instance is not None]
        starts = [case for case in dict.fromkeys(pool) if target.limits.allow(case)]
        found = attack(
            target.make(),
            target.limits,
            seed=seed,
            evaluations=None if evaluations is None else evaluations + len(starts),
            time_limit=seconds,
            runs=96,
            starts=starts,
            proof_seconds=1.0,
            clock=process_time,
        )
        own = read(target, folder)
        better = own is None or found.endless or _worse(target, found, own)
        if better:
            write_instance(instance_for(target, found.instance), folder / f"{target.name}.json")
        if tell is not None:
            tell(target.name, found if better else None)
        if found.interrupted:
            raise KeyboardInterrupt


def _worse(target: Target, found: Attack, own: Instance) -> bool:
    before = replay(target, own, runs=96).ratio
    return before is not None and found.ratio > before
