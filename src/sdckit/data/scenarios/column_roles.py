"""The roles of the columns that go out: which have one, by name or by a pattern, and of which nobody said anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import households, limits, living_together, methods, nearest, pl
from sdckit.data.columns import code_column, n_single
from sdckit.data.files.file_checks import WITHHELD, may_tell
from sdckit.data.frames import Frame, check_plan_names, collect, in_memory, open_frame
from sdckit.data.households import FINER, SPEAKING, TELLS, RankedColumns, follows_from, rises_with
from sdckit.data.scenarios import numbers_of_people, telling_columns
from sdckit.data.scenarios.guessing.spoken import topics_of_names
from sdckit.data.scenarios.guessing.topics import NAMING, VOCABULARY, topic_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import HOUSEHOLD_VARIABLES, NUMBER_GROUPS, SINGLE, is_pattern, roles_of
from sdckit.data.scenarios.telling_columns import SAYS
from sdckit.data.scenarios.thresholds import SYNTHETIC
from sdckit.display import capital
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Ints

INSENSITIVE, IDENTIFIERS, KEY = "insensitive", "identifiers", "key"
WHOSE = frozenset({"household", "identifier", "person", "id"})  # topics of names that say whose a row is
TO_HAVE_IT_JUDGED = "; name a type of release to have it judged"
# Topics of names that say what others know, or would learn; units of a design and interviewers are areas in disguise.
KNOWN = frozenset({KEY, "coordinate", "sensitive", "event", "group", "design", "body"})
ADDRESS = VOCABULARY["written"]["an e-mail address"][0]
# Topics whose order tells, and those in which members of a household differ.
AMOUNTS = frozenset({"money", "age", "a date of birth", "a birth", "body height", "a body measure"})
PERSONAL = frozenset({"sex or gender", "age", "a date of birth", "a birth"})
AT_HAND = 100_000  # records in which an order, and what is named one by one, is looked at
PREFIXES = range(1, 7)  # first characters of an id that may say of which area it is
LEAST = 5  # values of a column of which most occur once
UNIQUE = 0.05  # from this share of records with a value that occurs once no pattern covers a column
MOST_ASKED = 10_000  # records in which another number is looked for that tells amounts
FOLLOWS = (2, 1.0)  # values of what follows; times as many has what it follows from
SHOWN = 5  # names in one sentence; the rest is only counted
LINKING, NUMBERS = ("id", "ledger.id"), ("numeric", "magnitudes")
TELLS_MORE = "the file may tell more than the roles of its columns say"
GIVE_ONE = 'give each a role (key, sensitive, weight, household, person), or write insensitive = ["..."]'


def numbers_limited(scenario: Scenario) -> bool:
    """Whether a limit on numbers is in force: only then is `numeric` a role, since something looks at the numbers."""
    return any(limits.LIMITS[name].numbers for name in scenario.limits_of(compared=True).declared)


def roles_by_column(
    scenario: Scenario, columns: Sequence[str], share_unique: Mapping[str, float], *, id: str | None = None
) -> dict[str, tuple[str, ...]]:
    """The roles of every column that goes out; none where nobody said what it is.

    Parameters
    ----------
    scenario
        Its entries are the roles: "key", "sensitive", "weight", "household", "person", "identifiers", "ledger.id",
        "insensitive", and "numeric" and "magnitudes" under a limit on numbers (`numbers_limited`). What is ordered, or
        the same for a household, says how a column is read and not what it tells.
    columns
        Of the file that goes out.
    share_unique
        Records with a value that occurs once, as a share of the records, for each column that a pattern covers: from
        5 % on the pattern does not count. A column that is not among them was not looked at, and is not covered; nor is
        one whose name says that it numbers people or households, or names them, nor, unless the pattern says so
        itself, one whose name says what others know of somebody.
    id
        Column that a call names to match rows.

    Examples
    --------
    >>> scenario = Scenario(keys=["sex"], insensitive=["att_*"], insensitive_because="looked through by the office")
    >>> roles_by_column(scenario, ["sex", "att_1", "att_2", "note"], {"att_1": 0.0, "att_2": 0.9})
    {'sex': ('key',), 'att_1': ('insensitive',), 'att_2': (), 'note': ()}
    """
    roles = _named_roles(scenario, id)
    matched = _matched(scenario, columns)
    covered = [
        name
        for name, pattern in matched.items()
        if share_unique.get(name, 1.0) < UNIQUE and not says_whose(name) and not _says_known(name, columns, pattern)
    ]
    roles |= {name: (INSENSITIVE,) for name in (*covered, *scenario.insensitive) if name not in roles}
    return {name: roles.get(name, ()) for name in columns}


def says_whose(name: str) -> bool:
    """Whether a name says that the column numbers people or households, or names them: what links rows to each other.

    >>> [says_whose(name) for name in ("hid", "person_no", "surname", "region", "att_1")]
    [True, True, True, False, False]
    """
    topic = topic_of(name)
    return topic is not None and topic.role in WHOSE


def _says_known(name: str, columns: Sequence[str], pattern: str = "") -> bool:
    """Whether a name, and not its pattern, says what others know of somebody or would learn: a district, a disease.

    So do names of a well-known survey that `columns` are from, those of numbers of people and households included.
    """
    topic = topics_of_names(tuple(columns)).get(name)
    roles = KNOWN if topic_of(name) is not None else KNOWN | WHOSE
    return topic is not None and topic.role in roles and topic_of(pattern) != topic


def _named_roles(scenario: Scenario, id: str | None) -> dict[str, tuple[str, ...]]:
    """Roles given by name, other than insensitive."""
    none = ("ordered", HOUSEHOLD_VARIABLES, NUMBER_GROUPS, *(() if numbers_limited(scenario) else NUMBERS))
    roles: dict[str, tuple[str, ...]] = {} if id is None else {id: ("id",)}
    for given, name in roles_of(scenario):
        role = KEY if given.startswith("intruders.") else given
        if role == "numeric" and name in scenario.magnitudes:  # a magnitude is numeric
            continue
        if role not in (*none, *roles.get(name, ())):
            roles[name] = (*roles.get(name, ()), role)
    return roles


def _matched(scenario: Scenario, columns: Sequence[str]) -> dict[str, str]:
    """Columns that match a pattern and are not named insensitive, each with the longest such pattern."""
    patterns = sorted(filter(is_pattern, scenario.insensitive), key=len)
    texts = {entry: ".*".join(map(re.escape, entry.split("*"))) for entry in patterns}
    matched = {name: entry for entry in patterns for name in columns if re.fullmatch(texts[entry], name, re.DOTALL)}
    return {name: matched[name] for name in columns if name in matched and name not in scenario.insensitive}


def left_to_patterns(scenario: Scenario, columns: Sequence[str], *, id: str | None = None) -> list[str]:
    """The columns that only a pattern covers, so that their values have to be looked at.

    >>> scenario = Scenario(keys=["sex"], insensitive=["*"], insensitive_because="attitudes")
    >>> left_to_patterns(scenario, ["sex", "att_1"])
    ['att_1']
    """
    roles = _named_roles(scenario, id)
    return [name for name in _matched(scenario, columns) if name not in roles]


def shares_unique(frame: Frame, columns: Sequence[str]) -> dict[str, float]:
    """For each column the records with a value that occurs once, as a share of all records; missing is no value.

    Where most of the values that are there occur once, as remarks on few people do, it is their share of these.

    Of a plan, the engine counts the different values of all columns in one pass; a column with few is not looked at
    again, and its share is then one that it does not exceed. A column of lists or structures has no share.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> shares_unique(open_frame(pl.DataFrame({"a": [1, 1, 2, None], "b": [1, 2, 3, 4]})), ["a", "b"])
    {'a': 0.25, 'b': 1.0}
    """
    if not columns:
        return {}
    if isinstance(frame, nw.LazyFrame):
        return _shares_in_engine(frame, columns)
    shares = {}
    for name in columns:
        with suppress(DataError):  # no plain values: nothing can be said of them
            column = frame.get_column(name)
            shares[name] = _share_single(n_single(column), len(column) - column.null_count(), len(column))
    return shares


def _share_single(single: int, there: int, n: int) -> float:
    return single / max(there if 2 * single > there >= LEAST else n, 1)


def _shares_in_engine(plan: nw.LazyFrame[Any], columns: Sequence[str]) -> dict[str, float]:
    check_plan_names(plan, columns)
    counts = [nw.col(name).n_unique().alias(f"sdckit__{place}") for place, name in enumerate(columns)]
    counts += [(~nw.col(name).is_null()).sum().alias(f"sdckit__there{place}") for place, name in enumerate(columns)]
    n, *counted = map(int, collect(plan.select(nw.len().alias("sdckit__n"), *counts)).row(0))
    there = dict(zip(columns, counted[len(columns) :], strict=True))
    shares = {name: _share_single(count, there[name], n) for name, count in zip(columns, counted, strict=False)}
    for name, most in shares.items():
        if most >= UNIQUE:  # only then can so many occur once
            sizes = plan.filter(~nw.col(name).is_null()).group_by(name).agg(nw.len().alias("sdckit__size"))
            once = collect(sizes.filter(nw.col("sdckit__size") == 1).select(nw.len().alias("sdckit__n"))).item()
            shares[name] = _share_single(int(once), there[name], n)
    return shares


# What is said of the columns that go out, and the verdict on it.


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of every column that goes out.

    Attributes
    ----------
    roles : dict of str to tuple of str
        As `roles_by_column`.
    covered : tuple of str
        Columns that a pattern alone makes insensitive.
    too_unique : tuple of str
        Columns that match a pattern, and are not covered: 5 % of the records or more hold a value that occurs once,
        the name says whose row it is, or name or values tell what others know of somebody (`known`).
    because : str
        Who found the covered ones insensitive, and why.
    told : bool
        Whether the names may be told: the first line of a file without a header is a record.
    as_given : tuple of str
        Numbers that an authority or an insurer gave people, and that go out as in the original, not as new ones.
    numbers : tuple of str
        Columns of which the scenario says only that they are numeric or magnitudes.
    known : tuple of str
        Those of `too_unique` whose name or values tell what others know or would learn: see `values_known`.
    finer : tuple of tuple of str
        Columns named insensitive, weights and numbers of households and people, each with a key or magnitude that it
        tells in more detail, and of which it says more than all keys of somebody who knows that one.
    not_judged : tuple of tuple of str and tuple of str
        What leaves the roles open, in words, with the columns that they name: rows and values that tell more than the
        roles say (see `told_by_rows`, `in_order_of`, `values_together`, `is_guessable`).
    """

    roles: Mapping[str, tuple[str, ...]]
    covered: tuple[str, ...] = ()
    too_unique: tuple[str, ...] = ()
    because: str = ""
    told: bool = True
    as_given: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    finer: tuple[tuple[str, str], ...] = ()
    not_judged: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Columns without a role."""
        return tuple(name for name, roles in self.roles.items() if not roles)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Direct identifiers that go out, by their role or as the number of a person."""
        named = (name for name, roles in self.roles.items() if IDENTIFIERS in roles or name in self.as_given)
        return tuple(name for name in named if not {*LINKING} & {*self.roles[name]})

    @property
    def holds(self) -> bool | None:
        """Whether every column has a role and none is a direct identifier; None where a role is missing.

        None, too, where columns, rows or values tell more than the roles say. Who names a column insensitive has looked
        at it.
        """
        return False if self.identifiers else None if self.missing or self._unsaid or self._is_open else True

    @property
    def _is_open(self) -> bool:
        """Whether rows or values tell more than the roles say; of a number named insensitive it is only said."""
        return any(words not in telling_columns.SAID for words, _ in self.not_judged)

    @property
    def _unsaid(self) -> dict[str, str]:
        """Those of `finer` that nobody named insensitive: weights, and numbers of households and people."""
        return {name: key for name, key in self.finer if {*SINGLE} & {*self.roles.get(name, ())}}

    @property
    def words(self) -> str:
        """What is said of columns: those that may not go out or have no role, what is open, or that all have one."""
        sentences = []
        if names := self.identifiers:
            start = "a direct identifier goes out" if len(names) == 1 else "direct identifiers go out"
            sentences.append(f"{start}: {self._listed(names)}")
        if self.missing:
            sentences.append(f"nobody said what these columns are: {self._listed(self.missing)}; {GIVE_ONE}")
        if self.too_unique:
            named = ", or the name says whose row it is" if any(map(says_whose, self.too_unique)) else ""
            if self.known:
                named = ", the name says whose row it is, or name or values tell what others know of a person, "
                named += "or would learn"
            sentences.append(
                f"no pattern covers {self._listed(self.too_unique)}, since many of the values occur once{named}: name "
                "each in insensitive, or give it another role"
            )
        if self.as_given and len(sentences) == 1:
            sentences.append(f"{methods.ADVICE['persons']}")
        if not sentences and (self._unsaid or self._is_open):  # what is open, and not that nothing is
            sentences.append(f"{TELLS_MORE}{self._covered_words}")
        return ("; ".join(sentences) or f"every column that goes out has a role{self._covered_words}") + self._further

    @property
    def _further(self) -> str:
        """Further sentences: on numbers without a role, what is named insensitive, and on what was not judged."""
        sentences = [SAYS["only_numbers"].format(self._listed(self.numbers))] if self.numbers else []
        named = {name: key for name, key in self.finer if name not in self._unsaid}
        for words, keys in ((SAYS["told_named"], named), (SAYS["told_finer"], self._unsaid)):
            if keys:
                sentences.append(words.format(self._listed([*dict.fromkeys(keys.values())]), self._listed([*keys])))
        sentences += [words.format(self._listed(names)) for words, names in self.not_judged]
        return "".join(f". {sentence}" for sentence in sentences)

    @property
    def _covered_words(self) -> str:
        n = len(self.covered)
        columns = f"{n:,} column{'s' if n != 1 else ''} of {len(self.roles):,}"
        return f"; {columns} covered by a pattern as insensitive: {self.because.strip().rstrip('.')}" if n else ""

    @property
    def line(self) -> str:
        """What a document says where no type of release asks for roles; "" where every column has one by name."""
        n = len(self.missing)
        columns = "1 column that goes out has" if n == 1 else f"{n:,} columns that go out have"
        lacking = f"{columns} no role: {self._listed(self.missing)}{TO_HAVE_IT_JUDGED}{self._further}."
        said = self.covered or self.identifiers or self.finer or self.not_judged
        return lacking if n else f"{capital(self.words)}." if said else ""

    @property
    def shown(self) -> dict[str, tuple[str, ...]]:
        """The roles by column; without the columns whose names may not be told."""
        return {name: roles for name, roles in self.roles.items() if self.told or {*roles} - {INSENSITIVE}}

    def _listed(self, names: Sequence[str]) -> str:
        if not self.told:
            return f"{len(names):,} column{'s' if len(names) != 1 else ''} ({WITHHELD})"
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        return ", ".join(f"'{name}'" for name in names[:SHOWN]) + more


