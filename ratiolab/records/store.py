"""The files of the record library, the one way to change them, and how to recheck them.

Certificate and schedule of a record carry their value in their name. A better one is first written
beside the old one, then the table is replaced in one step, then the old one goes: whenever it ends,
the table names files that are there and prove what it says.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from ratiolab.hindsight import OptResult
from ratiolab.hindsight.certificates.certificate import Certificate, Promised
from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.hindsight.certificates.effort import LONG_CHECK, allowing
from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
from ratiolab.model import (
    FormatError,
    Instance,
    Schedule,
    read_instance,
    read_schedule,
    violations,
    write_schedule,
)
from ratiolab.records.record import FOLDER, Record, read_records, write_records

TABLE = "records.csv"
LOCK = ".records.lock"


class RecordStore:
    """Instances below one folder, the table and its files below another."""

    def __init__(self, instances: Path, results: Path) -> None:
        self.instances, self.results = instances, results
        self.table = results / TABLE

    def records(self) -> dict[str, Record]:
        """Return the table by instance; empty while there is none."""
        if not self.table.exists():
            return {}
        return {record.instance: record for record in read_records(self.table)}

    def instance(self, name: str) -> Instance:
        return read_instance(self.instances / f"{name}.json")

    def certificate(self, record: Record) -> Certificate:
        claim = read_certificate(self.results / record.certificate)
        if isinstance(claim, Promised):
            raise FormatError(f"{record.certificate}: it bounds {claim.objective}, not latency")
        return claim

    def schedule(self, record: Record, instance: Instance) -> Schedule:
        return read_schedule(self.results / record.schedule, instance)

    def keep(self, name: str, result: OptResult) -> tuple[Record | None, Record]:
        """Write each better part of a try to the table; return the old and the new record.

        One writer at a time reads the table, changes and writes it: what others wrote meanwhile
        is compared, too, and no change is lost.
        """
        self.results.mkdir(parents=True, exist_ok=True)
        with FileLock(self.results / LOCK):
            return self._keep(name, result)

    def _keep(self, name: str, result: OptResult) -> tuple[Record | None, Record]:
        records = self.records()
        before = records.get(name)
        now = merged(name, before, result)
        if before is None or now.certificate != before.certificate:
            write_certificate(result.certificate, self.results / now.certificate)
        if before is None or now.schedule != before.schedule:
            write_schedule(result.schedule, self.results / now.schedule)
        records[name] = now
        write_records((records[key] for key in sorted(records)), self.table)
        if before is not None:
            for old in {before.certificate, before.schedule} - {now.certificate, now.schedule}:
                self._remove(old)
        return before, now

    def _remove(self, file: str) -> None:
        """Remove a file that the table no longer names, and none outside the folder of records."""
        path = (self.results / file).resolve()
        if path.is_relative_to((self.results / FOLDER).resolve()):
            path.unlink(missing_ok=True)


def merged(name: str, before: Record | None, result: OptResult) -> Record:
    """Merge a try into a record: each value of the one before, unless the new one is better."""
    instance, last = result.instance, result.stages[-1]
    found = Record(
        instance=name,
        requests=len(instance),
        memory=instance.memory,
        digest=instance.digest,
        lower=result.certified,
        upper=result.upper,
        proved=result.lower,
        lower_by=result.certificate.source,
        proved_by=result.lower_source,
        upper_by=next(s.name for s in result.stages if s.upper == last.upper),
        seconds=round(result.seconds, 1),
        tries=1,
        certificate=f"{FOLDER}/{name}.lower-{result.certified}.json.gz",
        schedule=f"{FOLDER}/{name}.upper-{result.upper}.json.gz",
    )
    if before is None:
        return found
    if before.digest != found.digest:
        raise ValueError(f"{name}: the record is of digest {before.digest}, not {found.digest}")
    # a try's seed is the number of tries before: one that Ctrl-C ended is tried again
    tries = before.tries + (not result.interrupted)
    now = replace(before, seconds=round(before.seconds + found.seconds, 1), tries=tries)
    if found.lower > now.lower:
        now = replace(
            now, lower=found.lower, lower_by=found.lower_by, certificate=found.certificate
        )
    if found.proved > now.proved:
        now = replace(now, proved=found.proved, proved_by=found.proved_by)
    if found.upper < now.upper:
        now = replace(now, upper=found.upper, upper_by=found.upper_by, schedule=found.schedule)
    return now


def faults(store: RecordStore, record: Record) -> list[str]:
    """Return the faults of a record, a line each; none when it proves what it says.

    The row itself has been checked when the table was read.
    """
    try:
        return list(_faults(store, record))
    except FormatError as error:
        return [str(error)]


def _faults(store: RecordStore, record: Record) -> Iterator[str]:
    instance = store.instance(record.instance)
    actual = len(instance), instance.memory, instance.digest
    stated = record.requests, record.memory, record.digest
    if actual != stated:
        yield f"requests, memory and digest are {actual}, the table says {stated}"
        return
    schedule = store.schedule(record, instance)
    broken = violations(schedule)
    if broken:
        yield f"{record.schedule}: {broken[0]}"
    elif schedule.total_latency != record.upper:
        yield f"{record.schedule}: latency {schedule.total_latency}, not {record.upper}"
    try:
        with allowing(LONG_CHECK):
            proven = certify(store.certificate(record), instance)
    except CertificateError as error:
        yield f"{record.certificate}: {error}"
    else:
        if proven != record.lower:
            yield f"{record.certificate}: proves {proven}, not {record.lower}"
