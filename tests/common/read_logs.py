"""Logs are read from what a file would hold."""

from pathlib import Path

from ratiolab.workloads.traces import Trace, read_trace


def read(folder: Path, content: str | bytes, name: str = "log", **options: str) -> Trace:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_trace(path, **options)
