"""Numbers of people and households that tell more than who belongs together: hidden without a secret, in an order."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import permutations, product
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import pl
from sdckit.data.frames import Frame, collect, in_memory
from sdckit.data.households import RankedColumns, in_order_of, told_by_rows
from sdckit.numerics.array_types import Words

FIRST = 2_000  # records in which a column is tried before all are counted
ROWS = 20_000  # in the order of a number, that are looked at
LONGEST = 20  # characters of a whole number of 64 bits
ASKED = 10_000  # numbers of people of a plan that are looked for in another
COUNTED = 50_000  # numbers whose digests are tried
TRIED = 50  # values that are looked at
GUESSED = 0.9  # of these, from which on all are
WIDTHS = (0, 5, 6, 8)  # digits with zeros before them
DIGESTS = ("md5", "sha1", "sha256", "sha512")
_HEX = re.compile(r"[0-9a-f]{8,128}")
_OF_TIME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[16][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")  # UUID 1 and 6
_NUMBER = re.compile(rb"[A-Za-z]{0,4}[-_ ]?\d{1,12}")
_RANDOM = re.compile(r"(?i)[0-9a-f-]{24,}")  # an id that is random, or a digest itself
ROWS_HASHED, HIT, JOINTS = 30, 3, ("", "|", "_", "-", ";", " ", ",")  # tried; of them right; between two columns
MOST_JOINED = 12  # columns of which two may be joined
LOOKED_AT = 8  # bytes of a digest
LONG_ENOUGH = 6  # characters of base64
FEWEST, COUNTED_THROUGH = 5, 1.5  # numbers that say whose they are; their span by them, if they are not counted through


def guessable_numbers(names: Iterable[str | None], frame: Any) -> list[str]:
    """Those of some columns that were hidden without a secret."""
    kinds = frame.collect_schema()
    named = dict.fromkeys(name for name in names if name is not None)
    texts = [name for name in named if kinds.get(name) in (nw.String, nw.Categorical)]
    columns = {name: frame.get_column(name).drop_nulls().unique(maintain_order=True) for name in texts}
    values = {name: column.cast(nw.String).head(TRIED).to_list() for name, column in columns.items()}
    return [name for name, own in values.items() if len(own) > 1 and is_guessable(own)]  # one is nobody's number


def is_guessable(values: Iterable[str]) -> bool:
    """Whether some texts are numbers that were hidden without a secret: anybody repeats it, and has the numbers.

    Tried are the usual digests, or their beginnings, of numbers that are counted through; base64; and numbers made of
    the time and the machine. Digests of names or of a longer number are not.

    >>> texts = [hashlib.sha256(f"{number:06}".encode()).hexdigest()[:12] for number in range(9, 400)]
    >>> is_guessable(texts), is_guessable([text[::-1] for text in texts])
    (True, False)
    """
    given = [*values][:TRIED]
    some = [text.strip().lower() for text in given]
    if not some:
        return False
    if all(map(_OF_TIME.fullmatch, some)) or all(map(_is_encoded, given)):
        return True
    if all(map(str.isdecimal, some)) or not _may_be_digests(some):
        return False
    return any(_counted(some, digest, width) for digest, width in product(DIGESTS, WIDTHS))


def digests_of_original(original: RankedColumns, released: RankedColumns, names: Iterable[str | None]) -> list[str]:
    """Those of some columns of digests without a key: of what a column of the original holds, or two joined.

    Not of columns that are digests or random ids themselves, of which nobody can try all.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> people = pl.DataFrame({"no": range(4 * 10**9, 4 * 10**9 + 99), "q": [1, 2, 3] * 33})
    >>> own = [hashlib.md5(f"{no}".encode()).hexdigest() for no in people["no"]]
    >>> file = pl.DataFrame({"uid": own, "key": own[::-1], "other": [text[::-1] for text in own]})
    >>> digests_of_original(*(RankedColumns.of(open_frame(some)) for some in (people, file)), ["uid", "other"])
    ['uid']
    """
    hidden = dict[str, tuple[int, set[str]]]()
    for name in dict.fromkeys(name for name in names if name is not None and name in released.names):
        if released.series(name).dtype == pl.String:
            own = released.series(name).drop_nulls().str.to_lowercase()
            some = own.head(TRIED).to_list()
            if _may_be_digests(some):
                hidden[name] = len(some[0]), {*own}
    if not hidden:
        return []
    rows = np.linspace(0, original.n - 1, min(original.n, ROWS_HASHED)).astype(np.int64)
    printed = [original.series(name).gather(rows).cast(pl.String, strict=False).to_list() for name in original.names]
    parts = [own for own in printed if not all(text is None or _RANDOM.fullmatch(text) for text in own)]
    most = sorted(parts, key=lambda own: -len({*own}))[:MOST_JOINED]
    joints = [*product(permutations(parts, 1), JOINTS[:1]), *product(permutations(most, 2), JOINTS)]
    telling = dict[str, None]()
    for (columns, joint), digest in product(joints, DIGESTS):
        texts = {joint.join(text).encode() for text in zip(*columns, strict=True) if None not in text}
        hashed = [getattr(hashlib, digest)(text, usedforsecurity=False).hexdigest() for text in texts]
        for name, (length, known) in hidden.items():
            if sum(text[:length] in known for text in hashed) >= HIT:
                telling[name] = None
    return [*telling]


def _may_be_digests(texts: Sequence[str]) -> bool:
    """Whether texts are hexadecimal and of one length, and no codes."""
    return all(map(_HEX.fullmatch, texts)) and len({*map(len, texts)}) == 1 and not _are_codes({*texts})


def _are_codes(texts: Collection[str]) -> bool:
    """Whether texts of one length have more in common than digests have by chance (at most 8 ** -length).

    >>> _are_codes(["e12000001", "e12000002", "e12000007"]), _are_codes(["0b9f7c41d", "0b31aa02f", "03d0be9c4"])
    (True, False)
    """
    same = [len({*of_place}) == 1 for of_place in zip(*texts, strict=True)]
    return sum(same) * (len(texts) - 1) >= len(same)


def _counted(some: Sequence[str], digest: str, width: int) -> bool:
    """Whether these are the digests of numbers up to `COUNTED`."""
    size = min(len(some[0]) // 2, LOOKED_AT)
    wanted = np.array([*{int(text[: 2 * size], 16) for text in some}], np.uint64)
    digests = _digests(digest, width) >> np.uint64(8 * (LOOKED_AT - size))
    first, last = (np.searchsorted(digests, wanted, side) for side in ("left", "right"))
    return bool(np.count_nonzero(first < last) >= GUESSED * len(wanted))


@cache
def _digests(digest: str, width: int) -> Words:
    """The first bytes of the digests of numbers up to `COUNTED`, in order: the same for every column and file."""
    hashed = getattr(hashlib, digest)
    counted = (
        hashed(b"%0*d" % (width, number), usedforsecurity=False).digest()[:LOOKED_AT] for number in range(COUNTED)
    )
    return np.sort(np.frombuffer(b"".join(counted), ">u8").astype(np.uint64))


def _is_encoded(text: str) -> bool:
    """Whether a text is a number in base64."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) >= LONG_ENOUGH and _NUMBER.fullmatch(decoded) is not None


