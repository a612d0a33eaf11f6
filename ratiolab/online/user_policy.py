"""A user's own policy, loaded from ``path/to/file.py:ClassName``."""

import dataclasses
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ratiolab.model.instance import shown
from ratiolab.online.policy import Policy
from ratiolab.online.view import Information


class PolicyExitError(RuntimeError):
    """An exception of a policy that would end more than its run, as `SystemExit` does."""


@contextmanager
def contained() -> Iterator[None]:
    """Raise `PolicyExitError` if a policy raises an error that is no `Exception`, except Ctrl-C.

    The traceback is that of the policy.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raised = PolicyExitError(f"{type(error).__name__}: {error}")
        raise raised.with_traceback(error.__traceback__) from None


def is_user_policy(key: str) -> bool:
    """Return whether a key names a class in a file rather than a policy of the laboratory."""
    return ".py:" in key


def load_user_policy(key: str) -> type[Policy]:
    """Return the policy class that ``path/to/file.py:ClassName`` names; runs the file.

    Raises
    ------
    ValueError
        names the file and what it lacks: the class, or what makes it a policy.
    """
    path, _, name = key.rpartition(":")
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"policy {key}: there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"ratiolab_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    try:
        with contained():
            spec.loader.exec_module(module)
    except PolicyExitError as error:
        raise ValueError(f"policy {key}: the file fails: {error}") from None
    except Exception as error:
        raise ValueError(f"policy {key}: the file fails: {type(error).__name__}: {error}") from None
    policy = getattr(module, name, None)
    if not isinstance(policy, type):
        raise ValueError(f"policy {key}: the file has no class {name!r}")
    if not issubclass(policy, Policy):
        raise ValueError(f"policy {key}: {name} must be a subclass of ratiolab.online.Policy")
    for attribute in ("start", "name"):
        if getattr(policy, attribute) is getattr(Policy, attribute):
            raise ValueError(f"policy {key}: the class has no {attribute!r}")
    level = policy.information
    if not isinstance(level, Information | property):
        stated = shown(level)
        raise ValueError(f"policy {key}: information {stated} must be a member of Information")
    _travels(policy, str(file.absolute()), file.read_text(encoding="utf-8"))
    return policy


def _travels(policy: type[Policy], path: str, text: str) -> None:
    """Let instances be sent to other processes and machines, which cannot import their file."""

    def reduce(self: Policy) -> tuple[Any, ...]:
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return _revived, (path, text, type(self).__name__, values)

    policy.__reduce__ = reduce  # type: ignore[assignment, method-assign]


def _revived(path: str, text: str, name: str, values: dict[str, Any]) -> Policy:
    kind: type[Policy] = getattr(_module_of(path, text), name)
    if "__reduce__" not in vars(kind):  # it travels on, with what it has done
        _travels(kind, path, text)
    return kind(**values)


@cache
def _module_of(path: str, text: str) -> ModuleType:
    module = ModuleType(f"ratiolab_user_{Path(path).stem}")
    sys.modules[module.__name__] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return module
