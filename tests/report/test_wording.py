"""The words of a language: entries with places, numbers as they are written there, lists, texts within texts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from sdckit.report.wording import PLACE, SOFT_HYPHEN, Wording, languages, read_wording, say, wording

HEAD = """
[language]
name = "Test"
decimal = ","
thousands = "."
date = "{day}.{month}.{year}"
breaks = ["lang|wort"]
[numbers]
about = "etwa"
to = "bis"
and = "und"
or = "oder"
withheld = "geheim"
[texts]
"""
OTHERS = languages()[1:]


def made(*entries: str) -> Wording:
    return read_wording("xx", HEAD + "\n".join(entries))


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("1,855", "1.855"), ("29.1 %", "29,1\u00a0%"), ("0.0%", "0,0\u00a0%"), ("<5", "<5"),
        ("about 1,234.5", "etwa 1.234,5"),
        ("10–14", "10–14"), ("0.25 to 0.5", "0,25 bis 0,5"), ("1,000,000", "1.000.000"), ("1.5e-05", "1,5e-05"),
        ("withheld", "geheim"), ("-0.5", "-0,5"), ("0.2.1", "0.2.1"), ("2026-11-21", "2026-11-21"), ("✓", "✓"),
    ],
)  # fmt: skip
def test_a_number_is_written_as_in_the_language(english: str, german: str) -> None:
    assert made().translate(english) == german


def test_places_are_filled_and_numbers_in_them_rewritten() -> None:
    words = made('"{n} of {n2} records of {c}" = "von {c} {n} von {n2} Zeilen"')
    assert words.translate("1,200 of 4,000 records of x 1.5") == "von x 1.5 1.200 von 4.000 Zeilen"


def test_there_are_two_forms_for_one_and_for_more() -> None:
    words = made('"{n} left" = ["{n} Zeile bleibt", "{n} Zeilen bleiben"]')
    assert [words.translate(one) for one in ("1 left", "2 left", "<5 left")] == [
        "1 Zeile bleibt", "2 Zeilen bleiben", "<5 Zeilen bleiben",
    ]  # fmt: skip


@pytest.mark.parametrize("text", [
    "1 record has no household id in 'hh': each is a household of its own",
    "column 'pay': 1 value is beyond 2^53, too large to be rounded exactly",
    ('step 2 (recode): column \'pay\': 1 record has a value in no band. Widen the bands (None leaves an end open), or '
     'give “outside”: "missing"'),
])  # fmt: skip
def test_messages_that_count_one_have_words(text: str) -> None:
    untold: list[str] = []
    wording("de").translate(text, (), untold.append)
    assert not untold


@pytest.mark.parametrize(("text", "german"), [
    ("40 records, made from 1,050 records", "40 Datensätze, erzeugt aus 1.050 Datensätzen"),
    ("40, 41 and 42 records, made from 50 records", "40, 41 und 42 Datensätze, erzeugt aus 50 Datensätzen"),
])  # fmt: skip
def test_a_file_without_a_name_is_its_size_in_german(text: str, german: str) -> None:
    assert wording("de").translate(text) == german


def test_a_text_within_a_text_is_translated_or_a_kept_name() -> None:
    words = made('"{t}, before" = "{t}, vorher"', '"Risk" = "Risiko"', '"In it: {t}" = "Darin: {t}"')
    assert words.translate("Risk, before") == "Risiko, vorher"
    assert words.translate("In it: risk, before") == "Darin: Risiko, vorher"
    assert words.translate("age, before", kept={"age"}) == "age, vorher"
    untold: list[str] = []
    assert words.translate("Luck, before", report=untold.append) == "Luck, vorher"
    assert untold == ["Luck"]


def test_a_list_has_the_words_of_the_language_between_its_names() -> None:
    words = made('"Known: {l}." = "Bekannt: {l}."', '"{t} ({k})" = "{t} ({k})"', '"no key" = "kein Schlüssel"')
    kept = {"age", "sex", "bread and butter"}
    assert words.translate("Known: sex, bread and butter and age.", kept) == "Bekannt: sex, bread and butter und age."
    assert words.translate("age or sex", kept) == "age oder sex"
    assert words.translate("Known: what nobody named and age.") == "Bekannt: what nobody named and age."
    assert words.translate("no key (sex and age)", kept) == "kein Schlüssel (sex und age)"
    assert words.translate("no key (at all)", kept) == "no key (at all)"


def test_sentences_are_looked_up_one_by_one_and_those_without_words_stay() -> None:
    words = made('"One." = "Eins."', '"Two. Three." = "Zwei, drei."', '"Of {c}." = "Von {c}."')
    untold: list[str] = []
    assert words.translate("One. Two. Three. Four. Of x.", report=untold.append) == "Eins. Zwei, drei. Four. Von x."
    assert untold == ["Four."]


def test_what_is_kept_is_no_text() -> None:
    words = made('"Records" = "Zeilen"')
    assert words.translate("Records") == "Zeilen"
    assert words.translate("sex", kept={"sex"}) == "sex"


def test_a_date_and_a_word_stay_what_they_are() -> None:
    words = made('"made {d} with {v}" = "am {d} mit {v}"')
    assert words.translate("made 2026-11-21 with 0.2.0") == "am 21.11.2026 mit 0.2.0"


def test_the_most_telling_entry_is_taken_and_a_name_in_quotes_ends_there() -> None:
    words = made('"“{c}” knows" = "„{c}“ kennt"', '"{t} and {t2}" = "{t} und {t2}"', '"“{c}”" = "„{c}“"')
    assert words.translate("“a” and “b”") == "„a“ und „b“"
    assert words.translate("“a b” knows") == "„a b“ kennt"


def test_long_words_may_be_divided() -> None:
    assert made().divided("ein langwort, Langwort") == f"ein lang{SOFT_HYPHEN}wort, Langwort"


@pytest.mark.parametrize("language", OTHERS)
def test_an_entry_says_what_the_english_says(language: str) -> None:
    """The same places and the same figures in every form; no blank, no space at an end."""
    words = wording(language)
    for entry in words.entries:
        for form in entry.forms:
            assert {a + b for a, b in PLACE.findall(form)} == set(entry.places), entry.english
            assert _figures(form) == _figures(entry.english), entry.english
            assert form.strip() == form != "", entry.english
    for english, other in words.exact.items():
        assert _figures(other) == _figures(english), english
        assert other.strip() == other != "", english
    assert {"about", "over", "under", "up to", "to", "withheld", "and", "or"} <= set(words.numbers)


def _figures(text: str) -> Counter[str]:
    """The digits of a text, however they are written."""
    return Counter(re.findall(r"\d+", PLACE.sub("", text)))


def test_how_many_names_follow_is_said_in_the_language() -> None:
    words = read_wording("xx", HEAD + '"Gone: {c}; look." = "Weg: {c}; sehen Sie nach."\n"{n} more" = "{n} weitere"\n')
    assert words.translate("Gone: 'a', 'b' and 12 more; look.") == "Weg: 'a', 'b' und 12 weitere; sehen Sie nach."
    assert words.translate("Gone: tea and 12 more; look.") == "Weg: tea and 12 more; sehen Sie nach."


def test_a_column_called_like_a_text_of_ours_keeps_its_name_in_a_list() -> None:
    words = read_wording("xx", HEAD + '"Known: {l}." = "Bekannt: {l}."\n"age" = "das Alter"\n')
    assert words.translate("Known: age and job.", {"age", "job"}) == "Bekannt: age und job."
    assert words.translate("Known: age and age.", {"job"}) == "Bekannt: das Alter und das Alter."


# The texts of a language without what computes; documents are tried in test_language.py.


def test_a_text_is_said_in_every_language_there_is() -> None:
    assert languages() == ("en", "de")
    assert say("Contents") == "Contents"
    assert say("Contents", "de") == wording("de").exact["Contents"]
    assert say("nobody translated this", "de") == "nobody translated this"


def test_it_loads_nothing_that_computes() -> None:
    code = "import sys; from sdckit.report.wording import say; say('Contents', 'de'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "numba", "polars", "pydantic"} & set(loaded)


@pytest.mark.parametrize("language", OTHERS)
def test_columns_that_are_not_the_originals_are_named_in_every_language(language: str) -> None:
    untold: list[str] = []
    text = "not every value of age, pay that is shown is the original's: what tables tell by it is not looked at"
    assert "age, pay" in wording(language).translate(text, {"age", "pay"}, untold.append)
    assert not untold
