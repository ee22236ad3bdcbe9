"""Which levels of a key to merge first, and how much information a coarser key loses."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells import crosstab, table
from sdckit.data import arguments, columns
from sdckit.data.hierarchy import Hierarchy, as_hierarchy, read_band
from sdckit.data.scenarios.guessing.topics import names_age, names_codes
from sdckit.data.scenarios.roles import read_hierarchies
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_toml import toml_key, toml_value
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.grouping import first_of_groups

# The recipe step that coarsens a key as suggested, and its text.


Step = dict[str, Any]
NUMBERS = ("integer", "number")
MOST_NAMED = 200  # values that a step names; a longer one is a hierarchy


def in_bands(column: str, edges: NDArray[np.float64]) -> Step:
    """The recipe step that cuts a number into bands at these edges, the outermost bands open-ended.

    >>> in_bands("age", np.array([20.0, 40.0]))
    {'method': 'recode', 'column': 'age', 'bands': [-inf, 20, 40, inf]}
    """
    inner = [int(edge) if float(edge).is_integer() else edge for edge in edges.tolist()]
    return {"method": "recode", "column": column, "bands": [-math.inf, *inner, math.inf]}


def along(column: str, coded: columns.Coded, file: str, level: int, *, missed: bool) -> Step | None:
    """The recipe step that recodes to a level of a hierarchy; `missed`: codes outside it stay, so text is needed."""
    if not file or (missed and coded.kind in NUMBERS):
        return None
    step = {"method": "recode", "column": column, "hierarchy": file, "level": level}
    return {**step, "outside": "keep"} if missed else step


def grouped(column: str, coded: columns.Coded, labels: Sequence[str], group: NDArray[np.int64]) -> Step | None:
    """The recipe step that merges neighbouring levels, each group named by its first and last level."""
    values = _values(coded, labels)
    if values is None:
        return None
    groups: dict[str, list[Any]] = {}
    for number in range(int(group[-1]) + 1):
        places = np.flatnonzero(group == number).tolist()
        ends = dict.fromkeys((labels[places[0]], labels[places[-1]]))
        groups[" to ".join(ends)] = [values[place] for place in places]
    return {"method": "recode", "column": column, "groups": groups}


def other(column: str, coded: columns.Coded, labels: Sequence[str], group: NDArray[np.int64]) -> Step | None:
    """The recipe step that recodes the first group as "other"; numbers become text, so it names every level.

    Values stand in their own order: in that of their counts, as in `labels`, a recipe that goes out would rank them.
    """
    values = _values(coded, labels)
    if values is None:
        return None
    named = sorted(zip(values, labels, group.tolist(), strict=True))
    name = "other"
    while name in labels:
        name += "_"
    groups = {name: [value for value, _, place in named if place == 0]}
    if coded.kind not in NUMBERS:
        return {"method": "recode", "column": column, "groups": groups, "outside": "keep"}
    rest = {label: [value] for value, label, place in named if place}
    return {"method": "recode", "column": column, "groups": groups | rest}


def _values(coded: columns.Coded, labels: Sequence[str]) -> list[Any] | None:
    """Levels as a recipe names them; None where it cannot: bytes, dates, numbers as categories, and too many."""
    if len(labels) > MOST_NAMED:
        return None
    if coded.kind in NUMBERS:
        return [int(label) for label in labels] if all(map(_is_whole, labels)) else None
    if coded.kind == "boolean":
        return [label == "True" for label in labels]
    if coded.kind not in ("text", "category") or "binary" in str(coded.arrow_type):
        return None
    as_numbers = coded.kind == "category" and all(map(_is_whole, labels))
    return None if as_numbers else list(labels)


def _is_whole(label: str) -> bool:
    return label.removeprefix("-").isdecimal()


def step_text(step: Mapping[str, Any] | None) -> str:
    """A step as a recipe file holds it; "" where there is none.

    >>> print(step_text({"method": "recode", "column": "age", "groups": {"a b": [1, 2]}}))
    [[steps]]
    method = "recode"
    column = "age"
    groups = {"a b" = [1, 2]}
    """
    if step is None:
        return ""
    return "\n".join(["[[steps]]", *(f"{toml_key(name)} = {_toml_text(value)}" for name, value in step.items())])


def _toml_text(value: Any) -> str:
    if not isinstance(value, Mapping):
        return toml_value(value)
    return "{" + ", ".join(f"{toml_key(name)} = {_toml_text(entry)}" for name, entry in value.items()) + "}"


# Band edges at round numbers: no edge reveals a record's value.


MOST = 20  # bands
ENOUGH = 5  # records, at least, in the outermost bands
SHARE = 0.01  # of the records, at least, in the outermost bands


def round_edges(values: Floats, size: NDArray[np.int64]) -> Floats:
    """Inner edges of bands: multiples of 1, 2 or 5 times a power of ten, the outermost bands being open.

    `values` (L,): distinct numbers, ascending; `size` (L,): the records of each. The outermost bands hold 5 records
    and 1 % of them at least. There are at most 20 bands, and half as many as steps between those, where a step is
    the smallest gap between values of 5 records, if half of the records have such a value. Neither the smallest nor
    the largest value decides on an edge. Empty where one band would be left.

    >>> round_edges(np.arange(0.0, 100.0), np.full(100, 10)).tolist()[:4]
    [5.0, 10.0, 15.0, 20.0]
    """
    need = max(ENOUGH, math.ceil(SHARE * int(size.sum())))
    below = np.cumsum(size)
    above = below[-1] - below + size  # records of this value or a larger one
    if below[-1] < 2 * need:
        return np.empty(0)
    low = float(values[np.searchsorted(below, need)])
    high = float(values[np.flatnonzero(above >= need)[-1]])
    if not 0 < high - low < math.inf:
        return np.empty(0)
    whole = bool((values == np.floor(values)).all())
    usual = values[size >= ENOUGH]
    if 2 * int(size[size >= ENOUGH].sum()) < below[-1]:  # a few values that stand out, such as limits of a score
        usual = usual[:0]
    gap = float(np.diff(usual).min()) if len(usual) > 1 else float(whole)
    most = max(2, math.ceil(min(MOST, ((high - low) / gap + 1) / 2))) if gap else MOST
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    if whole:
        power = max(power, 1.0)
    edges: Floats = np.empty(0)
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        # an edge belongs to the band above it: the first has records below it, the last on it or above
        first, last = math.floor(low / step) + 1, math.floor(high / step)
        if last < first:
            break
        digits = max(0, 1 - math.floor(math.log10(step)))
        edges = np.round(np.arange(first, last + 1) * step, digits)
        if len(edges) < most:
            break
    return edges


def every_second(edges: Floats) -> Floats:
    """Every second edge, those at multiples of the double width where the width is the same throughout.

    >>> every_second(np.array([25.0, 30, 35, 40, 45])).tolist(), every_second(np.array([1.0, 5, 20])).tolist()
    ([30.0, 40.0], [5.0])
    """
    widths = np.diff(edges)
    if len(widths) and np.allclose(widths, widths[0]):
        wide = 2 * widths[0]
        left: Floats = edges[np.isclose(edges / wide, np.round(edges / wide))]
        if 0 < len(left) < len(edges):
            return left
    return edges[1::2]


# What caller and scenario declare of keys: numeric, ordered, or with a hierarchy.


@dataclass(frozen=True, eq=False)
class Declared:
    """What the caller and the scenario declare of the keys."""

    numeric: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # how a recipe names the file of a hierarchy


NOTHING = Declared()


def declared_kinds(
    keys: Sequence[str], scenario: Scenario | None, *, numeric: Sequence[str] | None = None,
    ordered: Sequence[str] | None = None, hierarchies: Mapping[str, Any] | None = None,
) -> Declared:  # fmt: skip
    """Merge arguments and scenario into one declaration; an argument wins over the scenario.

    Raises `ColumnError`: a name that is no key; `DataError`: a key that is numeric and ordered, what is no table of
    hierarchies; `FileFormatError`: as `read_hierarchy`.
    """
    by_role: dict[str, tuple[str, ...]] = {}
    for role, given in (("numeric", numeric), ("ordered", ordered)):
        names = arguments.names(given, role)
        if names is not None and (other := [name for name in names if name not in keys]):
            raise ColumnError(f"{role}: {other[0]!r} is no key", argument=role)
        of_scenario = getattr(scenario, role) if scenario is not None else ()
        by_role[role] = tuple(name for name in (of_scenario if names is None else names) if name in keys)
    if both := [name for name in by_role["numeric"] if name in by_role["ordered"]]:
        raise DataError(f"{both[0]!r} is numeric and ordered; a number has its order already", argument="ordered")
    if hierarchies is None:
        of_scenario_file = read_hierarchies(scenario, keys) if scenario is not None else {}
        files = {} if scenario is None else {name: scenario.hierarchies[name] for name in of_scenario_file}
        return Declared(by_role["numeric"], by_role["ordered"], of_scenario_file, files)
    if not isinstance(hierarchies, Mapping):
        raise DataError("hierarchies= is {column: path, or {value: [names]}}", argument="hierarchies")
    if other := [str(name) for name in hierarchies if name not in keys]:
        raise ColumnError(f"hierarchies: {other[0]!r} is no key", argument="hierarchies")
    files = {name: str(hierarchy) for name, hierarchy in hierarchies.items() if isinstance(hierarchy, str | Path)}
    return Declared(
        by_role["numeric"],
        by_role["ordered"],
        {name: as_hierarchy(hierarchy) for name, hierarchy in hierarchies.items()},
        files,
    )


MANY = 50  # records: of as many in rare levels no figure reveals how many they are
NEIGHBOURS = ("number", "date", "ordered")
AGE_GROUPS = 8  # half of the ages are as high; the numbers of a few age groups are lower


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a key, a missing value apart: in their order where the key has one, else the rarest first."""

    codes: NDArray[np.int64]  # (L,)
    size: NDArray[np.int64]  # (L,) records of each level
    scale: crosstab.Scale
    n_missing: int  # records without a value
    coded: columns.Coded  # how the levels print
    hierarchy: Hierarchy | None = None
    file: str = ""  # how a recipe names the file of the hierarchy

    @property
    def ordered(self) -> bool:
        """Whether neighbours may be merged: numbers, dates and ordered categories."""
        return self.scale in NEIGHBOURS

    @property
    def entropy(self) -> float:
        """Entropy of the key in bits per record, a missing value being a level."""
        return entropy(np.append(self.size, self.n_missing))

    @property
    def hide_the_rare(self) -> bool:
        """Whether a coarser key exists whatever the number of rare levels: two are frequent, or many records are rare.

        Beside one frequent level there is such a step only where the rare ones are two, and five records.
        """
        frequent = self.size[self.size >= ENOUGH]
        return len(frequent) >= 2 or int(self.size.sum() - frequent.sum()) >= MANY

    def labels(self) -> list[str]:
        """Printed form of the levels."""
        return self.coded.labels(self.codes)


