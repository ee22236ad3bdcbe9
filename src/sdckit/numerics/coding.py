"""Integer codes of column values, several of them packed into one 64-bit word; hashing; rows encoded for distances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Bools, Bytes, Codes, Floats, Ints, Values, Words
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.outlying import unit_of
from sdckit.numerics.threads import chunks, run

# Hash functions of 64-bit words, and look-up in hash tables with open addressing.
# They are inlined into the kernels that call them. Probing starts at the low bits of the hash and is linear;
# the number of slots is a power of two and exceeds the number of entries.


GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio: spreads bits upwards when multiplied
FACTOR = np.uint64(0xD6E8FEB86659FD93)
SIXTH, LOW = np.uint64(6), np.uint64(63)


@njit(cache=True, nogil=True, inline="always")
def spread(word, factor=FACTOR):  # type: ignore[no-untyped-def]
    """Multiplicative hash of a word (uint64), whose high bits depend on all bits of the word."""
    return (word ^ (word >> np.uint64(32))) * factor


@njit(cache=True, nogil=True, inline="always")
def mix(word):  # type: ignore[no-untyped-def]
    """Hash of a word (uint64): the high bits may choose a partition, the low bits a slot in it."""
    product = spread(word, GOLDEN)
    return product ^ (product >> np.uint64(29))


@njit(cache=True, nogil=True, inline="always")
def hash_word(word):  # type: ignore[no-untyped-def]
    """Stronger hash than `mix`, for words (uint64) that differ in few bits, low or high."""
    return mix(word * FACTOR)


@njit(cache=True, nogil=True)
def splitmix(state):  # type: ignore[no-untyped-def]
    """Pseudo-random words by splitmix64 (Steele, Lea and Flood 2014) of a state or an array of them, GOLDEN apart."""
    word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def set_bit(bits, at):  # type: ignore[no-untyped-def]
    """Set bit number `at` of a bit set (uint64 array) in place."""
    bits[at >> SIXTH] |= np.uint64(1) << (at & LOW)


@njit(cache=True, nogil=True, inline="always")
def ones_of(word):  # type: ignore[no-untyped-def]
    """Number of bits set in a word (Warren, Hacker's Delight)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True, inline="always")
def has_bit(bits, at):  # type: ignore[no-untyped-def]
    """Bit number `at` of a bit set (uint64 array), 0 or 1."""
    return (bits[at >> SIXTH] >> (at & LOW)) & np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def find_number(slots, words, word, hashed):  # type: ignore[no-untyped-def]
    """Index of the slot that holds the number of a word in the list `words`, or of the free slot where it belongs.

    `slots`: numbers of words, negative where free; `hashed`: hash of the word.
    """
    mask = np.uint64(len(slots) - 1)
    at = hashed & mask
    number = slots[at]
    while number >= 0 and words[number] != word:
        at = (at + np.uint64(1)) & mask
        number = slots[at]
    return at


@njit(cache=True, nogil=True, inline="always")
def room_for(n):  # type: ignore[no-untyped-def]
    """Number of slots (a power of two) of a hash table for n entries that is at most half full."""
    places = 16
    while places < 2 * n:
        places *= 2
    return places


@njit(cache=True, nogil=True, inline="always")
def find_word(keys, free, word, hashed):  # type: ignore[no-untyped-def]
    """Index of the slot that holds a word itself, or of the free slot where it belongs.

    `keys`: the words, `free` where empty. It takes more memory than a table of numbers, but saves one memory access.
    """
    mask = np.uint64(len(keys) - 1)
    at = hashed & mask
    while keys[at] != free and keys[at] != word:
        at = (at + np.uint64(1)) & mask
    return at


def hash_words(words: Words) -> Words:
    """`hash_word` of many words, by NumPy.

    >>> bool(hash_words(np.array([7], np.uint64))[0] == hash_word(np.uint64(7)))
    True
    """
    product: Words = words * FACTOR
    product = (product ^ (product >> np.uint64(32))) * GOLDEN
    return product ^ (product >> np.uint64(29))


def hash_rows(columns: Iterable[Words], n: int) -> Words:
    """One word per row of n, almost surely different where any column differs.

    >>> words = hash_rows([np.array([1, 1, 2], np.uint64), np.array([5, 5, 5], np.uint64)], 3)
    >>> bool(words[0] == words[1]), bool(words[1] == words[2])
    (True, False)
    """
    words = np.zeros(n, np.uint64)
    for column in columns:
        words = (words ^ column) * GOLDEN
        words ^= words >> np.uint64(29)
    return words


# Rows of several files as matrices of numbers and category codes, with one distance between them.


ROUNDING = 1e-12  # distances nearer to each other than this share of the largest possible one are equal


class Metric(NamedTuple):
    """Distance of two rows: (sum_j min(|x_j - y_j|, cap_j)^power + sum_j weight_j [c_j != d_j])^(1/power).

    `power`: 1 (sum of differences) or 2 (root of the sum of squares). `caps` (p,): the largest difference each
    number can contribute. `weights` (q,): what a different category contributes to the sum.
    """

    power: int
    caps: Floats
    weights: Floats

    @property
    def tolerance(self) -> float:
        """Distances that differ by less count as equal: sums of rounded terms."""
        largest = float(np.sum(self.caps**self.power) + np.sum(self.weights))
        return ROUNDING * (math.sqrt(largest) if self.power == 2 else largest)


@dataclass(frozen=True, eq=False)
class Encoded:
    """The rows of one file, ready for distances.

    `numbers` (n, p): scaled; a missing value lies farther than its cap from every other value. `codes` (n, q):
    categories; a missing value is one of them. `metric`: the same for all files encoded together. `unit`: what
    distances are multiplied by; 1 but for numbers whose squares no floating number holds.
    """

    numbers: Floats
    codes: Codes
    metric: Metric
    unit: float = 1.0

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.numbers)

    def take(self, rows: AnyInts) -> Encoded:
        """Some of the rows."""
        numbers, codes = np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows])
        return Encoded(numbers, codes, self.metric, self.unit)