def look_at_columns(
    scenario: Scenario, frames: Iterable[Frame], *, id: str | None = None, original: Frame | None = None
) -> ColumnRoles:
    """What a scenario says of the columns of the files that go out, taken together, made from an original."""
    columns: dict[str, None] = {}
    shares: dict[str, float] = {}
    given, known = list[str](), list[str]()
    finer: dict[str, str] = {}
    not_judged: dict[str, dict[str, None]] = {}
    told = (*scenario.all_keys, *scenario.magnitudes)
    learnt = (*told, *scenario.sensitive)
    of_original = None if original is None else RankedColumns.of(_at_hand(original))
    for frame in frames:
        names = frame.collect_schema().names()
        columns |= dict.fromkeys(names)
        matched = left_to_patterns(scenario, names, id=id)
        for name, share in shares_unique(frame, matched).items():
            shares[name] = max(share, shares.get(name, 0.0))
        known += values_known(frame, [name for name in matched if shares.get(name, 1.0) < UNIQUE], learnt)
        first = in_memory(frame.head(AT_HAND))
        ranked = whole = RankedColumns.of(first)
        some, ranked_some = first, ranked
        if not isinstance(frame, nw.LazyFrame) and len(frame) > AT_HAND:
            some = _at_hand(frame)
            whole, ranked_some = RankedColumns.of(frame), RankedColumns.of(some)
        known += telling_columns.parts_of_keys(ranked_some, matched, told)
        with_homes = whole if of_original is None or scenario.household in names else of_original
        numbering = living_together.of_homes(with_homes, (*matched, *scenario.insensitive), scenario.household)
        numbering = [name for name in numbering if name in names]
        numbering += living_together.of_groups(whole, (*matched, *scenario.insensitive))
        known += [name for name in numbering if name in matched]
        steps = telling_columns.in_steps(ranked_some, (*matched, *scenario.insensitive), learnt)
        steps += _since(some, scenario, (*matched, *scenario.insensitive), told)
        known += [name for name, _ in steps if name in matched]
        finer |= {name: key for name, key in steps if name not in matched}
        finer |= _named_finer(some, ranked_some, scenario, told)
        told_besides = _told_besides(scenario, first, ranked, whole, matched, id)
        if named := [name for name in numbering if name not in matched]:
            told_besides[SAYS["of_homes"]] = named
        for words, of_words in told_besides.items():
            not_judged[words] = not_judged.get(words, {}) | dict.fromkeys(of_words)
        if original is not None and of_original is not None:
            given += _as_given(scenario, original, frame)
            own, ranked_own = _with_new_columns(scenario, original, (of_original, ranked_some))
            for words, of_words in _told_beside(scenario, (own, frame), (ranked_own, ranked_some), told).items():
                not_judged[words] = not_judged.get(words, {}) | dict.fromkeys(of_words)
    shares |= dict.fromkeys(known, 1.0)
    made = _of_columns(scenario, list(columns), shares, id=id, known=known)
    return replace(
        made, as_given=tuple(dict.fromkeys(given)), finer=tuple(finer.items()),
        not_judged=tuple((words, (*of_words,)) for words, of_words in not_judged.items()),
    )  # fmt: skip


