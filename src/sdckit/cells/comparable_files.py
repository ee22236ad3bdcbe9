"""Whether a release can be held against its original: rows that belong together, and values spelt alike."""

import re
import unicodedata
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.shared_coding import SharedCoding, share_coding
from sdckit.data import pl
from sdckit.data.columns import code_column
from sdckit.data.files.spellings import TELLS_NUMBER
from sdckit.data.frames import Frame, in_memory, is_lazy
from sdckit.data.missing_values.missing import mean_missing
from sdckit.data.packaged import sentences
from sdckit.data.scenarios.column_roles import says_whose
from sdckit.display import some_of
from sdckit.errors import SdcError, SdcWarning
from sdckit.numerics.array_types import Bools, Ints, Values

NEIGHBOURS, BLOCKS = 10_000, 20  # rows that are looked at, in so many stretches of the file
UNCHANGED = 0.9  # of neighbours that differ in a column: both beside their own value; rows that are mixed have 1/4
TOLD_APART = 2 / 3  # of neighbours that differ at all: differ in such a column
ENOUGH = 100  # pairs of neighbours that speak for or against: fewer may do so by chance
SKEWED = 0.3  # of the way from a low to a high value: where the middle one of numbers lies below, they are amounts
FIRST, SEVERAL = 1_000, 20  # records that are looked at for numbers of people; different ones, fewer are codes
COMPARED = sentences("cells/comparable_files.toml")
LETTERS = ({*"fmwx"}, {*"ynj"})  # of a sex, of an answer
WORD = 4  # characters from which on a text is a word, and no code
CATEGORIES = 1_000  # different texts, beyond which they are names or remarks
SHORT, LONG = 4, 9  # decimals up to which a number is short, and behind which it is long
BIMODAL = 0.98  # of the numbers: short or long
FEW_APART = 0.005  # of the records, of one kind beside the other
EXCESS, DEVIATIONS = 0.05, 3.0  # of those for over those against: rows that are mixed have as many of both


def warn_of_numbers(original: Frame, names: Sequence[str]) -> None:
    """Warn of columns that nobody chose to compare and that number people, households or records.

    Looked at are names, and the first records: in a thousand of them no two have the same text or whole number,
    and these do not pile up like amounts.
    """
    kinds = original.collect_schema()
    may = [name for name in names if kinds[name].is_numeric() or kinds[name] in (nw.String, nw.Categorical, nw.Enum)]
    first = in_memory(original.select(*may).head(FIRST)) if may else None
    if numbering := [name for name in may if first is not None and _numbers_rows(first.get_column(name))]:
        warnings.warn(COMPARED["numbered"].format(some_of(numbering)), SdcWarning, stacklevel=5)


def _numbers_rows(first: nw.Series[Any]) -> bool:
    """Whether a column numbers people, households or records, by its name and its first values."""
    values = first.drop_nulls()
    different = values.n_unique()
    apart = different == FIRST and not values.dtype.is_float() and not _are_amounts(values)
    return apart or (different >= SEVERAL and says_whose(first.name))


def _are_amounts(values: nw.Series[Any]) -> bool:
    """Whether values are negative, or most are small beside few with more digits: incomes, and no numbers of people."""
    if not values.dtype.is_numeric():
        return False
    least, most = values.min(), values.max()
    low, middle, high = (float(values.quantile(share, "linear")) for share in (0.05, 0.5, 0.95))
    return bool(least < 0) or (len(str(int(least))) < len(str(int(most))) and middle - low < SKEWED * (high - low))


def in_same_order(original: Any, *released: Any) -> bool:
    """Whether row i of each release looks as if it were made from row i of the original, all of them data frames.

    Neighbouring rows that differ must differ in columns that both files have alike there. Equal columns do not say
    so by themselves: rows that are mixed within sorted regions have the same regions row by row. A release of another
    length is left to who joins the rows, and refuses it.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> whole = open_frame(pl.DataFrame({"id": range(9), "x": [1, 2, 3] * 3}))
    >>> in_same_order(whole, open_frame(pl.DataFrame({"id": range(9), "x": [None, 2, 3] * 3})))
    True
    >>> in_same_order(whole, open_frame(pl.DataFrame({"id": range(8, -1, -1), "x": [3, 2, 1] * 3})))
    False
    """
    return all(len(file) != len(original) or _alike_in_rows(original, file) for file in released)


