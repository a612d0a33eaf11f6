"""Studies as files: strict TOML, swept into cells; ``example.toml`` shows every field."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ratiolab.model import FormatError, PathLike, Preemption, read_text, shown
from ratiolab.model.names import unknown
from ratiolab.online import make
from ratiolab.online.clock import clock_of
from ratiolab.online.registry import parameter_values
from ratiolab.online.simulate import semantics_of
from ratiolab.online.user_policy import is_user_policy
from ratiolab.studies.cell import LABELS, Cell, Value
from ratiolab.studies.instances import checked, file_digest
from ratiolab.studies.tasks import TASKS, Task

if TYPE_CHECKING:
    from ratiolab.studies.study_file import PolicyEntry, StudyFile, Workload

Fields: TypeAlias = dict[str, Value]
Mode: TypeAlias = dict[str, Preemption]
Entry = TypeVar("Entry")

ONLY = {
    "policy.workloads": "workload.label",
    "workload.clocks": "clock",
    "workload.tasks": "task",
    "workload.seeds": "seed",
}
"""Fields of entries that are for some workloads, clocks, tasks or seeds only; not of cells."""

MOST_CELLS = 10**6
"""Most cells of one study."""


@dataclass(frozen=True, eq=False)
class Study:
    """A name and cells, in the order in which results list them.

    Parameters
    ----------
    name : letters, digits, ``-`` and ``_``; results are named so.
    cells : different cells. Cells that differ in their labels alone are computed once.
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
    from ratiolab.model.validation import validated
    from ratiolab.studies.study_file import StudyFile

    path = Path(path)
    text = read_text(path)
    try:
        try:
            data = tomllib.loads(text)
        except RecursionError:
            raise ValueError("is no study (nested too deeply)") from None
        file = validated(StudyFile, data)
        changed = _changed(data)  # its mistakes are named with and without --quick
        declared = changed if quick else {k: v for k, v in data.items() if k != "quick"}
        home = path.parent.resolve()
        cells = _cells(
            validated(StudyFile, changed) if quick else file,
            home if traces is None else traces.resolve(),
            home,
        )
        return Study(file.study.name, tuple(cells.values()), declared)
    except ValueError as error:  # errors of TOML are such errors, too
        raise FormatError(f"{path}: {error}") from None


def example() -> AbstractContextManager[Path]:
    """Return the path of the study that shows every field."""
    return as_file(files("ratiolab.studies") / "example.toml")


