"""A real browser without a window, told what to do by the DevTools protocol."""

import asyncio
import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

from processes import PATIENCE

WRONG = ("Runtime.exceptionThrown", "Log.entryAdded", "Network.requestWillBeSent")
"""What a page that works without a network does not do; `Seen.faults` has it."""


def browser() -> str | None:
    """Return the path of a browser, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Seen(NamedTuple):
    """A page in the browser: what an expression was there, and what went wrong."""

    value: Any
    faults: list[str]


def visit(visits: list[tuple[str, int, str]], profile: Path) -> list[Seen]:
    """Open pages one after the other, and evaluate an expression in each.

    Parameters
    ----------
    visits : address, width of the window in CSS pixels (that of a telephone below 600), expression.
    profile : an empty folder for the browser.
    """
    return asyncio.run(asyncio.wait_for(_visit(visits, profile), PATIENCE))


async def _visit(visits: list[tuple[str, int, str]], profile: Path) -> list[Seen]:
    from tornado.websocket import websocket_connect

    found = browser()
    assert found is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    options += [f"--user-data-dir={profile}", "about:blank"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([found, *options], **silent)
    try:
        place = profile / "DevToolsActivePort"
        while not place.exists() or len(place.read_text().split()) < 2:
            assert process.poll() is None, "the browser does not start"
            await asyncio.sleep(0.05)
        port = place.read_text().split()[0]
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/json/new", method="PUT")
        with urllib.request.urlopen(asked) as answer:
            address = json.load(answer)["webSocketDebuggerUrl"]
        tab = _Tab(await websocket_connect(address, max_message_size=10**9))
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.call(f"{domain}.enable")
        return [await tab.seen(*each) for each in visits]
    finally:
        process.kill()
        process.wait()


class _Tab:
    """A tab: calls, each with its answer, and events between them."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.calls = socket, 0
        self.events: list[dict[str, Any]] = []

    async def call(self, method: str, **parameters: Any) -> Any:
        self.calls += 1
        await self.socket.write_message(
            json.dumps({"id": self.calls, "method": method, "params": parameters})
        )
        while (message := await self._next()).get("id") != self.calls:
            self.events.append(message)
        return message["result"]

    async def _next(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.socket.read_message())
        return message

    async def seen(self, url: str, width: int, expression: str) -> Seen:
        self.events.clear()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **size)
        await self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(await self._next())
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = await self.call("Runtime.evaluate", **asked)
        faults = [json.dumps(value) for key, value in answer.items() if key == "exceptionDetails"]
        for event in self.events:
            if event.get("method") in WRONG and not _of_a_file(event):
                faults.append(json.dumps(event))
        return Seen(answer["result"].get("value"), faults)


def _of_a_file(event: dict[str, Any]) -> bool:
    request = event["params"].get("request", {})
    return str(request.get("url", "")).startswith(("file:", "data:"))