@dataclass(frozen=True, eq=False)
class Grouping:
    """A coarsening of a key: which of its levels are merged."""

    rule: str  # how the levels were grouped, in words and without a value
    group: NDArray[np.int64]  # (L,) group of each level, in the order of `Levels`
    after: int  # number of groups
    plain_rule: str = ""  # without a number of levels, for documents: rare levels are not counted there
    step: Mapping[str, Any] | None = None  # the step of a recipe that does this; None where none does
    public: bool = False  # whether the step names nothing that few records of the data have

    def codes(self, levels: Levels) -> NDArray[np.int64]:
        """New code of each level: that of the first level of its group."""
        return levels.codes[first_of_groups(self.group, self.after)[self.group]]

    def entropy_lost(self, levels: Levels) -> float:
        """Entropy in bits per record that the coarser key loses."""
        size = np.bincount(self.group, levels.size, self.after)
        return max(0.0, levels.entropy - entropy(np.append(size, levels.n_missing)))


def entropy(size: NDArray[np.integer] | NDArray[np.floating]) -> float:
    """Entropy in bits of a distribution of records.

    Examples
    --------
    >>> entropy(np.array([2, 1, 1, 0]))
    1.5
    """
    share = size[size > 0] / size.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def levels_of(cells: table.Cells, key: str, declared: Declared = NOTHING) -> Levels:
    """Levels of a key as numbers, an ordered scale or plain codes.

    A declaration wins over what the name suggests, and that over what the values do.
    """
    level = cells.levels[cells.keys.index(key)]
    codes, size = cells.level_sizes(key)
    known = codes < level.span
    n_missing = int(size[~known].sum())
    codes, size = codes[known], size[known]
    hierarchy = declared.hierarchies.get(key)
    values = crosstab.numbers_of(level, codes)
    scale: crosstab.Scale = "codes"
    if hierarchy is None:
        named = {"numeric": key in declared.numeric, "ordered": key in declared.ordered}
        scale = crosstab.scale_of(level, codes, size, **named)
        if scale == "number" and level.kind == "integer" and not named["numeric"] and names_codes(key):
            scale = "unknown"  # however even the numbers of classes are
        elif scale == "unknown" and names_age(key) and len(codes) and np.median(sure(values)) >= AGE_GROUPS:
            scale = "number"  # however few ages there are
    if scale not in NEIGHBOURS:
        # by label where sizes tie: codes depend on the engine
        order = np.lexsort((np.array(level.labels(codes)), size))
    elif values is not None:
        order = np.argsort(values, kind="stable")
    elif level.kind == "category":
        order = np.arange(len(codes))  # codes follow the categories
    else:
        order = _in_order(level.labels(codes))
    return Levels(
        codes[order], size[order], scale, n_missing, level.without_rows(), hierarchy, declared.files.get(key, "")
    )


