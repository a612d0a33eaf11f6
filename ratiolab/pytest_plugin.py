"""For pytest: watch a baseline, and hold your own policy to a ratio.

``pytest --ratiolab-baseline baseline.json`` adds one test for each pinned entry. The fixture
``ratio_at_most`` asserts that a policy stays within a factor of the proven optimum::

    def test_my_policy(ratio_at_most, instance):
        ratio_at_most(MyPolicy(), [instance], 1.2)
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ratiolab.baseline import Entry
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
    group.addoption(
        "--ratiolab-allow-policy-files",
        action="store_true",
        help="run the Python files that entries of baselines name as policies",
    )


class BaselineItem(pytest.Item):
    """One pinned entry."""

    def __init__(self, *, entry: "Entry", folder: Path, **rest: Any) -> None:
        super().__init__(**rest)
        self.entry, self.folder = entry, folder

    def runtest(self) -> None:
        """Recompute and compare."""
        allowed = bool(self.config.getoption("--ratiolab-allow-policy-files"))
        found = self.entry.drift(self.entry.compute(self.folder, allow_policy_files=allowed))
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
    from ratiolab.baseline import read_baseline
    from ratiolab.model import FormatError

    for file in config.getoption("--ratiolab-baseline"):
        path = Path(file)
        try:
            entries = read_baseline(path)
        except FormatError as error:
            raise pytest.UsageError(str(error)) from None
        for entry in entries:
            name = str(entry)
            items.append(
                BaselineItem.from_parent(session, name=name, entry=entry, folder=path.parent)
            )


@pytest.fixture
def ratio_at_most() -> "Callable[[Policy, Iterable[Instance], float], None]":
    """`ratiolab.testing.assert_ratio_at_most`, which see."""
    from ratiolab.testing import assert_ratio_at_most

    return assert_ratio_at_most
