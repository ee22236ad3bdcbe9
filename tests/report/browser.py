"""Speak with a headless Chromium over its debugging pipe: no driver, no port, no network."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Self

QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


class Browser:
    """One page of a headless browser, and everything it reports while it shows a file."""

    def __init__(self, program: Path, profile: Path) -> None:
        self.read_end, child_write = os.pipe()
        child_read, self.write_end = os.pipe()

        def connect() -> None:
            # Chromium reads its commands from file 3 and answers on file 4.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (child_read, child_write)]
            for number, end in enumerate(ends, 3):
                os.dup2(end, number)
                os.close(end)

        self.process = subprocess.Popen(
            [str(program), *QUIET, f"--user-data-dir={profile}", "about:blank"],
            close_fds=False,
            preexec_fn=connect,  # noqa: PLW1509 - no threads run here
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(child_read)
        os.close(child_write)
        self.events: list[dict[str, Any]] = []
        self.buffer = b""
        self.number = 0
        self.shown: Path | None = None
        self.session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.write_end)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            part = os.read(self.read_end, 1 << 16)
            if not part:
                raise RuntimeError("the browser has gone")
            self.buffer += part
        text, _, self.buffer = self.buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            found = self._message()
            if found.get("id") == self.number:
                if "error" in found:
                    raise RuntimeError(found["error"]["message"])
                return dict(found["result"])
            self.events.append(found)

    def open(self, path: Path, *, width: int, height: int = 900) -> None:
        """Show a file in a window of this width, and wait until it is loaded."""
        self.events.clear()
        self.shown = path
        self.resize(width, height)
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window another size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def show(self, path: Path, *, width: int, height: int = 900) -> None:
        """Open a file unless it is shown already; then the window is resized, and what happened before is kept."""
        if self.shown == path:
            self.resize(width, height)
        else:
            self.open(path, width=width, height=height)

    def evaluate(self, expression: str) -> Any:
        """Give the value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def happened(self, *methods: str) -> list[dict[str, Any]]:
        """Give the events of these kinds since the page was opened."""
        return [event["params"] for event in self.events if event.get("method") in methods]