def _in_order(labels: Sequence[str]) -> Ints:
    """The order of labels of text: of ranges of numbers by their ends, else of the alphabet.

    >>> _in_order(["10-19", "5-9", "20+"]).tolist()
    [1, 0, 2]
    """
    ranges = [read_band(label) for label in labels]
    ends = np.array([(band.high, band.low) for band in ranges if band is not None])
    if len(labels) and len(ends) == len(labels):
        return np.lexsort(ends.T)
    return np.argsort(np.array(labels), kind="stable")


def bands(levels: Levels, width: int) -> Grouping | None:
    """Merge `width` neighbouring levels into each band; None where a single band would be left."""
    group = np.arange(len(levels.codes), dtype=np.int64) // width
    after = int(group[-1]) + 1 if len(group) else 0
    words = "neighbouring levels in pairs" if width == 2 else f"neighbouring levels in bands of {width}"
    return Grouping(words, group, after) if after > 1 else None


def pooled(levels: Levels) -> Grouping | None:
    """Merge the rarest levels, at least two, until the merged one and every other has 5 records.

    None where one level would be left.
    """
    small = int(np.count_nonzero(levels.size < ENOUGH))
    reach = int(np.searchsorted(np.cumsum(levels.size), ENOUGH)) + 1
    number = max(2, small, reach)
    if number >= len(levels.size):
        return None
    group = np.maximum(np.arange(len(levels.size), dtype=np.int64) - (number - 1), 0)
    plain, after = "the rarest levels as one", len(levels.size) - number + 1
    return Grouping(f"the {number} rarest levels as one", group, after, plain)


