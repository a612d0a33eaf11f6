"""A store of two instances without a record."""

import pytest
from recorded import EASY, NAME, hard

from ratiolab.model import write_instance
from ratiolab.records.store import RecordStore


@pytest.fixture
def store(tmp_path):
    found = RecordStore(tmp_path / "instances", tmp_path / "results")
    write_instance(EASY, found.instances / f"{NAME}.json")
    write_instance(hard(), found.instances / "jaillet2025" / "hard.json")
    return found
