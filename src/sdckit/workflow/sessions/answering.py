"""One request of a session, carried out: what it gives, refuses or warns of as plain values, and no exception."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sdckit.errors import SdcError, SdcWarning

INTERNAL = "internal error: {kind}; please report it"
OPENING = ("opening.open_file", "opening.open_demo")  # they need no open file
COMPILING = "compiling, the first time only"
USED_BY_MOST = (
    "sdckit.workflow.assess", "sdckit.workflow.check", "sdckit.report.formats.write", "sdckit.report.formats.html",
    "sdckit.data.files.readers",
)  # fmt: skip

Send = Callable[[dict[str, Any]], None]


def preload() -> None:
    """Load what tasks need while nobody waits for it."""
    from sdckit.workflow import sessions

    for found in iter_modules(sessions.__path__):
        import_module(f"{sessions.__name__}.{found.name}")
    for name in USED_BY_MOST:
        import_module(name)


def answer(desk: Any, request: dict[str, Any], send: Send) -> None:
    """Carry out one request; what it gives or refuses is sent, and no exception leaves."""
    try:
        with _compiling(send), _warned() as notes:
            result = _carried_out(desk, request, send)
        exact = request["arguments"].get("exact", False)
        told = notes if exact else list(map(_protected, notes))
        send({"result": {**result, "notes": [*result.get("notes", ()), *told]}})
    except SdcError as error:
        send({"error": str(error)})
    except MemoryError:
        send({"error": "not enough memory; declare fewer columns or run on a larger machine"})
    except OSError as error:
        send({"error": error.strerror or INTERNAL.format(kind=type(error).__name__)})
    except Exception as error:  # noqa: BLE001 - the last resort: messages of libraries may show a value
        send({"error": INTERNAL.format(kind=type(error).__name__)})


def _carried_out(desk: Any, request: dict[str, Any], send: Send) -> dict[str, Any]:
    file, task = request["file"], request["task"]
    if file.get("path") and task not in OPENING:  # a file that is gone keeps nobody from opening another
        desk.open(file["path"], file.get("reading", {}))
    room, _, function = task.partition(".")
    run = getattr(import_module(f"sdckit.workflow.sessions.{room}"), function)
    return dict(run(desk, lambda text: send({"tell": text}), **request["arguments"]))


def _protected(text: str) -> str:
    """A warning as it may be shown: its counts of records pass the gate."""
    from sdckit.report.gate.protect import protect_words

    return protect_words(text)


@contextlib.contextmanager
def _warned() -> Iterator[list[str]]:
    """Our own warnings of the block, each once; those of libraries may show a value."""
    notes: list[str] = []

    def hear(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, SdcWarning) and str(message) not in notes:
            notes.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SdcWarning)
        warnings.showwarning = hear
        yield notes


@contextlib.contextmanager
def _compiling(send: Send) -> Iterator[None]:
    """Tell once that kernels are being compiled, which takes minutes and happens once per machine."""
    from sdckit.numerics.compiling import heard

    told: list[str] = []

    def tell(name: str) -> None:
        if not told:
            told.append(name)
            send({"tell": COMPILING})

    with heard(tell):
        yield
