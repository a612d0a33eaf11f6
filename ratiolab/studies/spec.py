"""Studies as files: strict TOML, swept into cells; ``example.toml`` shows every field."""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import Any

from ratiolab.model import FormatError, Preemption
from ratiolab.model.instance import shown
from ratiolab.model.io import PathLike, read_text
from ratiolab.model.schedule import require_preemption
from ratiolab.online import make
from ratiolab.online.clock import clock_of
from ratiolab.online.registry import parameter_values
from ratiolab.online.simulate import semantics_of
from ratiolab.online.user_policy import is_user_policy
from ratiolab.studies.cell import LABELS, Cell, Value
from ratiolab.studies.instances import checked, file_digest
from ratiolab.studies.tasks import TASKS, Task

Fields = dict[str, Value]

MOST_CELLS = 10**6
"""Most cells of one study."""

MOST_SEEDS = 10**5
"""Most seeds of one study."""

TABLES = ("study", "workload", "policy", "options", "quick")
HEAD = ("name", "tasks", "seeds", "preemption", "clock")


@dataclass(frozen=True, eq=False)
class Study:
    """A name and cells, in the order in which results list them.

    Parameters
    ----------
    name : letters, digits, ``-`` and ``_``; results are named so.
    cells : all different, though two may differ in their labels alone and be computed as one.
    declared : what the file says, with the changes of ``--quick`` applied.
    """

    name: str
    cells: tuple[Cell, ...] = field(repr=False)
    declared: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read_study(path: PathLike, *, quick: bool = False, traces: Path | None = None) -> Study:
    """Read a study file.

    Parameters
    ----------
    quick : apply the changes of its table ``quick``.
    traces : folder of the traces and instances that it names; default: the folder of the file.

    Raises
    ------
    FormatError
        one line that names the file, field, value and rule.
    """
    path = Path(path)
    text = read_text(path)
    try:
        data = _changed(tomllib.loads(text), quick)
        home = path.parent.resolve()
        return _study(data, home if traces is None else traces.resolve(), home)
    except ValueError as error:  # errors of TOML are such errors, too
        raise FormatError(f"{path}: {error}") from None


def example() -> AbstractContextManager[Path]:
    """Return the path of the study that shows every field."""
    return as_file(files("ratiolab.studies") / "example.toml")


