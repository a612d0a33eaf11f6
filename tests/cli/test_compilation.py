"""The command that compiles ahead."""

import pytest
from command_line import run, run_json

from ratiolab.cli import compilation


@pytest.fixture
def parts(monkeypatch):
    """Two parts that take no time, then what the test adds."""
    found = ["solve (exact)", "certify (cells)"]

    def compiled():
        for part in found:
            if part is KeyboardInterrupt:
                raise part
            yield part

    monkeypatch.setattr(compilation, "_parts", compiled)
    return found


def test_it_says_what_it_has_compiled(parts, capsys):
    assert run(capsys, "compile")[1].endswith(" s: solve (exact), certify (cells)\n")
    assert run_json(capsys, "compile")["parts"] == parts


def test_ctrl_c_says_what_is_kept(parts, capsys):
    parts.append(KeyboardInterrupt)
    code, out, err = run(capsys, "compile")
    assert (code, out) == (130, "")
    assert err.splitlines()[0] == "interrupted; kept: solve (exact), certify (cells)"