def _changed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables with the changes of the table quick, which must all change something."""
    changes = data.get("quick", {})
    new = {key: value for key, value in data.items() if key != "quick"}
    if "seeds" in changes:
        new["study"] = new["study"] | {"seeds": changes["seeds"]}
    for table in ("workload", "policy", "options"):
        given = changes.get(table, {})
        entries = [data.get(table, {})] if table == "options" else data.get(table, [])
        for name in given:
            if not any(name in entry for entry in entries):
                raise ValueError(f"[quick.{table}] {name} changes nothing: no {table} states it")
        if given:
            made = [{k: given.get(k, v) for k, v in entry.items()} for entry in entries]
            new[table] = made[0] if table == "options" else made
    return new


def _cells(file: "StudyFile", traces: Path, home: Path) -> dict[tuple[object, ...], Cell]:
    """Return the cells in the order of results; their keys tell them apart."""
    tasks = [TASKS[name] for name in file.study.tasks]
    seeds: list[Fields] = [{"seed": seed} for seed in file.study.seeds]
    clocks = list(_clocks(file.study.clock, home))
    tick = file.study.tick_seconds
    ticked: Fields = {} if tick is None else {"workload.tick_seconds": tick}
    workloads = [
        workload | ticked
        for workload in _numbered(
            "workload", file.workload, lambda w: _workload(w, traces, file.study.seeds)
        )
    ]
    modes = _modes(file.study.preemption)
    policies = [
        policy | clock
        for policy, clock in product(
            _numbered("policy", file.policy, lambda p: _policy(p, home, modes)), clocks
        )
    ]
    labels = (str(workload["workload.label"]) for workload in workloads)
    _require_known("policy", file.policy, "workloads", labels)
    _require_known("workload", file.workload, "clocks", file.study.clock)
    _require_known("workload", file.workload, "tasks", file.study.tasks)
    known = {name for task in tasks for name in task.options}
    for name in file.options:
        if name not in known:
            raise ValueError(
                f"[options] unknown key {shown(name)}; known are {', '.join(known) or 'none'}"
            )
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
            list(_options(task, file.options)),
            seeds,
            policies if task.policy else [{}],
        )
        if len(cells) + prod(map(len, axes)) > MOST_CELLS:
            raise ValueError(f"has more than {MOST_CELLS} cells, the most that are run")
        for parts in product(*axes):
            fields: Fields = {"task": task.name}
            for part in parts:
                fields |= part
            if not _wanted(fields):
                continue
            cell = Cell(fields, traces, home)
            identity = (cell.id, *(cell.fields.get(label) for label in LABELS))
            if identity in cells:
                raise ValueError(f"the cell {cell} stands there twice")
            cells[identity] = cell
    return cells


def _wanted(fields: Fields) -> bool:
    """Say whether the entries of a cell are for each other; what says so is taken out."""
    limits = [(str(fields.pop(name, "")), fields.get(column)) for name, column in ONLY.items()]
    return all(
        not named or value is None or str(value) in named.split("\n") for named, value in limits
    )


def _limits(table: str, entry: "Workload | PolicyEntry", *names: str) -> Fields:
    """Return the clocks and tasks that an entry is limited to."""
    given = ((f"{table}.{name}", getattr(entry, name)) for name in names)
    return {key: "\n".join(values) for key, values in given if values}


def _require_known(
    table: str, entries: Sequence["Workload | PolicyEntry"], name: str, known: Iterable[str]
) -> None:
    """Refuse entries that are for workloads, clocks or tasks which the study does not have."""
    words = list(dict.fromkeys(known))
    for number, entry in enumerate(entries, 1):
        for one in getattr(entry, name) or ():
            if one not in words:
                raise ValueError(f"[[{table}]] {number}: {unknown(name, one, sorted(words))}")


def _numbered(
    table: str, entries: Sequence[Entry], fields: Callable[[Entry], Iterator[Fields]]
) -> Iterator[Fields]:
    """Return the fields of all entries of a table; an error says which entry it is about."""
    for number, entry in enumerate(entries, 1):
        try:
            yield from fields(entry)
        except ValueError as error:
            raise ValueError(f"[[{table}]] {number}: {error}") from None


def _workload(entry: "Workload", traces: Path, seeds: list[int]) -> Iterator[Fields]:
    source, name = entry.source
    head: Fields = {"workload": name if source == "kind" else source}
    head |= {"workload.label": entry.label or name}
    head |= _limits("workload", entry, "clocks", "tasks")
    if most := entry.given().get("seeds"):
        head |= {"workload.seeds": "\n".join(map(str, seeds[:most]))}
    if source != "kind":
        if not (traces / name).is_file():
            raise ValueError(f"{source} {name!r}: is no file in {traces} (--traces FOLDER)")
        head |= {"workload.file": name, "workload.sha256": file_digest(traces / name)}
    for point in _swept(entry.model_extra or {}):
        complete = checked(str(head["workload"]), point)
        yield head | {f"workload.{k}": v for k, v in complete.items()}


def _policy(entry: "PolicyEntry", home: Path, general: list[Mode]) -> Iterator[Fields]:
    head: Fields = {"policy": entry.key}
    own, own_modes = is_user_policy(entry.key), entry.preemption is not None
    if own and (home / entry.key.rpartition(":")[0]).is_file():
        head["policy.sha256"] = file_digest(home / entry.key.rpartition(":")[0])
    for point in _swept(entry.model_extra or {}):
        policy = make(str(home / entry.key) if own else entry.key, point)
        values = {k: v for k, v in parameter_values(policy).items() if _is_value(v)}
        full = head | {f"policy.{name}": value for name, value in values.items()}
        for mode in _modes(entry.preemption) if own_modes else general:
            semantics_of(policy, mode.get("preemption"))  # refuses what makes no sense
            words = [f"{k}={v}" for k, v in (point | (mode if own_modes else {})).items()]
            label = entry.label or " ".join([entry.key, *words])
            only = _limits("policy", entry, "workloads")
            yield full | {"policy.label": label} | mode | only


def _options(task: Task, given: Mapping[str, list[Value]]) -> Iterator[Fields]:
    for name, values in given.items():
        wanted = type(task.options.get(name))
        for one in values if name in task.options else ():
            if type(one) is not wanted:
                raise ValueError(f"[options] {name} {shown(one)} must be of type {wanted.__name__}")
    for point in _swept({name: given.get(name, [value]) for name, value in task.options.items()}):
        yield {f"option.{name}": value for name, value in point.items()}


def _swept(settings: Mapping[str, list[Value]]) -> Iterator[Fields]:
    """Return every combination of the values of lists, the last setting fastest."""
    for values in product(*settings.values()):
        yield dict(zip(settings, values, strict=True))


def _is_value(value: object) -> bool:
    return isinstance(value, str | int | bool) or (isinstance(value, float) and isfinite(value))


def _modes(given: list[Preemption] | None) -> list[Mode]:
    """Return the semantics that a table asks for; nothing leaves them to the policy."""
    return [{}] if given is None else [{"preemption": mode} for mode in given]


def _clocks(words: list[str], home: Path) -> Iterator[Fields]:
    for word in words:
        profile = word.endswith(".csv")
        try:
            clock_of(str(home / word) if profile else word)
        except ValueError as error:
            raise ValueError(f"[study] {error}") from None
        fields: Fields = {"clock": word}
        yield fields | ({"clock.sha256": file_digest(home / word)} if profile else {})
    if not words:
        yield {}
