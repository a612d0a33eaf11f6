"""Several searches, each with a seed of its own, here or elsewhere; the worst finding counts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ratiolab.adversary.attack import attack
from ratiolab.adversary.case import Case, Limits
from ratiolab.adversary.limit import LimitAttack, attack_limit
from ratiolab.adversary.result import Attack
from ratiolab.adversary.search import Tell
from ratiolab.executors import Executor
from ratiolab.online import make


@dataclass(frozen=True)
class Order:
    """A search but for its seed, as it is sent to a searching process.

    Parameters
    ----------
    policy, parameters : key and parameters, or the file and class of a policy of the user's own,
        which other machines must find at the same path.
    limit : search for a family by its ratio in the limit.
    runs : fresh seeds of the final mean.
    """

    policy: str
    parameters: dict[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    limit: bool = False
    evaluations: int | None = None
    time_limit: float | None = None
    runs: int = 400
    starts: tuple[Case, ...] = ()


def search(seed: int, order: Order, tell: Tell | None = None) -> Attack | LimitAttack:
    """Search with one seed."""
    find: Callable[..., Attack | LimitAttack]
    find = attack_limit if order.limit else partial(attack, runs=order.runs)
    return find(
        make(order.policy, order.parameters),
        order.limits,
        seed=seed,
        evaluations=order.evaluations,
        time_limit=order.time_limit,
        starts=order.starts,
        tell=tell,
    )


def worst_of(
    order: Order,
    seeds: range,
    executor: Executor,
    tell: Callable[[Attack | LimitAttack], None] = lambda found: None,
) -> tuple[Attack | LimitAttack, bool]:
    """Search with each seed; return the worst finding, of equals the least seed, and whether Ctrl-C
    ended it.

    The answer does not depend on the executor, unless a time limit or Ctrl-C ended a search. In
    processes of this machine Ctrl-C ends all searches, and what each has found by then counts.
    `tell` is called with each finding, as they come.
    """
    found: list[Attack | LimitAttack] = []
    stopped = False
    try:
        for _, one in executor.unordered(search, seeds, order, interruptible=True):
            found.append(one)
            tell(one)
            stopped = stopped or one.interrupted
            if stopped and executor.slots == 1:  # Ctrl-C ended this search, and ends the others
                break
    except KeyboardInterrupt:
        stopped = True
        if not found:
            raise
    return max(found, key=lambda one: (_badness(one), -one.seed)), stopped


def _badness(found: Attack | LimitAttack) -> tuple[bool, float]:
    if isinstance(found, LimitAttack):
        return False, float(found.best.ratio)
    return found.endless, 0.0 if found.endless else float(found.ratio)
