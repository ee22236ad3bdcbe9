from __future__ import annotations

import pytest

from sdckit.report.gate.words import protect_words


@pytest.mark.parametrize(
    ("exact", "printed"),
    [
        ("weight of 3 records is missing", "weight of <5 records is missing"),
        ("1,203 records and 7 households", "1,205 records and 5 households"),
        ("see rows 3, 17 and 20 of the file", "see rows not shown of the file"),
        ("bad value at row 12", "bad value at rows not shown"),
        ("first rows: 4, 9, 11", "first rows not shown"),
        ("'age' has 4312 levels: recode it first", "'age' has 4310 levels: recode it first"),
        ("no record below k = 3", "no record below k = 3"),
        ("2-anonymity holds for income_2010", "2-anonymity holds for income_2010"),
        ("the weights sum to 12345.678", "the weights sum to 12,000"),
        ("Benedetti & Franconi (1998)", "Benedetti & Franconi (1998)"),
        ("k = 3 records", "k = <5 records"),
    ],
)
def test_counts_in_words_are_protected(exact: str, printed: str) -> None:
    assert protect_words(exact).replace(",", "") == printed.replace(",", "")


def test_a_count_is_rounded_as_its_table_is() -> None:
    assert protect_words("7 records", lambda n: f"<{n + 3}") == "<10 records"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("job holds 'refused' in 1 record", "job holds 'refused' in 2 records"),
        ("1 household is in both files", "2 households are in both files"),
        ("1 record has no weight (row 17)", "2 records have no weight (rows 17 and 20)"),
        ("row 17 has no household", "rows 17, 20 have no household"),
        ("1 row was left out", "3 rows were left out"),
    ],
)
def test_grammar_does_not_tell_one_from_few(one: str, two: str) -> None:
    assert protect_words(one) == protect_words(two)
