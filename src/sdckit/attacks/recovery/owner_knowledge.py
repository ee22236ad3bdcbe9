"""What somebody gets back who also knows how the columns of a file are made: arithmetic, code tables, links, order.

The original serves to find what needs no knowledge of its people: its values of a changed column are held against what
the released file shows beside them. Nothing is learnt from it but arithmetic, one-to-one tables and orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, combinations, islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery import code_tables, derived_columns, numeric_relations, recovery_files, touched_cells
from sdckit.attacks.recovery.code_tables import BORNE, DIGESTS, differing, digest_of, numbered_values, table_of_numbered
from sdckit.attacks.recovery.derived_columns import ALL, Household, Predictor, Rows
from sdckit.attacks.recovery.indicators import FIRST
from sdckit.attacks.recovery.judged_relations import HITS, Halves, Judge
from sdckit.attacks.recovery.reconstruct import Known, Recovered, not_recovered, ordered_by, put_back, row_orders
from sdckit.attacks.recovery.reconstruction_rules import FEW_PARTS, Source, joint_groups
from sdckit.attacks.recovery.sorted_orders import by_position
from sdckit.attacks.recovery.text_parts import text_parts
from sdckit.attacks.recovery.touched_cells import SUPPRESSED, TEXTS, ChangedColumn, ReleasedColumn, apart, in_frame
from sdckit.data import frames, pc
from sdckit.data.columns import numbers_as_arrow
from sdckit.data.replace import with_levels, with_new_column, with_some_numbers
from sdckit.errors import sure
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints

MOST_SEARCHED = 100_000  # records; of a larger file a sample is searched, and what it tells is put back everywhere
MOST_GROUPS = 0.6  # per record, whose totals shares are taken of
MOST_TOLD = 0.8  # of the records, from which on codes may stand for the values of a column that was left out
MOST_LENGTHS = 3  # of texts that are looked for in others
AT_FIRST = 6  # parts of texts, among which those that are the whole text are
FEWEST_ITEMS = 3
FEWEST_GONE, FEWEST_NUMBERS_GONE = 2, 10  # records
FEWEST_POINTS = 30  # different numbers of a coordinate
MOST_NUMBERS = 8
SOME_POINTS, SOME_IN_PAIRS = 2_000, 500  # records on which two numbers, or codes, are tried first
SURELY_NEAR = 0.95  # whose nearest record has their category: more than wages tell of an education
PER_ITEM = 10  # records, below which it is not looked for what items a mean is of
FEW_MOVED = 20  # values of codes, which other numbers may stand for as well
SOME_DIGESTS = 5  # that are tried: none is right by chance
MOST_PARTS = 12  # columns that digests may be made of
MOST_VALUES = 10**7  # of a column, all of which somebody may try
NARROWER = 0.5  # of what the release leaves open: least gain that narrows


@dataclass(eq=False)
class _Column:
    """One changed column: what it was, what is released of it, and what has been told so far."""

    recovered: Recovered
    make: Callable[[], Floats]  # of the original values; of many records they are made again where they are needed
    at: Floats  # those of the records that are searched
    near: float
    some: NDArray[np.int64]  # the records that are searched
    halves: Halves
    of_persons: Ints  # of those to fit on the first of each person
    judge: Judge
    tried: int = 0
    narrowed: Bools = field(init=False)
    source: NDArray[np.int16] = field(init=False)
    sources: list[Source] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.recovered.restored)
        self.narrowed = np.zeros(n, np.bool_)
        self.source = np.full(n, -1, np.int16)

    @property
    def truth(self) -> Floats:
        """Original values (n,)."""
        return self.at if len(self.at) == len(self.source) else self.make()

    @property
    def name(self) -> str:
        return self.recovered.target.column.name

    def may_use(self, companion: Predictor, *, own: bool) -> bool:
        """Whether a companion is evidence: not what is released of the column itself, where it is judged as hidden."""
        return own or self.name not in companion.columns or companion.kind == "linked"

    @cached_property
    def numbered(self) -> tuple[Floats, Ints]:
        """Its distinct values, and which of them the records have that are searched."""
        return numbered_values(self.at)

    @cached_property
    def shows_nothing(self) -> bool:
        """Whether what is released of a changed value is nothing, or that it lies beyond a limit."""
        return {*self.recovered.target.kinds} <= {SUPPRESSED, touched_cells.CODED}

    @cached_property
    def alike(self) -> bool:
        """Whether nearly all changed values are the same one of three or more, so that no relation is seen among them.

        Of two values one is a number that others come near to by chance: parties from 0 to 6, of a vote.
        """
        values = self.at[self.recovered.target.touched[self.some]]
        same = np.unique(values, return_counts=True)[1].max(initial=0) >= HITS * len(values)
        return self.shows_nothing and bool(same) and len(np.unique(self.at[~np.isnan(self.at)])) > 2

    def tells(self, fitted: Floats, near: float, parts: Sequence[Predictor] = ()) -> bool:
        """Whether fitted values of the records that are searched, which follow from `parts` if not from rows, tell."""
        others = len(parts) > 0 and all(self.may_use(part, own=False) for part in parts)
        if self.judge.tells(fitted, near, self.tried, hidden=self.shows_nothing and others):
            return True
        if others or len(parts) < 2 or not self.recovered.target.perturbed:
            return False
        hits, every = np.abs(fitted - self.at) <= near, np.ones(len(fitted), np.bool_)
        unmarked = Judge(self.at, every, self.judge.released, self.halves.judge)  # a flag marks what was changed
        return float(hits[self.judge.rows].mean()) >= HITS and unmarked.tells(fitted, near, self.tried)

    def moved_alike(self, fitted: Floats, near: float, parts: Sequence[Predictor]) -> bool:
        """Whether its numbers or days were moved alike in all records: whoever knows one of them has all."""
        own = [part.columns for part in parts] == [(self.name,)] and self.recovered.target.perturbed
        return own and len(self.numbered[0]) > FEW_MOVED and self.judge.as_hidden.tells(fitted, near, self.tried)

    def put(self, fitted: Floats, source: Source) -> None:
        """Take in what a relation that tells gives, in all records."""
        with np.errstate(invalid="ignore"):
            hits = self.recovered.target.touched & (np.abs(fitted - self.truth) <= self.near)
        if hits.any():
            fresh = hits & (self.source < 0)
            self.source[fresh] = len(self.sources)
            self.sources.append(replace(source, told=int(np.count_nonzero(hits))))

    def narrow(self, fitted: Floats, slack: float) -> None:
        """Take in what a relation leaves open that tells to within its printed units."""
        low, high = self.recovered.target.low, self.recovered.target.high
        if low is not None and high is not None:
            with np.errstate(invalid="ignore"):
                self.narrowed |= (np.abs(fitted - self.truth) <= slack) & (2 * slack <= NARROWER * (high - low))

    def known(self) -> Known:
        told = self.source >= 0
        touched = self.recovered.target.touched
        beyond = {touched_cells.GROUPED, touched_cells.LEFT_OUT} & {*self.recovered.target.kinds}
        target = self.recovered.target if beyond else None
        return Known(told, self.source, tuple(self.sources), self.narrowed & touched & ~told, target)


def owner_knowledge(
    file: recovery_files.RecoveryFile, recoveries: Mapping[str, Recovered], *, released: Sequence[Predictor],
    time: str | None = None, seed: int = 0,
) -> dict[str, Known]:  # fmt: skip
    """What is told of each changed column beyond the release alone; a column of which nothing is has no entry.

    `released`: what `released_predictors` gives of the columns. `time`: column that says when a row of a person was.
    """
    columns, household, people = file.columns, file.household, file.followed(time)[0]
    n = len(next(iter(columns.values())).codes) if columns else 0
    rng = np.random.default_rng(seed)
    some = np.arange(n) if n <= MOST_SEARCHED else np.sort(rng.choice(n, MOST_SEARCHED // 2, replace=False))
    changed: list[tuple[Recovered, Callable[[], Floats]]]
    changed = [(recovered, partial(_truth, file, recovered)) for recovered in recoveries.values()]
    changed += _left_out(file) if file.gone else _grouped(file, recoveries)
    changed = [_with_texts_read(file.before(known.target.column.name), known, make) for known, make in changed]
    of_person = people[file.person].codes[some] if file.person in people else np.arange(len(some))
    searched = apart(lambda known: _column(*known, some, of_person, seed), changed, n)
    searched = [column for column in searched if len(column.halves.judge)]

    sources = _sources(file, searched, released, time)
    rows = ALL if len(some) == n else some
    longest_first = sorted(range(len(sources)), key=lambda i: -sources[i][0])
    made = dict(zip(longest_first, apart(lambda i: list(sources[i][1](rows)), longest_first, n), strict=True))
    of_sources = [made[i] for i in range(len(sources))]
    sampled = [*chain.from_iterable(of_sources)]
    by_column = apart(lambda column: _searched_for(column, sampled, seed), searched, n)
    tables = [(column, *table) for column, (_, own) in zip(searched, by_column, strict=True) for table in own]
    telling = [judged for own, _ in by_column for judged in own if judged.tells or judged.nearly]
    numbers: dict[int, Floats] = {}
    needed = {part for judged in telling for part in judged.relation.parts} | {place for _, place, _ in tables}
    first = np.cumsum([0, *map(len, of_sources)])
    for (_, source), given, start in zip(sources, of_sources, first, strict=False):
        last = max((i for i in needed if start <= i < start + len(given)), default=start - 1)
        every = given if rows is ALL else islice(source(ALL), last - start + 1)  # none is made that nobody needs
        for i, companion in enumerate(every, start):
            if i in needed and (own := companion.numbers) is not None:
                numbers[i] = own
            for column, place, table in tables:
                if place == i:
                    named = in_frame(companion.columns, columns)
                    kind = companion.kind if companion.kind in ("text", "linked") else "table"
                    column.put(table[companion.codes], Source(named, companion.words, 0, kind))
    for judged in telling:
        _put_arithmetic(judged, numbers, in_frame(judged.relation.columns, columns))
    orders = row_orders(columns)
    homes = None if household is None else columns[household].codes.astype(np.int64) - 1
    apart(lambda column: _put_orders(column, orders, homes), searched, n)
    apart(lambda column: _put_spelt(column, file.before(column.name), columns), searched, n)
    apart(lambda column: _put_nearest(column, columns), searched, n)
    apart(lambda column: _put_ranges(column, columns.get(file.roles.weight or "")), searched, n)
    apart(lambda column: _put_pairs(column, released, columns), searched, n)
    apart(lambda column: _put_vanished(column, file.before(column.name)), searched, n)
    _put_vanished_cells(searched, file)
    apart(lambda column: _put_digests(column, file), searched, n)
    # of a column that was recoded to groups, too, what it was counts before the group it was in
    return {column.name: column.known() for column in searched if column.sources or column.narrowed.any()}


Companions = tuple[int, Callable[[Rows], Iterable[Predictor]]]  # how much is to be done, and those of some records


def _sources(
    file: recovery_files.RecoveryFile, searched: Sequence[_Column], released: Sequence[Predictor], time: str | None
) -> list[Companions]:
    """What a changed column is held against: nothing of it is made before it is asked for, nor twice."""
    if not searched:
        return []
    columns = file.columns
    names = [column.name for column in searched if column.name in columns]  # what was left out has no totals
    n = len(searched[0].truth) // 10  # as much as that many texts
    return [
        (n, lambda some: (companion.of(some) for companion in released)),
        (n, partial(file.linked, time)),
        *((column.n_levels, partial(text_parts, {name: column})) for name, column in columns.items()),
        (n, lambda some: (companion.of(some) for companion in _shares_of_totals(columns, names))),
        (n, lambda some: (companion.of(some) for companion in _means_of_answered(columns, names))),
        (n, lambda some: (companion.of(some) for companion in derived_columns.counted_rows(columns if names else {}))),
    ]


def _searched_for(
    column: _Column, companions: Sequence[Predictor], seed: int
) -> tuple[list[_Judged], list[tuple[int, Floats]]]:
    """Arithmetic that may tell a column, and its code tables among the companions, by their places."""
    relations, tables = _arithmetic(column, companions, seed), list(_tables(column, companions))
    return [_judged(column, relation, companions) for relation in relations], tables


def _grouped(
    file: recovery_files.RecoveryFile, recoveries: Mapping[str, Recovered]
) -> Iterator[tuple[Recovered, Callable[[], Floats]]]:
    """Columns that were recoded to groups, with their original values as numbers or codes."""
    for name, before in (file.truth or {}).items():
        column = file.columns.get(name)
        if column is None or not {name, column.within} & file.chosen:
            continue
        known = recoveries.get(name)
        target = touched_cells.with_groups(column, before, None if known is None else known.target)
        if target is None:
            continue
        values = np.broadcast_to(np.nan, len(before.codes)) if before.numeric else None
        yield replace(not_recovered(target), values=values), partial(_original, before)


def _left_out(file: recovery_files.RecoveryFile) -> Iterator[tuple[Recovered, Callable[[], Floats]]]:
    """Columns that were left out, with their original values as numbers or codes."""
    for before in file.gone.values():
        column = replace(before, codes=np.zeros_like(before.codes))
        target = ChangedColumn(column, ~before.missing, None, (touched_cells.LEFT_OUT,))
        single = before.numeric and not before.has_ranges
        values = np.broadcast_to(np.nan, len(before.codes)) if single else None
        yield replace(not_recovered(target), values=values), partial(_original, before, numbers=single)


def _original(before: ReleasedColumn, *, numbers: bool = True) -> Floats:
    """Original values (n,) as numbers or codes; NaN where there is none."""
    own = before.numbers if numbers else None
    return np.where(before.missing, np.nan, before.codes.astype(np.float64)) if own is None else own


def _with_texts_read(
    before: ReleasedColumn, recovered: Recovered, make: Callable[[], Floats]
) -> tuple[Recovered, Callable[[], Floats]]:
    """A changed column of texts with its original values as the dates or numbers that they are, each a different one.

    Else as codes of the original, where the release shows its texts: a value that was taken out everywhere has another.
    """
    n, column = len(before.codes), recovered.target.column
    if before.numeric and not before.has_ranges:
        return recovered, make
    of_text = before.coded.kind in TEXTS and not before.numeric
    for part in islice(text_parts({before.name: before}), AT_FIRST) if of_text else ():
        numbers = part.numbers
        if numbers is None or part.words not in (f"the date in {before.name}", f"the number in {before.name}"):
            continue
        table = touched_cells.of_levels(before.codes, before.n_levels, numbers)[1:, 0]
        is_code = part.words.startswith("the number") and not (table % 1 > 0).any()
        if len(np.unique(table)) == len(table) and not np.isnan(table).any() and not is_code:
            return replace(recovered, values=np.broadcast_to(np.nan, n)), partial(np.asarray, numbers)
    if SUPPRESSED in recovered.target.kinds and not recovered.target.perturbed and same_labels(column, before):
        return replace(recovered, values=None), partial(_original, before, numbers=False)
    return recovered, make


def same_labels(column: ReleasedColumn, before: ReleasedColumn) -> bool:
    """Whether every text that the release shows is one of the original's."""
    return bool((before.codes_of(column) > 0)[1:].all())


