"""Files with a marked record: every value of it is found again wherever it is told."""

from __future__ import annotations

import re
import struct
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

MARK = "ZQX"
ROW = 17
PERSON: dict[str, Any] = {
    "id": 917355123,
    "hh": 828282811,
    "region": "ZQXREGION",
    "band": "ZQXBAND",
    "education": "ZQXEDUCATION",
    "marital": "ZQXMARITAL",
    "job": "ZQXJOB",
    "ill": "ZQXILL",
    "income": 774177.25,
    "hours": 936174.5,
    "w": 4817.93,
    "born": date(1893, 7, 13),
}
# As they stand, with commas, and to two or three digits.
TRACES = (
    MARK, "917355", "917,355", "828282", "828,282", "774177", "774,177", "774000", "774,000", "770000", "770,000",
    "936174", "936,174", "936000", "936,000", "940000", "940,000", "4817", "4,817", "4820", "4,820", "4800", "4,800",
    "7.7e", "7.74e", "9.36e", "9.4e", "1893",
)  # fmt: skip


# What is drawn at random (heads and keys of a ledger) holds any four digits at times, and so do decimal places.
DRAWN = re.compile(r"\b[0-9a-f]{32,}\b")
WITHIN_A_NUMBER = r"(?<![0-9])(?<![0-9]\.)"


def traces_in(text: str) -> list[str]:
    """The marks that a text holds; digits in the middle of a number or of a drawn code are none."""
    told = DRAWN.sub("", text)
    return [trace for trace in TRACES if trace in told and re.search(starting(trace), told)]


def starting(trace: str) -> str:
    """Where a mark begins: a number, not one of its later digits."""
    return WITHIN_A_NUMBER + re.escape(trace) if trace[0].isdigit() else re.escape(trace)


def traces_in_bytes(data: bytes) -> list[str]:
    """The marks that bytes hold: as text, and numbers as they are stored."""
    numbers = [one for one in PERSON.values() if isinstance(one, int | float)]
    stored = {
        struct.pack(f"{order}{kind}", one): str(one)
        for one in numbers
        for order in "<>"
        for kind in ("d", "i" if isinstance(one, int) else "d")
    }
    texts = [trace for trace in (MARK, *map(str, numbers)) if trace.encode() in data]
    return texts + [one for packed, one in stored.items() if packed in data]


def people(seed: int, n: int) -> pl.DataFrame:
    """People of nobody, of whom every level is held by many."""
    draw = np.random.default_rng(seed)
    household = np.repeat(np.arange(n), draw.integers(1, 4, n))[:n]
    frame = pl.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "hh": household,
            "region": draw.choice(["north", "south", "east"], n),
            "sex": draw.choice(["f", "m"], n),
            "band": draw.choice(["16-29", "30-44", "45-59"], n),
            "education": draw.choice(["basic", "upper", "higher"], n),
            "marital": draw.choice(["single", "married"], n),
            "job": draw.choice(["clerk", "cook", "nurse"], n),
            "ill": draw.choice(["no", "yes"], n, p=[0.7, 0.3]),
            "income": draw.normal(2000, 400, n).round(-1),
            "hours": draw.normal(36, 8, n).round(1),
            "w": draw.uniform(3, 8, n).round(2),
            "born": [date(1960, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 9000, n)],
        }
    )
    return frame.with_columns(
        pl.when(pl.Series(draw.random(n) < 0.03)).then(None).otherwise(pl.col("job")).alias("job")
    )


def mark(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with the marked record in its place."""
    rows = frame.to_dicts()
    rows[ROW] |= {name: value for name, value in PERSON.items() if name in rows[ROW]}
    return pl.DataFrame(rows, schema=frame.schema)


def make_files(n: int = 240) -> dict[str, pl.DataFrame]:
    """A survey, releases of it, people who are not in it, and everybody."""
    survey = mark(people(1, n))
    draw = np.random.default_rng(2)
    changed = mark(
        survey.with_columns(
            pl.Series("region", np.where(draw.random(n) < 0.2, "north", survey["region"])), pl.col("income") * 1.01
        )
    )
    synthetic = {f"made{i}": mark(people(10 + i, n)).drop("id", "hh", "w") for i in (1, 2, 3)}
    others = people(3, n)
    order = draw.permutation(n)
    return {
        "survey": survey,
        "changed": changed,
        "shuffled": changed[order],
        "control": others.with_columns(pl.col("id") + 10_000),
        "population": pl.concat([survey, people(4, 3 * n)]),
        **synthetic,
    }


def write(files: dict[str, pl.DataFrame], folder: Path) -> None:
    """The files as the command line reads them."""
    for name, frame in files.items():
        frame.write_parquet(folder / f"{name}.parquet")
    files["survey"].write_csv(folder / "survey.csv")
    (folder / "estimates.csv").write_text("income,hours\n1.0,3.0\n1.1,2.9\n0.9,3.2\n", encoding="utf-8")
    for name in ("intervals", "later"):
        (folder / f"{name}.csv").write_text("from,to\n1.0,2.5\n0.5,0.9\n", encoding="utf-8")
    hours = np.tile(files["survey"]["hours"].to_numpy(), (30, 1)).astype(float)
    np.savez(folder / "draws.npz", mean=hours, sd=np.full(30, 5.0))
