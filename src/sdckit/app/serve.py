"""Start the server on this machine, open the browser, and clean up behind it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdckit import operating_system
from sdckit.app.browser_sessions import Autosave, Folders, Work, doors, start_template, state_folder
from sdckit.app.guard import AGAIN, Guard
from sdckit.errors import SdcError

LOCAL = "127.0.0.1"
HANDED = 3  # the number of the first socket that is handed over
LIMIT = 4 * 2**30  # bytes of an upload; a larger file is opened by its path
PATIENCE = 20.0  # seconds for a server that is busy, or a browser that starts
STARTED = "Stop it with Ctrl+C; what was uploaded is removed then."
RUNS = "It was running already; sdckit app --new starts another one."
TOKEN = re.compile(r"[\w-]{43}")
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@dataclass(frozen=True)
class Options:
    """What the command line asked for; port 0 takes a free one."""

    file: str = ""
    scenario: Mapping[str, Any] | None = None
    port: int = 0
    browser: bool = True
    limit: int = LIMIT
    project: str = ""
    warm: float = 1.0  # seconds after which the worker of a page is started ahead
    new: bool = False  # start a server also where one of this user runs


def serve(options: Options) -> None:
    """Serve until the program is stopped; where one of this user runs already, open a fresh address of it.

    Raises
    ------
    SdcError
        The port is taken, or the folder of the app cannot be written.
    """
    if not options.new and (address := _running(options)):
        return _announce(address, RUNS, browser=options.browser)
    ending = _Ending()
    listening = _listen(options.port)
    try:
        folders = Folders(state_folder())
    except OSError as error:
        raise SdcError(f"the folder of the app cannot be made: {error.strerror}; set SDCKIT_APP_STATE") from None
    tempfile.tempdir = str(folders.uploads)  # uploads lie where they are removed
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _run(listening, folders, options, ending)
    finally:
        listening.close()
        folders.close()


def _running(options: Options) -> str:
    """A fresh address of a server that runs, on the port that was asked for; empty where there is none."""
    for port, secret in doors(state_folder()):
        if options.port in (0, port):
            asking = http.client.HTTPConnection(LOCAL, port, timeout=PATIENCE)
            wanted = {"file": options.file, "scenario": options.scenario, "project": options.project}
            told = json.dumps(wanted) if any(wanted.values()) else ""
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(asking):
                asking.request("POST", AGAIN, told, {"Authorization": f"Bearer {secret}"})
                answer = asking.getresponse()
                if answer.status == http.HTTPStatus.OK and TOKEN.fullmatch(token := answer.read().decode("latin-1")):
                    return f"http://{LOCAL}:{port}/?token={token}"
    return ""


def _listen(port: int) -> socket.socket:
    """A socket of this machine only."""
    if os.environ.pop("LISTEN_PID", "") == str(os.getpid()):
        return _handed_over(port)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    operating_system.reuse_port(listening)
    try:
        listening.bind((LOCAL, port))
    except OSError:
        listening.close()
        raise SdcError(f"port {port} is in use; give another one, or none", argument="port") from None
    listening.listen()
    return listening


def _handed_over(port: int) -> socket.socket:
    """The socket that whoever started the program opened for it, as systemd does: a container needs no network then."""
    number = os.environ.pop("LISTEN_FDS", "")
    listening = socket.socket(fileno=HANDED)
    fits = number == "1" and listening.family == socket.AF_INET and listening.getsockname()[0] == LOCAL
    if fits and port in (0, listening.getsockname()[1]):
        return listening
    listening.close()
    if fits:
        raise SdcError(f"port {port} is not that of the socket that was handed over; leave it out", argument="port")
    raise SdcError(f"the socket that was handed over is not one of {LOCAL}; hand over one that listens there")


def _run(listening: socket.socket, folders: Folders, options: Options, ending: _Ending) -> None:
    port = listening.getsockname()[1]
    guard = Guard(port=port, limit=options.limit)
    # The browser may come while the rest is loaded: the socket listens, and it waits for its turn.
    _announce(guard.address, STARTED, browser=options.browser)
    folders.open_door(port, guard.secret)
    template = start_template()  # it ends with this process, if the seats do not come to be

    with operating_system.no_collecting():
        from sdckit.app.lean_shiny import load_shiny

        load_shiny()
        import uvicorn

        from sdckit.app.browser_sessions import Seats
        from sdckit.app.frame import Frame
        from sdckit.app.lean_shiny import leave_no_part, leave_untraced

        leave_untraced()
        leave_no_part()
        first = _first(options.file, options.scenario, options.project)
        seats = Seats(folders, Autosave(folders.state), first, warm=options.warm, template=template)
        frame = Frame(seats, limit=options.limit, stop=ending.end)
        guard.entered = lambda told: seats.expect(_first(**json.loads(told)))
        guard.stand_before(frame.app(), scripts=scripts_of(frame.html()))
    config = uvicorn.Config(guard, log_level="critical", access_log=False, server_header=False, lifespan="on")
    config.timeout_graceful_shutdown = 1
    ending.server = uvicorn.Server(config)
    asyncio.run(_served(ending.server, listening, seats))


def _first(file: str, scenario: Mapping[str, Any] | None, project: str) -> Work:
    return Work(path=file, name=Path(file).name, scenario=scenario, project=project)


async def _served(server: Any, listening: socket.socket, seats: Any) -> None:
    try:
        await server.serve(sockets=[listening])
    finally:
        seats.close()


class _Ending:
    """Lets every signal that ends a program end the server first, so that nothing stays behind.

    uvicorn answers SIGINT and SIGTERM while it runs and raises them again when it is done.
    """

    def __init__(self) -> None:
        self.server: Any = None
        for number in operating_system.ending_signals():
            signal.signal(number, self.end)

    def end(self, *_: object) -> None:
        """End it now, or before it begins."""
        if self.server is None:
            raise KeyboardInterrupt
        self.server.should_exit = True


def scripts_of(html: str) -> list[str]:
    """The hashes of the inline scripts of a page, as a content policy names them.

    >>> scripts_of("<script>1</script>")
    ['sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=']
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in INLINE.findall(html))
    return [f"sha256-{base64.b64encode(digest).decode()}" for digest in digests]


def _announce(address: str, more: str, *, browser: bool) -> None:
    sys.stdout.write(f"sdckit app: {address}\n{more}\n")
    sys.stdout.flush()
    if browser:
        opening = threading.Thread(target=webbrowser.open, args=(address,), daemon=True)
        opening.start()
        if more == RUNS:  # the program ends here
            opening.join(PATIENCE)
