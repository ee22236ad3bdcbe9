"""Distances: shares outside, medians and subgroups inside only."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.rates import has_residual_risk
from sdckit.report.view import view_of


def near(share, chance):
    return {
        "share_closer_to_original": {"text": "", "value": share},
        "chance_high": {"text": "", "value": chance},
    }


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
