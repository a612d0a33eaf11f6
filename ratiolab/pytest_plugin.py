"""For pytest: watch a baseline, and hold your own policy to a ratio.

``pytest --ratiolab-baseline baseline.json`` adds one test for each pinned entry. The fixture
``ratio_at_most`` asserts that a policy stays within a factor of the proven optimum::

    def test_my_policy(ratio_at_most, instance):
        ratio_at_most(MyPolicy(), [instance], 1.2)
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ratiolab.baseline import Placed
    from ratiolab.model import Instance
    from ratiolab.online import Policy

NOTE = "ratiolab-annotation"
"""Name of the property of a test's report that holds a command for GitHub's runner."""


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

    def __init__(self, *, placed: "Placed", file: Path, **rest: Any) -> None:
        super().__init__(**rest)
        self.placed, self.file = placed, file

    def runtest(self) -> None:
        """Recompute and compare; a failure is noted for GitHub, too."""
        from ratiolab.baseline import annotation, judge

        allowed = bool(self.config.getoption("--ratiolab-allow-policy-files"))
        failure = judge(self.placed, self.file.parent, allow_policy_files=allowed).failure
        if failure:
            note = annotation(self.file, self.placed.line, failure)
            self.user_properties.append((NOTE, note))
        assert not failure, failure

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """One line: the drift, or what went wrong."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where and what."""
        return self.file, self.placed.line - 1, self.name


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Append the entries of every baseline."""
    from ratiolab.baseline import read_placed
    from ratiolab.model import FormatError

    for file in config.getoption("--ratiolab-baseline"):
        path = Path(file)
        try:
            entries = read_placed(path)
        except FormatError as error:
            raise pytest.UsageError(str(error)) from None
        for placed in entries:
            name = str(placed.entry)
            items.append(BaselineItem.from_parent(session, name=name, placed=placed, file=path))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Mark the entries that failed in their files, where GitHub's actions run."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for report in terminalreporter.stats.get("failed", ()):
            for name, note in getattr(report, "user_properties", ()):
                if name == NOTE:
                    terminalreporter.write_line(note)


@pytest.fixture
def ratio_at_most() -> "Callable[[Policy, Iterable[Instance], float], None]":
    """`ratiolab.testing.assert_ratio_at_most`, which see."""
    from ratiolab.testing import assert_ratio_at_most

    return assert_ratio_at_most
