"""For pytest: watch a baseline, and hold your own policy to a ratio.

``pytest --ratiolab-baseline baseline.json`` adds one test for each pinned entry. The fixture
``ratio_at_most`` asserts that a policy stays within a factor of the proven optimum::

    def test_my_policy(ratio_at_most, instance):
        ratio_at_most(MyPolicy(), [instance], 1.2)
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ratiolab.model import Instance
    from ratiolab.online import Policy


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--ratiolab-baseline``."""
    group = parser.getgroup("ratiolab")
    group.addoption(
        "--ratiolab-baseline",
        action="append",
        default=[],
        metavar="FILE",
        help="recompute every entry of this baseline as a test; repeatable",
    )


class BaselineItem(pytest.Item):
    """One pinned entry."""

    def __init__(self, *, entry: Mapping[str, Any], folder: Path, **rest: Any) -> None:
        super().__init__(**rest)
        self.entry, self.folder = entry, folder

    def runtest(self) -> None:
        """Recompute and compare."""
        from ratiolab.baseline import drift, recompute

        found = drift(self.entry, recompute(self.entry, self.folder))
        assert found is None, str(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """One line: the drift, or what went wrong."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where and what."""
        return self.folder, None, self.name


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Append the entries of every baseline."""
    from ratiolab.baseline import name_of, read_baseline

    for name in config.getoption("--ratiolab-baseline"):
        path = Path(name)
        for entry in read_baseline(path):
            items.append(
                BaselineItem.from_parent(
                    session, name=name_of(entry), entry=entry, folder=path.parent
                )
            )


@pytest.fixture
def ratio_at_most() -> "Callable[[Policy, Iterable[Instance], float], None]":
    """`ratiolab.testing.assert_ratio_at_most`, which see."""
    from ratiolab.testing import assert_ratio_at_most

    return assert_ratio_at_most
