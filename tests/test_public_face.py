"""What `import ratiolab` offers: these names with these parameters, and nothing loaded too early.

``public_names.txt`` beside this file lists the public interface. A change of it is a decision: run
``python tests/test_public_face.py`` to rewrite the file, look at the difference, and note it in
CHANGELOG.md.
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import EnumType
from importlib import import_module
from pathlib import Path

import pytest

import ratiolab

sys.path.insert(0, str(Path(__file__).parent / "common"))
from public_modules import MODULES

LISTING = Path(__file__).with_name("public_names.txt")


def described() -> str:
    """Return the public names with the parameters of functions and the members of classes."""
    names = [(name, getattr(ratiolab, name)) for name in sorted(ratiolab.__all__)]
    for module in MODULES:
        there = import_module(f"ratiolab.{module}")
        names += [(f"{module}.{name}", getattr(there, name)) for name in sorted(there.__all__)]
    return "".join(f"{line}\n" for name, value in names for line in _lines(name, value))


def _lines(name: str, value: object) -> Iterator[str]:
    yield name + _parameters(value)
    if inspect.isclass(value):
        ours = [base for base in value.__mro__ if base.__module__.startswith("ratiolab")]
        fields = (name for base in ours for name in getattr(base, "__annotations__", ()))
        for member in sorted({*fields, *(name for base in ours for name in vars(base))}):
            if not member.startswith("_"):
                yield f"    {member}{_parameters(getattr(value, member, None))}"


def _parameters(value: object) -> str:
    """Return the names, kinds and defaults of parameters; types are mypy's concern."""
    if not callable(value) or isinstance(value, EnumType):
        return ""
    parameters = inspect.signature(value).parameters.values()
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.Signature(bare)))


def test_the_public_interface_is_the_listed_one():
    assert described() == LISTING.read_text(), "if this is meant: python tests/test_public_face.py"


def test_every_public_name_is_imported_under_the_type_checker():
    # mypy refuses a name of __all__ that is not there; this refuses what __all__ forgets
    tree = ast.parse(Path(ratiolab.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            imported[alias.asname or alias.name] = (node.module, alias.name)
    assert imported == ratiolab._PLACES
    assert {*imported, "__version__"} == set(ratiolab.__all__) == set(dir(ratiolab))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'schedule'"):
        ratiolab.schedule  # noqa: B018


@pytest.mark.parametrize(
    ("used", "loaded"),
    [
        ("ratiolab.__version__", {"ratiolab.version"}),
        ("ratiolab.Instance", {"ratiolab.version", "ratiolab.model"}),
    ],
)
def test_a_name_loads_what_it_needs_and_no_more(used, loaded):
    """An import of `ratiolab` takes milliseconds: the heavy libraries wait until they are used."""
    program = f"import sys, ratiolab; {used}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = run.stdout.split()
    ours = {".".join(module.split(".")[:2]) for module in modules if module.startswith("ratiolab.")}
    assert ours == loaded
    heavy = {"highspy", "joblib", "matplotlib", "numba", "pandas", "pulp", "rich", "scipy", "sympy"}
    assert heavy.isdisjoint(modules)
    assert "numpy" not in modules or used != "ratiolab.__version__"


if __name__ == "__main__":
    LISTING.write_text(described())
