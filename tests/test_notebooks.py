"""Every notebook runs from a clean checkout, defines nothing, and speaks of no machine."""

import ast
import base64
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from public_modules import MODULES

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[1] / "notebooks"
PAPERS = ("chen2025", "jaillet2025", "trail")
"""Claim against computation: many pictures and tables of verdicts."""

NAMES = (*PAPERS, "ablations", "experiments", "worst_cases", "your_own")
SECONDS = 900
"""For one cell, on any machine; a notebook takes less than 180 on two cores."""

FEWER = {"ablations": (r"ablation\((\"\w+\")\)", r"ablation(\1, range(500, 502))")}
"""Code that a test replaces, so that tables are of fewer instances: every one takes minutes."""

LARGEST_PICTURE = 60_000

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|Users|tmp|usr|opt|work|mnt)/|\b[A-Z]:\\\\")


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def code(notebook: Any) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel of this very interpreter, whatever others are installed, that leaves no files."""
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return "python3"


def test_the_notebooks_are_those_that_are_tested():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_imports_public_names_alone(name):
    modules = {"ratiolab", *(f"ratiolab.{each}" for each in MODULES)}
    for source in code(read(name)):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                assert not any(each.name.startswith("ratiolab.") for each in node.names)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ratiolab"):
                assert node.module in modules, source
                offered = import_module(str(node.module)).__all__
                assert {each.name for each in node.names} <= set(offered), source


@pytest.mark.notebooks
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_every_verdict_is_the_pinned_one(name, kernel):
    notebook = read(name)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = re.sub(*FEWER.get(name, ("^$", "")), cell.source)
    resources = {"metadata": {"path": str(FOLDER)}}
    client = nbclient.NotebookClient(
        notebook, kernel_name=kernel, timeout=SECONDS, resources=resources
    )
    client.execute()
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    shown = [output.data for output in outputs if "data" in output]
    assert sum("image/png" in data for data in shown) >= (5 if name in PAPERS else 3)
    tables = [data["text/html"] for data in shown if "text/html" in data]
    assert len(tables) >= 3
    assert not any("(expected " in table for table in tables)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_defines_nothing_and_loops_over_nothing(name):
    for source in code(read(name)):
        for node in ast.walk(ast.parse(source)):
            assert not isinstance(node, DEFINITIONS + LOOPS), source


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_stored_whole_with_small_pictures_and_no_machine_path(name):
    text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    notebook = read(name)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run it from a fresh kernel and store it"
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type in ("execute_result", "display_data"), output
            picture = output.data.pop("image/png", "")
            assert len(base64.b64decode(picture)) < LARGEST_PICTURE
            text = text.replace(picture.strip(), "") if picture else text
    assert not MACHINE.search(text)
