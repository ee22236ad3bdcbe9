"""What release and tables give back, in a document: small counts are hidden."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from sdckit import PublishedTable, joint_audit
from sdckit.report.charts import to_svg
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.shares import shown_share
from sdckit.report.views.joint_audit import VIEW

N = 300
RNG = np.random.default_rng(4)
WHOLE = pl.DataFrame(
    {
        "region": RNG.choice(["n", "s", "e", "w"], N),
        "job": RNG.choice(["cook", "smith", "nurse"], N),
        "age": RNG.integers(20, 60, N),
    }
)
KEYS = ["region", "job"]


def found(n, **given):
    """Regions of n records are missing, which the table by age tells."""
    gone = pl.Series(np.isin(np.arange(N), np.arange(0, N, N // n)[:n]))
    safe = WHOLE.with_columns(region=pl.when(gone).then(None).otherwise("region"))
    return joint_audit(safe, WHOLE, tables=[["region", "job", "age"]], keys=KEYS, **given)


def text_of(result, *, internal=False):
    return "\n".join(repr(one) for one in result_blocks(protect(result_document(result), internal=internal)))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_fewer_than_five_values_given_back_are_never_told(n):
    result = found(n)
    assert result.right == n
    (tree,) = protect(result_document(result))["measures"].values()
    (column,) = tree["releases"][0]["columns"]
    assert column["back"]["text"] != str(n)
    assert column["hidden"]["text"] != str(n)
    (exact,) = protect(result_document(result), internal=True)["measures"].values()
    assert exact["releases"][0]["columns"][0]["back"]["text"] == str(n)
    assert '"value": 1.0' not in json.dumps(tree["releases"][0]["columns"])


def test_what_many_values_are_given_back_is_printed():
    result = found(40)
    said = text_of(result)
    for words in ("region × job × age", "Hidden values reconstructed from release and tables", "Records alone"):
        assert words in said
    assert "<svg" in to_svg(result.plot())
    plain = protect(result_document(result))["measures"]
    assert "Hidden values of region can be reconstructed" in VIEW.answer(plain, "joint_audit", {})


def test_nothing_hidden_and_nothing_given_back():
    nothing = joint_audit(WHOLE, WHOLE, tables=[["region"]])
    assert "there is nothing to reconstruct" in text_of(nothing)
    safe = WHOLE.with_columns(region=pl.when(pl.int_range(N) < 40).then(None).otherwise("region"))
    kept = joint_audit(safe, WHOLE, tables=[["region"]])
    plain = protect(result_document(kept))["measures"]
    assert "none of the hidden values" in VIEW.answer(plain, "joint_audit", {})


def test_the_column_named_first_does_not_tell_which_hidden_number_is_larger():
    shares = {shown_share(one.counted, one.hidden) for n in (1, 2, 4) for one in found(n).columns[0]}
    assert shares == {1.0}


def remedied(n):
    """As `found`, beside a table that tells nothing, too."""
    gone = pl.Series(np.isin(np.arange(N), np.arange(0, N, N // n)[:n]))
    safe = WHOLE.with_columns(region=pl.when(gone).then(None).otherwise("region"))
    tables = [["region", "job", "age"], ["job"]]
    return joint_audit(safe, WHOLE, tables=tables, keys=KEYS, remedies=True)


def test_what_tables_tell_and_what_to_do_is_printed():
    result = remedied(40)
    exact = text_of(result, internal=True)
    for words in ("What each table reveals", "What to do instead", "Leave tables out: region × job × age."):
        assert words in exact
        assert words in text_of(result)
    (tree,) = protect(result_document(result), internal=True)["measures"].values()
    first, second = tree["releases"][0]["damage"]
    assert (first["alone"]["text"], second["alone"]["text"]) == (str(result.damage[0][0].alone), "0")


@pytest.mark.parametrize("n", [1, 2, 4])
def test_no_small_number_is_told_by_what_a_table_tells(n):
    result = remedied(n)
    (tree,) = protect(result_document(result))["measures"].values()
    first, _ = tree["releases"][0]["damage"]
    assert result.damage[0][0].alone == n
    assert first["alone"]["text"] != str(n)
    assert all(one["values"]["text"] in {"0", "<5"} or one["values"]["value"] >= 5
               for one in tree["releases"][0]["remedies"])  # fmt: skip
    assert '"value": 1.0' not in json.dumps(tree["releases"][0])


def test_suppressed_cells_are_counted_and_small_counts_hidden() -> None:
    gone = pl.Series(np.arange(N) % 10 == 0)
    safe = WHOLE.with_columns(region=pl.when(gone).then(None).otherwise("region"))
    table = PublishedTable(variables=["region", "job", "age"], suppressed_below=3)
    result = joint_audit(safe, WHOLE, tables=[table], keys=KEYS)
    (cells,) = result.cells[0]
    assert cells.certain > 4
    assert cells.certain + cells.narrowed <= cells.cells
    (plain,) = protect(result_document(result))["measures"].values()
    (told,) = plain["releases"][0]["cells"]
    assert told["cells"]["value"] % 5 == 0
    assert "Suppressed cells of tables reconstructed from release and tables" in text_of(result)
    few = PublishedTable(counts=_with_two_gone(), name="few")
    (plain,) = protect(result_document(joint_audit(safe, WHOLE, tables=[few], keys=KEYS)))["measures"].values()
    (told,) = plain["releases"][0]["cells"]
    assert told["cells"]["text"] == "<5"


def _with_two_gone() -> pl.DataFrame:
    counts = WHOLE.group_by("region", "job").len(name="n").sort("region", "job")
    return counts.with_columns(n=pl.when(pl.int_range(pl.len()) < 2).then(None).otherwise("n"))


def test_a_document_does_not_say_that_nothing_is_hidden_where_it_did_not_look():
    safe = WHOLE.with_columns(region=pl.when(pl.int_range(N) > 5).then(pl.col("region").shuffle(seed=1)))
    said = text_of(joint_audit(safe, WHOLE, tables=[["region", "job"]]))
    assert "give back of region" in said
    assert "nothing to reconstruct" not in said
    assert "nothing to reconstruct" in text_of(joint_audit(WHOLE, WHOLE, tables=[["region", "job"]]))