def _at_hand(frame: Frame) -> Any:
    """Records of all parts of a file, of a plan the first ones."""
    if isinstance(frame, nw.LazyFrame) or len(frame) <= AT_HAND:
        return in_memory(frame.head(AT_HAND))
    return frame.gather_every(len(frame) // AT_HAND + 1)


def _told_besides(
    scenario: Scenario, first: Any, ranked: RankedColumns, whole: RankedColumns, matched: Sequence[str], id: str | None
) -> dict[str, Sequence[str]]:
    """What rows and values tell beyond the roles of their columns, in words, and by which columns.

    `first`: the first records, and as `ranked`; `whole`: all of them, but of a plan the first. `matched`: columns that
    a pattern covers.
    """
    kinds = first.collect_schema()
    names = kinds.names()
    free, amounts = (*scenario.insensitive, *matched), _amounts(scenario, first)
    told: dict[str, Sequence[str]] = {
        SAYS["nested"]: [name for name, kind in kinds.items() if kind.is_nested()],
        SAYS["rows_in_order"]: households.in_order_of(ranked, amounts),
        SAYS["guessable"]: numbers_of_people.guessable_numbers([scenario.person, scenario.household, id, *free], first),
        SAYS["numbered_in_order"]: numbers_of_people.numbers_in_order(
            whole, [scenario.person, id], free, amounts=amounts, homes=scenario.household in names
        ),
    }
    told[SAYS["nearly_told"]] = _nearly_told(scenario, first, ranked)
    named = [name for name in scenario.insensitive if name in names]
    told[SAYS["put_together"]] = telling_columns.put_together(whole, filter(says_whose, named))
    told[SAYS["different"]] = telling_columns.named_alone(whole, named)
    plain = [name for name in named if not kinds[name].is_float()]  # large amounts are no numbers of people
    told[SAYS["written"]] = values_known(first.head(numbers_of_people.FIRST), plain, ())
    told[SAYS["fewer_people"]] = telling_columns.fewer_people(whole, free, scenario.sampling_fraction)
    told[SAYS["replicates"]] = telling_columns.replicates_covered(ranked, _matched(scenario, matched))
    units = [whole.series(str(name)) for name in (scenario.household, scenario.person) if name in names]
    if all(map(numbers_of_people.tells_apart, units)):  # such a number puts nobody together
        told[SAYS["rows_together"]], told[SAYS["rows_in_stretches"]] = households.told_by_rows(ranked)
        topics = {name: topic for name in names if (topic := topic_of(name)) is not None}
        personal = [name for name, topic in topics.items() if topic.name in PERSONAL]
        told[SAYS["values_together"]] = living_together.values_together(
            whole, keys=scenario.all_keys, personal=personal, weight=scenario.weight
        )
    return {words: of_words for words, of_words in told.items() if of_words}


def values_known(frame: Frame, columns: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Those of some columns whose values tell what others know: a direct identifier, or a key in more detail.

    A finer one has more values than the key, all but few of which go with one value of it each: years of age beside
    age groups, districts beside regions, codes of the areas that were drawn. Whoever knows the key mostly knows it, and
    no figure by the keys counts it. Of a plan the engine counts, once the first records do not speak against it.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> ages = pl.DataFrame({"age": ["0-19", "20-39", "40-59"] * 200, "v1": [7, 33, 52, 9, 28, 47] * 100})
    >>> values_known(open_frame(ages), ["v1"], ["age"])
    ['v1']
    """
    kinds = frame.collect_schema()
    texts = [name for name in columns if kinds[name] in (nw.String, nw.Categorical, nw.Enum)]
    numbers = [name for name in columns if kinds[name].is_numeric()]
    finer = dict(_finer(frame, columns, keys))
    asked = [nw.col(name).cast(nw.String).str.contains(ADDRESS).cast(nw.Int8).max().alias(name) for name in texts]
    asked += [(nw.col(name).max() >= 10**telling_columns.LONG).alias(name) for name in numbers]
    answers = dict(zip((*texts, *numbers), in_memory(frame.select(asked)).row(0) if asked else (), strict=True))
    addresses = {name for name in texts if answers[name]}
    left = [name for name in (*texts, *numbers) if name not in finer and (name in texts or answers[name])]
    some = in_memory(frame.select(left).head(AT_HAND)) if {*left} - addresses else frame
    return [
        *finer,
        *(name for name in left if name in addresses or telling_columns.written_directly(some[name].drop_nulls())),
    ]


def _finer(
    frame: Frame, columns: Sequence[str], keys: Sequence[str], ranked: RankedColumns | None = None,
    least: tuple[int, float] = (TELLS, FINER),
) -> list[tuple[str, str]]:  # fmt: skip
    """Those of some columns that tell a key in more detail, each with every such key, the first one last."""
    kinds = frame.collect_schema()
    plain, present = (
        [name for name in names if name in kinds and not kinds[name].is_nested()] for names in (columns, keys)
    )
    if not (plain and present):
        return []
    check_plan_names(frame, (*plain, *present))
    names = dict.fromkeys((*plain, *present))
    at_hand = None if ranked is None else ranked.head(numbers_of_people.FIRST)
    codes = {name: at_hand.ranks(name) - 1 for name in names if at_hand is not None and name in at_hand.names}
    if left := [nw.col(name) for name in names if name not in codes]:
        first = in_memory(frame.select(left).head(numbers_of_people.FIRST))
        codes |= {own.name: np.where(own.is_null().to_numpy(), -1, _numbered(own)) for own in first.iter_columns()}

    def tells(name: str, key: str) -> bool:
        some, seen = telling_columns.pairs_of(codes[name], codes[key]), numbers_of_people.FIRST
        if ranked is not None and {name, key} <= {*ranked.names} and telling_columns.could_tell(some, least[0]):
            some, seen = telling_columns.pairs_of(ranked.ranks(name) - 1, ranked.ranks(key) - 1), ranked.n
        if not telling_columns.could_tell(some, least[0]):
            return False
        if not isinstance(frame, nw.LazyFrame):
            if len(frame) <= seen:
                return telling_columns.tells(some, least)
            if len(frame) - frame.get_column(name).n_unique() < SPEAKING:
                return False  # one record says nothing
        return telling_columns.tells(_counted_pairs(frame, name, key), least)

    return [(name, key) for name in plain for key in reversed(present) if key != name and tells(name, key)]


def _with_new_columns(
    scenario: Scenario, original: Frame, files: tuple[RankedColumns, RankedColumns]
) -> tuple[Frame, RankedColumns]:
    """An original with the columns that only the release has, where its rows are said to be those of the original."""
    before, after = files
    new = [name for name in after.names if name not in before.names]
    if isinstance(original, nw.LazyFrame) or len(original) > before.n:  # looked at in part
        return original, before
    if not (new and scenario.aligned and before.n == after.n):
        return original, before
    both = {name: own.series(name) for own, names in ((before, before.names), (after, new)) for name in names}
    frame = open_frame(pl.DataFrame(both))
    return frame, RankedColumns.of(frame)


def _since(frame: Any, scenario: Scenario, names: Sequence[str], keys: Sequence[str]) -> list[tuple[str, str]]:
    """Those of some whole numbers that tell a key in more detail by the time of a row: an age, of a year of birth.

    Not a key that the time, or the number, tells by itself.
    """
    kinds, time = frame.collect_schema(), str(scenario.time)
    if scenario.time is None or time not in kinds or not kinds[time].is_numeric():
        return []
    since = {
        f"sdckit__{place}": name
        for place, name in enumerate(dict.fromkeys(names))
        if name in kinds and kinds[name].is_numeric() and (frame[name] % 1 == 0).all()
    }
    coded = frame.with_columns((nw.col(time) - nw.col(name)).alias(own) for own, name in since.items())
    alone = _finer(frame, [time, *since.values()], keys, least=FOLLOWS)
    left = [key for key in keys if (time, key) not in alone and key != time]
    pairs = [(since[own], key) for own, key in _finer(coded, [*since], left)]
    return [(name, key) for name, key in pairs if name != key and (name, key) not in alone]


def _told_beside(
    scenario: Scenario, files: tuple[Frame, Frame], ranks: tuple[RankedColumns, RankedColumns], told: Sequence[str]
) -> dict[str, list[str]]:
    """What columns tell of others as they were in the original, in words, and by which columns.

    `files`, `ranks`: the original and what goes out. `told`: keys and magnitudes.
    """
    learnt = (*told, *scenario.sensitive)
    names = dict.fromkeys((*scenario.insensitive, *left_to_patterns(scenario, ranks[1].names)))
    free, known = ([name for name in some if all(name in own.names for own in ranks)] for some in (names, learnt))
    pairs = _following(files[0], ranks[0], free, known)
    beside = {SAYS["told_before"]: _told_before(files[1], ranks[1], [pair for pair in pairs if pair[0] in told])}
    if scenario.release == SYNTHETIC:
        numbers = [name for name in (scenario.person, scenario.household) if name is not None]
        beside[SAYS["of_others"]] = [name for name in numbers if numbers_of_people.are_of_original(*files, name)]
    else:
        keys, also = ([name for name in own if name in known] for own in (scenario.all_keys, scenario.sensitive))
        beside[SAYS["told_before"]] += _told_before(files[1], ranks[1], _following(files[0], ranks[0], also, keys))
        before = beside[SAYS["told_before"]]
        between = telling_columns.between_two(*ranks, free, scenario.all_keys)
        before += [name for name in between if name not in before]
        if not any(isinstance(file, nw.LazyFrame) or len(file) > AT_HAND for file in files):
            beside[SAYS["by_exact"]] = households.rows_by_exact(*ranks, learnt)
        beside[SAYS["restored"]] = telling_columns.restores_rows(*ranks, free)
        beside[SAYS["left_out"]] = _tell_left_out(files, ranks, learnt, free)
        gone = [name for name in scenario.identifiers if name in ranks[0].names and name not in ranks[1].names]
        beside[SAYS["left_out"]] += telling_columns.mirror(ranks[0], free, gone)
        left = [name for name in free if name not in beside[SAYS["left_out"]]]
        beside[SAYS["made_of"]] = telling_columns.made_of(*ranks, left, gone)
        whose = (scenario.person, scenario.household, *names)
        beside[SAYS["guessable"]] = numbers_of_people.digests_of_original(*ranks, whose)
        learnt_before = _told_before(files[1], ranks[1], [pair for pair in pairs if pair[0] not in told])
        said = {*learnt_before, *(name for own in beside.values() for name in own)}
        left = [name for name in free if name not in said]
        sums = dict.fromkeys((*scenario.sensitive, *scenario.magnitudes))
        learnt_before += telling_columns.tell_in_groups(*ranks, left, sums, scenario.all_keys)
        beside[SAYS["learnt_before"]] = learnt_before
        beside[SAYS["beyond"]] = telling_columns.tell_ends(*ranks, [pair for pair in pairs if pair[1] in left])
        if scenario.household in ranks[0].names:
            amounts = [name for name in learnt if name in ranks[0].names]
            long = [not isinstance(file, nw.LazyFrame) and len(file) > AT_HAND for file in files]
            whole = [RankedColumns.of(file) if of else own for file, own, of in zip(files, ranks, long, strict=True)]
            home = str(scenario.household)
            beside[SAYS["of_members"]] = telling_columns.tell_members(whole, left, amounts, household=home)
            beside[SAYS["of_mates"]] = telling_columns.of_mates(whole, left, amounts, household=home)
    return {words: own for words, own in beside.items() if own}


def _following(
    original: Frame, ranked: RankedColumns, free: Sequence[str], known: Sequence[str]
) -> list[tuple[str, str]]:  # fmt: skip
    """Each known column of an original with the free ones that follow from it.

    Whoever knows the true age knows a flag of 65 and more. Numbers of which few are alike tell it by their order.
    """
    pairs = _finer(original, known, free, ranked, FOLLOWS)
    return pairs + [(key, name) for key in known for name in free if _tell(ranked, name, key)]


def _tell(columns: RankedColumns, name: str, key: str) -> bool:
    return 2 * columns.ranks(key).max() > columns.n and rises_with(columns, key, name, FOLLOWS)


def _told_before(released: Frame, ranked: RankedColumns, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Those of some columns that follow from a known one as it was, and not from what goes out of it."""
    return [
        name
        for key, name in pairs
        if not _finer(released, [key], [name], ranked, FOLLOWS) and not _tell(ranked, name, key)
    ]


def _tell_left_out(
    files: tuple[Frame, Frame], ranks: tuple[RankedColumns, RankedColumns], told: Sequence[str], free: Sequence[str]
) -> list[str]:
    """Columns that tell a key, a magnitude or a sensitive column that does not go out: classes of pay without it.

    Not where they were made coarser themselves, or what goes out tells as much. `files`, `ranks`: the original and it.
    """
    kept = [name for name in free if 2 * ranks[1].ranks(name).max(initial=0) > ranks[0].ranks(name).max(initial=0)]
    gone = [name for name in told if name in ranks[0].names and name not in files[1].collect_schema()]
    if not (kept and gone):
        return []
    telling = [name for _, name in _finer(files[0], gone, kept, ranks[0], FOLLOWS)]
    telling += telling_columns.tell_left_out(ranks[0], kept, gone)
    going = [name for name in told if name in ranks[1].names]
    return [name for name in dict.fromkeys(telling) if not _finer(files[1], going, [name], ranks[1], FOLLOWS)]


def _named_finer(frame: Any, ranked: RankedColumns, scenario: Scenario, told: Sequence[str]) -> dict[str, str]:
    """The columns named insensitive, weights, and beginnings of ids that tell keys and magnitudes in more detail.

    What is counted as a key or a magnitude itself is not among them, nor what follows from the keys of everybody who
    knows the one that it tells, such as weights by cells of these, nor weights of single households whose number goes
    out: nobody is found by it. Of a long file some records are looked at, of a plan its first ones.
    """
    kinds = frame.collect_schema()
    counted = {*scenario.all_keys, *(scenario.magnitudes if numbers_limited(scenario) else ())}
    named = [name for name in (*scenario.insensitive, scenario.weight or "") if name in kinds and name not in counted]
    ids = [name for name in (scenario.household, scenario.person) if name is not None and name in kinds]
    begins = {
        f"sdckit__{name}{length}": name
        for name in ids
        if not (kinds[name].is_float() or kinds[name].is_nested())
        for length in PREFIXES
    }
    texts = [nw.col(name).cast(nw.String).str.head(int(begin[-1])).alias(begin) for begin, name in begins.items()]
    coded = frame.with_columns(texts) if texts else frame
    # What nearly every number begins with is the number: of a person it tells all that never changes.
    begun = [begin for begin, name in begins.items() if FINER * coded[begin].n_unique() <= coded[name].n_unique()]
    pairs = _finer(coded, [*named, *begun], told, ranked)
    numbers = [name for name in named if name not in dict(pairs) and kinds[name].is_numeric()]
    amounts = [name for name in told if name in kinds and kinds[name].is_numeric()]
    pairs += [(name, own) for name in numbers for own in amounts if name != own and rises_with(ranked, name, own)]
    whole = RankedColumns.of(coded) if texts else ranked
    return {begins.get(name, name): key for name, key in pairs if not _is_known(whole, scenario, name, key)}


def _is_known(columns: RankedColumns, scenario: Scenario, name: str, key: str) -> bool:
    """Whether a column that tells a key tells nobody apart who is not by all keys of everybody who knows this one.

    Or by the number of a household or a person that goes out: a weight that no other household has tells all that its
    members share, and so does the number, unless the weights of single households tell it, too.
    """
    known = [[own for own in keys if own in columns.names] for keys in scenario.intruders.values() if key in keys]
    if known and all(follows_from(columns, name, keys) for keys in known):
        return True
    for unit in (scenario.household, scenario.person):
        if unit in columns.names and follows_from(columns, name, [str(unit)]):
            once = columns.at(np.unique(columns.ranks(str(unit)), return_index=True)[1])
            pairs = telling_columns.pairs_of(once.ranks(name) - 1, once.ranks(key) - 1)
            if not (telling_columns.tells(pairs, (TELLS, FINER)) or rises_with(once, name, key)):
                return True
    return False


def _amounts(scenario: Scenario, frame: Any) -> list[str]:
    """Keys, sensitive columns and magnitudes that are amounts, whose order tells how much."""
    kinds = frame.collect_schema()
    said = {*scenario.magnitudes, *scenario.numeric, *scenario.ordered}
    named = dict.fromkeys((*scenario.all_keys, *scenario.sensitive, *scenario.magnitudes))
    topics = {name: topic_of(name) for name in named if name in kinds}
    return [
        name
        for name, topic in topics.items()
        if name in said or kinds[name].is_float() or (topic is not None and topic.name in AMOUNTS)
    ]


def _nearly_told(scenario: Scenario, frame: Any, ranked: RankedColumns) -> list[str]:
    """The numbers that tell amounts of which some were taken out, or sensitive ones that were made coarser."""
    kinds = frame.collect_schema()
    free = (*scenario.insensitive, *left_to_patterns(scenario, kinds.names()), scenario.weight or "")
    said = (*free, *scenario.sensitive, *scenario.all_keys, *scenario.magnitudes)
    numbers = dict.fromkeys(name for name in said if name in kinds and kinds[name].is_numeric())
    first, learnt = ranked.head(MOST_ASKED), {*scenario.sensitive, *scenario.magnitudes, *scenario.all_keys}
    gone = [name for name in numbers if name in learnt and not first.ranks(name).all()]
    near = {name for name in numbers for amount in gone if name != amount and households.is_near(first, name, amount)}
    coarse = [name for name in scenario.sensitive if name in numbers]
    rising = {name for name in {*numbers} - learnt for amount in coarse if rises_with(first, name, amount)}
    return [name for name in numbers if name in near | rising]


def _counted_pairs(frame: Frame, name: str, key: str) -> telling_columns.Pairs:
    """The pairs that all records have, as the engine counts them."""
    counted = in_memory(frame.select(name, key).drop_nulls().group_by(name, key).agg(nw.len().alias("sdckit__n")))
    return _numbered(counted[name]), _numbered(counted[key]), counted["sdckit__n"].to_numpy()


def _numbered(column: Any) -> Ints:
    """The number of each record's value among those that occur."""
    return np.unique(code_column(column).codes(), return_inverse=True)[1]


def _as_given(scenario: Scenario, original: Frame, released: Frame) -> list[str]:
    """Numbers of authorities and insurers that say whose rows these are, some of which a release has unchanged."""
    files = (original, released)
    official = [
        name
        for name in filter(None, (scenario.person, scenario.household))
        if (topic := topic_of(name)) is not None and topic.name in NAMING
        and all(name in (kinds := file.collect_schema()) and not kinds[name].is_nested() for file in files)
    ]  # fmt: skip
    return [name for name in official if numbers_of_people.have_some_alike(original, released, name)]


def check_insensitive(scenario: Scenario, columns: Sequence[str], *, certain: bool = True) -> None:
    """Raise where a column named insensitive is not among those of the files; a pattern may cover none.

    `certain` is that of the files' headers.
    """
    for name in scenario.insensitive:
        if not is_pattern(name) and name not in columns:
            told = may_tell(columns, scenario.columns, certain=certain)
            near = nearest.did_you_mean(name, columns) if told else WITHHELD
            raise ColumnError(
                f"the file has no column '{name}' (declared as insensitive); {near}", argument=INSENSITIVE
            )


def among_columns(
    known: ColumnRoles, scenario: Scenario, columns: Sequence[str], *, id: str | None = None, certain: bool = True
) -> ColumnRoles:
    """The same with all columns of the files, of which only some were read: every one that a pattern may cover.

    `certain` is that of the files' headers.
    """
    made = _of_columns(scenario, columns, dict.fromkeys(known.covered, 0.0), id=id, known=known.known, certain=certain)
    return replace(made, as_given=known.as_given, finer=known.finer, not_judged=known.not_judged)


def _of_columns(
    scenario: Scenario, columns: Sequence[str], shares: Mapping[str, float], *, id: str | None,
    known: Sequence[str] = (), certain: bool = True,
) -> ColumnRoles:  # fmt: skip
    roles = roles_by_column(scenario, columns, shares, id=id)
    matched = left_to_patterns(scenario, columns, id=id)
    numbers = dict.fromkeys((*scenario.numeric, *scenario.magnitudes))
    return ColumnRoles(
        roles, tuple(name for name in matched if roles[name]), tuple(name for name in matched if not roles[name]),
        scenario.insensitive_because, may_tell(columns, scenario.columns, certain=certain),
        numbers=tuple(name for name in numbers if not roles.get(name, KEY)),
        known=tuple(name for name in matched if not roles[name] and (name in known or _says_known(name, columns))),
    )  # fmt: skip