def stacked_ranges(numbers: Sequence[Sequence[Floats]]) -> Floats:
    """Largest minus smallest value of each variable over all files; 0 where there is no value.

    >>> stacked_ranges([(np.array([1.0, 2.0]), np.array([5.0, np.nan]))]).tolist()
    [4.0]
    """
    out = np.zeros(len(numbers))
    for j, files in enumerate(numbers):
        lowest, highest = _ends(files)
        out[j] = max(highest - lowest, 0.0)
    return out


def gower(
    numbers: Sequence[Sequence[Floats]], codes: Sequence[Sequence[AnyInts]] = (), *,
    weights: Sequence[float] | None = None, ranges: Floats | None = None,
) -> tuple[Encoded, ...]:  # fmt: skip
    """Gower's distance: the weighted mean over the variables of |x - y| / range, or 0 and 1 for categories.

    `numbers`: for each numeric variable its values in each file, NaN where missing. `codes`: for each categorical
    variable its codes in each file, the code of a missing value being one of them. `weights`: of the numeric
    variables, then the categorical ones; not negative, with a positive sum. 1 unless given. `ranges` (p,): what
    differences are divided by (a larger one counts 1); over all files unless given. With a range of 0 values that
    differ at all count 1. A missing value is 0 from a missing one, 1 from any other.

    >>> a, b = gower([(np.array([0.0, 4.0]), np.array([1.0, 2.0]))], [(np.array([1, 2]), np.array([1, 1]))])
    >>> a.numbers[:, 0].tolist(), b.numbers[:, 0].tolist(), a.metric.weights.tolist()
    ([0.0, 0.5], [0.125, 0.25], [0.5])
    """
    given = _weights(weights, len(numbers) + len(codes))
    share = given / given.sum()
    spans = stacked_ranges(numbers) if ranges is None else np.asarray(ranges, np.float64)
    factors = np.divide(share[: len(numbers)], spans, out=np.array(share[: len(numbers)]), where=spans > 0)
    scaled = [variable if span > 0 else _places(variable) for variable, span in zip(numbers, spans, strict=True)]
    return _encoded(scaled, codes, factors, share[: len(numbers)], share[len(numbers) :], 1)


