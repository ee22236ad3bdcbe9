"""Inputs of a simulated attack: files, columns, options and warnings, checked before any computation."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np

from sdckit.attacks import attack_rates
from sdckit.attacks.attack_rates import AttackResult, ControlState, Group, Tally
from sdckit.cells import comparable_files, number_columns, packing, shared_coding
from sdckit.cells.pair import CONTROL, Pair, open_pair
from sdckit.data import arguments
from sdckit.data.drawn_rows import KEY_BYTES, NEED_ID, drawn_note, hash_ids, people_drawn
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import ColumnError, DataError, SdcWarning
from sdckit.numerics.array_types import Bools, Floats, Ints, Values
from sdckit.numerics.coding import Encoded, gower
from sdckit.numerics.search.neighbours import Index, paired

ORDERED = {"numbers", "dates", "times", "durations"}
MATERIAL = 0.05  # share of the control file that overlaps with the original, from which on its rates are not used
Kind = TypeVar("Kind", bound=AttackResult)
TOO_COARSE = 0.95  # share of duplicates within files above which equal records in two files are no evidence
RARE = 0.1  # share of duplicates up to which few equal records are evidence
RARELY = NormalDist().inv_cdf(0.99)  # standard errors above which chance is one time in a hundred


@dataclass(frozen=True, eq=False)
class AttackFiles:
    """The files of an attack: original, releases and, last, the control file.

    `overlap` counts the records of the control file equal to one of the original, where that was found to be more
    than coincidence. `others`: rows of the control file in the order of their values, where people are drawn by an id.
    """

    pair: Pair
    overlap: int = 0
    others: Ints | None = field(default=None, repr=False)

    @property
    def has_control(self) -> bool:
        """Whether there is a control file."""
        return self.pair.control is not None

    @property
    def m(self) -> int:
        """Releases."""
        return self.pair.m

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.pair.n

    @property
    def n_control(self) -> int:
        """Records of the control file; 0 without one."""
        return 0 if self.pair.control is None else len(self.pair.control)

    @property
    def control_state(self) -> ControlState:
        """How the control file overlaps with the original."""
        if not self.has_control:
            return "none"
        if not self.overlap:
            return "apart"
        return "overlapping" if self.overlap >= MATERIAL * self.n_control else "shared"

    def codes(self, name: str) -> shared_coding.SharedCoding:
        """A column as category codes, the same codes in every file."""
        return self.pair.codes(name, control=True)

    def groups(self, names: Sequence[str]) -> packing.SharedGroups:
        """Records of all files grouped by some columns as categories."""
        return self.pair.groups(names, control=True)

    def numbers(self, name: str) -> tuple[Floats, ...]:
        """A column of numbers, dates or times (in days) as floats in every file, NaN where missing."""
        return self.pair.days(name)

    def let_go(self, names: Sequence[str]) -> None:
        """Keep no longer how some columns are coded as categories, which takes 4 bytes a record."""
        for memo in (self.pair.memo, self.pair.with_control):
            for name in names:
                memo.pop(("codes", name), None)

    def ordered(self, name: str) -> bool:
        """Whether a column holds numbers, dates or times with exact differences: no whole numbers of 16 digits."""
        return is_ordered(self.codes(name)) and not self._too_long(name)

    def _too_long(self, name: str) -> bool:
        columns = [frame.get_column(name) for frame in (*self.pair.frames, self.pair.control) if frame is not None]
        ends = [(column.min(), column.max()) for column in columns if column.dtype.is_integer() and column.count()]
        return any(abs(int(end)) > shared_coding.EXACT for pair in ends for end in pair)


def is_ordered(coding: shared_coding.SharedCoding) -> bool:
    """Whether values have distances: numbers, dates, times; not text, not true and false."""
    return coding.kind.partition(" with ")[0] in ORDERED


@dataclass(frozen=True, eq=False)
class Options:
    """How many attacks, the confidence of intervals, the subgroups, the random numbers, the prefix of columns.

    `by_id`: whether those attacked are drawn by their id, so that the order of rows decides nothing.
    """

    n_attacks: int
    level: float
    by: tuple[str, ...]
    rng: np.random.Generator
    prefix: str = ""
    by_id: bool = False


def options(
    n_attacks: int, level: float, by: Sequence[str] | str | None, seed: arguments.Seed,
    scenario: Scenario | None = None, prefix: str = "", targets: int | None = None,
) -> Options:  # fmt: skip
    """Check what can be checked before the files are opened; `targets` are drawn by their id, in place of `n_attacks`.

    Raises DataError: a number out of range; fewer targets than subgroups need.
    """
    arguments.text(prefix, "prefix")
    arguments.scenario_or_none(scenario)
    n = arguments.count(n_attacks, "n_attacks", "is how many attacks are made")
    made = Options(n, arguments.level(level), subgroups(by, attack_rates.FIGURES), arguments.seed(seed), prefix)
    drawn = people_drawn(targets, made.by)
    return made if drawn is None else replace(made, n_attacks=drawn, by_id=True)


def subgroups(by: Sequence[str] | str | None, figures: Sequence[str]) -> tuple[str, ...]:
    """The columns of subgroups, which stand beside `figures` in a table; one column may stand without a list."""
    names = arguments.names(by, "by", single=True) or ()
    taken = {name.casefold() for name in ("release", *figures)}
    if clash := [name for name in names if str(name).casefold() in taken]:
        raise ColumnError(f"by: {clash[0]!r} is the name of a result column; rename it", argument="by")
    return names


def all_variables(
    opened: Pair, variables: Sequence[str] | None, scenario: Scenario | None, notes: dict[str, str],
    without: Sequence[str] = (),
) -> tuple[str, ...]:  # fmt: skip
    """Choose the variables an intruder compares: those given, the scenario's, else all shared ones.

    Shared by original and releases; never the id, nor those in `without`.
    """
    names = arguments.names(variables, "variables")
    if names is None and scenario is not None:
        names = tuple(dict.fromkeys([*scenario.keys, *scenario.sensitive, *scenario.numeric]))
    if names is None:
        shared, left = opened.shared_columns(without)
        if not shared:
            raise ColumnError("original and release have no column in common")
        names = tuple(shared)
        comparable_files.warn_of_numbers(opened.original, names)
        if left:
            notes["variables"] = f"not in every file, left out: {', '.join(map(str, left))}"
    if not names:
        raise ColumnError("variables= is empty; name a column that the files share", argument="variables")
    return names


def open_attack(
    opened: Pair, *, roles: Mapping[str, Sequence[str]], by: Sequence[str] = (), least: int = 2, by_id: bool = False
) -> AttackFiles:
    """Read the columns used by an attack, and warn if the control file overlaps with the original.

    `by_id`: the rows of each release are put in the order of their values, so that a draw among equally near ones does
    not depend on the order in which they came. Raises DataError: no id then.
    """
    if by_id and opened.id is None:
        raise DataError(NEED_ID, argument="id")
    pair = open_pair(opened, categories={**roles, **({"by": by} if by else {})}, attack=True)
    files = AttackFiles(pair)
    sizes = [*zip(pair.names, (pair.n, *pair.sizes), strict=True), (CONTROL, files.n_control)]
    if few := [
        f"{label} has {size} record{'s' * (size != 1)}"
        for label, size in sizes[: len(sizes) - (not files.has_control)]
        if size < least
    ]:
        raise DataError(f"{'; '.join(few)}: an attack needs two or more in each file")
    if by_id:
        names = [name for some in roles.values() for name in some]
        sorted_rows = (_by_value(files, names, j + 1) for j in range(files.m))
        both = zip(sorted_rows, pair.orders, strict=True)
        orders = tuple(rows if known is None else known[rows] for rows, known in both)
        others = _by_value(files, names, files.m + 1) if files.has_control else None
        files = AttackFiles(replace(pair, orders=orders, aligned=False, memo={}, with_control={}), others=others)
    if files.has_control:
        files = replace(files, overlap=_overlap(files, [name for names in roles.values() for name in names]))
    if files.overlap:
        warnings.warn(
            f"{_equal(files)}: people of the original in the control file make the residual risk too low",
            SdcWarning,
            stacklevel=3,
        )
    return files


def _by_value(files: AttackFiles, names: Sequence[str], file: int) -> Ints:
    """The rows of a file in the order of their values; which of two equal rows comes first makes no difference."""
    return np.lexsort([files.codes(name).codes[file] for name in names]).astype(np.int64)


def _equal(files: AttackFiles) -> str:
    return f"{files.overlap} of {files.n_control} records of the control file equal a record of the original"


def _overlap(files: AttackFiles, names: Sequence[str]) -> int:
    """Number of control records equal to an original record, where that exceeds chance agreement; otherwise 0."""
    size = files.groups(tuple(dict.fromkeys(names))).size
    own, other = size[0], size[-1]
    overlap = int(other[own > 0].sum())
    twins = int(own[own > 1].sum() + other[other > 1].sum())
    share = twins / (files.n + files.n_control)  # estimated rate of chance agreement
    expected = files.n_control * share
    limit = min(1.5 * expected + 3 * math.sqrt(expected), files.n_control * (1 + share) / 2)
    same = (own > 0).sum() > 1 and np.array_equal(own, other)
    beyond = share < TOO_COARSE and overlap > limit and (share < RARE or _is_beyond_chance(own, other))
    return overlap if same or beyond else 0


def _is_beyond_chance(own: Ints, other: Ints) -> bool:
    """Whether more records of a control file equal an original than if it were open which record is in which file.

    By groups of equal records: those that the original, and the control file, have of each. A group of t records is in
    the control file alone with the probability of t draws without replacement; the variance of the records of such
    groups is that of independent groups, given how many records the control file has.

    >>> [_is_beyond_chance(np.ones(pairs, np.int64), np.ones(pairs, np.int64)) for pairs in (4, 12)]
    [False, True]
    """
    n, n_control = int(own.sum()), int(other.sum())
    total = n + n_control
    sizes, times = np.unique(own + other, return_counts=True)
    before = np.arange(int(sizes[-1]))
    alone = np.cumprod(np.maximum(n_control - before, 0) / (total - before))[sizes - 1]
    squares = times * sizes.astype(np.float64) ** 2 * alone
    variance = (squares * (1 - alone)).sum() - (squares.sum() * n / total) ** 2 * total / (n * n_control)
    by_chance = n_control - float((times * sizes * alone).sum())
    return bool(other[own > 0].sum() - 0.5 > by_chance + RARELY * math.sqrt(max(variance, 0.0)))


def numeric_columns(
    files: AttackFiles, names: Sequence[str], numeric: Sequence[str] | None, scenario: Scenario | None = None
) -> tuple[str, ...]:
    """Columns compared by their differences: those declared, otherwise all numbers, dates and times."""
    declared = number_columns.declared_numbers(numeric, scenario, names)
    if declared is None:
        return tuple(name for name in names if files.ordered(name))
    for name in declared:
        if name not in names:
            near = did_you_mean(name, names)
            raise ColumnError(f"numeric: {name!r} is none of the columns used; {near}", argument="numeric")
        if not files.ordered(name) and files.codes(name).n_levels:
            kind = files.codes(name).kind
            if kind == "numbers":
                raise DataError(f"numeric {name!r} holds whole numbers of 16 digits or more; leave it out")
            raise DataError(f"numeric {name!r} holds {kind}, not numbers or dates; convert it first")
    return declared


def numeric_variables(pair: Pair, names: Sequence[str], *, declared: Sequence[str]) -> tuple[str, ...]:
    """Columns of a whole release compared by their differences: declared numbers, measured ones, dates and times.

    Whole numbers with few values are taken for codes.
    """
    files, measured = AttackFiles(pair), number_columns.measured_columns(pair, names)
    return tuple(
        name
        for name in names
        if name in declared or ((name in measured or files.codes(name).kind != "numbers") and files.ordered(name))
    )


def file_notes(files: AttackFiles, names: Sequence[str], notes: dict[str, str]) -> None:
    """Note if a release equals the original, or if the control file holds people of the original."""
    notes |= same_note(sum(files.pair.identical(tuple(names))), files.m)
    if files.overlap:
        notes["control"] = f"{_equal(files)}, which makes the residual risk too low"
        if files.control_state == "overlapping":
            notes["residual"] = f"not to be relied on: {_equal(files)}"


# Nearest released records to what an intruder knows; ties are broken at random.


MISSING_RULE = "a missing value is equal to a missing one and as far as can be from any other"
LISTED = 4_000_000  # rows listed per batch
FEW = 2  # from n = FEW * k^2 on, k draws with replacement are mostly distinct


def encode_files(files: AttackFiles, names: Sequence[str], numeric: Sequence[str], j: int) -> tuple[Encoded, ...]:
    """Original, release j (from 0) and control file for Gower's distance on some columns.

    Differences of numbers are divided by the range in these files together. A missing value is 0 from a
    missing one and 1 from any other.
    """
    chosen = [0, j + 1, *([files.m + 1] if files.has_control else [])]
    own = [name for name in names if name in numeric]
    rest = [name for name in names if name not in numeric]
    return gower(
        [[files.numbers(name)[f] for f in chosen] for name in own],
        [[files.codes(name).codes[f] for f in chosen] for name in rest],
    )


def draw_nearest(index: Index, base: Encoded, query: Encoded, k: int, rng: np.random.Generator) -> Ints:
    """The k nearest rows of the base for each query; ties at the k-th distance are broken at random.

    Shape (n, k).

    Examples
    --------
    >>> from sdckit.numerics.search.neighbours import prepare
    >>> base, query = gower([(np.array([0.0, 4.0, 8.0]), np.array([5.0]))])
    >>> draw_nearest(prepare(base), base, query, 1, np.random.default_rng(1)).tolist()
    [[1]]
    """
    nearest = index.nearest(query, k)
    out = np.empty((query.n, k), np.int64)
    if k == 1:
        out[:, 0] = nearest.index
    within = nearest.n_closer + nearest.n_tied
    several = np.flatnonzero(within > 1 if k == 1 else within >= k)
    # equal queries have the same nearest rows: they are listed once
    _, first, of_row, size = np.unique(
        np.column_stack([query.numbers[several], query.codes[several]]), axis=0, return_index=True,
        return_inverse=True, return_counts=True,
    )  # fmt: skip
    members = np.split(several[np.argsort(of_row.ravel(), kind="stable")], np.cumsum(size)[:-1])
    first = several[first]
    for piece in _pieces(np.arange(len(first)), within[first]):
        batch = query.take(first[piece])
        begins, listed = index.lists(batch, k)
        of_query = np.repeat(np.arange(len(piece)), np.diff(begins))
        away = paired(batch.take(of_query), base.take(listed))
        tied = away >= nearest.distance[first[piece], -1][of_query] - nearest.tolerance
        for i, group in enumerate(piece):
            rows, last = (array[begins[i] : begins[i + 1]] for array in (listed, tied))
            closer, equal = rows[~last], rows[last]
            out[members[group], : len(closer)] = closer
            need = k - len(closer)
            out[members[group], len(closer) :] = equal[some_of(len(equal), need, len(members[group]), rng)]
    return out


def some_of(n: int, k: int, times: int, rng: np.random.Generator) -> Ints:
    """Draw k of n without replacement, `times` times independently.

    Shape (times, k).

    Examples
    --------
    >>> sorted(some_of(3, 3, 1, np.random.default_rng(1))[0].tolist())
    [0, 1, 2]
    """
    if n < FEW * k * k:
        return np.argsort(rng.random((times, n)), axis=1)[:, :k]
    drawn = rng.integers(0, n, (times, k))
    while len(again := np.flatnonzero((np.diff(np.sort(drawn, axis=1)) == 0).any(axis=1))):
        drawn[again] = rng.integers(0, n, (len(again), k))
    return drawn


def _pieces(groups: Ints, sizes: Ints) -> Iterator[Ints]:
    """Split queries into pieces whose candidate lists fit into memory (`LISTED` rows each)."""
    if len(groups) == 0:
        return
    yield from np.split(groups, np.flatnonzero(np.diff(np.cumsum(sizes) // LISTED)) + 1)


# Targets of an attack: records of the original and of the control file, also by subgroup.


@dataclass(frozen=True, eq=False)
class Part:
    """The whole file or a subgroup, and which of the attacked records belong to it.

    `labels` are empty for the whole file; the slices are positions among the attacked records of the original and
    of the control file.
    """

    labels: tuple[str, ...]
    members: slice
    others: slice


@dataclass(frozen=True, eq=False)
class Targets:
    """Attacked records: those drawn from the whole file, then those of each subgroup.

    `members` are rows of the original, `others` of the control file (empty without one).
    """

    members: Ints
    others: Ints
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of an attack on one release.

    For each attacked record whether the attack succeeded; for those of the original also the probability that
    guessing succeeds. `more` are further figures of the release.
    """

    members: Bools
    others: Bools
    baseline: Floats
    more: Mapping[str, float] = field(default_factory=dict)