def joined(levels: Levels, first: int, second: int) -> Grouping | None:
    """Merge two levels, given by position; None where a single level would be left."""
    if len(levels.codes) <= 2:
        return None
    group = np.arange(len(levels.codes), dtype=np.int64)
    low, high = min(first, second), max(first, second)
    group[high] = low
    group[high + 1 :] -= 1
    return Grouping("two levels as one", group, len(levels.codes) - 1)


def smaller_key(levels: Levels, key: str = "") -> Grouping | None:
    """The first step to a coarser key, as the kind of its levels allows.

    Numbers in bands with round edges, dates by the year or month, ordered categories in pairs of neighbours, codes
    one level up their hierarchy; of codes without one, the rarest as one. None where one level would be left.
    """
    if levels.hierarchy is not None and (grouping := _next_level_up(levels, levels.hierarchy, key)) is not None:
        return grouping
    if levels.scale == "number":
        return _rounded(levels, key)
    if levels.scale == "date":
        return _calendar(levels, key)
    grouping, step_of = (bands(levels, 2), grouped) if levels.scale == "ordered" else (pooled(levels), other)
    if grouping is None:
        return None
    return replace(grouping, step=step_of(key, levels.coded, levels.labels(), grouping.group))


def _rounded(levels: Levels, key: str) -> Grouping | None:
    values = sure(crosstab.numbers_of(levels.coded, levels.codes))
    edges = round_edges(values, levels.size)
    group, after = _numbered(np.searchsorted(edges, values, side="right"))
    if not 1 < after < len(values):
        return None
    return Grouping("bands with round edges", group, after, step=in_bands(key, edges), public=True)


