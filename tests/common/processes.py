"""Processes that are interrupted where a count of calls says, on any machine at the same place."""

import sys
from pathlib import Path

PATIENCE = 900
"""Seconds after which a process is taken to hang; no test is meant to come near."""

INTERRUPTED = """
import os, signal, sys
left = int(sys.argv.pop(1))
swallowing = {"cb", "remove", "_remove", "__del__"}  # Python ignores what these callbacks raise
locking = {"acquire", "release"}  # Python 3.11 keeps a lock of its imports that is interrupted here

def count(frame, *event):
    global left
    left -= 1
    if left > 0:
        return
    while frame is not None:
        if frame.f_code.co_name in swallowing | locking:
            return
        frame = frame.f_back
    sys.setprofile(None)
    os.kill(os.getpid(), signal.SIGINT)

sys.setprofile(count)
from ratiolab.cli import main
main()
"""

WORKER = """
import sys
left = {calls}

def count(*event):
    global left
    left -= 1
    if not left:
        sys.setprofile(None)
        open({file!r}, "w").close()

if any("popen_loky" in word for word in sys.orig_argv):
    sys.setprofile(count)
"""


def interrupted_after(calls: int, words: str) -> list[str]:
    """The words of a command that gets Ctrl-C after so many calls and returns of functions."""
    return [sys.executable, "-c", INTERRUPTED, str(calls), *words.split()]


def tell_when_a_worker_has_made(calls: int, folder: Path) -> Path:
    """Let workers, with this folder in PYTHONPATH, write a file after so many calls and returns."""
    file = folder / "a-worker-is-there"
    (folder / "sitecustomize.py").write_text(WORKER.format(calls=calls, file=str(file)))
    return file