def look_mixed(original: Any, released: Any, order: Ints | None = None) -> bool:
    """Whether rows that are said to belong together look as if they did not: those of two data frames of one length.

    Of two neighbours of the original, the release's rows in their places must rather be like their own than like
    each other's: rows that are mixed, also within sorted regions, are the one as often as the other. Values that were
    changed, but from those before, still speak for their own rows. Few pairs that say anything are taken on trust.
    `order`: the row of the release that belongs to each row of the original, where an id says so.

    >>> import numpy as np
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> whole = pl.DataFrame({"age": rng.integers(0, 90, 500), "job": rng.integers(0, 9, 500).astype(str)})
    >>> noisy = whole.with_columns(job=pl.lit("0"), age=pl.col("age") + rng.integers(-40, 40, 500))
    >>> [look_mixed(open_frame(whole), open_frame(file)) for file in (noisy, noisy.reverse())]
    [False, True]
    """
    signs = []
    for coding in _shared_codes(original, released, order):
        before, after = (codes[: len(codes) // 2 * 2].reshape(-1, 2) for codes in coding.codes)
        own, other = ((before == side) & (before > 0) for side in (after, after[:, ::-1]))
        sign = np.sign(own.sum(axis=1) - other.sum(axis=1))
        if coding.kind == "numbers":
            steps = [np.sign(side[:, 1] - side[:, 0]) * (side > 0).all(axis=1) for side in (before, after)]
            sign = np.where(sign == 0, steps[0] * steps[1], sign)
        signs.append(sign)
    if not signs:
        return False
    most = max(map(np.count_nonzero, signs))
    signs = [sign for sign in signs if np.count_nonzero(sign) >= most / 2]  # regions alone say nothing of people
    return all(map(_no_better_than_mixed, (np.sum(signs, axis=0), *signs)))


def _no_better_than_mixed(sign: Ints) -> bool:
    speaking, excess = np.count_nonzero(sign), int(np.sign(sign).sum())
    return bool(speaking >= ENOUGH and excess < max(EXCESS * speaking, DEVIATIONS * speaking**0.5))


def _alike_in_rows(original: Any, released: Any) -> bool:
    differ = told_apart = np.zeros(max(min(len(original), NEIGHBOURS) - 1, 0), np.bool_)
    for coding in _shared_codes(original, released):
        before, after = coding.codes
        apart = (after[1:] != after[:-1]) & (after[1:] > 0) & (after[:-1] > 0)
        unchanged = before == after
        beside = apart & unchanged[1:] & unchanged[:-1]
        differ = differ | apart
        if np.count_nonzero(beside) >= UNCHANGED * np.count_nonzero(apart):
            told_apart = told_apart | beside
    return bool(np.count_nonzero(told_apart) >= TOLD_APART * np.count_nonzero(differ))


def _shared_codes(original: Any, released: Any, order: Ints | None = None) -> Iterator[SharedCoding]:
    """Columns of both files whose values can be equal and that do not ascend; of a long file some stretches."""
    rows = np.arange(n := len(original))
    if n > NEIGHBOURS:
        starts = np.linspace(0, n - NEIGHBOURS // BLOCKS, BLOCKS).astype(np.int64)
        rows = (starts[:, None] + np.arange(NEIGHBOURS // BLOCKS)).ravel()
    if n > NEIGHBOURS or order is not None:  # of a long file only what is looked at is put in order
        original, released = original[rows.tolist()], released[(rows if order is None else order[rows]).tolist()]
    for name in (name for name in original.columns if name in released.columns):
        try:
            sides = [code_column(frame.get_column(name)) for frame in (original, released)]
            coding = share_coding(name, [(side, side.codes()) for side in sides])
        except SdcError:  # texts beside numbers, or lists: nothing that could be equal
            continue
        if (np.diff(coding.codes[0]) < 0).any():  # else a file in its order, or numbered anew, has it at each place
            yield coding


# Columns whose values are spelt in several ways, or otherwise than in the original, so that figures tell nothing.


DAY, SECOND = 86_400_000_000, 1_000_000  # in microseconds
TEXTS = (nw.String, nw.Categorical, nw.Enum)
UNKNOWN = 0.05  # of the records with a text that the other file does not have
OUTSIDE = 0.5  # of the numbers beyond those of the original: noise and rounding move fewer there
LAST_DIGIT = 1e-12  # of a decimal as a number, which is not the same with every engine
MOST = 1_000_000  # different texts that are brought from an engine


Counted = Mapping[str, Mapping[str, int]]  # of columns: all of their texts, and the records with each


def relabelled(
    original: Frame, released: Frame, names: Sequence[str], *counted: Counted, made: bool = False
) -> tuple[str, ...]:
    """Those of some columns with texts that the original spells otherwise, or whose texts or numbers are not its own.

    Whoever compares them finds nobody, though a reader knows that `White` is `white`. Missing values tell nothing.
    `counted`: the texts of the original and of the release, where they are known. `made`: records are made up, and may
    have texts of a domain that nobody in the original has; others are in place of texts that are gone.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> before = open_frame(pl.DataFrame({"race": ["white", "black"], "age": [30, 40], "sex": ["f", "m"]}))
    >>> after = open_frame(pl.DataFrame({"race": ["White", "black"], "age": [130, 140], "sex": ["m", "m"]}))
    >>> relabelled(before, after, ["race", "age", "sex"])
    ('race', 'age')
    """
    kinds = [frame.collect_schema() for frame in (original, released)]
    shared = {name: [known[name] for known in kinds] for name in names if all(name in known for known in kinds)}
    numbers = [name for name, own in shared.items() if all(kind.is_numeric() for kind in own)]
    texts = [name for name, own in shared.items() if all(kind in TEXTS for kind in own)]
    elsewhere = {*_numbers_elsewhere(original, released, numbers)}
    for name in texts:
        before, after = (own.get(name) for own in counted or ({}, {}))
        if _texts_elsewhere(original, released, name, before, after, made=made):
            elsewhere.add(name)
    return tuple(name for name in shared if name in elsewhere)


def spelt_twice(frame: Frame, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns with texts that differ in capitals, blanks or signs that look alike alone, or f and female.

    They count as different values.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> spelt_twice(open_frame(pl.DataFrame({"ill": ["yes", "Yes "], "job": ["a", "b"]})), ["ill", "job"])
    ('ill',)
    """
    kinds = frame.collect_schema()
    spelt = {name: _texts(frame, name) for name in names if kinds.get(name) in TEXTS}
    return tuple(
        name
        for name, own in spelt.items()
        if len({_looked_at(_bare(text)) for text in own}) < len(own) or _some_shortened(own)
    )


def written_apart(frame: Frame) -> tuple[str, ...]:
    """What tells records apart that are read alike: zeros with a minus, forms of texts, decimals and times of some.

    In sentences; and texts that tell how many records have them.
    Of a plan the numbers and times of the first records are looked at.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> zeros, towns = [0.0, -0.0], ["Graz", "Graz "]
    >>> [text[:13] for text in written_apart(open_frame(pl.DataFrame({"gain": zeros, "town": towns})))]
    ['zeros with an', 'texts that di']
    """
    kinds = frame.collect_schema()
    texts = {name: _texts(frame, name) for name, kind in kinds.items() if kind in TEXTS}
    several = [name for name, own in texts.items() if len({*map(_composed, own)}) < len(own)]
    cased = [name for name, own in texts.items() if name not in several and _in_cases(own)]
    alike = [name for name, own in texts.items() if name not in (*several, *cased) and _some_read_alike(own)]
    seen = {*several, *cased, *alike}
    shortened = [name for name, own in texts.items() if name not in seen and _some_shortened(own)]
    counted = [name for name, own in texts.items() if _tells_number("\n".join(own))]
    floats = [name for name, kind in kinds.items() if kind.is_float()]
    times = [name for name, kind in kinds.items() if kind == nw.Datetime]
    read = [*floats, *times]
    numbers = in_memory(frame.select(*read).head(NEIGHBOURS) if is_lazy(frame) else frame) if read else None
    columns = {name: numbers.get_column(name).drop_nulls() for name in read if numbers is not None}
    zeros = [name for name in floats if len(np.unique(np.signbit((own := columns[name].to_numpy())[own == 0]))) > 1]
    digits = [name for name in floats if _of_digits(columns[name].to_numpy())]
    apart = [name for name in times if _some_whole(columns[name])]
    named = {
        "zeros": zeros, "forms": several, "cases": cased, "look_alike": alike, "shortened": shortened,
        "counted": counted, "digits": digits, "times": apart,
    }  # fmt: skip
    return tuple(COMPARED[kind].format(some_of(names)) for kind, names in named.items() if names)


_SEEN_AS = str.maketrans(  # letters of other alphabets, dashes and quotation marks that look like those of ASCII
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u03bf"
    "\u2010\u2011\u2012\u2013\u2014\u2212\u2018\u2019\u201a\u201c\u201d\u201e",
    "aeopcyxijsABEKMHOPCTXABEZHIKMNOPTXo------'''\"\"\"",
)
_PADDED = re.compile(r"(?<![\d.,])0+(?=\d)|[.;:,]$")  # zeros before a number, and a point at the end
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_IN_LINES = (  # the same of many lines at once: where a sign of it is there, what is read as what
    (".", re.compile(rf"^{_WHOLE.pattern}$", re.M), r"\1"),
    ("0", re.compile(r"0(?<![\d.,]0)0*(?=\d)"), ""),  # begins with a sign, for which the library searches quickly
    (".;:,", re.compile(r"[.;:,]$", re.M), ""),
)
_ODD = re.compile(r"[^\x00-\x7f]|(?<![\d.,])0\d|\.0|[.;:,]$")  # what is read otherwise than it is written


def _some_read_alike(texts: set[str]) -> bool:
    """Whether a reader takes two of some texts for one."""
    lines = "\n".join(texts)
    if lines.isascii() and lines.count("\n") < len(texts):  # all at once: ids are as many as the records
        for signs, pattern, seen_as in _IN_LINES:
            lines = pattern.sub(seen_as, lines) if any(sign in lines for sign in signs) else lines
        return len({*lines.split("\n")}) < len(texts)
    odd = {text for text in texts if _ODD.search(text)}
    seen = {*map(_looked_at, odd)}
    return len(seen) < len(odd) or not seen.isdisjoint(texts - odd)


def _tells_number(lines: str) -> bool:
    """Whether one of some lines tells how many records have it."""
    return any(sign in lines for sign in "=: ") and TELLS_NUMBER.search(lines) is not None


def _looked_at(text: str) -> str:
    """A text as a reader takes it, who sees no alphabet and knows that 01, 1 and 1.0 are one number."""
    seen = text if text.isascii() else text.translate(_SEEN_AS)
    whole = _WHOLE.fullmatch(seen)
    return _PADDED.sub("", whole[1] if whole else seen)


def _some_shortened(texts: Collection[str]) -> bool:
    """Whether a letter, or a text up to a point, begins one word among the others: f and female, diab. and diabetes.

    Several words that begin so are categories with a code of their own beside them, or names.
    """
    if len(texts) > CATEGORIES:
        return False
    letters = {text for text in texts if len(text) == 1 and text.isalpha()}
    short = letters.union(text for text in texts if text.endswith(".") and text[:-1].isalpha())
    unsaid = mean_missing(pl.Series(sorted(texts), dtype=pl.String)) if short else []
    words = [text.casefold() for text in {*texts}.difference(unsaid) if text.isalpha() and len(text) >= WORD]
    stems = {text.removesuffix(".").casefold() for text in short}
    return any(sum(word.startswith(stem) for word in words) == 1 for stem in stems)


def _in_cases(texts: Collection[str]) -> bool:
    """Whether words differ in capitals alone, or letters for a sex or an answer; other letters that are codes may."""
    if (every := "".join(texts)) == every.casefold():
        return False
    letters = {text.casefold() for text in texts if len(text) == 1}
    spoken = len(letters) > 1 and any(map(letters.issubset, LETTERS))
    words = [text for text in texts if len(text) >= WORD or (spoken and len(text) == 1)]
    return len({text.casefold() for text in words}) < len(words)


def _some_whole(times: nw.Series[Any]) -> bool:
    """Whether some points in time, and not all, have no time of day, or no part of a second."""
    ticks = times.dt.timestamp("us").to_numpy()
    return any(_is_mixed(ticks % unit == 0) for unit in (DAY, SECOND))


def _is_mixed(is_whole: Bools) -> bool:
    least = max(FEW_APART * len(is_whole), 2)
    return bool(least <= np.count_nonzero(is_whole) <= len(is_whole) - least)


def _of_digits(numbers: Values) -> bool:
    """Whether some numbers have few decimals, others all that fit; quotients of small ones repeat."""
    numbers = numbers[np.isfinite(numbers)]
    numbers = np.unique(numbers[numbers % 1 != 0])[:: max(len(numbers) // NEIGHBOURS, 1)]
    last = 4 * np.spacing(np.abs(numbers))
    short, within = (np.abs(numbers - numbers.round(places)) <= last for places in (SHORT, LONG))
    enough = np.count_nonzero(short) >= ENOUGH / 2 and np.count_nonzero(~within) >= ENOUGH / 10
    return bool(enough and np.mean(short | ~within) >= BIMODAL)


def _composed(text: str) -> str:
    """A text without needless blanks and signs that nobody sees, its letters in one form."""
    seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf") if not text.isascii() else text
    return unicodedata.normalize("NFC", " ".join(seen.split()))


def _numbers_elsewhere(original: Frame, released: Frame, names: Sequence[str]) -> list[str]:
    """Those whose numbers mostly lie beyond the original's; both files are gone through once for all."""
    before = _figures(original, [end for column in _finite(original, names) for end in (column.min(), column.max())])
    bounds = {name: ends for name, *ends in zip(names, before[::2], before[1::2], strict=True) if ends[0] is not None}
    figures = []
    for column, (least, most) in zip(_finite(released, [*bounds]), bounds.values(), strict=True):
        below, above = (LAST_DIGIT * abs(end) if isinstance(end, float) else 0 for end in (least, most))
        outside = (column < least - below) | (column > most + above)
        figures += [nw.when(~column.is_null()).then(outside.cast(nw.Float64)).mean(), column.min(), column.max()]
    after = _figures(released, figures)
    shares = zip(bounds, after[::3], after[1::3], after[2::3], strict=True)
    # a constant tells nothing of anybody
    return [name for name, share, least, most in shares if share is not None and share > OUTSIDE and least < most]


def _finite(frame: Frame, names: Sequence[str]) -> list[nw.Expr]:
    """Columns of numbers, missing where they are not finite."""
    kinds = frame.collect_schema()
    # Decimals as numbers, too: pandas compares none with what is not a number.
    columns = ((kinds[name], nw.col(name)) for name in names)
    return [
        nw.when(own.is_finite()).then(own) if kind.is_float() else own.cast(nw.Float64) if kind == nw.Decimal else own
        for kind, own in columns
    ]


def _texts_elsewhere(
    original: Frame, released: Frame, name: str, before: Mapping[str, int] | None, after: Mapping[str, int] | None, *,
    made: bool,
) -> bool:  # fmt: skip
    """Whether texts are spelt otherwise than in the original, or many are not its own."""
    known = _texts(original, name) if before is None else {*before}
    own = _texts(released, name) if after is None else {*after}
    unknown, gone = own - known, known - own
    if not unknown or {*map(_bare, unknown)} & {*map(_bare, known)}:
        return bool(unknown)
    if _share(released, name, unknown, after) <= UNKNOWN:
        return False
    return not made or _share(original, name, gone, before) > UNKNOWN


def _share(frame: Frame, name: str, texts: Collection[str], counted: Mapping[str, int] | None) -> float:
    """Of the records with a text those with one of these."""
    if not texts:
        return 0.0
    if counted is not None:
        return sum(counted[text] for text in texts) / sum(counted.values())
    text = nw.col(name).cast(nw.String)
    (share,) = _figures(frame.filter(~text.is_null()), [text.is_in(sorted(texts)).cast(nw.Float64).mean()])
    return share or 0.0


def _bare(text: str) -> str:
    """A text without capitals and needless blanks."""
    return " ".join(text.casefold().split())


def _texts(frame: Frame, name: str) -> set[str]:
    if not isinstance(frame, nw.LazyFrame):
        return {*frame.get_column(name).drop_nulls().unique().cast(nw.String).to_list()}
    there = frame.filter(~nw.col(name).is_null()).select(nw.col(name).cast(nw.String))
    return {text for (text,) in in_memory(there.unique().head(MOST)).rows()}


def _figures(frame: Frame, expressions: Sequence[nw.Expr]) -> tuple[Any, ...]:
    """One figure of each expression, all in one pass."""
    named = [expression.alias(f"figure {at}") for at, expression in enumerate(expressions)]
    return in_memory(frame.select(named)).rows()[0] if named else ()
