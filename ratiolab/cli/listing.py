"""The list of policies and routers, kept beside the byte code until a source file changes.

Reading the list takes milliseconds. Making it loads every policy, and numpy.
"""

import json
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]

SOURCES = "model", "online", "theory"
"""Folders of the package from which the list is made."""


def listed() -> dict[str, list[dict[str, Any]]]:
    """Return what is said of each policy and of each router, under ``policies`` and ``routers``."""
    kept = Path(cache_from_source(str(PACKAGE / "online" / "__init__.py"))).with_name("list.json")
    sources = sorted(path for part in SOURCES for path in (PACKAGE / part).rglob("*.py"))
    state = [[str(path), (stat := path.stat()).st_size, stat.st_mtime_ns] for path in sources]
    with suppress(OSError, ValueError, LookupError, TypeError):  # none yet, or a broken file
        found = json.loads(kept.read_text())
        if found["state"] == state:
            kept_list: dict[str, list[dict[str, Any]]] = found["listed"]
            return kept_list
    made = _made()
    if not sys.dont_write_bytecode:
        from ratiolab.model import write_text

        with suppress(OSError):  # where nothing can be written, it is made each time
            write_text(kept, json.dumps({"state": state, "listed": made}))
    return made


def _made() -> dict[str, list[dict[str, Any]]]:
    from ratiolab.online import POLICIES, make
    from ratiolab.online.fleets.registry import ROUTERS, described
    from ratiolab.online.registry import describe, summary

    policies = [
        describe(make(key)) | {"summary": summary(key), "source": POLICIES[key].source}
        for key in POLICIES
    ]
    return {"policies": policies, "routers": [described(key) for key in ROUTERS]}
