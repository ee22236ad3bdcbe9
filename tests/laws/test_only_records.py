"""Whatever protects a file hands over its records and nothing else: no schema, no byte tells what is gone."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sdckit as sdc
from laden_files import HIDDEN, LADEN, NUMBER, UNIQUE, N, categories, laden, shown
from sdckit.data.files.write_file import write_file
from sdckit.data.methods import METHODS
from tree import SRC

ALONE = np.arange(N) == 7  # the record whose job nobody shares
RISK = np.where(ALONE, 1.0, 0.0)

CALLS: dict[str, Callable[[Any], sdc.Protected]] = {
    "recode": lambda data: sdc.recode(
        data, column="job", groups={"food": ["cook"], "metal": ["smith"], "office": ["clerk"]}, outside="missing"
    ),
    "top_bottom_code": lambda data: sdc.top_bottom_code(data, column="age", top=60),
    "round_to": lambda data: sdc.round_to(data, column="income", base=100),
    "drop_identifiers": lambda data: sdc.drop_identifiers(data, columns=["name"]),
    "new_ids": lambda data: sdc.new_ids(data, column="name"),
    "local_suppression": lambda data: sdc.local_suppression(data, keys=["job", "sex"], k=3),
    "suppress_above": lambda data: sdc.suppress_above(data, risk=RISK, threshold=0.5, columns=["job", "name"]),
    "pram": lambda data: sdc.pram(data, columns=["job"], pd=0.5, seed=1),
    "microaggregate": lambda data: sdc.microaggregate(data, columns=["income", "age"], seed=1),
    "add_noise": lambda data: sdc.add_noise(data, columns=["income"], seed=1),
    "rank_swap": lambda data: sdc.rank_swap(data, columns=["income"], p=10, seed=1),
    "shuffle": lambda data: sdc.shuffle(data, columns=["income"], given=["age"], seed=1),
    "swap_records": lambda data: sdc.swap_records(data, hierarchy=["sex"], keys=["job"], seed=1),
    "synthesize": lambda data: sdc.synthesize(data, columns=["job", "sex", "income"], seed=1),
    "mask_categorical": lambda data: sdc.mask_categorical(data, columns=["job"], probability=0.5, seed=1),
    "mask_continuous": lambda data: sdc.mask_continuous(data, columns=["income"], reliability=0.9, seed=1),
    "impute_masked": lambda data: sdc.impute_masked(
        sdc.mask_continuous(data, columns=["income"], sd=1.0, suffix="_masked", seed=1).data,
        masked={"income": "income_masked"}, error={"income": 1.0}, predictors={"income": ["sex"]}, iterations=3, m=1,
        seed=1,
    ),
    "replace_high_risk": lambda data: sdc.replace_high_risk(
        data, risk=RISK, threshold=0.5, match=["sex"], replace=["job"], seed=1
    ),
    "coarsen_weights": lambda data: sdc.coarsen_weights(data, weight="w"),
    "limit_households": lambda data: sdc.limit_households(data, household="home", largest=2, seed=1),
    "recompute": lambda data: sdc.recompute(data, derived={"income": "12 * age"}),
    "random_order": lambda data: sdc.random_order(data, seed=1),
}  # fmt: skip
TAKES_IT_OUT = ("recode", "local_suppression", "suppress_above", "replace_high_risk")


def public_functions_of_protection() -> set[str]:
    found = set()
    for line in (SRC / "__init__.pyi").read_text(encoding="utf-8").splitlines():
        if line.startswith("from .protect."):
            names = [part.split(" as ")[0].strip() for part in line.split(" import ")[1].split(",")]
            found |= {name for name in names if not isinstance(getattr(sdc, name), type)}
    return found


def test_every_method_is_tried():
    # a frame decoded from a declared domain has nothing of the data's frame: its levels are the declared ones
    decoded = {"synthesize_margins"}
    assert set(CALLS) == public_functions_of_protection() - decoded == set(METHODS) - decoded


def copies(data: Any, folder: Path) -> dict[str, bytes]:
    """A frame as bytes: pickled, and in every format that is written."""
    made = {"pickle": pickle.dumps(data)}
    for ending in ("csv", "parquet", "arrow", "sav", "dta"):
        made[ending] = write_file(data, folder / f"out.{ending}").read_bytes()
    return made


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("engine", LADEN)
@pytest.mark.parametrize("method", CALLS)
def test_nothing_hidden_goes_out(method: str, engine: str, tmp_path: Path):
    given = laden(engine)
    before = pickle.dumps(given)
    data = CALLS[method](given).data
    assert HIDDEN.encode() in before  # the test can fail
    jobs = shown(data, "job")
    if method in TAKES_IT_OUT:
        assert UNIQUE not in jobs
    assert sorted(categories(data, "job")) == sorted({one for one in jobs if one is not None})
    if method != "recode":
        declared = [one for one in categories(given, "job") if one in jobs]
        assert categories(data, "job") == declared  # in their order
    number = NUMBER.to_bytes(8, "little")
    for kind, content in copies(data, tmp_path).items():
        for word in (HIDDEN.encode(), number) if UNIQUE in jobs else (HIDDEN.encode(), number, UNIQUE.encode()):
            assert word not in content, kind
    assert pickle.dumps(given) == before


@pytest.mark.parametrize("engine", LADEN)
def test_what_was_taken_out_leaves_no_trace(engine: str, tmp_path: Path):
    """Two files that differ in the values taken out only give the same bytes."""
    made = []
    for unique, number in ((UNIQUE, NUMBER), ("pilot", 3)):
        safe = sdc.suppress_above(laden(engine, unique, number), risk=RISK, threshold=0.5, columns=["job"]).data
        made.append(copies(safe, tmp_path))
    assert made[0] == made[1]


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("engine", LADEN)
def test_recipes_give_records_only(engine: str, tmp_path: Path):
    recipe = sdc.Recipe(
        [
            {"method": "drop_identifiers", "columns": ["name"]},
            {"method": "local_suppression", "keys": ["job", "sex"], "k": 3},
        ]
    )
    data = recipe.apply(laden(engine), seed=1).data
    for content in copies(data, tmp_path).values():
        assert HIDDEN.encode() not in content
        assert UNIQUE.encode() not in content
        assert b"the person of the number" not in content


@pytest.mark.parametrize("engine", LADEN)
def test_the_writer_alone_keeps_nothing_hidden(engine: str, tmp_path: Path):
    for kind, content in copies(laden(engine), tmp_path).items():
        if kind != "pickle":
            assert HIDDEN.encode() not in content, kind
            assert NUMBER.to_bytes(8, "little") not in content, kind


def test_files_of_one_synthesis_fit_together():
    files = sdc.synthesize(laden("polars"), columns=["job", "sex", "income"], m=3, seed=1).data
    assert len({one.schema["job"] for one in files}) == 1
    jobs = {job for one in files for job in one["job"]}
    assert set(categories(files[0], "job")) == jobs - {None}