def _truth(file: recovery_files.RecoveryFile, recovered: Recovered) -> Floats:
    """Original values (n,) as single numbers, or codes of the release; NaN where there is none."""
    low, high = file.truth_of(recovered)
    return np.where((low == high) & ((recovered.values is not None) | (low > 0)), low, np.nan)


def _column(
    recovered: Recovered, make: Callable[[], Floats], some: Ints, of_person: Codes | Ints, seed: int
) -> _Column:
    at = make()
    at = at if len(some) == len(at) else at[some]
    halves = Halves.of(~np.isnan(at), seed)
    target = recovered.target
    near = 0.25 if recovered.values is None else numeric_relations.tolerance(at)
    judge = Judge(at, target.touched[some], target.column.codes[some], halves.judge)
    of_persons = halves.fit[np.unique(of_person[halves.fit], return_index=True)[1]]
    return _Column(recovered, make, at, near, some, halves, of_persons, judge)


def _shares_of_totals(columns: Mapping[str, ReleasedColumn], names: Sequence[str]) -> Iterator[Predictor]:
    """Columns of shares times the sums of released ones over groups, which swaps within them leave as they were."""
    shares = [(name, x) for name, column in columns.items() if (x := column.numbers) is not None and _are_shares(x)]
    for name, (group, column) in product(names if shares else (), columns.items()):
        own = columns[name].numbers
        if own is None or group == name or not 1 < column.n_levels <= MOST_GROUPS * len(own):
            continue
        groups = Household.of(column)
        totals = groups.spread(groups.sums(own))
        for share, x in shares:
            words = f"{share} * the sum of {name} over {group}"
            yield derived_columns.number_predictor(
                (share, group, name), words, x * totals, groups=False, kind="numbers"
            )