def numbers_in_order(
    columns: RankedColumns, named: Sequence[str | None], others: Sequence[str], *, amounts: Sequence[str], homes: bool
) -> list[str]:
    """Those of some numbers of people in whose order records stand as in a file that was not mixed.

    `named` number people or rows, `others` count where they are whole numbers or texts that tell every record apart.
    Of people with several rows the first is looked at. `homes`: whether the household goes out by its own column.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({"owns": rng.integers(0, 3, 200).repeat(3), "educ": rng.integers(0, 5, 600)})
    >>> files = [people.with_columns(no=pl.Series(numbers)) for numbers in (range(600), rng.permutation(600))]
    >>> mixed = [RankedColumns.of(open_frame(file.sample(fraction=1, shuffle=True, seed=1))) for file in files]
    >>> [numbers_in_order(file, ["no"], [], amounts=[], homes=False) for file in mixed]
    [['no'], []]
    """
    telling = []
    for name in dict.fromkeys((*named, *others)):
        if name is None or name not in columns.names:
            continue
        series = columns.series(name)
        alone = tells_apart(series) and not series.null_count()
        if name not in named and (not alone or series.dtype.is_float()):
            continue
        if alone:
            rows = series.arg_sort().head(ROWS).to_numpy().astype(np.int64)
        else:
            places, first = np.unique(columns.ranks(name), return_index=True)
            rows = first[places > 0][:ROWS]
        own = columns.at(rows)
        own.names = [other for other in own.names if other != name]
        in_order = in_order_of(own, [amount for amount in amounts if amount != name])
        if in_order or (not homes and any(told_by_rows(own))):
            telling.append(name)
    return telling


def tells_apart(series: Any) -> bool:
    """Whether no two records have the same value; the first ones mostly say that some have."""
    return all(some.n_unique() == len(some) for some in (series.head(FIRST), series))


def have_some_alike(original: Frame, released: Frame, name: str) -> bool:
    """Whether a column of a release has some values that the original has; of a plan its engine looks."""
    return _holds_some(original, name, _different(released, name))


def are_of_original(original: Frame, released: Frame, name: str) -> bool:
    """Whether nearly all numbers of a release are some that an original has, where these are not counted through."""
    kinds = [file.collect_schema().get(name) for file in (original, released)]
    if None in kinds or kinds[0] != kinds[1] or any(kind is not None and kind.is_nested() for kind in kinds):
        return False
    asked, column = in_memory(released.select(name).drop_nulls().unique().head(ASKED))[name], nw.col(name)
    alike = in_memory(original.select(name).filter(column.is_in(asked.to_list())).unique())
    if len(asked) < FEWEST or len(alike) < GUESSED * len(asked):
        return False
    if not asked.dtype.is_numeric():
        return True
    every = in_memory(original.select(column.min().alias("first"), column.max().alias("last"), column.n_unique()))
    return bool(every["last"][0] - every["first"][0] >= COUNTED_THROUGH * every[name][0])


def _different(frame: Frame, name: str) -> set[str]:
    """The different values of a column as texts, whole numbers without decimals; of a plan some of them."""
    values = frame.select(name).drop_nulls()
    table = collect(values.unique().head(ASKED)) if isinstance(values, nw.LazyFrame) else values
    every = table.get_column(name).to_list()
    return {f"{own:.0f}" if isinstance(own, float) else str(own) for own in every} - {"nan", "inf", "-inf"}


def _holds_some(frame: Frame, name: str, values: set[str]) -> bool:
    """Whether some of these values stand in a column; of a plan its engine looks."""
    if not isinstance(frame, nw.LazyFrame):
        return bool(values & _different(frame, name))
    kind, column = frame.collect_schema()[name], nw.col(name)
    asked: list[Any] = sorted(values)
    if kind.is_numeric():
        whole = (int(value) for value in asked if value.removeprefix("-").isdecimal() and len(value) <= LONGEST)
        asked = [number for number in whole if abs(number) < 1 << 63]
        asked = [*map(float, asked)] if kind.is_float() else asked
    else:
        column = column.cast(nw.String)
    return bool(asked) and len(collect(frame.filter(column.is_in(asked)).select(name).head(1))) > 0
