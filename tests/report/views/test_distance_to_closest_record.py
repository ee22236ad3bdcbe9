"""Distances: shares outside, medians and subgroups inside only."""

from __future__ import annotations

import polars as pl

import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document
from sdckit.report.rates import has_residual_risk
from sdckit.report.view import view_of


def near(share, chance):
    return {"share_closer_to_original": {"text": "", "value": share}, "chance_high": {"text": "", "value": chance}}


def test_in_words_of_the_worst_release():
    def words(*releases):
        return view_of("distance_to_closest_record").conclude({"releases": list(releases)})["means"]

    assert "nearer to the people in it; single" in words(near(0.5, 0.5))
    assert "than chance allows" in words(near(0.5, 0.5), near(0.6, 0.5))
    assert "no sign" in words(near(None, 0.5))
    assert words({}).startswith("without a control file")
    assert not has_residual_risk("distance_to_closest_record")


def test_no_quantile_leaves():
    (release,) = printed("distance_to_closest_record")["releases"]
    assert not [name for name in release if name.startswith(("dcr", "nndr"))]
    assert [row["label"] for row in drawn("distance_to_closest_record")][:1] == [
        "released records equal to an original"
    ]


def test_medians_and_subgroups_inside():
    result = result_of("distance_to_closest_record")
    blocks = shown("distance_to_closest_record", internal=True)
    tables = {block.caption: block for block in blocks if hasattr(block, "rows")}
    medians = tables["Distances between released and real records"]
    assert medians.rows[0][1:] == (
        f"{result.dcr_released_to_original:.4g}", f"{result.dcr_released_to_control:.4g}",
    )  # fmt: skip
    assert [row[0] for row in tables["Distances, by sex"].rows] == list(result.by_group["sex"])
    assert any(getattr(block, "text", "") == result.verdict for block in blocks)


def test_shares_in_per_cent_inside_and_five_releases_summed_up():
    result = result_of("distance_to_closest_record")
    tables = {getattr(one, "caption", ""): one for one in shown("distance_to_closest_record", internal=True)}
    hit = tables["Distances, by sex"].columns.index("hit")
    assert [row[hit] for row in tables["Distances, by sex"].rows] == [
        f"{100 * share:.1f} %" for share in result.by_group["hitting_rate"]
    ]
    closer = next(
        row for row in tables["Distances between released and real records"].rows if row[0].startswith("nearer")
    )
    assert closer[1:] == (f"{100 * result.identifiability:.1f} %", f"{100 * result.identifiability_control:.1f} %")
    releases = [{"copies": {"text": f"0.{j}", "value": j / 10}} for j in range(1, 6)]
    table, *_ = view_of(result.measure).blocks({"x": {"releases": releases}}, "x")
    assert table.columns == ("Share", "Mean of 5 releases", "Smallest", "Largest")
    assert table.rows == (("released records equal to an original", "30 %", "10 %", "50 %"),)


def test_who_draws_a_whole_file_is_told_its_shares_as_of_all():
    """A number drawn is nobody's secret; that of a whole file is protected as everywhere."""
    original = pl.DataFrame({"pid": range(61), "x": [float(i % 17) for i in range(61)]})
    released = pl.concat([original, original]).with_columns(x=pl.col("x") + (pl.int_range(122) % 3 == 0), pid=None)
    trees = []
    for targets in (None, 61, 100):
        result = sdc.distance_to_closest_record(
            original, released, variables=["x"], id="pid" if targets else None, targets=targets, seed=1
        )
        assert ("targets" in result.notes) is bool(result.intervals) is (targets in (61, 100))  # of the release
        (tree,) = protect(result_document(result))["measures"].values()
        trees.append({name: tree["releases"][0][name] for name in ("hitting_rate", "identifiability")})
    assert trees[0] == trees[1] == trees[2]
