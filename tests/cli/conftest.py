"""A small survey on disk, and the command line run in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sdckit.cli.app import run

# A value nobody else has: it must appear in no message, table or document.
MARKER = "Zq7Qx"


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and the two streams."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines on standard error."""
        return self.err.splitlines()


Runner = Callable[..., Outcome]


@pytest.fixture
def sdckit(capsys: pytest.CaptureFixture[str]) -> Runner:
    """Run a command line in this process."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return Outcome(code, streams.out, streams.err)

    return call


def make_survey(n: int = 240) -> pl.DataFrame:
    """People in households of three; the marker stands in every text column of one record."""
    rng = np.random.default_rng(7)
    region = rng.choice(["north", "south", "east"], n).tolist()
    income = rng.choice(["low", "middle", "high"], n).tolist()
    name = [f"person {i}" for i in range(n)]
    region[17], income[17], name[17] = f"{MARKER}r", f"{MARKER}i", f"{MARKER}n"
    return pl.DataFrame(
        {
            "name": name,
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": rng.choice(["15-29", "30-44", "45-59", "60+"], n).tolist(),
            "region": region,
            "w": rng.uniform(20, 60, n).round(3),
            "hh": np.arange(n) // 3 + 1,
            "income": income,
        }
    )


@pytest.fixture
def frame() -> pl.DataFrame:
    """The survey as a frame, to be spoilt by a test."""
    return make_survey()


@pytest.fixture
def survey(tmp_path: Path, frame: pl.DataFrame) -> Path:
    """The survey as a CSV file."""
    path = tmp_path / "survey.csv"
    frame.write_csv(path)
    return path


KEYS = ("--keys", "sex,age,region")
