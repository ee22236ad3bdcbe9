"""What a person at work in the app waits for: the tasks of a session on files of 20 columns, a task after the other.

    python benchmarks/app_session.py [--records 100000,1000000] [--propose] [--rounds 3] [--against FOLDER]

Each round is a process of its own that answers the requests of the pages as the worker of a tab does: open, guess,
accept the guesses, figures of page Risk, all of them and the first; with ``--propose``, the time from the press to the
end, to the first recipe that is being judged, and to the first that passes. Kernels are compiled on the demo before the
clock starts. Two times stand beside each other: by the clock, and of the processor (both threads). ``--against`` is the
``src`` of another state: both take turns in the same run, and the last column is the ratio of their processor times.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from census import census

HERE = Path(__file__).resolve().parents[1] / "src"
SECONDS = 600.0  # at most, for the end of a search


def people(n: int) -> pl.DataFrame:
    """Records of 20 columns: those of the census, three amounts, two answers, a district, hours and a number."""
    rng = np.random.default_rng([20261125, n])
    base, wealth = census(n), rng.normal(0, 0.9, n)
    answers = ["never", "rarely", "sometimes", "often", "always"]
    return base.with_columns(
        person_id=pl.Series(rng.permutation(n) + 10**7),
        income=pl.Series(np.exp(10 + wealth).round(0)),
        rent=pl.Series(np.exp(6 + 0.6 * wealth + rng.normal(0, 0.5, n)).round(0)),
        savings=pl.Series(np.where(rng.random(n) < 0.35, 0, np.exp(8 + rng.normal(0, 1, n))).round(0)),
        hours=pl.Series(np.where(rng.random(n) < 0.45, 0, rng.normal(38, 9, n).round().clip(1, 90)).astype(np.int64)),
        district=pl.Series(rng.integers(100, 180, n)),
        health=pl.Series(rng.choice(["good", "fair", "bad"], n, p=[0.6, 0.3, 0.1])),
        religion=pl.Series(rng.choice(answers, n)),
    )


class Clock:
    """Seconds by the clock and of the processor since it was made."""

    def __init__(self) -> None:
        self.begin = self._now()

    def __call__(self) -> tuple[float, float]:
        """Both since it was made."""
        return tuple(now - then for now, then in zip(self._now(), self.begin, strict=True))  # type: ignore[return-value]

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def ask(desk: Any, task: str, file: dict[str, Any], **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Answer a request as the worker does; its result, and the times of the answer and of the first partial one."""
    from sdckit.workflow.sessions.answering import answer

    clock, times, last = Clock(), {}, {}

    def hear(message: dict[str, Any]) -> None:
        if "partial" in message:  # a recipe that is judged has no steps yet
            times.setdefault("first" if "steps" in message["partial"] else "judged", clock())
        last.update(message)

    answer(desk, {"task": task, "file": file, "arguments": arguments}, hear)
    if "error" in last:
        raise SystemExit(f"{task}: {last['error']}")
    return last["result"], {"end": clock(), **times}


def walk(path: str, *, propose: bool) -> dict[str, tuple[float, float]]:
    """The times of a walk from the file to the first figures, and of a search."""
    from sdckit.workflow.sessions.answering import Desk, preload

    preload()
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder)
        demo, _ = ask(desk, "opening.open_demo", {})
        ask(desk, "risk.risk", {"path": demo["path"]}, scenario=demo["scenario"])
        found: dict[str, tuple[float, float]] = {}

        def timed(words: str, task: str, file: dict[str, Any], **arguments: Any) -> dict[str, Any]:
            result, times = ask(desk, task, file, **arguments)
            found[words] = times["end"]
            if task == "risk.risk":
                found[f"{words}, first"] = times.get("judged", times["end"])
            if task == "protecting.propose":
                found[f"{words}, judged"] = times.get("judged", times.get("first", (np.inf, np.inf)))
                found[f"{words}, first"] = times.get("first", (np.inf, np.inf))
            return result

        if path == "demo":
            file, scenario = {"path": demo["path"]}, demo["scenario"]
        else:
            timed("open", "opening.open_file", {}, path=path, reading={})
            file = {"path": path}
            guessed = timed("guess", "roles.guess", file)["scenario"]
            guessed.pop("unconfirmed", None)
            scenario = timed("accept", "roles.check", file, scenario=guessed)["scenario"]
            timed("figures", "risk.risk", file, scenario=scenario)
        if propose:
            timed("propose", "protecting.propose", file, scenario=scenario, seconds=SECONDS)
    return found


def main() -> None:
    """Print a line a task: the clock, the processor, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="100000,1000000", help="sizes; demo is the survey of the demo")
    parser.add_argument("--propose", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--walk", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.walk:
        print(json.dumps(walk(given.walk, propose=given.propose)))
        return
    states = {"here": HERE} | ({"there": given.against} if given.against else {})
    with tempfile.TemporaryDirectory() as folder:
        for size in given.records.split(","):
            path = "demo"
            if size != "demo":
                path = str(Path(folder) / f"people_{size}.csv")
                people(int(float(size))).write_csv(path)
            rounds: dict[str, list[dict[str, Any]]] = {state: [] for state in states}
            for _ in range(given.rounds):
                for state, source in states.items():
                    command = [sys.executable, __file__, "--walk", path, *(["--propose"] if given.propose else [])]
                    done = subprocess.run(
                        command, env={**os.environ, "PYTHONPATH": str(source)}, check=True, stdout=subprocess.PIPE
                    )
                    rounds[state].append(json.loads(done.stdout))
            print(f"{size} records, median of {given.rounds}; load {os.getloadavg()[0]:.1f}")
            for words in rounds["here"][0]:
                clock, processor = (
                    {state: statistics.median(walked[words][at] for walked in walks) for state, walks in rounds.items()}
                    for at in (0, 1)
                )
                ratio = f"  ratio {processor['here'] / processor['there']:.2f}" if given.against else ""
                print(f"  {words:15} {clock['here']:8.2f} s {processor['here']:8.2f} s of the processor{ratio}")


if __name__ == "__main__":
    main()
