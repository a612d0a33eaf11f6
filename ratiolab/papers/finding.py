"""Statements of papers beside what was found, judged by named rules."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ratiolab.papers.markdown import markdown
from ratiolab.papers.runs import Ratio

Verdict = bool | None
COLUMNS = ("statement", "paper", "ours", "verdict", "why")


@dataclass(frozen=True, eq=False)
class Rule:
    """A test of what was found against what a paper says.

    Parameters
    ----------
    holds : returns the verdict on what was found and the paper's figure; None: undecided.
    words : how a figure reads on a page.
    printed : how the paper's figure reads on a page.
    reason : returns what explains that both figures differ.
    """

    holds: Callable[[Any, Any], Verdict]
    words: Callable[[Any], str] = str
    printed: Callable[[Any], str] = "{:g}".format
    reason: Callable[[Any, Any], str] = lambda ours, paper: ""


@dataclass(frozen=True, eq=False)
class Finding:
    """A statement of a paper beside what was found.

    Parameters
    ----------
    statement : the statement in the words of this project.
    paper : the number or ordering there.
    ours : what was found: a number, a `Ratio`, several of them, or words.
    rule : decides whether the statement is reproduced; or the verdict itself, None when the paper
        does not say enough to decide.
    why : what explains a difference, or what limits an agreement.
    otherwise : what comes before `why` when the statement is not reproduced.
    said : words for `ours`; by default those of the rule.
    """

    statement: str
    paper: str | float
    ours: Any
    rule: Rule | Verdict
    why: str = ""
    otherwise: str = ""
    said: str | None = None

    @property
    def reproduced(self) -> Verdict:
        """Return the verdict; None when it is undecided."""
        if isinstance(self.rule, Rule):
            return self.rule.holds(self.ours, self.paper)
        return self.rule

    @property
    def verdict(self) -> str:
        """Return a word: a run can make a statement likely or reject it, and prove nothing."""
        return {True: "holds", False: "not reproduced", None: "undecided"}[self.reproduced]

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return the words of each of `COLUMNS`."""
        rule = self.rule if isinstance(self.rule, Rule) else Rule(lambda ours, paper: None)
        paper = self.paper if isinstance(self.paper, str) else rule.printed(self.paper)
        otherwise = "" if self.reproduced else self.otherwise or rule.reason(self.ours, self.paper)
        said = rule.words(self.ours) if self.said is None else self.said
        return self.statement, paper, said, self.verdict, otherwise + self.why


def findings_table(findings: Iterable[Finding], *, judged: bool = True) -> str:
    """Return findings as a Markdown table, without verdicts and their reasons if not judged."""
    kept = len(COLUMNS) if judged else COLUMNS.index("verdict")
    return markdown(COLUMNS[:kept], [finding.cells()[:kept] for finding in findings])


def figures_of(ours: Any) -> list[Any]:
    """Return the figures that a finding is about, one or several."""
    if isinstance(ours, Mapping):
        return list(ours.values())
    return list(ours) if isinstance(ours, Iterable) else [ours]


def every(test: Callable[[Any], bool]) -> Rule:
    """Return the rule that all figures pass a test."""
    return Rule(lambda ours, paper: all(bool(test(figure)) for figure in figures_of(ours)))


def agreed(verdicts: Iterable[Verdict]) -> Verdict:
    """Return what several settings say together: undecided if some agree with it, others do not."""
    if not (found := list(verdicts)):
        return None
    return all(found) or (None if any(found) or False not in found else False)


def in_settings(
    statement: str,
    paper: str | float,
    found: Mapping[str, Any],
    rule: Rule,
    why: str = "",
    *,
    said: str | Callable[[Any], str] = str,
    otherwise: str = "",
) -> Finding:
    """Return the finding of a statement that is judged in several settings, by their names.

    It holds if it does in each; if in some only, it is undecided, and the reason names them. A
    statement that no setting tests is undecided, too. `said` has words for each, or for all
    together.
    """
    verdicts = {name: rule.holds(ours, paper) for name, ours in found.items()}
    verdict = agreed(verdicts.values())
    if verdict is None:
        words = {True: "holds", False: "fails", None: "open"}
        by_word = {
            word: ", ".join(name for name, each in verdicts.items() if each is value)
            for value, word in words.items()
        }
        cause = "; ".join(f"{word}: {names}" for word, names in by_word.items() if names)
        one_word = len(set(verdicts.values())) == 1
        otherwise = "the intervals cross the limit" if one_word else cause
        otherwise += "; " if why and otherwise else ""
    if not isinstance(said, str):
        said = "; ".join(map(said, found.values()))
    return Finding(statement, paper, found, verdict, why, otherwise, said=said)


def at_most(limit: float) -> Rule:
    """Return the rule that no figure is above a limit."""
    return every(lambda figure: float(figure) <= limit)


def at_least(limit: float) -> Rule:
    """Return the rule that no figure is below a limit."""
    return every(lambda figure: float(figure) >= limit)


def below(limit: float) -> Rule:
    """Return the rule that all figures are below a limit."""
    return every(lambda figure: float(figure) < limit)


