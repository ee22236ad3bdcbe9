"""Recoding against sdcMicro 5.8.1 on its own test file, read from the folder named by SDCKIT_REFERENCE.

globalRecode's intervals are closed on the right. Edges, codes and counts are compared; the names are ours: the
outer bands are open, so that no name tells the smallest or largest value. Quantiles are three digits here.
The demographic and economic cases by hand stand below and need no reference.
"""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import polars as pl
import pytest

from sdckit import drop_identifiers, new_ids, recode, round_to, top_bottom_code

OPENSSL = "ba5f2f21f0fa7e763003c1efec8bfbcee99dec18a218903112205f4bc82e47c8"
CASES = {
    "breaks_5": ("age", {"bands": 5}),
    "breaks_vec": ("age", {"bands": [-1, 9, 19, 29, 39, 49, 59, 69, 100]}),
    "equalAmount_4": ("age", {"bands": 4, "how": "equal_frequency"}),
    "equidistant_income_6": ("income", {"bands": 6}),
    "logEqui_income_4": ("income", {"bands": 4, "how": "log"}),
}
EDGES = {
    "breaks_5": ["up to 18", "19-38", "39-57", "58-77", "78+"],
    "breaks_vec": ["-1 to 9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-100"],
    "equalAmount_4": ["up to 9", "10-19", "20-36", "37+"],
}


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def read(folder, name):
    with (folder / "data" / name).open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return pl.DataFrame({key: [float(row[key]) for row in rows] for key in ("age", "income")})


@pytest.mark.parametrize("name", CASES)
def test_bands(reference, name):
    case = load(reference, "globalRecode_testdata")
    expected, (column, options) = case["expected"][name], CASES[name]
    frame = read(reference, case["data"])
    safe, _ = recode(frame, column=column, closed="right", **options)
    labels = safe.schema[column].categories.to_list()
    codes = np.array([labels.index(label) for label in safe[column]])
    assert (codes[:50] + 1).tolist() == expected["codes_first50"]
    assert np.bincount(codes).tolist() == [expected["counts"][level] for level in expected["levels"]]
    assert labels == EDGES.get(name, labels)
    for label, level in zip(labels, expected["levels"], strict=True):  # the edges inside are the same numbers
        high = float(level.strip("[]()").split(",")[1])
        if label != labels[-1]:
            assert float(re.findall(r"\d+", label)[-1]) == high


def test_named_bands(reference):
    case = load(reference, "globalRecode_testdata")
    expected = case["expected"]["breaks_vec_labels"]
    frame = read(reference, case["data"])
    # the call's edges are not in the case: they are the largest ages of its first two groups
    codes, ages = np.array(expected["codes_first50"]), frame["age"].to_numpy()[:50]
    edges = [None, *(float(ages[codes == code].max()) for code in (1, 2)), None]
    for first in np.arange(edges[1], ages[codes == 2].min()):
        for second in np.arange(edges[2], ages[codes == 3].min()):
            bands = [None, first, second, None]
            safe, _ = recode(frame, column="age", bands=bands, closed="right", labels=expected["levels"])
            counts = dict(safe["age"].value_counts().rows())
            if counts == expected["counts"]:
                assert safe["age"][:50].to_list() == [expected["levels"][code - 1] for code in codes]
                return
    pytest.fail("no pair of edges gives the counts of the case")


def test_top_and_bottom(reference):
    case = load(reference, "topBotCoding_testdata")
    arguments, expected = case["arguments"], case["expected"]
    frame = read(reference, case["data"])
    safe, change = top_bottom_code(frame, column="income", top=arguments["top_value"], to=arguments["top_replacement"])
    assert change.changed == {"income": expected["top"]["n_changed"]}
    assert safe["income"].sum() == pytest.approx(expected["top"]["sum"], rel=1e-12)
    assert safe["income"].max() == expected["top"]["max"]
    safe, change = top_bottom_code(frame, column="income", bottom=arguments["bottom_value"])
    assert change.changed == {"income": expected["bottom"]["n_changed"]}
    assert safe["income"].sum() == pytest.approx(expected["bottom"]["sum"], rel=1e-12)
    assert safe["income"].min() == expected["bottom"]["min"]


def test_new_identifiers_are_what_openssl_gives():
    """printf 'n17' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102030405060708090a0b0c0d0e0f."""
    found = new_ids(pl.DataFrame({"id": [17]}), column="id", key=bytes(range(16)), length=64).data
    assert found["id"].to_list() == [OPENSSL]


def test_by_hand():
    frame = pl.DataFrame({"name": ["A", "B", "C", "D"], "age": [17, 18, 64, 65], "pay": [1249, 1250, 1251, 3750]})
    safe = drop_identifiers(frame, columns=["name"]).data
    safe = recode(safe, column="age", bands={"minor": (0, 17), "adult": (18, 64), "senior": (65, None)}).data
    safe = round_to(safe, column="pay", base=500).data
    assert safe.rows() == [("minor", 1000), ("adult", 1000), ("adult", 1500), ("senior", 4000)]
