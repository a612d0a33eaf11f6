"""The command line inside this process."""

import json
import re
import sys
from typing import Any

import pytest

import ratiolab
from ratiolab.cli import main
from ratiolab.model import Instance
from ratiolab.version import commit

COMMAND = [sys.executable, "-m", "ratiolab"]

EC1 = Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
TRACE = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:15:{second:02}.5,{10 + second},{1 + second}\n" for second in range(9)
)


def ended_with(*arguments: object) -> Any:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[Any, str, str]:
    """Exit code, output and errors of a command, whose words may come in one string."""
    words = str(arguments[0]).split() if len(arguments) == 1 else arguments
    code = ended_with(*words)
    return code, *capsys.readouterr()


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """What a command prints with ``--json``, without format and version."""
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    data = json.loads(out)
    assert data.pop("format").startswith("ratiolab-")
    assert data.pop("version") == ratiolab.__version__
    assert data.pop("commit") == commit()
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", data.pop("date"))
    return data
