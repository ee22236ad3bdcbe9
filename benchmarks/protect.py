"""Protection methods beside the measures and the plain NumPy passes they are made of.

    python benchmarks/protect.py [--parts local_suppression] [--repeats 5] [--large]

``local_suppression``: k = 3 on the seven keys of ``census.py`` beside `key_frequencies` with its records on the same
frame, in turn within one process, with 10,000 records; with ``--large`` also 100,000 and 1,000,000, once. Times are
medians of the warm runs, the ratio is the median of the turns' ratios. "lost" are the values taken out, "bound" is what
no solution could go below.

``implied``: what counting the values that follow adds to the same suppression on five keys, and what hiding them
costs in time and values; with 10,000 records, with ``--large`` also 100,000 and 1,000,000.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import polars as pl

import sdckit as sdc
from census import KEYS, census

MUST = 100  # times key_frequencies, with 10,000 records


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Time and result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def suppress(frame: pl.DataFrame) -> sdc.Change:
    """Reach k = 3 on all keys."""
    change: sdc.Change = sdc.local_suppression(frame, keys=KEYS, k=3).change
    return change


def compare(frame: pl.DataFrame, repeats: int) -> float:
    """Print a row; the ratio."""
    counts, losses = [], []
    for _ in range(repeats):
        counts.append(seconds(lambda: sdc.key_frequencies(frame, keys=KEYS).records)[0])
        taken, change = seconds(lambda: suppress(frame))
        losses.append(taken)
    ratio = statistics.median(mine / its for mine, its in zip(losses, counts, strict=True))
    said = change.parameters
    print(
        f"{frame.height:>10,}  key_frequencies {1e3 * statistics.median(counts):8.1f} ms"
        f"  local_suppression {statistics.median(losses):7.3f} s = {ratio:5.1f} x"
        f"  at risk {said['at_risk']:,}  lost {change.n_changed:,}  bound {said['lower_bound']:,}",
        flush=True,
    )
    return ratio


def local_suppression(repeats: int, large: bool) -> bool:
    """Whether the ratio that must be reached is."""
    suppress(census(3000))  # compile
    sdc.key_frequencies(census(3000), keys=KEYS)
    reached = compare(census(10_000), repeats) <= MUST
    for n in (100_000, 1_000_000) if large else ():
        compare(census(n), 1)
    return reached


def turn(frame: pl.DataFrame) -> tuple[list[float], sdc.Change, sdc.Change]:
    """Times without the count of what follows, with it, and with all of it hidden; the last two changes."""
    five = {"keys": KEYS[:5], "k": 3}
    with mock.patch(f"{sdc.local_suppression.__module__}.implied", return_value=None):
        without, _ = seconds(lambda: sdc.local_suppression(frame, **five))
    counted, plain = seconds(lambda: sdc.local_suppression(frame, **five))
    hidden, more = seconds(lambda: sdc.local_suppression(frame, **five, hide_implied=True, seed=1))
    return [without, counted, hidden], plain.change, more.change


def implied(repeats: int, large: bool) -> bool:
    """Whether counting what follows stays below twice the time of the suppression without it."""
    turn(census(3000))  # compile
    reached = True
    for n in (10_000, *((100_000, 1_000_000) if large else ())):
        frame, times = census(n), []
        for _ in range(repeats if n < 100_000 else 1):
            taken, plain, more = turn(frame)
            times.append(taken)
        without, counted, hidden = (statistics.median(part) for part in zip(*times, strict=True))
        print(
            f"{n:>10,}  without {without:7.3f} s  counted {counted:7.3f} s  hidden {hidden:7.3f} s"
            f"  lost {plain.n_changed:,} of which follow {plain.parameters['n_implied']:,}"
            f"  hidden: lost {more.n_changed:,} of which follow {more.parameters['n_implied']:,}",
            flush=True,
        )
        reached &= counted <= 2 * without
    return reached


PARTS: dict[str, Callable[[int, bool], bool]] = {"local_suppression": local_suppression, "implied": implied}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", sdc.SdcWarning)
    reached = {}
    for part in given.parts:
        print(part)
        reached[part] = PARTS[part](given.repeats, given.large)
    if missed := [part for part, ok in reached.items() if not ok]:
        raise SystemExit(f"not reached: {', '.join(missed)}")


if __name__ == "__main__":
    main()
