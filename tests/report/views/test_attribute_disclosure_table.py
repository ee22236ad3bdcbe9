"""What is given away of many variables, the most first."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of, shown


def test_a_bar_and_a_row_for_each_target():
    result = result_of("attribute_disclosure_table")
    assert [row["label"] for row in drawn("attribute_disclosure_table")] == list(result.targets)
    assert [row[0] for row in shown("attribute_disclosure_table")[0].rows] == list(result.targets)


def test_few_people_are_hidden():
    result = result_of("attribute_disclosure_table")
    for name, tree in printed("attribute_disclosure_table")["targets"].items():
        n = round(result.correctly_disclosed[name] * 240)
        assert (tree["releases"][0]["correctly_disclosed"]["value"] is None) == (0 < n < 5)