def _study(data: Mapping[str, Any], traces: Path, home: Path) -> Study:
    head = _table(data, "study")
    _known(head, HEAD, "[study] field")
    title = head.get("name")
    if not isinstance(title, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", title):
        raise ValueError(f"[study] name {shown(title)} must be letters, digits, - and _")
    tasks = _tasks(head.get("tasks", ["simulate"]))
    seeds: list[Fields] = [{"seed": seed} for seed in _seeds(head.get("seeds", 1))]
    clocks = list(_clocks(head, home))
    workloads = list(_workloads(data, traces))
    policies = [p | clock for p, clock in product(_policies(data, home, head), clocks)]
    options = _table(data, "options")
    _known(options, {name for task in tasks for name in task.options}, "[options] field")
    cells: dict[tuple[object, ...], Cell] = {}
    for task in tasks:
        for needed, there, table in (
            (task.workload, workloads, "workload"),
            (task.policy, policies, "policy"),
        ):
            if needed and not there:
                raise ValueError(f"task {task.name} needs at least one [[{table}]]")
        axes: tuple[Sequence[Fields], ...] = (
            workloads if task.workload else [{}],
            list(_options(task, options)),
            seeds,
            policies if task.policy else [{}],
        )
        if len(cells) + prod(map(len, axes)) > MOST_CELLS:
            raise ValueError(f"has more than {MOST_CELLS} cells, the most that are run")
        for parts in product(*axes):
            fields: Fields = {"task": task.name}
            for part in parts:
                fields |= part
            cell = Cell(fields, traces, home)
            name = (cell.id, *(cell.fields.get(label) for label in LABELS))
            if name in cells:
                raise ValueError(f"the cell {cell} stands there twice")
            cells[name] = cell
    return Study(title, tuple(cells.values()), data)


def _changed(data: dict[str, Any], quick: bool) -> dict[str, Any]:
    """The file without its table quick, whose changes are checked, and made when asked for."""
    _known(data, TABLES, "table")
    changes = _table(data, "quick")
    _known(changes, ("seeds", "workload", "policy", "options"), "[quick] field")
    old = {key: value for key, value in data.items() if key != "quick"}
    new = dict(old)
    if "seeds" in changes:
        new["study"] = _table(data, "study") | {"seeds": changes["seeds"]}
    for table in ("workload", "policy", "options"):
        given = _table(changes, table)
        entries = [_table(data, table)] if table == "options" else _entries(data, table)
        for name in given:
            if not any(name in entry for entry in entries):
                raise ValueError(f"[quick.{table}] {name} changes nothing: no {table} states it")
        if given:
            made = [{k: given.get(k, v) for k, v in entry.items()} for entry in entries]
            new[table] = made[0] if table == "options" else made
    return new if quick else old


def _workloads(data: Mapping[str, Any], traces: Path) -> Iterator[Fields]:
    for number, entry in enumerate(_entries(data, "workload"), 1):
        try:
            sources = [word for word in ("kind", "trace", "instance") if word in entry]
            if len(sources) != 1:
                raise ValueError("must have one of kind, trace, instance")
            name = _text(entry, sources[0])
            head: Fields = {"workload": name if sources[0] == "kind" else sources[0]}
            head |= {"workload.label": _text(entry, "label") if "label" in entry else name}
            if sources[0] != "kind":
                if not (traces / name).is_file():
                    raise ValueError(
                        f"{sources[0]} {name!r}: is no file in {traces} (--traces FOLDER)"
                    )
                head |= {"workload.file": name, "workload.sha256": file_digest(traces / name)}
            settings = {k: v for k, v in entry.items() if k not in (sources[0], "label")}
            for point in _swept(settings):
                complete = checked(str(head["workload"]), point)
                yield head | {f"workload.{k}": v for k, v in complete.items()}
        except ValueError as error:
            raise ValueError(f"[[workload]] {number}: {error}") from None


def _policies(data: Mapping[str, Any], home: Path, general: Mapping[str, Any]) -> Iterator[Fields]:
    modes = _preemptions("[study] ", general)
    for number, entry in enumerate(_entries(data, "policy"), 1):
        try:
            key = _text(entry, "key")
            label = _text(entry, "label") if "label" in entry else None
            head: Fields = {"policy": key}
            own = is_user_policy(key)
            if own and (home / key.rpartition(":")[0]).is_file():
                head["policy.sha256"] = file_digest(home / key.rpartition(":")[0])
            settings = {k: v for k, v in entry.items() if k not in ("key", "label")}
            own_modes = _preemptions("", settings) if "preemption" in settings else []
            parameters = {k: v for k, v in settings.items() if k != "preemption"}
            for point in _swept(parameters):
                policy = make(str(home / key) if own else key, point)
                values = {k: v for k, v in parameter_values(policy).items() if _is_value(v)}
                full = head | {f"policy.{name}": value for name, value in values.items()}
                for mode in own_modes or modes:
                    semantics_of(policy, mode.get("preemption"))  # refuses what makes no sense
                    words = [f"{k}={v}" for k, v in (point | (mode if own_modes else {})).items()]
                    named = " ".join([key, *words]) if label is None else label
                    yield full | {"policy.label": named} | mode
        except ValueError as error:
            raise ValueError(f"[[policy]] {number}: {error}") from None


def _options(task: Task, given: Mapping[str, Any]) -> Iterator[Fields]:
    for name, value in given.items():
        if name in task.options:
            wanted = type(task.options[name])
            for one in value if isinstance(value, list) else [value]:
                if type(one) is not wanted:
                    raise ValueError(
                        f"[options] {name} {shown(one)} must be of type {wanted.__name__}"
                    )
    for point in _swept({name: given.get(name, value) for name, value in task.options.items()}):
        yield {f"option.{name}": value for name, value in point.items()}


def _swept(settings: Mapping[str, Any]) -> Iterator[Fields]:
    """Every combination of the values of lists, the last setting fastest."""
    axes = [value if isinstance(value, list) else [value] for value in settings.values()]
    for name, axis in zip(settings, axes, strict=True):
        if not axis:
            raise ValueError(f"{name} [] must have at least one value")
        for value in axis:
            if not _is_value(value):
                raise ValueError(f"{name} {shown(value)} must be a number, a string or a boolean")
    for values in product(*axes):
        yield dict(zip(settings, values, strict=True))


def _is_value(value: object) -> bool:
    return isinstance(value, str | int | bool) or (isinstance(value, float) and isfinite(value))


def _tasks(value: object) -> list[Task]:
    names = [str(name) for name in value] if isinstance(value, list) else [str(value)]
    for name in names:
        if name not in TASKS:
            raise ValueError(f"[study] tasks {name!r} is unknown; known are {', '.join(TASKS)}")
    return [TASKS[name] for name in names]


def _seeds(value: object) -> list[int]:
    seeds = list(range(value)) if type(value) is int and value <= MOST_SEEDS else value
    if not isinstance(seeds, list) or not seeds or len(seeds) > MOST_SEEDS:
        raise ValueError(
            f"[study] seeds {shown(value)} must be how many, 1 to {MOST_SEEDS}, or a list"
        )
    for seed in seeds:
        if type(seed) is not int or not 0 <= seed < 2**31:
            raise ValueError(f"[study] seeds {shown(seed)} must be an integer from 0 to 2**31 - 1")
    return seeds


def _preemptions(where: str, table: Mapping[str, Any]) -> list[dict[str, Preemption]]:
    """The semantics that a table asks for; nothing leaves them to the policy."""
    if "preemption" not in table:
        return [{}]
    value = table["preemption"]
    modes = value if isinstance(value, list) else [value]
    for mode in modes:
        try:
            require_preemption(mode)
        except ValueError as error:
            raise ValueError(f"{where}{error}") from None
    return [{"preemption": mode} for mode in modes]


def _clocks(head: Mapping[str, Any], home: Path) -> Iterator[Fields]:
    value = head.get("clock", [])
    if not isinstance(value, list):
        value = [value]
    for word in value:
        try:
            profile = isinstance(word, str) and word.endswith(".csv")
            clock_of(str(home / word) if profile else str(word))
        except ValueError as error:
            raise ValueError(f"[study] {error}") from None
        yield {"clock": word} | ({"clock.sha256": file_digest(home / word)} if profile else {})
    if not value:
        yield {}


def _entries(data: Mapping[str, Any], table: str) -> list[dict[str, Any]]:
    entries = data.get(table, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{table} must be written as [[{table}]]")
    return entries


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{name} must be a table, [{name}]")
    return table


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} {shown(value)} must be a string")
    return value


def _known(given: Iterable[str], known: Collection[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{what} {shown(name)} is unknown; known are {', '.join(known)}")
