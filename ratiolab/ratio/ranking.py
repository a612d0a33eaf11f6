"""Rows of policies, the best first, with deployable policies in a group of their own."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isnan
from typing import Generic, TypeVar

from ratiolab.online import Policy
from ratiolab.ratio.choice import knows_everything


class Ranked:
    """A row of a table: a policy, or the observed times of a log, which have no policy."""

    policy: Policy | None

    @property
    def knows_everything(self) -> bool:
        """Whether the policy cannot be deployed: it knows output lengths, or its ties do."""
        return self.policy is not None and knows_everything(self.policy)


R = TypeVar("R", bound=Ranked)


class Ranking(Generic[R]):
    """Rows, the best first."""

    rows: tuple[R, ...]

    @property
    def deployable(self) -> list[R]:
        """Rows of policies that one can deploy, the best first."""
        return [row for row in self.rows if row.policy and not row.knows_everything]

    @property
    def knowing(self) -> list[R]:
        """Rows of policies that know everything, the best first."""
        return [row for row in self.rows if row.knows_everything]

    @property
    def groups(self) -> list[tuple[str, list[R]]]:
        """Rows under the titles of tables; there is no title without rows."""
        rest = [row for row in self.rows if row.policy is None]
        groups = [
            ("Policies that can be deployed", self.deployable),
            ("Policies that know every output length", self.knowing),
            ("The log itself", rest),
        ]
        return [(title, rows) for title, rows in groups if rows]


def best_first(
    rows: Iterable[R], value: Callable[[R], float | Fraction], larger_is_better: bool = False
) -> tuple[R, ...]:
    """Return rows in the order of a value; rows without a value (NaN) come last."""

    def rank(row: R) -> tuple[bool, float | Fraction]:
        found = value(row)
        return isnan(found), -found if larger_is_better else found

    return tuple(sorted(rows, key=rank))