def _places(files: Sequence[Floats]) -> list[Floats]:
    """Positions of the values among the sorted distinct ones: different values are at least 1 apart."""
    levels = np.unique(np.concatenate([values[~np.isnan(values)] for values in files]))
    return [np.where(np.isnan(values), np.nan, np.searchsorted(levels, values)) for values in files]


def differences(
    numbers: Sequence[Sequence[Floats]], codes: Sequence[Sequence[AnyInts]] = (), *, power: int,
    weights: Sequence[float] | None = None,
) -> tuple[Encoded, ...]:  # fmt: skip
    """Manhattan (power 1) or Euclidean (power 2) distance of the values as they are; a different category counts 1.

    `numbers` and `codes` are as in `gower`. `weights`: factors of the terms of the sum (of the squares where
    `power` is 2). 1 unless given. A missing value is 0 from a missing one, and from any other as far as the two
    most different values of the variable are from each other. Numbers whose squares are too large are divided by a
    power of two, the `unit` of what is returned.

    >>> a, b = differences([(np.array([0.0]), np.array([3.0])), (np.array([0.0]), np.array([4.0]))], power=2)
    >>> float(np.hypot(*(a.numbers - b.numbers)[0]))
    5.0
    """
    given = _weights(weights, len(numbers) + len(codes))
    factors, of_codes = given[: len(numbers)] ** (1 / power), given[len(numbers) :]
    furthest = [max(map(abs, _ends(files))) for files in numbers]
    unit = float(unit_of(np.max(furthest * np.maximum(factors, 1.0), initial=0.0)))
    if unit > 1:
        numbers = [[values / unit for values in files] for files in numbers]
        of_codes = of_codes / unit if power == 1 else of_codes / unit / unit  # its square may be infinite
    return _encoded(numbers, codes, factors, factors * stacked_ranges(numbers), of_codes, power, unit)


def whitened(numbers: Sequence[Sequence[Floats]]) -> tuple[Encoded, ...] | None:
    """Mahalanobis distance by the covariance of all files stacked (ddof 1), or None where it is singular.

    `numbers` are as in `gower`, without missing values.

    >>> whitened([(np.array([1.0, 2.0]), np.array([3.0])), (np.array([2.0, 4.0]), np.array([6.0]))]) is None
    True
    """
    files = [np.column_stack(columns) for columns in zip(*numbers, strict=True)]
    together = np.concatenate(files)
    if len(together) <= len(numbers):
        return None
    if ((unit := unit_of(np.abs(together).max(axis=0))) > 1).any():
        files, together = [file / unit for file in files], together / unit
    center, spread = together.mean(axis=0), together.std(axis=0, ddof=1)
    if not (spread > 0).all():
        return None
    scaled = (together - center) / spread
    correlation = np.atleast_2d(scaled.T @ scaled / (len(scaled) - 1))
    if np.linalg.matrix_rank(correlation, hermitian=True) < len(numbers):
        return None
    root = np.linalg.inv(np.linalg.cholesky(correlation)).T
    transformed = [((file - center) / spread) @ root for file in files]
    return differences(list(zip(*(matrix.T for matrix in transformed), strict=True)), power=2)


def ranks(values: Floats) -> Floats:
    """Rank of each value as a share of the values present, equal ones sharing their mean rank; NaN where missing.

    >>> ranks(np.array([30.0, 10.0, np.nan, 10.0])).tolist()
    [1.0, 0.5, nan, 0.5]
    """
    from scipy.stats import rankdata

    out = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    if known.any():
        out[known] = rankdata(values[known]) / known.sum()
    return out


