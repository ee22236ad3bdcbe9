"""Singling out: queries depend on each other, and their interval is told where no count is small."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of
from sdckit.report.rates import attack_name
from sdckit.report.view import view_of


def test_the_ends_are_in_whole_per_cent():
    (release,) = printed("singling_out")["releases"]
    assert all(round(100 * end, 9).is_integer() for end in release["ends"])
    assert round(release["n_attacks"]["value"] / 5) == round(result_of("singling_out").n_attacks / 5)


def test_people_in_it_and_never_in_it_are_drawn():
    assert [row["label"] for row in drawn("singling_out")] == [
        "succeed", "by guessing", "on people never in the file",
    ]  # fmt: skip


def test_names_and_what_was_asked():
    assert attack_name("singling_out:univariate") == "Singling out by one column"
    assert attack_name("singling_out") == "Singling out"
    view = view_of("singling_out")
    assert view.options_words({"columns_at_once": 3}, "multivariate") == "queries of 3 columns"
    assert view.options_words({"columns_at_once": 3}, "univariate") == ""
