"""Rechecking records: every certificate by the independent checker, every schedule by its judge."""

from collections.abc import Iterator

from ratiolab.hindsight.certificates.certify import CertificateError, certify
from ratiolab.model import FormatError, violations
from ratiolab.records.record import Record
from ratiolab.records.store import RecordStore


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
        proven = certify(store.certificate(record), instance)
    except CertificateError as error:
        yield f"{record.certificate}: {error}"
    else:
        if proven != record.lower:
            yield f"{record.certificate}: proves {proven}, not {record.lower}"