def _ends(files: Sequence[Floats]) -> tuple[float, float]:
    known = [values[~np.isnan(values)] for values in files]
    lowest = min((float(values.min()) for values in known if len(values)), default=0.0)
    highest = max((float(values.max()) for values in known if len(values)), default=0.0)
    return lowest, highest


def _weights(weights: Sequence[float] | None, n: int) -> Floats:
    given = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    if n == 0:
        raise DataError("distances need at least one variable")
    if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
        raise DataError(f"weights must be {n} finite numbers, none negative and not all 0")
    return given


def _encoded(
    numbers: Sequence[Sequence[Floats]], codes: Sequence[Sequence[AnyInts]], factors: Floats, caps: Floats,
    weights: Floats, power: int, unit: float = 1.0,
) -> tuple[Encoded, ...]:  # fmt: skip
    metric = Metric(power, np.ascontiguousarray(caps), np.ascontiguousarray(weights))
    n_files = len((*numbers, *codes)[0])
    sizes = [len((*numbers, *codes)[0][f]) for f in range(n_files)]
    matrices = [np.empty((n, len(numbers))) for n in sizes]
    for j, files in enumerate(numbers):
        lowest, highest = _ends(files)
        far = (highest - lowest) * factors[j] + 2 * caps[j]  # where missing values are: beyond the cap
        for matrix, values in zip(matrices, files, strict=True):
            matrix[:, j] = np.where(np.isnan(values), far, (values - lowest) * factors[j])
    labels = [np.empty((n, len(codes)), np.int32) for n in sizes]
    for j, coded in enumerate(codes):
        for matrix_of_codes, column in zip(labels, coded, strict=True):
            matrix_of_codes[:, j] = column
    return tuple(
        Encoded(numeric, categories, metric, unit) for numeric, categories in zip(matrices, labels, strict=True)
    )


BLOCK = 1 << 15  # rows packed at a time: the words stay in the cache from column to column


@njit(cache=True, nogil=True)
def _pack(values, valid, low, missing, shift, first, words):  # type: ignore[no-untyped-def]
    """Write the codes values - low (n,), `missing` where not `valid`, into the bits of `words` (n,) from `shift` on.

    `first`: whether this column is the first, so that the words are overwritten. `valid` (n,) or (0,): all are valid.
    """
    if len(valid) == 0:
        for i in range(len(words)):
            code = (np.uint64(values[i]) - low) << shift
            words[i] = code if first else words[i] | code
    else:
        for i in range(len(words)):
            code = (np.uint64(values[i]) - low) if valid[i] else missing
            words[i] = (code << shift) if first else words[i] | (code << shift)


@njit(cache=True, nogil=True)
def _integer_range(values, valid):  # type: ignore[no-untyped-def]
    """Smallest and largest valid value, and how many are valid."""
    low, high, n = values[0], values[0], 0
    for i in range(len(values)):
        if len(valid) == 0 or valid[i]:
            v = values[i]
            if n == 0:
                low, high = v, v
            low, high = min(low, v), max(high, v)
            n += 1
    return low, high, n


@njit(cache=True, nogil=True)
def _float_range(values, valid):  # type: ignore[no-untyped-def]
    """Smallest and largest valid value that is not NaN, how many there are, and whether all are whole numbers."""
    low, high, n, whole = np.inf, -np.inf, 0, True
    for i in range(len(values)):
        v = values[i]
        if (len(valid) == 0 or valid[i]) and not np.isnan(v):
            n += 1
            low, high = min(low, v), max(high, v)
            if v != np.floor(v):
                whole = False
    return low, high, n, whole


