"""Which tests run in one process: those that share something that takes long to make.

pytest-xdist's own groups are names it adds to a test's id, which pytest 9.2 no longer reads: without this every worker
starts a Spark of its own, and makes what a file's tests share.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
SHARED = ('scope="module"', "from app.browsing import", "from report.real import")


def share_of(nodeid: str) -> str:
    """What a test shares: the one Spark, the real documents, what its file makes (a served app is one), or nothing."""
    if "spark" in nodeid.lower():
        return "spark"
    path = nodeid.partition("::")[0]
    what = _shared_in(path)
    return {"": nodeid, SHARED[0]: path, SHARED[1]: path, SHARED[2]: "real documents"}[what]


@cache
def _shared_in(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
    return next((what for what in SHARED if what in text), "")


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out tests by what they share, the largest shares first."""

    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)


def make_scheduler(config: Any, log: Any) -> Sharing:
    """For the hook of pytest-xdist."""
    return Sharing(config, log)