def _means_of_answered(columns: Mapping[str, ReleasedColumn], names: Sequence[str]) -> Iterator[Predictor]:
    """Means of the items that were answered times how many they are, less the items that are shown."""
    ends = {name: (x.min(), x.max()) for name, column in columns.items() if len(x := column.distinct) > 1}
    whole = [name for name in ends if columns[name].whole and len(columns[name].distinct) <= FEW_PARTS]
    for name in names:
        low, high = ends.get(name, (0, 0))
        items = [other for other in whole if ends[other] == (low, high)]
        if name not in items or len(items) < FEWEST_ITEMS:
            continue
        shown = np.column_stack([np.nan_to_num(_numbers(columns[item])) for item in items])
        means = [other for other in ends if not columns[other].whole and low <= ends[other][0] < ends[other][1] <= high]
        counts = [other for other in whole if 1 < ends[other][1] <= len(items)]
        for mean, count in product(means, counts):
            total = _numbers(columns[mean]) * _numbers(columns[count])
            fit = np.flatnonzero(~np.isnan(total) & ~columns[name].missing)[:FIRST]
            if len(fit) > PER_ITEM * len(items):
                factors = np.linalg.lstsq(shown[fit], total[fit], rcond=None)[0]
                others = {i: item for i, item in enumerate(items) if factors[i] > NARROWER and item != name}
                rest = np.round(total - shown[:, list(others)].sum(axis=1))
                made_of, words = (mean, count, *others.values()), f"{mean} * {count} less the other items"
                yield derived_columns.number_predictor(made_of, words, rest, groups=False, kind="numbers")