def _calendar(levels: Levels, key: str) -> Grouping | None:
    rules: tuple[tuple[str, columns.Period], ...] = (("years", "year"), ("months", "month"))
    for rule, period in rules:
        group, after = periods(levels, period)
        if 1 < after < len(group):
            return Grouping(rule, group, after, step=by_period(key, levels.coded, period), public=True)
    return None


def periods(levels: Levels, period: columns.Period) -> tuple[NDArray[np.int64], int]:
    """The month, quarter, year or decade of each level of dates, as group numbers, and how many groups there are."""
    days = levels.labels()
    months = np.array([int(day[:4]) * 12 + int(day[5:7]) - 1 if _is_day(day) else -1 for day in days], np.int64)
    return _numbered(np.where(months < 0, -1, months // columns.MONTHS[period]))


def by_period(column: str, coded: columns.Coded, period: columns.Period) -> Step | None:
    """The recipe step that shortens dates; None where these are times of a day or spans of time."""
    kind = str(coded.arrow_type)
    return {"method": "recode", "column": column, "period": period} if kind.startswith(("date", "timestamp")) else None


def _is_day(label: str) -> bool:
    return label[:4].isdecimal() and label[4:5] == "-" and label[5:7].isdecimal()


def _next_level_up(levels: Levels, hierarchy: Hierarchy, key: str) -> Grouping | None:
    """The lowest level of a hierarchy that merges any levels; values outside the hierarchy stay on their own."""
    labels = levels.labels()
    for level, names, missed in levels_above(labels, hierarchy):
        group, after = _numbered(names)
        if 1 < after < len(labels):
            step = along(key, levels.coded, levels.file, level, missed=missed)
            return Grouping(f"hierarchy, level {level}", group, after, step=step, public=True)
    return None


def levels_above(labels: Sequence[Any], hierarchy: Hierarchy) -> Iterator[tuple[int, list[tuple[bool, Any]], bool]]:
    """Each level of a hierarchy: whether it has each label, and the label's group; and whether it misses one."""
    for level in range(1, len(hierarchy.levels) + 1):
        above = {text_of(leaf): name for leaf, name in hierarchy.at(level).items()}
        names = [(text_of(label) in above, above.get(text_of(label), label)) for label in labels]
        yield level, names, not all(known for known, _ in names)


def text_of(value: object) -> str:
    """A value as files write it: 3.0 is 3."""
    text = str(value)
    try:
        return str(int(text)) if text.isdecimal() else str(float(text)).removesuffix(".0")
    except ValueError:
        return text


def _numbered(names: Sequence[Hashable] | NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Group numbers from 0 in order of first appearance, and the number of groups."""
    if isinstance(names, np.ndarray):  # ascending
        distinct, group = np.unique(names, return_inverse=True)
        return group.astype(np.int64), len(distinct)
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], np.int64), len(place)
