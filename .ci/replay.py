"""Write the documents of every small file of some kinds, and count what files that print alike leave of each count.

`python .ci/replay.py "one key" households` replays two of the kinds of `tests/redteam/small_worlds.py` (all of them
where none is named): 22,319 files of 50 people, each with k = 3 and with k = 4. Outside CI: it takes hours.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from redteam.small_worlds import MANY, World
from redteam.test_replay import LEVELS_OF_K, printed, replay


def written(name: str, levels: Sequence[int], world: World) -> list[str]:
    """A short name of each document of a file: documents are equal where these are."""
    return [hashlib.sha256(printed(world, MANY[name], k).encode()).hexdigest() for k in levels]


def main() -> None:
    """Replay the kinds that are named, and print a line for each document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=", ".join(MANY))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--k", type=int, nargs="+", default=LEVELS_OF_K)
    given = parser.parse_args()
    for name in given.kinds or MANY:
        began = time.monotonic()
        worlds = list(MANY[name].worlds())
        with ProcessPoolExecutor(given.processes) as pool:
            texts = list(pool.map(partial(written, name, given.k), worlds, chunksize=20))
        several = ["together"] if len(given.k) > 1 else []
        for at, which in enumerate([*(f"k = {k}" for k in given.k), *several]):
            own = ["".join(text) if which == "together" else text[at] for text in texts]
            found = replay(worlds, own)
            print(  # noqa: T201 - a program
                f"{name}, {which}: {len(worlds)} files, {len(found.safe)} proved safe, {len(found.told)} counts told",
                flush=True,
            )
            for count, values, n in found.told:
                print(f"  {count}: {sorted(values)} in {n} files that print alike", flush=True)  # noqa: T201
        print(f"  {(time.monotonic() - began) / 60:.1f} min", flush=True)  # noqa: T201 - a program


if __name__ == "__main__":
    main()
