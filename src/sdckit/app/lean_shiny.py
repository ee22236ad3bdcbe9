"""Shiny without its command line and its chats, which no page uses and which take most of the time that it loads.

There is no switch for it: what would be loaded is stood in for meanwhile. A later Shiny that does need one of them is
loaded whole.
"""

import os
import shutil
import sys
from types import ModuleType
from typing import Any

# Shiny without what it notes for telemetry, which nobody records here.
# It reads the source of every reactive function, and walks the stack for the name of every value: with six
# pages a third of a second before the first one can be used. There is no switch for it, so what does it is
# replaced; where a later Shiny has it no more, nothing is done.


SOURCE, NAME = "extract_source_ref", "_try_infer_name"


def leave_untraced() -> None:
    """Keep Shiny from reading sources and stacks, and from recording spans."""
    os.environ["SHINY_OTEL_COLLECT"] = "none"
    from shiny import reactive

    for name, module in list(sys.modules.items()):
        if name.startswith("shiny.") and hasattr(module, SOURCE):
            setattr(module, SOURCE, lambda _: {})
    if hasattr(reactive.Value, NAME):
        setattr(reactive.Value, NAME, lambda _: None)


def leave_no_part() -> None:
    """Have Shiny remove what came of an upload that broke off, by a full disk or a browser that was closed."""
    from shiny._fileupload import FileUploadOperation

    end = FileUploadOperation.__exit__

    def ended(upload: Any, kind: Any, *more: Any) -> None:
        whole = False
        try:
            end(upload, kind, *more)
            whole = kind is None
        finally:
            if not whole:
                shutil.rmtree(upload._dir, ignore_errors=True)

    FileUploadOperation.__exit__ = ended  # type: ignore[method-assign]


UNUSED = ("shiny._main", "shinychat", "shinychat.express", "shinychat.types")


class _StandIn(ModuleType):
    """Has every name, and nothing behind it."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def load_shiny() -> None:
    """Import Shiny, unless somebody has; what was stood in for can be imported afterwards as ever."""
    if "shiny" in sys.modules:
        return
    stood_in = [name for name in UNUSED if name not in sys.modules]
    sys.modules.update((name, _StandIn(name)) for name in stood_in)
    try:
        import shiny  # noqa: F401
    except (ImportError, AttributeError, TypeError):
        for name in [module for module in sys.modules if module.partition(".")[0] == "shiny"]:
            del sys.modules[name]
    for name in stood_in:
        sys.modules.pop(name, None)
