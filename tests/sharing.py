"""Which tests run in one process: those that share something that takes long to make.

pytest-xdist's own groups are names it adds to a test's id, which pytest 9.2 no longer reads: without this every worker
starts a Spark of its own, and makes what a file's tests share.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
SHARED = ('scope="module"', "from app.browsing import", "from report.real import", "none_offends, parsed")
# Whoever waits for a browser leaves half a core to others.
BROWSERS = ("test_browser", "test_killed", "test_offline")


@cache
def share_of(nodeid: str) -> str:
    """What a test shares: the one Spark, the real documents, the sources read, what its file makes, or nothing."""
    if "spark" in nodeid.lower():
        return "spark"
    path = nodeid.partition("::")[0]
    what = _shared_in(path)
    return {"": nodeid, SHARED[2]: "real documents", SHARED[3]: "sources read"}.get(what, path)


def lane_of(share: str) -> str:
    """What one process at a time is to work at: the file of a share, or all that waits for a browser."""
    path = share.partition("::")[0]
    return "browser" if Path(path).name.startswith(BROWSERS) else path


def count_processes(cores: int) -> int:
    """How many processes keep so many cores busy: while one waits for a browser, a server or Java, another works."""
    return cores + 1


@cache
def _shared_in(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
    return next((what for what in SHARED if what in text), "")


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out what waits for a browser, then what tests share, the largest first, then the other tests of a file.

    A process that has run a test of a file gets the next one of it, for what the file keeps between its tests is made
    once; where no other file is left, the last one is divided. So with all that waits for a browser: it begins first,
    and the other processes work meanwhile, where two that wait would leave a core idle. What is done is forgotten at
    once: pytest-xdist goes through all of it after every test, and through all tests to find the place of one.
    """

    def __init__(self, config: Any, log: Any) -> None:
        super().__init__(config, log)
        self._lanes: dict[Any, str] = {}
        self._places: dict[str, int] = {}

    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)

    def _next_share(self, node: Any) -> str:
        """The next share of the file a process is at, or of one that no process is at, or of any."""
        own = self._lanes.get(node)
        taken = {lane for other, lane in self._lanes.items() if other is not node}
        for share in self.workqueue:
            lane = lane_of(share)
            # Files are begun in their order: what is left of its own stands before all that nobody has begun.
            if lane == own or lane not in taken:
                return str(share)
        return str(next(iter(self.workqueue)))

    def _assign_work_unit(self, node: Any) -> None:
        if not self._places:
            self._places = {nodeid: place for place, nodeid in enumerate(self.collection)}
            in_order = sorted(
                self.workqueue.items(), key=lambda item: (lane_of(item[0]) != "browser", item[0] in item[1])
            )
            self.workqueue = OrderedDict(in_order)
        share = self._next_share(node)
        self._lanes[node] = lane_of(share)
        tests = self.assigned_work[node][share] = self.workqueue.pop(share)
        node.send_runtest_some([self._places[nodeid] for nodeid, done in tests.items() if not done])

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Forget a share when all its tests have run, and hand out the next."""
        nodeid = self.collection[item_index]
        share = self._split_scope(nodeid)
        tests = self.assigned_work[node][share]
        tests[nodeid] = True
        if all(tests.values()):
            del self.assigned_work[node][share]
        self._reschedule(node)

    def remove_node(self, node: Any) -> str | None:
        """Leave the file of a process that has gone to the others."""
        self._lanes.pop(node, None)
        return super().remove_node(node)  # type: ignore[no-any-return]


def make_scheduler(config: Any, log: Any) -> Sharing:
    """For the hook of pytest-xdist."""
    return Sharing(config, log)
