"""What texts, dates and ids say in part: held against how they were made."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from attacks.recovery.made import read
from draw import CHARACTERS
from sdckit.attacks.recovery.text_parts import MOST, Texts, text_parts

RNG = np.random.default_rng(1)
N = 400
DAYS = pl.Series("day", RNG.integers(0, 18_000, N)).cast(pl.Int32).cast(pl.Date)
WAGES = RNG.integers(-500_000, 5_000_000, N) / 100


def parts_of(values, name="x"):
    found = {part.words: part for part in text_parts(read(pl.DataFrame({name: values})))}
    for part in found.values():
        assert part.kind == "text"
        assert part.columns == (name,)
        assert part.numbers is None or len(part.numbers) == len(values)
        if part.groups:
            assert len(part.codes) == len(values)
            assert part.n_levels == len(np.unique(part.codes[part.codes > 0])) == part.codes.max()
        else:
            assert part.numbers is not None
    return found


@pytest.mark.parametrize(
    "form",
    ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d", "%d%m%Y", "%y%m%d", "%d%m%y", "%-d.%-m.%Y", "%m-%d-%y",
     "%Y%m%d-1234", "%d%m%y7777", "%Y-%m-%d 10:30"],
)  # fmt: skip
def test_dates_in_text(form):
    found = parts_of(DAYS.dt.strftime(form))
    for word in ("year", "month", "day"):
        expected = getattr(DAYS.dt, word)().to_numpy()
        assert (found[f"the {word} in x"].numbers == expected).all(), word
    assert (found["the date in x"].numbers == DAYS.cast(pl.Int32).to_numpy()).all()


def test_dates_as_dates_and_as_whole_numbers():
    for values in (DAYS, DAYS.cast(pl.Datetime("us")), DAYS.dt.strftime("%Y%m%d").cast(pl.Int64)):
        found = parts_of(values)
        assert (found["the year in x"].numbers == DAYS.dt.year().to_numpy()).all()
        assert (found["the day of the week in x"].numbers == DAYS.dt.weekday().to_numpy()).all()
    hours = pl.Series([dt.datetime(2020, 1, 1, i % 24) for i in range(N)])
    assert (parts_of(hours)["the hour in x"].numbers == np.arange(N) % 24).all()


def test_days_that_are_none_are_missing():
    texts = ["31.02.1999", None, *DAYS.dt.strftime("%d.%m.%Y").to_list()]
    year = parts_of(texts)["the year in x"]
    assert np.isnan(year.numbers[:2]).all()
    assert (year.codes[:2] == 0).all()
    assert (year.numbers[2:] == DAYS.dt.year().to_numpy()).all()
    assert not any("year" in words for words in parts_of([f"{99 - i % 50}.{i % 90}.{i}" for i in range(100, 200)]))


@pytest.mark.parametrize("none", [10, 11])
def test_nine_of_ten_texts_are_dates_wherever_the_others_stand(none):
    days = [dt.date(1990, 1, 1) + dt.timedelta(days=37 * i) for i in range(100)]
    texts = [f"{day:%Y%m%d}" if i % 5 or i >= 5 * none else f"19{i:02d}9999" for i, day in enumerate(days)]
    assert ("the year in x" in parts_of(texts)) == (none == 10)


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize(
    "spell",
    [lambda value: f"{value:,.2f} USD", lambda value: german(value) + " €",
     lambda value: f"{value:.2f}".replace(".", ","), lambda value: "EUR " + f"{abs(value):,.2f}".replace(",", "’"),
     lambda value: f"about {abs(value):.2f}"],
)  # fmt: skip
def test_numbers_with_marks(spell):
    texts = [spell(value) for value in WAGES]
    told = parts_of(texts)["the number in x"].numbers
    expected = np.abs(WAGES) if texts[0][0].isalpha() else WAGES
    np.testing.assert_allclose(told, expected, atol=1e-9)


def test_thousands_without_decimals():
    values = RNG.integers(1_000, 9_999_999, N)
    assert (parts_of([f"{value:,} USD" for value in values])["the number in x"].numbers == values).all()


def test_numbers_behind_a_prefix():
    numbers = RNG.permutation(N)
    found = parts_of([f"ID-{value:05d}" for value in numbers])
    assert (found["the number in x"].numbers == numbers).all()
    assert not found["the number in x"].groups  # each of its own
    assert (found["character 8 of x"].numbers == numbers % 10).all()
    assert found["characters 1 to 7 of x"].numbers is None
    assert found["characters 1 to 7 of x"].n_levels == 40
    assert "character 1 of x" not in found  # constant


def test_digits_of_whole_numbers():
    codes = RNG.integers(100_000, 999_999, N)
    found = parts_of(codes)
    assert (found["digits 3 to 4 of x"].numbers == codes // 100 % 100).all()
    assert (found["digit 6 of x"].numbers == codes % 10).all()
    assert parts_of(RNG.integers(0, 90, N)) == {}  # ages are no codes
    assert parts_of(RNG.normal(size=N)) == {}
    big = parts_of(pl.Series([2**60 + 7 * i for i in range(N)]))
    assert "character 19 of x" in big


def test_words_and_lengths():
    towns, streets = RNG.choice(["Ulm", "Bonn", "Berlin"], N), RNG.choice(["Weg", "Allee"], N)
    found = parts_of([f"{town} / {street}" for town, street in zip(towns, streets, strict=True)])
    letters = [town[0] for town in towns]
    expected = {"word 1 of x": towns, "word 2 of x": streets, "the first letters of x (1)": letters}
    for words, values in expected.items():
        assert len(set(zip(found[words].codes.tolist(), values, strict=True))) == len(set(values))
    lengths = [len(town) + 3 + len(street) for town, street in zip(towns, streets, strict=True)]
    assert found["the length of x"].numbers.tolist() == lengths
    assert "the last word of x" not in found  # the same as the second


def test_no_part_is_constant_or_twice_there_and_most_are_no_more():
    found = parts_of([f"{value:018d}" for value in RNG.integers(0, 10**18, N)])
    assert len(found) == MOST
    keys = [(part.codes.tobytes(), b"" if part.numbers is None else part.numbers.tobytes()) for part in found.values()]
    assert len(set(keys)) == len(keys)
    assert all(part.n_levels != 1 for part in found.values())
    assert parts_of(["a-1"] * N) == {}
    assert parts_of([None] * N) == {}
    assert set(parts_of(["", "b"] * 50)) == {"the length of x"}  # a letter says the same as the text


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(CHARACTERS, max_size=60)), min_size=1, max_size=40))
def test_any_text_is_read(texts):
    """A part is a function of the text: equal texts have equal parts, and a missing one has none."""
    for part in parts_of(pl.Series("x", texts, dtype=pl.String)).values():
        for values in (part.codes if part.groups else None, part.numbers):
            if values is None:
                continue
            of = {}
            for text, value in zip(texts, values.tolist(), strict=True):
                assert text is not None or value == 0 or np.isnan(value)
                assert of.setdefault(text, str(value)) == str(value)


def test_parts_of_some_records_are_those_of_all():
    """Columns reduced to a sample of their records: levels that do not occur any more do not count."""
    columns = read(pl.DataFrame({"x": DAYS.dt.strftime("%d.%m.%Y")}))
    some = {"x": replace(columns["x"], codes=columns["x"].codes[:50])}
    year = next(part for part in text_parts(some) if part.words == "the year in x")
    assert (year.numbers == DAYS.dt.year().to_numpy()[:50]).all()


def parts_of_places(labels, n):
    """Which places of codes of one length tell them apart in few enough ways, each partition once: by slices."""
    width = len(labels[0])
    spans = [(i, i + 1) for i in range(width)] + [(0, j) for j in range(2, width)]
    spans += [(i, width) for i in range(width - 2, 0, -1)]
    spans += [(i, i + length) for length in (2, 4, 3) for i in range(width - length + 1)]
    seen = {tuple(range(len(labels)))}
    for i, j in dict.fromkeys(spans):
        first = {}
        partition = tuple(first.setdefault(label[i:j], at) for at, label in enumerate(labels))
        if 2 <= len(first) <= n / 3 and partition not in seen:
            seen.add(partition)
            yield f"character {i + 1}" if j == i + 1 else f"characters {i + 1} to {j}"


@given(st.integers(0, 2**32), st.sampled_from(["ab", "abcdef", "aé", "abcdefghijklmnopqr"]), st.integers(2, 7))
@settings(max_examples=60, deadline=None)
def test_no_part_of_a_code_is_skipped_that_tells_records_apart(seed, letters, width):
    rng = np.random.default_rng(seed)
    codes = ["".join(rng.choice(list(letters), width)) for _ in range(60)]
    drawn = [codes[i] for i in rng.integers(0, len(codes), 150)]
    frame = pl.DataFrame({"code": drawn})
    labels = list(dict.fromkeys(drawn))
    if len(labels) < 2:
        return
    found = [part.words for part in text_parts(read(frame)) if part.words.startswith("character")]
    column = read(frame)["code"]
    assert found == [f"{words} of code" for words in parts_of_places(column.labels(), len(drawn))]


@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([1, 5, 8, 21, 32]))
@settings(max_examples=60, deadline=None)
def test_parts_are_grouped_by_their_characters(seed, width, bits):
    characters = np.random.default_rng(seed).integers(0, 2 ** min(bits, 3), (200, width)).astype(np.uint32)
    groups = Texts(characters, bits=bits).grouped()
    distinct, of_row = np.unique(characters, axis=0, return_inverse=True)
    assert len(groups.size) == len(distinct)
    assert len(set(zip(groups.of_row.tolist(), of_row.reshape(-1).tolist(), strict=True))) == len(distinct)