def _numbers(column: ReleasedColumn) -> Floats:
    return sure(column.numbers)


def _are_shares(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 0 and bool(((known >= 0) & (known <= 1)).all() and ((known % 1) > 0).mean() > NARROWER)


def _arithmetic(column: _Column, companions: Sequence[Predictor], seed: int) -> list[numeric_relations.Relation]:
    """Relations that may tell the numbers of a column; what was tried is counted."""
    if column.recovered.values is None:
        return []
    own = column.judge.apart and not column.alike
    use = [
        companion if column.may_use(companion, own=own) else replace(companion, values=None) for companion in companions
    ]
    fit = column.halves.fit
    if own:  # of unchanged values the released one is the original: arithmetic of no use
        fit = fit[column.recovered.target.touched[column.some][fit]]
    relations, tried = numeric_relations.find_relations(column.at, use, name=column.name, rows=fit, seed=seed)
    column.tried += tried
    return relations


@dataclass(frozen=True, eq=False)
class _Judged:
    """A relation, and whether it tells the numbers of a column exactly, or to within the units of its companions."""

    column: _Column
    relation: numeric_relations.Relation
    tells: bool
    nearly: bool


def _judged(column: _Column, relation: numeric_relations.Relation, companions: Sequence[Predictor]) -> _Judged:
    numbers = {part: values for part in relation.parts if (values := companions[part].numbers) is not None}
    fitted, parts = relation.values(numbers), [companions[part] for part in relation.parts]
    exactly, nearly = (column.tells(fitted, near, parts) for near in (column.near, relation.slack))
    return _Judged(column, relation, exactly or column.moved_alike(fitted, column.near, parts), nearly)


def _put_arithmetic(judged: _Judged, numbers: Mapping[int, Floats], named: tuple[str, ...]) -> None:
    column, relation = judged.column, judged.relation
    fitted = relation.values(numbers)
    if judged.tells:
        formula = relation.formula if relation.plain else ""
        column.put(fitted, Source(named, relation.formula, 0, "numbers", formula))
    if judged.nearly:
        column.narrow(fitted, relation.slack)


def _tables(column: _Column, companions: Sequence[Predictor]) -> Iterator[tuple[int, Floats]]:
    """Companions that are code tables of the column, by their places, with the value of each code."""
    for i, companion in enumerate(companions):
        if companion.groups and len(companion.codes) and column.may_use(companion, own=column.judge.apart):
            column.tried += 1
            if (table := _table(column, companion.codes, companion.n_levels, [companion])) is not None:
                yield i, table


def _table(column: _Column, codes: Codes, n_levels: int, parts: Sequence[Predictor]) -> Floats | None:
    """The value of each code of the records that are searched, where these tell the column.

    Several codes may stand for one value, but where the release shows nothing else: it tells as much by itself.
    """
    left_out = touched_cells.LEFT_OUT in column.recovered.target.kinds
    for several in (True,) if left_out else (False,) if column.shows_nothing else (False, True):
        fit = column.of_persons if several else column.halves.fit
        table = table_of_numbered(codes, n_levels, column.numbered, fit, several=several)
        n_told = np.count_nonzero(~np.isnan(table[codes])) if several else len(codes)
        if n_told < MOST_TOLD * len(codes):  # of which some values go together, and no code
            continue
        if not np.isnan(table).all() and column.tells(table[codes], column.near, parts):
            if several:  # whose district is in which region everybody knows, however few records it has
                rare = table_of_numbered(codes, n_levels, column.numbered, np.arange(len(codes)), several=True, least=1)
                table = np.where(np.isnan(table), rare, table)
            return table
    return None


def _put_pairs(column: _Column, companions: Sequence[Predictor], columns: Mapping[str, ReleasedColumn]) -> None:
    """Two columns that are a code table together: a region in two digits, the last digit of an age beside its band.

    Of values that are missing the release tells as much by itself.
    """
    (values, of), fit, some = column.numbered, column.of_persons, column.some
    told = (column.source >= 0)[column.recovered.target.touched].all()
    if column.shows_nothing or told or len(fit) < BORNE * max(len(values), 2):
        return
    few = fit[:: -(-len(fit) // SOME_IN_PAIRS)]
    usual = 1 - float((np.bincount(of[few]) ** 2).sum()) / len(few) ** 2  # how many pairs of records differ
    use = [part for part in companions if part.joins and column.may_use(part, own=column.judge.apart)]
    groups = [part.grouped for part in use]
    at = [codes[some[few]].astype(np.int64) for codes, _ in groups]
    alone = [min(differing(codes, of[few]), usual) for codes in at]
    for i, j in combinations([i for i, (_, n) in enumerate(groups) if 1 < n <= len(fit) / BORNE], 2):
        column.tried += 1
        if differing(at[i] * groups[j][1] + at[j], of[few]) > NARROWER * min(alone[i], alone[j]):
            continue
        kept, place = np.unique(joint_groups(groups[i], groups[j])[0], return_inverse=True)
        codes = (place + int(kept[0] >= 0)).astype(np.int32)  # 0 where one of them is missing
        if (table := _table(column, codes[some], int(codes.max()), [use[i], use[j]])) is not None:
            named = in_frame((*use[i].columns, *use[j].columns), columns)
            fresh = np.where(column.source < 0, table[codes], np.nan)
            column.put(fresh, Source(named, f"{use[i].words} with {use[j].words}", 0, "table"))


def _put_orders(column: _Column, orders: Mapping[str, NDArray[np.int64]], homes: NDArray[np.int64] | None) -> None:
    target = column.recovered.target
    for words, order in orders.items():
        # at a limit or in a range all stand as the rows do: in the order by the column itself some are right by chance
        if words == ordered_by(column.name) and not target.perturbed:
            continue
        column.tried += 2
        fit = column.some[column.halves.fit]
        for fitted in by_position(column.truth, order, fit, homes, shown=touched_cells.LEFT_OUT not in target.kinds):
            if column.tells(fitted[column.some], column.near):
                column.put(fitted, Source((), words, 0, "order"))


def _put_spelt(column: _Column, before: ReleasedColumn, columns: Mapping[str, ReleasedColumn]) -> None:
    """Texts that others begin or end with, or are, however few records have them: nobody needs a table for that."""
    if before.coded.kind not in TEXTS:
        return
    lengths = sorted(pc.unique(pc.utf8_length(before.printed)).to_pylist(), reverse=True)
    values = touched_cells.of_levels(before.codes, before.n_levels, column.truth)[:, 0]
    for name, other in columns.items() if len(lengths) <= MOST_LENGTHS else ():
        if name == column.name or other.coded.kind not in TEXTS:
            continue
        for words, ends in (
            ("first", [(0, length) for length in lengths]),
            ("last", [(-length, None) for length in lengths]),
        ):
            column.tried += 1
            cut = [pc.utf8_slice_codeunits(other.printed, *end) for end in ends]
            place = pc.coalesce(*(pc.index_in(part, value_set=before.printed) for part in cut)).fill_null(-1)
            fitted = values[np.append(0, np.asarray(place) + 1)][other.codes]
            if column.tells(fitted[column.some], column.near):
                column.put(fitted, Source((name,), f"the {words} letters of {name}", 0, "text"))


def _put_nearest(column: _Column, columns: Mapping[str, ReleasedColumn]) -> None:
    """A category that the nearest other record has by two numbers: the district of a home by its coordinates."""
    target = column.recovered.target
    if column.recovered.values is not None or target.perturbed or touched_cells.GROUPED in target.kinds:
        return
    truth, numeric = column.truth, [name for name, other in columns.items() if len(other.distinct) >= FEWEST_POINTS]
    fit, judged = column.some[column.halves.fit], column.some[column.judge.rows]
    if touched_cells.LEFT_OUT not in target.kinds:  # the map is what the release shows
        fit = fit[~target.touched[fit]]
    for pair in combinations(numeric[:MOST_NUMBERS], 2):
        column.tried += 1
        scaled = [(x := _numbers(columns[name])) / max(float(np.nanstd(x)), 1e-300) for name in pair]
        if (fitted := _nearest(truth, scaled, fit[:SOME_POINTS], judged[:SOME_POINTS])) is None:
            continue
        fitted = _nearest(truth, scaled, fit, np.union1d(judged, np.flatnonzero(target.touched)))
        if fitted is not None and column.tells(fitted[column.some], column.near):
            words = f"the nearest record by {pair[0]} and {pair[1]}"
            column.put(fitted, Source(pair, words, 0))


def _put_ranges(column: _Column, weight: ReleasedColumn | None) -> None:
    """A category that all within a range of the weights have: a region from which so many more were drawn."""
    target = column.recovered.target
    if weight is None or target.perturbed or touched_cells.GROUPED in target.kinds:
        return
    column.tried += 1
    fitted = code_tables.by_ranges(_numbers(weight), column.some, column.numbered, column.halves.fit)
    if column.tells(fitted[column.some], column.near):
        column.put(fitted, Source((weight.name,), f"ranges of {weight.name}", 0))


def _nearest(truth: Floats, scaled: Sequence[Floats], fit: Ints, asked: Ints) -> Floats | None:
    """The value of the nearest record of `fit` for those `asked` of (n,), else NaN; None where many are wrong."""
    from scipy.spatial import KDTree  # slow to load

    points = [np.column_stack([numbers[rows] for numbers in scaled]) for rows in (fit, asked)]
    known = [~np.isnan(some).any(axis=1) for some in points]
    fit, asked, fitted = fit[known[0]], asked[known[1]], np.full(len(truth), np.nan)
    if len(fit) < FEWEST_POINTS or not len(asked):
        return None
    fitted[asked] = truth[fit[KDTree(points[0][known[0]]).query(points[1][known[1]])[1]]]
    return fitted if (fitted[asked] == truth[asked]).mean() >= SURELY_NEAR else None


def _put_vanished(column: _Column, before: ReleasedColumn) -> None:
    """The one category that no record shows any more, where nearly all missing values are of it: lists name it."""
    target = column.recovered.target
    if SUPPRESSED not in target.kinds or before.n_levels > FEW_PARTS or not same_labels(target.column, before):
        return
    shown = before.codes_of(target.column)[np.unique(target.column.codes)]
    gone = np.setdiff1d(np.arange(1, before.n_levels + 1), shown)
    missing = target.column.missing
    hits = missing & (before.codes == gone[0]) if len(gone) == 1 else missing[:0]
    # A value missing in one record may be any; a number that few have may be one that no list names.
    least = FEWEST_NUMBERS_GONE if before.numeric else FEWEST_GONE
    least = least if before.n_levels > 2 else 1
    if np.count_nonzero(hits) >= max(HITS * np.count_nonzero(missing), least):
        words = f"{column.name} is missing where it is the category that no record shows"
        column.put(np.where(hits, column.truth, np.nan), Source((column.name,), words, 0))


def _put_vanished_cells(searched: Sequence[_Column], file: recovery_files.RecoveryFile) -> None:
    """What records lost together, where nearly all of them are of the combinations of values that no record shows."""
    kinds = {SUPPRESSED, touched_cells.CODED, touched_cells.BANDED}
    columns = [own for own in searched if {SUPPRESSED} <= {*own.recovered.target.kinds} <= kinds]
    if len(columns) < 2:
        return
    released = [column.recovered.target.column for column in columns]
    original = [touched_cells.truth_codes(own, file.before(own.name)) for own in released]
    for rows, lost, i in code_tables.vanished_cells([own.codes for own in released], original):
        names = tuple(columns[j].name for j in lost)
        words = f"{' and '.join(names)} are missing where they are a combination that no record shows"
        if columns[i].recovered.values is None or same_labels(released[i], file.before(columns[i].name)):
            fitted = np.where(np.isin(np.arange(len(columns[i].source)), rows), columns[i].truth, np.nan)
            columns[i].put(fitted, Source(names, words, 0, "cells"))
        else:  # of a number in bands the band is known
            columns[i].narrowed[rows] = True


def _put_digests(column: _Column, file: recovery_files.RecoveryFile) -> None:
    """What digests of values, alone or joined, tell without a secret: the hash of a sex and a date of birth."""
    before, name = file.before(column.name), column.name
    known = {name: before, **file.gone, **(file.truth or {})}
    for other in file.columns.values():
        at = np.flatnonzero(~other.missing & ~before.missing)[:SOME_DIGESTS]
        if other.name == name or other.coded.kind not in TEXTS or not len(at):
            continue
        digests = _printed(other, at)
        if len(digests[0]) not in DIGESTS:
            continue
        parts = [part for part in known.values() if _can_be_tried(part) and not part.missing[at].any()][:MOST_PARTS]
        if made_of := digest_of(digests, {part.name: _printed(part, at) for part in parts}, name):
            words = f"the {DIGESTS[len(digests[0])]} of {', '.join(made_of)} in {other.name}, without a secret"
            told = np.where(other.missing, np.nan, column.truth)
            column.put(told, Source(in_frame((other.name,), file.columns), words, 0, "text"))


def _printed(column: ReleasedColumn, rows: Ints) -> list[str]:
    texts: list[str] = column.printed.take(numbers_as_arrow(column.codes[rows].astype(np.int64) - 1)).to_pylist()
    return texts


def _can_be_tried(column: ReleasedColumn) -> bool:
    """Whether somebody can try all values: those of a range of whole numbers or days, or categories, but no names."""
    if column.numeric and column.whole and len(column.distinct):
        return float(column.distinct[-1] - column.distinct[0]) < MOST_VALUES
    return column.n_levels <= len(column.codes) / 3


def file_put_back(
    file: recovery_files.RecoveryFile, recoveries: Mapping[str, Recovered], near: Mapping[str, Bools] | None = None
) -> Any:
    """The release with every value put back that is given back; only right ones where the original is known.

    `near`: of some columns the records whose number is as good as known, and put back, too.
    """
    frame = put_back(file.frame, recoveries, {name: recovered.given for name, recovered in recoveries.items()})
    for name, recovered in recoveries.items():
        known = recovered.known
        told = recovered.beyond if known is None or known.target is None else known.told  # more than its group
        if file.truth is not None and told.any():
            frame = frames.open_frame(_with_truth(frame, file.before(name), told))
    for name, rows in (near or {}).items():
        frame = frames.open_frame(_with_truth(frame, file.before(name), rows))
    return frame


def _with_truth(frame: Any, truth: ReleasedColumn, told: Bools) -> Any:
    """The frame with the original's values of one column in the records `told`."""
    numbers = truth.numbers
    if truth.name not in frame.columns:
        levels: list[Any] = [None, *truth.labels()]
        if numbers is not None and not truth.from_labels and not np.isnan(numbers[told]).any():
            values = [value if right else None for value, right in zip(numbers.tolist(), told.tolist(), strict=True)]
        else:
            values = [levels[code] for code in np.where(told, truth.codes, 0).tolist()]
        return with_new_column(frame, truth.name, values).to_native()
    if frame[truth.name].dtype.is_numeric() and numbers is not None and not np.isnan(numbers[told]).any():
        return with_some_numbers(frame, {truth.name: (told, numbers[told])})
    column = touched_cells.read_columns(frame, (truth.name,))[truth.name]
    labels = [column.labels(), _as_put_back(truth)]
    place = {label: code for code, label in enumerate(dict.fromkeys((*labels[0], *labels[1])))}
    codes, new = (np.array([-1, *(place[label] for label in some)]) for some in labels)
    return with_levels(frame, {truth.name: (list(place), np.where(told, new[truth.codes], codes[column.codes]))})


def _as_put_back(truth: ReleasedColumn) -> list[str]:
    """Labels of the original's values, numbers as `put_back` writes them."""
    if truth.ends is None or truth.from_labels or truth.coded.kind == "date":
        return truth.labels()
    return [f"{value:.10g}" for value in truth.ends[1:, 0]]
