"""Nothing depends on how fast the machine is; processes hear Ctrl-C, and none outlives its test."""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")


@pytest.fixture
def ctrl_c():
    """Let this process, and those that it starts, hear Ctrl-C as under a terminal.

    A shell starts what it runs in the background with Ctrl-C ignored, and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def start(ctrl_c):
    """Start processes, each the head of a group of its own, which ends with the test."""
    processes: list[subprocess.Popen[bytes]] = []

    def popen(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
        processes.append(subprocess.Popen(command, start_new_session=True, **options))
        return processes[-1]

    yield popen
    for process in processes:
        with process, suppress(ProcessLookupError):  # the group may have ended
            process.kill() if os.name == "nt" else os.killpg(process.pid, signal.SIGKILL)
