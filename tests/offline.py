"""A guard around a whole process: a socket that leads out of this machine ends in an error.

Allowed, by rule: sockets of this machine's own kind (AF_UNIX), and those whose other end is a loopback address
(Spark's gateway, the workers of the test run, the debugging port of a browser). Anything else (another address, a
name to be looked up) is refused before it is tried.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

__all__ = ["WENT_OUT", "GoneOutError", "is_local", "watch"]

WENT_OUT: list[str] = []
_LOCAL_NAMES = frozenset({"localhost", "", "0.0.0.0", "::"})  # the last three are asked for to listen, or mean itself
_watching = False


class GoneOutError(RuntimeError):
    """Something wanted to leave this machine."""


def is_local(host: object) -> bool:
    """Whether a host is this machine, by its address or as its own name.

    >>> [is_local(one) for one in ("127.0.0.1", "::1", "localhost", b"127.0.0.9", None, "192.0.2.1", "example.org")]
    [True, True, True, True, True, False, False]
    """
    import socket

    if host is None:
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback or name in _LOCAL_NAMES
    except ValueError:
        return name in _LOCAL_NAMES or name == socket.gethostname()


def watch() -> None:
    """Refuse, from now on and for the rest of this process, whatever leads out; Python asks before each."""
    global _watching  # noqa: PLW0603 (an audit hook cannot be taken off again)
    if not _watching:
        _watching = True
        sys.addaudithook(_hook)


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"}:
        address = given[1]
        if isinstance(address, str | bytes) or address is None:  # AF_UNIX, or connected already
            return
        host = address[0]
    elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}:
        host = given[0]
    elif event == "socket.getnameinfo":
        host = given[0][0]
    else:
        return
    if not is_local(host):
        WENT_OUT.append(f"{event} {host}")
        raise GoneOutError(f"{event}: {host} is not this machine")