def draw_targets(files: AttackFiles, settings: Options, notes: dict[str, str], *, balanced: bool = False) -> Targets:
    """Draw the records to attack: up to `n_attacks` from the whole file and from each subgroup.

    A note is added if a file has fewer records than attacks asked for; `balanced` draws equally many records from
    the original and from the control file.
    """
    if balanced and settings.n_attacks > (least := min(files.n, files.n_control)):
        notes["n_attacks"] = (
            f"{settings.n_attacks} attacks asked for, the smaller file has {least} records: as many of either file"
        )
    elif settings.n_attacks > files.n:
        notes["n_attacks"] = f"{settings.n_attacks} attacks asked for, {files.n} records there are: all attacked"
    elif files.has_control and settings.n_attacks > files.n_control:
        notes["n_control"] = f"{settings.n_attacks} attacks asked for, the control file has {files.n_control} records"
    pools = [((), np.arange(files.n), np.arange(files.n_control)), *_groups(files, settings.by)]
    ranks = _ranks(files, settings) if settings.by_id else (None, None)
    members: list[Ints] = []
    others: list[Ints] = []
    parts = []
    at = [0, 0]
    for labels, own, control in pools:
        sizes = [min(settings.n_attacks, len(own)), min(settings.n_attacks, len(control))]
        if balanced:
            sizes = [min(sizes)] * 2
        members.append(_drawn(own, sizes[0], ranks[0], settings.rng))
        others.append(_drawn(control, sizes[1], ranks[1], settings.rng))
        parts.append(Part(labels, slice(at[0], at[0] + sizes[0]), slice(at[1], at[1] + sizes[1])))
        at = [at[0] + sizes[0], at[1] + sizes[1]]
    if settings.by_id:
        notes |= drawn_note(len(members[0]), files.n)
    return Targets(np.concatenate(members), np.concatenate(others), tuple(parts))


