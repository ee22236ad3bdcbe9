"""Work that is cut into slices for threads or memory gives what it gives in one piece."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from every_measure import CALLED, KEYS, N, assert_close, call, changed, figures, people
from sdckit.catalogue import Measure
from sdckit.numerics import threads
from tree import SRC, sources

OF_FILES = {"key_contributions", "population_uniques", "explain"}  # no figures of records
WHOLE = threads.chunks
# Sizes of pieces that a small file never reaches: module, name, and a size that cuts it many times.
PIECES = [
    ("attribute.prediction.prediction_models", "BLOCK", 7),
    ("attribute.prediction.bayesian_attribute_risk", "BLOCK", 7),
    ("attacks.attack_files", "LISTED", 3),
    ("cells.crosstab", "AT_ONCE", 3),
    ("numerics.search.neighbours", "LISTED", 3),
    ("attacks.singling.singling_out", "PIECE", 3),
    ("utility.propensities.cluster_utility", "BLOCK", 3),
    ("protect.suppression.suppression_choices", "AT_ONCE", 1),
]


def three(n: int, *, minimum: int = 1, parts: int | None = None) -> list[tuple[int, int]]:
    """Three slices of whatever there is, or as many as may be."""
    del minimum
    return WHOLE(n, minimum=1, parts=min(3, parts or 3))


@pytest.fixture
def in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut everything that can be cut, on three threads."""
    for path, name, size in PIECES:
        module = import_module(f"sdckit.{path}")
        assert getattr(module, name) > size
        monkeypatch.setattr(module, name, size)
    for path in sources():
        if re.search(r"^from sdckit.numerics.threads import .*chunks", path.read_text(encoding="utf-8"), re.M):
            module = import_module(".".join(path.relative_to(SRC.parent).with_suffix("").parts))
            monkeypatch.setattr(module, "chunks", three)


@cache
def whole(row: Measure) -> Any:
    """What a measure finds in one piece."""
    return quiet_call(row)


def quiet_call(row: Measure) -> Any:
    with quiet():
        return call(row)


def test_everything_that_cuts_is_cut(in_slices: None) -> None:
    """Whatever file of the package calls for slices gets three of them here."""
    del in_slices
    calling = [path for path in sources() if re.search(r"\bchunks\(", path.read_text(encoding="utf-8"))]
    for path in calling:
        module = import_module(".".join(path.relative_to(SRC.parent).with_suffix("").parts))
        assert module is threads or module.chunks is three, path
    assert len(calling) > 12


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_a_measure_in_slices(row: Measure, request: pytest.FixtureRequest) -> None:
    expected = whole(row)
    request.getfixturevalue("in_slices")
    found = quiet_call(row)
    assert_close(figures(expected), figures(found), row.name)
    if row.name not in OF_FILES and hasattr(type(expected), "records"):
        one, other = (pl.DataFrame(result.records).to_dict(as_series=False) for result in (expected, found))
        assert_close(one, other, row.name)


FILE = people(1)
PROTECTED: dict[str, Any] = {
    "pram": lambda: sdc.pram(FILE, columns=["sex", "region"], seed=1),
    "add_noise": lambda: sdc.add_noise(FILE, columns=["income", "hours"], seed=1),
    "microaggregate": lambda: sdc.microaggregate(FILE, columns=["income", "hours"], k=3),
    "rank_swap": lambda: sdc.rank_swap(FILE, columns=["income"], seed=1),
    "shuffle": lambda: sdc.shuffle(FILE, columns=["income"], given=["hours"], seed=1),
    "local_suppression": lambda: sdc.local_suppression(FILE, keys=KEYS, k=3),
    "swap_records": lambda: sdc.swap_records(
        FILE, hierarchy=["region"], keys=["sex", "size"], seed=1
    ),
    "synthesize": lambda: sdc.synthesize(FILE, columns=["sex", "income"], seed=1),
    "replace_high_risk": lambda: sdc.replace_high_risk(
        changed(), risk=pl.Series(range(N)) / N, threshold=0.5, match=["sex", "income"], replace=["hours"],
        numeric=["income"], seed=1,
    ),
    "coarsen_weights": lambda: sdc.coarsen_weights(FILE, weight="w", k=5, hide=["sex"], seed=1),
}  # fmt: skip


@cache
def protected(method: str) -> pl.DataFrame:
    return made(method)


def made(method: str) -> pl.DataFrame:
    with quiet():
        found: pl.DataFrame = PROTECTED[method]().data
    return found


@pytest.mark.parametrize("method", PROTECTED)
def test_a_method_in_slices(method: str, request: pytest.FixtureRequest) -> None:
    expected = protected(method)
    request.getfixturevalue("in_slices")
    assert_close(expected.to_dict(as_series=False), made(method).to_dict(as_series=False), method)
