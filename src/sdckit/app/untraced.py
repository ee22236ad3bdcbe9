"""Shiny without what it notes for telemetry, which nobody records here.

It reads the source of every reactive function, and walks the stack for the name of every value: with six pages a third
of a second before the first one can be used. There is no switch for it, so what does it is replaced; where a
later Shiny has it no more, nothing is done.
"""

from __future__ import annotations

import os
import sys

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