def _drawn(rows: Ints, k: int, rank: Values | None, rng: np.random.Generator) -> Ints:
    """The k first of some rows by their rank; without ranks k at random."""
    if rank is not None:
        return rows[np.argsort(rank[rows])[:k]]
    return np.sort(rng.choice(rows, k, replace=False)) if k else rows[:0]


def _ranks(files: AttackFiles, settings: Options) -> tuple[Values, Values]:
    """By what originals and people of the control file are drawn: a hash of the id; a number dealt by their values."""
    own = hash_ids(files.pair.original.get_column(str(files.pair.id)), settings.rng.bytes(KEY_BYTES))
    control = np.empty(files.n_control, np.int64)
    if files.others is not None:
        control[files.others] = settings.rng.permutation(files.n_control)
    return own, control


def _groups(files: AttackFiles, by: Sequence[str]) -> list[tuple[tuple[str, ...], Ints, Ints]]:
    if not by:
        return []
    of_row = files.groups(tuple(by)).of_row
    control = of_row[-1] if files.has_control else of_row[0][:0]
    return [
        (labels, np.flatnonzero(of_row[0] == number), np.flatnonzero(control == number))
        for number, labels in files.pair.group_labels(by, control=True).items()
    ]


def attack_releases(
    targets: Targets, files: AttackFiles, attack: Callable[[int], Outcome], settings: Options, notes: dict[str, str],
) -> tuple[tuple[dict[str, float], ...], tuple[Group, ...], tuple[tuple[Ints, Bools], ...]]:  # fmt: skip
    """Attack each release: figures by release and by subgroup, and attacked records with their success."""
    per_release, groups, hits = [], [], []
    for j in range(files.m):
        outcome = attack(j)
        for part in targets.parts:
            own, other = outcome.members[part.members], outcome.others[part.others]
            control = Tally(len(other), float(other.sum())) if files.has_control else None
            base = outcome.baseline[part.members]
            quiet = notes if not part.labels else {}
            figures = attack_rates.rates(
                Tally(len(own), float(own.sum())), float(base.mean()) if len(base) else float("nan"),
                control, settings.level, quiet,
            )  # fmt: skip
            if part.labels:
                groups.append(Group(j + 1, part.labels, figures))
            else:
                per_release.append({**figures, **outcome.more})
                hits.append((targets.members[part.members], own))
    return tuple(per_release), tuple(groups), tuple(hits)


def attack_result(
    kind: type[Kind], files: AttackFiles, per_release: Sequence[dict[str, float]], settings: Options,
    notes: dict[str, str], /, *, rule: str = MISSING_RULE, nothing: str = "", **own: Any,
) -> Kind:  # fmt: skip
    """Build the result of an attack; `nothing` is the verdict if no attack could be made."""
    figures: dict[str, Any] = attack_rates.means(per_release, notes)
    verdict = nothing if nothing and not figures["n_attacks"] else attack_rates.verdict(figures, files.control_state)
    return kind(
        pair=files.pair, per_release=tuple(per_release), missing_rule=rule, notes=notes, **figures, verdict=verdict,
        level=settings.level, by=settings.by, prefix=settings.prefix, control_state=files.control_state,
        n_overlap=files.overlap, **own,
    )  # fmt: skip


def attacked(
    kind: type[Kind], targets: Targets, files: AttackFiles, attack: Callable[[int], Outcome], settings: Options,
    notes: dict[str, str], **own: Any,
) -> Kind:  # fmt: skip
    """Attack the targets in each release and build the result."""
    per_release, groups, hits = attack_releases(targets, files, attack, settings, notes)
    return attack_result(kind, files, per_release, settings, notes, groups=groups, hits=hits, **own)