@njit(cache=True, nogil=True)
def _float_to_int(values, valid, whole, out, out_valid):  # type: ignore[no-untyped-def]
    """Write floats as integers into `out` (0 where missing or not `whole`), and which are present into `out_valid`."""
    for i in range(len(values)):
        v = values[i]
        present = (len(valid) == 0 or valid[i]) and not np.isnan(v)
        out_valid[i] = present
        out[i] = np.int64(v) if present and whole else 0


@njit(cache=True, nogil=True)
def _code_until_full(views, valid, code, first_row, slots, table, start, n_levels):  # type: ignore[no-untyped-def]
    """Number distinct short strings from row `start` on, until the hash table is a quarter full.

    `views` (n, 2): Arrow string views. `code` (n,) and `first_row` (n,) are filled; `slots` and `table`: hash table of
    levels and their strings. Return the row reached (n at the end, -1 for a long string) and the number of levels.
    """
    mask, limit, all_valid = len(slots) - 1, len(slots) // 4, len(valid) == 0
    for i in range(start, len(code)):
        if not (all_valid or valid[i]):
            code[i] = 0
            continue
        a, b = views[i, 0], views[i, 1]
        at = np.int64(hash_word(a ^ (b * GOLDEN)) >> np.uint64(1)) & mask
        level = slots[at]
        while level >= 0 and (table[at, 0] != a or table[at, 1] != b):
            at = (at + 1) & mask
            level = slots[at]
        if level < 0:
            if (a & np.uint64(0xFFFFFFFF)) > np.uint64(12):
                return -1, n_levels
            if n_levels == limit:
                return i, n_levels
            level = np.int32(n_levels)
            first_row[n_levels] = i
            slots[at] = level
            table[at, 0], table[at, 1] = a, b
            n_levels += 1
        code[i] = level
    return len(code), n_levels


@njit(cache=True, nogil=True)
def _code_views(views, valid, code, first_row):  # type: ignore[no-untyped-def]
    """Number distinct short strings into `code` (n,), first rows into `first_row`; return their number.

    It is -1 if a string is longer than an Arrow view holds inline. The hash table grows by rehashing the levels.
    """
    size, done, n_levels = 1024, np.int64(0), np.int64(0)  # a literal 0 has another type and would compile twice
    while True:
        slots, table = np.full(size, -1, np.int32), np.empty((size, 2), np.uint64)
        for g in range(n_levels):
            a, b = views[first_row[g], 0], views[first_row[g], 1]
            at = np.int64(hash_word(a ^ (b * GOLDEN)) >> np.uint64(1)) & (size - 1)
            while slots[at] >= 0:
                at = (at + 1) & (size - 1)
            slots[at] = g
            table[at, 0], table[at, 1] = a, b
        done, n_levels = _code_until_full(views, valid, code, first_row, slots, table, done, n_levels)
        if done < 0:
            return -1
        if done == len(code):
            return n_levels
        size *= 4


def _looked_at(values: Values) -> Values:
    """Read-only view: Arrow columns are read-only, and a kernel is then compiled for one array type only."""
    view = values.view()
    view.flags.writeable = False
    return view


def pack_into(words: Words, fields: list[tuple[Values, Bytes, int, int, int]]) -> None:
    """Pack columns into bit fields of `words`, block by block on threads.

    `fields`: (values, valid, low, missing, shift), where ``values - low`` goes to the bits from `shift` on;
    `missing` where not `valid` (an empty `valid` says that all are).

    >>> words = np.empty(2, np.uint64)
    >>> pack_into(words, [(np.array([5, 6]), np.empty(0, np.uint8), 5, 2, 0)])
    >>> words.tolist()
    [0, 1]
    """
    if is_few(_pack, len(words)):
        for j, field in enumerate(fields):
            _pack_few(words, *field, first=j == 0)
        return

    def pack_slice(part: tuple[int, int]) -> None:
        for start in range(part[0], part[1], BLOCK):
            stop = min(start + BLOCK, part[1])
            for j, (values, valid, low, missing, shift) in enumerate(fields):
                _pack(
                    _looked_at(values[start:stop]),
                    valid[start:stop],
                    np.uint64(low & 0xFFFFFFFFFFFFFFFF),
                    np.uint64(missing),
                    np.uint64(shift),
                    j == 0,
                    words[start:stop],
                )

    run(pack_slice, chunks(len(words)))


