"""Records prove what they say, are only ever replaced by better ones, and show any change."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from recorded import EASY, NAME, better, bound, hard, strays, weak, with_text
from regenerate import regenerate

from ratiolab.hindsight import OptResult, bracket, solve
from ratiolab.hindsight.certificates.certificate import FormulaCertificate
from ratiolab.hindsight.schedules.heuristics import list_schedule
from ratiolab.model import FormatError, Instance, read_instance, write_instance
from ratiolab.records import improve as improving
from ratiolab.records import store as storing
from ratiolab.records.improve import Failure, Try, improve, instances
from ratiolab.records.library import DRAWN, SIZES, recipes
from ratiolab.records.record import HEADER, Record, read_records, write_records
from ratiolab.records.store import RecordStore, faults

SHIPPED = Path(__file__).parents[2]


def test_the_library_is_what_its_recipes_draw():
    known = list(recipes())
    count = 2 * DRAWN + 5 * (2 * 8 + 3) + 3 * 8 + 3 * 2 * 5
    assert len({recipe.name for recipe in known}) == len(known) == count
    for recipe in known:
        instance = read_instance(SHIPPED / "instances" / f"{recipe.name}.json")
        assert instance == recipe.build()
        assert regenerate(instance.source).digest == instance.digest
    fixed = [r for r in known if not (r.family.startswith("model") or r.kind.startswith("trace"))]
    assert {len(recipe.build()) for recipe in fixed} == set(SIZES)


def test_shipped_records_are_of_shipped_instances_and_their_files_are_there():
    shipped = RecordStore(SHIPPED / "instances", SHIPPED / "results")
    records = shipped.records()
    assert set(records) == {recipe.name for recipe in recipes()}
    assert strays(shipped) == []
    for record in records.values():
        assert shipped.instance(record.instance).digest == record.digest
        assert (shipped.results / record.certificate).exists()
    one_of_each = {record.lower_by: record for record in small(records)}
    assert len(one_of_each) >= 4
    for record in one_of_each.values():
        assert faults(shipped, record) == []


def small(records: dict[str, Record]) -> list[Record]:
    """Return the records of few requests: a certificate of each of them takes seconds at most."""
    return [record for record in records.values() if record.requests <= 12]


@pytest.mark.long
def test_shipped_records_of_few_requests_prove_what_they_say():
    shipped = RecordStore(SHIPPED / "instances", SHIPPED / "results")
    half = small(shipped.records())[::2]
    assert len(half) >= 7
    for record in half:
        assert faults(shipped, record) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"certificate": "{outside}"}, "certificate '.*outside.json' must be records/"),
        ({"schedule": "records/../../outside.json"}, "schedule .* must be records/"),
        ({"certificate": "records/other.lower-1.json.gz"}, "certificate .* must be records/"),
        ({"instance": "../easy"}, "instance '../easy' must be FOLDER/NAME"),
        ({"instance": "/easy"}, "instance '/easy' must be"),
        ({"instance": "a/b/../../../easy"}, "instance .* must be"),
        ({"instance": "easy"}, "instance 'easy' must be"),
    ],
)
def test_a_table_names_no_file_outside_its_folder_and_nothing_there_is_removed(
    store: RecordStore, changes: dict[str, str], rule: str
) -> None:
    """The check of the row is made anew: whoever writes tables can compute it."""
    outside = store.results.parent / "outside.json"
    outside.write_text("precious")
    _, record = store.keep(NAME, bracket(EASY, steps=0))
    given = {k: v.format(outside=outside) for k, v in changes.items()}
    write_records([replace(record, **given)], store.table)
    with pytest.raises(FormatError, match=rule):
        store.records()
    with pytest.raises(FormatError, match=rule):
        store.keep(NAME, solve(EASY))
    assert outside.read_text() == "precious"
    store._remove(str(outside))
    assert outside.read_text() == "precious"


@pytest.mark.long
def test_improving_fills_proves_and_never_loses(store, monkeypatch):
    now = 0.0

    def limited(instance: Instance, *, time_limit: float, **options: Any) -> OptResult:
        """Take all the time on a clock of its own; what ends the solve is a number of nodes."""
        nonlocal now
        now += time_limit
        return solve(instance, node_limit=20, steps=500, **options)

    monkeypatch.setattr(improving, "solve", limited)
    monkeypatch.setattr(improving, "time", SimpleNamespace(monotonic=lambda: now))
    assert instances(store) == [NAME, "jaillet2025/hard"]
    done = [each for each in improve(store, 0.1) if isinstance(each, Try)]
    assert {each.now.instance for each in done} == {NAME, "jaillet2025/hard"}
    assert all(each.better for each in done if each.before is None)
    first = store.records()
    for record in first.values():
        assert faults(store, record) == []
    improve(store, 0.05, only="jaillet2025/*")
    for name, record in store.records().items():
        assert faults(store, record) == []
        assert record.lower >= first[name].lower
        assert record.proved >= first[name].proved
        assert record.upper <= first[name].upper
    assert strays(store) == []


def test_a_try_certifies_what_the_program_proved_before(store):
    instance = read_instance(SHIPPED / "instances" / "families" / "two-point-0010-1.json")
    write_instance(instance, store.instances / f"{NAME}.json")
    _, before = store.keep(NAME, solve(instance, method="ip"))
    assert before.status == "proved"
    [done] = improve(store, 1, only=NAME)
    assert isinstance(done, Try)
    assert done.now.status == "certified"


def test_a_worse_try_changes_nothing_but_its_count_and_seconds(store):
    best = solve(EASY)
    _, record = store.keep(NAME, best)
    before, now = store.keep(NAME, bracket(EASY, steps=0))
    assert before == record
    assert (now.lower, now.upper, now.proved) == (record.lower, record.upper, record.proved)
    assert (now.certificate, now.schedule, now.tries) == (record.certificate, record.schedule, 2)
    assert faults(store, now) == []


def test_each_value_is_replaced_on_its_own(store):
    assert bound().certified > weak().certified
    assert better().upper < weak().upper
    _, first = store.keep("jaillet2025/hard", weak())
    _, second = store.keep("jaillet2025/hard", bound())
    _, third = store.keep("jaillet2025/hard", better())
    assert (second.lower, second.schedule) == (bound().certified, first.schedule)
    assert (third.upper, third.certificate) == (better().upper, second.certificate)
    assert third.upper_by == "orders"
    assert third.lower_by == "duals of cuts and memory"
    assert faults(store, third) == []
    assert strays(store) == []


@pytest.mark.parametrize("column", HEADER)
def test_any_changed_cell_of_the_table_shows(store, column):
    store.keep(NAME, bracket(EASY, steps=0))
    header, row = store.table.read_text().splitlines()
    cells = row.split(",")
    place = header.split(",").index(column)
    cells[place] = "9" + cells[place] if cells[place][0].isdigit() else cells[place] + "x"
    store.table.write_text("\n".join([header, ",".join(cells)]) + "\n")
    with pytest.raises(FormatError, match=r"records.csv: line 2: "):
        read_records(store.table)


def test_changed_files_show(store):
    _, record = store.keep("jaillet2025/hard", bound())
    certificate, schedule = (store.results / f for f in (record.certificate, record.schedule))
    kept = {path: path.read_bytes() for path in (certificate, schedule)}
    for path, old, new in (
        (certificate, f'"bound": {record.lower}', f'"bound": {record.lower + 1}'),
        (certificate, '"memory": [', '"memory": [1, '),
        (schedule, f'"total_latency": {record.upper}', f'"total_latency": {record.upper - 1}'),
        (schedule, '"start": [0', '"start": [1'),
    ):
        with_text(path, old, new)
        assert len(faults(store, record)) == 1
        path.write_bytes(kept[path])
    assert faults(store, record) == []
    # a valid file of another value is not that of the record
    instance = hard()
    worse = list_schedule(instance, list(range(len(instance))))
    from ratiolab.model import write_schedule

    write_schedule(worse, schedule)
    assert faults(store, record) == [
        f"{record.schedule}: latency {worse.total_latency}, not {record.upper}"
    ]
    schedule.write_bytes(kept[schedule])
    certificate.unlink()
    assert len(faults(store, record)) == 1
    write_instance(EASY, store.instances / "jaillet2025" / "hard.json")
    assert "the table says" in faults(store, record)[0]


def test_a_crash_between_files_and_table_leaves_a_table_that_holds(store, monkeypatch):
    store.keep("jaillet2025/hard", weak())

    def crash(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("ratiolab.records.store.write_records", crash)
        with pytest.raises(OSError, match="no space"):
            store.keep("jaillet2025/hard", bound())
    (record,) = store.records().values()
    assert faults(store, record) == []
    assert len(strays(store)) == 1


def test_two_writers_at_once_lose_no_record(store, monkeypatch):
    genuine = storing.write_certificate
    other = Thread(target=store.keep, args=("families/second", weak()))

    def meanwhile(*arguments: Any) -> None:
        monkeypatch.setattr(storing, "write_certificate", genuine)
        other.start()
        other.join(0.4)  # without a lock the other is done by now
        genuine(*arguments)

    monkeypatch.setattr(storing, "write_certificate", meanwhile)
    store.keep("families/first", weak())
    other.join()
    assert sorted(store.records()) == ["families/first", "families/second"]
    assert strays(store) == []


def row(name: str, lower: int) -> Record:
    counts = {"requests": 3, "memory": 5, "lower": lower, "proved": lower, "upper": 100}
    words = ("digest", "lower_by", "proved_by", "upper_by", "certificate", "schedule")
    return Record(instance=name, seconds=1.0, tries=1, **counts, **dict.fromkeys(words, "x"))


def test_ctrl_c_keeps_what_the_try_has_found(store, monkeypatch):
    def interrupted(schedule: object, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ratiolab.hindsight.stages.improved_schedule", interrupted)
    done: list[Try | Failure] = []
    with pytest.raises(KeyboardInterrupt):
        improve(store, 1.0, only="jaillet2025/*", tell=done.append)
    assert len(done) == 1
    (record,) = store.records().values()
    assert faults(store, record) == []


def test_a_solve_that_fails_is_told_and_does_not_end_the_others(store, monkeypatch):
    def failing(instance: Instance, **_: object) -> OptResult:
        if len(instance) == len(EASY):
            raise MemoryError("too large")
        return bound()

    ticks = count(0, 0.01)
    monkeypatch.setattr(improving, "solve", failing)
    monkeypatch.setattr(improving, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    done = improve(store, 0.01)
    failed = [each for each in done if isinstance(each, Failure)]
    assert [each.instance for each in failed] == [NAME]
    assert "jaillet2025/hard" in store.records()


def test_a_solve_begins_with_what_is_known_and_checks_it():
    instance = hard()
    limits = {"time_limit": 0.0, "steps": 0}
    again = solve(instance, known=better().schedule, proven=bound().certificate, **limits)
    assert (again.lower, again.certified) == (bound().lower, bound().certified)
    assert again.upper == better().upper
    with pytest.raises(ValueError, match="known schedule is of easy"):
        solve(instance, known=bracket(EASY).schedule)
    claim = FormulaCertificate(instance.name, instance.digest, weak().upper + 1, "volume")
    with pytest.raises(ValueError, match="is claimed"):
        solve(instance, proven=claim)
