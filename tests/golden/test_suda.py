"""Special uniques of sdcMicro 5.8.1 and of the Java program SUDA2; the guide's table is in `guide/tab45.json`.

Where sdckit deliberately differs, and what is compared instead:

- sdcMicro computes DIS in single precision: compared with its figures to 1e-6, and with those in double precision
  to 1e-8 where the case has them.
- sdcMicro cuts keys with decimals down to whole numbers (0.2 and 0.7 become one level). The figures here were made
  on files where that merges nothing; `test_decimals_are_not_cut` shows that they stay apart.
- Below three keys sdcMicro adds constant columns and counts three keys. `test_fewer_than_three_keys` gets its scores
  by adding the columns, and without them those of the definition.
- The Java program overwrites a record's score with that of each further minimal unique instead of adding it up: only
  its counts are compared, and that where a record has one minimal unique at most, its scores.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from draw import quiet
from golden.compare import agree, columns
from golden.rebuild import rebuild
from sdckit import suda

FOLDER = Path(__file__).parent / "portable"
CASES = sorted(path.stem for path in FOLDER.glob("suda2_*.json"))
REFERENCE = ["francdat", "ihsn", "testdata2_3keys", "testdata2_5keys", "testdata_5keys", "testdata_7keys",
             "testdata_na_first400"]  # fmt: skip
JAVA = ["francdat", "ihsn", "testdata2_2keys", "testdata2_5keys", "testdata_5keys"]
SCALES = {"elliot": "original_scores", "ihsn": "ihsn_scores"}

file = cache(rebuild)


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def measure(frame, keys, **options):
    with quiet():
        return suda(frame, keys=keys, **options)


def shares(result):
    """Level contributions in percent, levels as numbers, missing ones left out."""
    return {
        key: {float(level): 100 * share for level, share in levels.items() if level != "(missing)"}
        for key, levels in result.level_contributions.items()
    }


@pytest.mark.parametrize("scoring", SCALES)
@pytest.mark.parametrize("name", CASES)
def test_files_that_anybody_can_rebuild(name, scoring):
    case = load(FOLDER, name)
    expected, tolerance = case["scoring"][scoring], case["tolerance"]
    for fraction, dis in expected["dis_score"].items():
        result = measure(file(case["data"]), case["keys"], scoring=scoring, sampling_fraction=float(fraction))
        found = columns(result)
        agree(found["dis_score"], dis["sdcMicro"], case["dis_tolerance"])
        agree(found["dis_score"], dis["double"], tolerance)
    agree(found["suda_score"], expected["score"], tolerance)
    assert int((found["suda_score"] > 0).sum()) == expected["records_with_score"]
    assert {str(size): count for size, count in result.msu_counts.items()} == case["msu_counts"]
    assert (result.sample_uniques, result.pairs) == (case["sample_uniques"], case["pairs"])
    percent = {key: 100 * share for key, share in result.contributions.items()}
    assert percent == pytest.approx(expected["contributions_percent"], rel=tolerance)
    for key, levels in expected["level_contributions_percent"].items():
        numbers = {float(level): share for level, share in levels.items()}
        assert shares(result)[key] == pytest.approx(numbers, rel=tolerance, abs=1e-11), key


def read(folder, name):
    """A file of the reference, as text; NA and an empty field are missing."""
    found = name.split()[0]
    frame = pl.read_csv(folder / "data" / found, infer_schema=False, null_values=["NA", ""])
    return frame.head(400) if "first 400" in name else frame


@pytest.mark.parametrize("scoring", SCALES)
@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference(reference, name, scoring):
    case = load(reference, f"suda2_{name}")
    keys, counted = case["arguments"]["variables"], case["expected"]["brute_force"]
    for fraction in case["arguments"]["DisFraction"]:
        expected = case["expected"][f"{SCALES[scoring]}_f{fraction:g}"]
        result = measure(read(reference, case["data"]), keys, scoring=scoring, sampling_fraction=fraction)
        found = columns(result)
        assert found["suda_score"].tolist() == pytest.approx(expected["score"], rel=1e-8)
        assert found["dis_score"].tolist() == pytest.approx(expected["disScore"], rel=1e-6)
        by_definition = expected["brute_force_check"]["dis_by_definition"]
        assert found["dis_score"].tolist() == pytest.approx(by_definition, rel=1e-8)
        assert int((found["suda_score"] > 0).sum()) == expected["n_positive"]
        for key, percent in expected["attribute_contributions"].items():
            ours = 100 * result.contributions[key]
            assert np.isnan(ours) if percent is None else ours == pytest.approx(percent, rel=1e-8)
        _levels_agree(result, expected["attribute_level_contributions"])
    assert list(result.msu_counts.values()) == counted["msu_count_by_size"]
    assert result.sample_uniques == counted["n_sample_unique"]
    assert result.pairs == counted["n_records_in_pairs"]
    if counted["msu_counts_per_record_by_size"]:
        per_record = np.array(list(counted["msu_counts_per_record_by_size"].values()))
        assert found["n_msu"].tolist() == per_record.sum(axis=0).tolist()
        smallest = np.where(per_record.any(axis=0), (per_record > 0).argmax(axis=0) + 1, 0)
        assert found["smallest_msu"].tolist() == smallest.tolist()


def _levels_agree(result, table):
    """Level by level; it prints none for missing values."""
    if table is None:
        return
    rows = zip(table["variable"], table["attribute"], table["contribution"], strict=True)
    seen = {(variable, str(level)) for variable, level in zip(table["variable"], table["attribute"], strict=True)}
    ours = result.level_contributions
    assert seen == {(key, level) for key in ours for level in ours[key] if level != "(missing)"}
    for variable, level, percent in rows:
        share = 100 * ours[variable][str(level)]
        assert np.isnan(share) if percent is None else share == pytest.approx(percent, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("name", JAVA)
def test_the_java_program(reference, name):
    case = load(reference, f"prasser_suda2_{name}")
    assert case["arguments"]["maxKeyLength"] == 0
    for label, scoring in (("elliot", "elliot"), ("sdcmicro", "ihsn")):
        result = measure(read(reference, case["data"]), case["arguments"]["keys"], scoring=scoring)
        found, expected = columns(result), case["expected"][label]
        assert sum(result.msu_counts.values()) == expected["numKeys"]
        once = found["n_msu"] <= 1
        theirs = np.array(expected["scores"])
        assert found["suda_score"][once].tolist() == pytest.approx(theirs[once].tolist(), rel=1e-8)
        assert (theirs <= found["suda_score"] + 1e-12).all()


def test_decimals_are_not_cut():
    frame = pl.DataFrame({"a": [0.2, 0.7, 0.7, 0.7], "b": [1.0, 1.0, 1.0, 2.0], "c": [3.0] * 4})
    result = measure(frame, ["a", "b", "c"])
    assert result.records["suda_score"].to_list() == [2.0, 0.0, 0.0, 2.0]
    cut = frame.with_columns(pl.col("a").floor())
    assert measure(cut, ["a", "b", "c"]).records["suda_score"].to_list() == [0.0, 0.0, 0.0, 2.0]


def test_fewer_than_three_keys():
    frame = rebuild("anes96").assign(one=1, two=1)
    plain, padded = measure(frame, ["PID", "age5"]), measure(frame, ["PID", "age5", "one"])
    alone = int((frame.groupby(["PID", "age5"]).size() == 1).sum())
    assert plain.msu_counts == {1: 0, 2: alone}
    assert padded.msu_counts == {1: 0, 2: alone, 3: 0}
    ours, theirs = columns(plain)["suda_score"], columns(padded)["suda_score"]
    assert (ours == theirs).all()  # (2 - 2)! and (3 - 2)! agree, but not those of one key
    one, three = measure(frame, ["popul"]), measure(frame, ["popul", "one", "two"])
    assert one.msu_counts[1] == three.msu_counts[1] > 0
    assert (2 * columns(one)["suda_score"] == columns(three)["suda_score"]).all()
