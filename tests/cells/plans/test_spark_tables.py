"""What a worker of Spark counts of its batches; the whole way is tried in engines/test_every_measure_on_spark.py."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sdckit.cells.plans import spark_tables
from sdckit.cells.plans.attach import CHANGED
from sdckit.cells.plans.spark_tables import counting

KNOWN = {"sex": pa.array(["m", None, "f"])}
WIDTHS = {"sex": 3, "age": 40}
SETS = [["sex"], ["age", "sex"]]


def batches():
    rng = np.random.default_rng(1)
    for n in (50, 0, 70):
        sex = [["f", "m", None][at] for at in rng.integers(0, 3, n)]
        yield pa.RecordBatch.from_pydict({"sex": pa.array(sex, pa.string()), "age": rng.integers(0, 40, n)})


@pytest.mark.parametrize("dense", [1 << 20, 50], ids=["in full", "by what occurs"])
def test_every_cell_of_every_table_is_counted(dense, monkeypatch):
    monkeypatch.setattr(spark_tables, "DENSE", dense)
    found = Counter()
    for part in counting(["sex", "age"], KNOWN, WIDTHS, SETS)(batches()):
        for table, cell, n in zip(*(column.to_pylist() for column in part), strict=True):
            found[table, cell] += n
    code = {"m": 0, None: 1, "f": 2}
    rows = [(code[sex], age) for batch in batches() for sex, age in zip(*batch.to_pydict().values(), strict=True)]
    assert found == Counter([(0, sex) for sex, _ in rows] + [(1, age * 3 + sex) for sex, age in rows])


def test_a_value_that_was_not_there_ends_it():
    other = pa.RecordBatch.from_pydict({"sex": ["x"], "age": [1]})
    with pytest.raises(ValueError, match=CHANGED):
        list(counting(["sex", "age"], KNOWN, WIDTHS, SETS)(iter([other])))