def _pack_few(
    words: Words, values: Values, valid: Bytes, low: int, missing: int, shift: int,
    *, first: bool,
) -> None:  # fmt: skip
    code = values.astype(np.uint64) - np.uint64(low & 0xFFFFFFFFFFFFFFFF)
    if len(valid):
        code[valid == 0] = missing
    code <<= np.uint64(shift)
    words[:] = code if first else words | code


def _present(values: Floats, valid: Bytes) -> Bools:
    return ~np.isnan(values) & ((valid != 0) if len(valid) else True)


def _code_few(views: Words, valid: Bytes) -> tuple[NDArray[np.uint32], Ints] | None:
    """As `code_views`, by sorting."""
    rows = np.flatnonzero(valid) if len(valid) else np.arange(len(views))
    code, here = np.zeros(len(views), np.uint32), views[rows]
    if (here[:, 0] & np.uint64(0xFFFFFFFF) > np.uint64(12)).any():
        return None
    order = np.lexsort((here[:, 1], here[:, 0]))  # equal ones as they stand in the file
    ordered = here[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first_row = rows[order[begins]]
    place = np.empty(len(first_row), np.uint32)
    place[np.argsort(first_row)] = np.arange(len(first_row), dtype=np.uint32)
    code[rows[order]] = place[np.cumsum(begins) - 1]
    return code, np.sort(first_row)


def integer_range(values: Values, valid: Bytes) -> tuple[int, int, int]:
    """Smallest and largest valid value and the number of valid ones; (0, -1, 0) when there is none."""
    if len(values) == 0:
        return 0, -1, 0
    if is_few(_integer_range, len(values)):
        there = values[valid != 0] if len(valid) else values
        return (int(there.min()), int(there.max()), len(there)) if len(there) else (0, -1, 0)
    low, high, n = _integer_range(_looked_at(values), valid)
    return (int(low), int(high), int(n)) if n else (0, -1, 0)


def float_range(values: Floats, valid: Bytes) -> tuple[float, float, int, bool]:
    """Range and number of values that are neither missing nor NaN, and whether all are whole."""
    if is_few(_float_range, len(values)):
        there = values[_present(values, valid)]
        low, high = there.min(initial=np.inf), there.max(initial=-np.inf)
        return float(low), float(high), len(there), bool((there == np.floor(there)).all())
    low, high, n, whole = _float_range(_looked_at(values), valid)
    return float(low), float(high), int(n), bool(whole)


def float_to_int(values: Floats, valid: Bytes, *, whole: bool) -> tuple[Ints, Bytes]:
    """Floats as integers (their value where whole, else zero to be filled in) and which are present."""
    if is_few(_float_to_int, len(values)):
        here = _present(values, valid)
        return np.where(here & whole, values, 0.0).astype(np.int64), here.astype(np.uint8)
    out, present = np.empty(len(values), np.int64), np.empty(len(values), np.uint8)
    _float_to_int(_looked_at(values), valid, whole, out, present)
    return out, present


def code_views(views: Words, valid: Bytes) -> tuple[NDArray[np.uint32], Ints] | None:
    """Codes of short strings in order of first appearance, and the first row of each; None if one is long.

    `views` (n, 2): Arrow string views: the length and up to 12 bytes inline. `valid` (n,) or (0,): which are
    present.
    """
    n = len(views)
    if is_few(_code_views, n):
        return _code_few(views, valid)
    code, first_row = np.empty(n, np.uint32), np.empty(n, np.int64)
    n_levels = _code_views(_looked_at(views), valid, code, first_row)
    return None if n_levels < 0 else (code, first_row[:n_levels].copy())
