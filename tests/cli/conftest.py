"""Folders with small files to work on."""

import pytest
from command_line import EC1, TRACE

from ratiolab.model import write_instance


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_instance(EC1, tmp_path / "ec1.json")
    (tmp_path / "trace.csv").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ec1(tmp_path):
    write_instance(EC1, tmp_path / "ec1.json")
    return str(tmp_path / "ec1.json")
