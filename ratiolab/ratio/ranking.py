"""Rows of policies, the best first, with deployable policies in a group of their own."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isnan
from typing import Generic, TypeVar

from ratiolab.online import Policy
from ratiolab.online.registry import identity
from ratiolab.ratio.choice import knows_everything


class Ranked:
    """A row of a table: a policy, or the observed times of a log, which have no policy.

    Its name is that of the policy, with parameters where another row has the same policy.
    """

    name: str
    policy: Policy | None

    @property
    def knows_everything(self) -> bool:
        """Whether the policy cannot be deployed: it knows output lengths, or its ties do."""
        return self.policy is not None and knows_everything(self.policy)


R = TypeVar("R", bound=Ranked)


class Ranking(Generic[R]):
    """Rows, the best first."""

    rows: tuple[R, ...]

    def row(self, wanted: str | Policy) -> R:
        """Return the row of a policy, or of its name.

        Parameters
        ----------
        wanted : a policy with its parameters, the name of a row, or the key of a policy that
            has one row alone.

        Raises
        ------
        KeyError
            when there is none.
        ValueError
            when rows of different policies have this key; the message names them.
        """
        if isinstance(wanted, str):
            own = [row for row in self.rows if row.name == wanted]
            own = own or [row for row in self.rows if row.policy and row.policy.name == wanted]
        else:
            mine = identity(wanted)
            own = [row for row in self.rows if row.policy and identity(row.policy) == mine]
        if not own:
            raise KeyError(wanted)
        kinds = [identity(row.policy) for row in own if row.policy]
        if any(kind != kinds[0] for kind in kinds):
            names = ", ".join(repr(row.name) for row in own)
            raise ValueError(
                f"{wanted!r} has several rows: name one of {names}, or give the policy itself"
            )
        return own[0]

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