def above(limit: float) -> Rule:
    """Return the rule that all figures are above a limit."""
    return every(lambda figure: float(figure) > limit)


def between(low: float, high: float) -> Rule:
    """Return the rule that all figures are in a closed interval."""
    return every(lambda figure: low <= float(figure) <= high)


def alike(share: float) -> Rule:
    """Return the rule that ratios differ from 1 by at most a share, whole intervals alike."""
    return inside(1 - share, 1 + share)


def within(factor: float, words: str = "{:.2f}") -> Rule:
    """Return the rule that a figure is the paper's, but for a factor at most so large."""
    return Rule(
        lambda ours, paper: bool(paper / factor <= float(ours) <= paper * factor), words.format
    )


def near(share: float, printed: str = "{:g}") -> Rule:
    """Return the rule that figures differ from the paper's by at most a share of it."""
    return Rule(
        lambda ours, paper: all(abs(float(f) / paper - 1) <= share for f in figures_of(ours)),
        printed=printed.format,
    )


def lower() -> Rule:
    """Return the rule that the whole interval of every ratio is below 1; see `on_side`."""
    return Rule(lambda ours, paper: on_side(-1, figures_of(ours)))


def higher() -> Rule:
    """Return the rule that the whole interval of every ratio is above 1; see `on_side`."""
    return Rule(lambda ours, paper: on_side(1, figures_of(ours)))


def on_side(side: int, ratios: Iterable[Ratio]) -> Verdict:
    """Say whether all ratios are on a side of 1: no if one is on the other, else undecided."""
    sides = {ratio.side for ratio in ratios}
    return True if sides == {side} else False if -side in sides else None


def inside(low: float, high: float) -> Rule:
    """Return the rule that whole intervals lie in a region; one across an end is open."""
    return _inside(lambda paper: (low, high))


def _inside(region: Callable[[Any], tuple[float, float]]) -> Rule:
    """Return the rule that intervals are inside a region, which depends on the paper's figure.

    An interval outside as a whole decides against it, an interval across an end decides nothing.
    """

    def holds(ours: Any, paper: Any) -> Verdict:
        (low, high), ratios = region(paper), figures_of(ours)
        if any(ratio.high < low or ratio.low > high for ratio in ratios):
            return False
        return True if all(low <= r.low and r.high <= high for r in ratios) else None

    return Rule(holds)


def same_factor(share: float, same: float) -> Rule:
    """Return the rule that a ratio is the paper's but for a share of it, on the same side of 1.

    A paper's ratio that differs from 1 by less than `same` says that there is no difference, and
    so must ours. The whole interval must be where the rule asks for it. An interval outside as a
    whole decides against it, and an interval across an end leaves it undecided.
    """

    def region(paper: float) -> tuple[float, float]:
        if abs(paper - 1) < same:
            return 1 - same, 1 + same
        near = paper * (1 - share), paper * (1 + share)
        return (max(1, near[0]), near[1]) if paper > 1 else (near[0], min(1, near[1]))

    def on_one_side(ours: Ratio, paper: float) -> bool:
        return ours.side == (1 if paper > 1 else -1)

    def reason(ours: Ratio, paper: float) -> str:
        low, high = region(paper)
        if ours.low < high and ours.high > low:
            return "the interval crosses the limit"
        if abs(paper - 1) < same:
            return ""
        if not ours.side:
            return "no difference beyond the interval"
        if on_one_side(ours, paper):
            return "same side of 1, other size"
        return "on the other side of 1"

    return Rule(_inside(region).holds, str, "{:.2f}".format, reason)


def not_higher() -> Rule:
    """Return the rule that no interval of a ratio is above 1 as a whole."""
    return every(lambda ratio: ratio.low <= 1)


def rule_of(words: str) -> Rule:
    """Return a rule by its name and its limits.

    >>> rule_of("inside 0.4 0.6").holds(Ratio(0.5, 0.45, 0.55), None)
    True
    """
    name, *limits = words.split()
    known: Mapping[str, Callable[..., Rule]] = {
        each.__name__: each for each in (lower, higher, not_higher, inside, alike)
    }
    return known[name](*map(float, limits))


def declared(module: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of a name in ``_findings.toml``, which stands beside a module."""
    file = files(module.rpartition(".")[0]) / "_findings.toml"
    rows: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))[name]
    return rows


def largest(key: str, words: str = "{:.2f}") -> Rule:
    """Return the rule that the figure named ``key`` is the largest."""
    return Rule(lambda ours, paper: max(ours, key=ours.get) == key, lambda f: named(f, words))


def least(key: str, words: str = "{:.2f}") -> Rule:
    """Return the rule that the figure named ``key`` is the least."""
    return Rule(lambda ours, paper: min(ours, key=ours.get) == key, lambda f: named(f, words))


def named(figures: Mapping[str, Any], words: str = "{:.2f}") -> str:
    """Return figures with their names, as in ``fcfs 1.20, sjf 0.90``."""
    return ", ".join(f"{name} {words.format(figure)}" for name, figure in figures.items())
