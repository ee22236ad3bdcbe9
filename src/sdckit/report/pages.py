"""Which layout a protected document takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdckit.report.blocks import Page
from sdckit.report.page import lay_out
from sdckit.report.release_document import RELEASE_SCHEMA
from sdckit.report.release_page import lay_out_release

__all__ = ["page_of"]


def page_of(plain: Mapping[str, Any]) -> Page:
    """Lay out a protected assessment of one file, or of a release beside its original."""
    return lay_out_release(plain) if plain["schema"] == RELEASE_SCHEMA else lay_out(plain)
