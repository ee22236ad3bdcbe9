"""B1: which variables are matched for equality, which by an interval, and how a missing value counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells import number_columns, parted_pair
from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.cells.plans.lazy import TooMuchError
from sdckit.data import arguments, columns, frames, memory, nearest
from sdckit.data.missing_values.missing import MissingRule, Rule
from sdckit.data.scenarios.matching import Matching
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError

DEFAULT_WIDTH = 0.10
Role = Literal["known", "synthetic"]
Values = Literal["decimals", "many", "floats", "codes", "new"]  # whole numbers, but for the first


@dataclass(frozen=True)
class MatchedVariable:
    """How one variable was matched.

    Attributes
    ----------
    name : str
    role : str
        "known" (left as it was) or "synthetic" (replaced or perturbed).
    kind : str
        "number" or "category".
    width : float or None
        Half the length of the interval; None where values must be equal.
    relative : bool
        Whether the width is a share of the value.
    open : bool
        Whether the ends of the interval do not match.
    around : str
        Which value the interval is around: "original" or "released".
    together : bool
        Whether all synthetic numbers together lie within a radius of `width` standard deviations.
    """

    name: str
    role: Role
    kind: Literal["number", "category"]
    width: float | None = None
    relative: bool = False
    open: bool = False
    around: str = "original"

    together: bool = False

    @property
    def matched(self) -> str:
        """The same in words.

        Examples
        --------
        >>> MatchedVariable("income", "synthetic", "number", 0.1, True).matched
        'within ± 10 % of the value'
        """
        if self.together:
            ends = "below" if self.open else "at most"
            return f"together with other numbers, {ends} {self.width:g} standard deviations off"
        if self.width is None or (not self.width and not self.open):
            return "exactly"
        value = "the released value" if self.around == "released" else "the value"
        ends = ", without the ends" if self.open else ""
        if self.relative:
            return f"within ± {100 * self.width:g} % of {value}{ends}"
        return f"within ± {self.width:,g} of {value}{ends}"

    @property
    def stated(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "name": self.name, "role": self.role, "kind": self.kind, "width": self.width,
            "relative": self.relative if self.width is not None else None, "matched": self.matched,
        }  # fmt: skip


@dataclass(frozen=True)
class MatchBy:
    """The matching rule: variables by role, the numeric ones among them with their widths, the missing rules.

    `widths` are those of the intervals of numeric variables that have one, and whether they are relative; the other
    variables are matched for equality.
    """

    known: tuple[str, ...]
    synthetic: tuple[str, ...]
    numeric: tuple[str, ...]
    widths: dict[str, tuple[float, bool]]
    rules: dict[str, Rule]

    @property
    def names(self) -> tuple[str, ...]:
        """All variables."""
        return self.known + self.synthetic

    @property
    def equal(self) -> tuple[str, ...]:
        """Variables matched for equality."""
        return tuple(name for name in self.names if name not in self.widths)

    @property
    def in_words(self) -> str:
        """How missing values are treated, in words."""
        wild = [name for name in self.names if self.rules[name] == "wildcard"]
        if not wild:
            return "a missing value matches a missing value only"
        if len(wild) == len(self.names):
            return "a missing value matches any value"
        return f"a missing value of {', '.join(wild)} matches any value, another one a missing value only"


def match_by(
    *, known: Sequence[str], synthetic: Sequence[str], numeric: Sequence[str],
    width: float | Sequence[float] | Mapping[str, float], relative: bool | Sequence[bool] | Mapping[str, bool],
    missing: MissingRule | None, scenario: Scenario | None, exact: Sequence[str] = (),
) -> MatchBy:  # fmt: skip
    """Check the arguments that name the variables rows are matched by.

    `exact` are known variables that only a dict `width` gives an interval.

    Examples
    --------
    >>> found = match_by(
    ...     known=["sex", "age"], synthetic=["income"], numeric=["age", "income"], width=0.1, relative=True,
    ...     missing=None, scenario=None,
    ... )
    >>> found.equal, found.widths
    (('sex',), {'age': (0.1, True), 'income': (0.1, True)})
    """
    scenario = arguments.scenario_or_none(scenario)
    fixed, made = arguments.names(known, "known") or (), arguments.names(synthetic, "synthetic") or ()
    numbers = arguments.names(numeric, "numeric") or ()
    if not fixed and not made:
        if scenario is None:
            words = "known=[...] names those left as they were, synthetic=[...] those that were replaced"
            raise DataError(f"no variable to match by: {words}", argument="known")
        keys = resolve_roles(scenario=scenario).keys
        numbers = numbers or tuple(name for name in keys if name in scenario.numeric)
        fixed, made = tuple(name for name in keys if name not in numbers), numbers
    if both := [name for name in fixed if name in made]:
        words = f"{both[0]!r} is known and synthetic; a variable was either left as it was or replaced"
        raise ColumnError(words, argument="synthetic")
    names = fixed + made
    for role, listed in {"numeric": numbers, "width": width, "relative": relative}.items():
        for name in listed if isinstance(listed, (tuple, Mapping)) else ():
            if name not in names:
                words = f"{role}: {name!r} is neither known nor synthetic; {nearest.did_you_mean(str(name), names)}"
                raise ColumnError(words, argument=role)
    listed_numbers = [name for name in names if name in numbers and name not in exact]
    width = _by_name(width, listed_numbers, "width")
    relative = _by_name(relative, listed_numbers, "relative")
    if isinstance(width, Mapping):
        numbers = tuple(dict.fromkeys([*numbers, *width]))  # who gives a width says that it is a number
    with_width = width if isinstance(width, Mapping) else listed_numbers
    if bare := [name for name in made if name in numbers and name not in with_width]:
        words = f"width names no width for {bare[0]!r}, a synthetic numeric variable; 0 asks for equality"
        raise DataError(words, argument="width")
    rules = resolve_roles(scenario=scenario, keys=names, missing=missing, default_missing="category").rules
    if not isinstance(width, Mapping):
        _number(width)
    return MatchBy(
        fixed, made, numbers,
        {name: (_number(width, name), _is_relative(relative, name)) for name in names if name in with_width},
        dict(zip(names, rules, strict=True)),
    )  # fmt: skip


def _by_name(given: Any, names: Sequence[str], argument: str) -> Any:
    """Turn a list into a mapping by name, in the order of the numbers; pass other values through."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, (Sequence, np.ndarray)):
        return given
    if len(given) != len(names):
        words = f"{argument} lists {len(given)} for {len(names)} numbers ({', '.join(names) or 'none'})"
        raise DataError(f"{words}; give one for each, known ones first", argument=argument)
    values = (value.item() if isinstance(value, np.generic) else value for value in given)
    return dict(zip(names, values, strict=True))


def refuse_with_radius(width: Any, relative: Any, missing: Any) -> None:
    """Refuse arguments that have no meaning for matching within a radius.

    Raises `DataError`: several widths, one that is relative, or missing values that match any.
    """
    if width is not None and not columns.is_number(width):
        raise DataError("width is one number of standard deviations where distance='euclidean'", argument="width")
    if relative is not None:
        words = "relative says nothing where distance='euclidean': the width is in standard deviations"
        raise DataError(words, argument="relative")
    rules = missing.values() if isinstance(missing, Mapping) else [missing]
    if "wildcard" in rules:
        words = "missing='wildcard' gives no distance; choose 'category' where distance='euclidean'"
        raise DataError(words, argument="missing")


def matched_variables(by: MatchBy, *, bounds: str, around: str, distance: str = "box") -> tuple[MatchedVariable, ...]:
    """Describe for each variable how it is matched.

    Examples
    --------
    >>> by = MatchBy(("sex",), ("age",), ("age",), {"age": (2.0, False)}, {})
    >>> [one.matched for one in matched_variables(by, bounds="closed", around="original")]
    ['exactly', 'within ± 2 of the value']
    """
    variables = []
    for name in by.names:
        role: Role = "known" if name in by.known else "synthetic"
        if name in by.widths:
            width, relative = by.widths[name]
            ball = distance == "euclidean"
            interval = (width, relative and not ball, bounds == "open", around)
            variables.append(MatchedVariable(name, role, "number", *interval, together=ball))
        else:
            variables.append(MatchedVariable(name, role, "number" if name in by.numeric else "category"))
    return tuple(variables)


def _number(width: Any, name: str = "") -> float:
    half_width = width[name] if isinstance(width, Mapping) else width
    which = f"of {name!r} " if isinstance(width, Mapping) else ""
    return arguments.amount(half_width, "width", f"{which}is half the length of an interval")


def _is_relative(relative: Any, name: str) -> bool:
    if isinstance(relative, Mapping):
        if name not in relative:
            words = f"relative says nothing of {name!r}; name every variable with a width, or give one value"
            raise DataError(words, argument="relative")
        relative = relative[name]
    says = "is True where a width is a share of the value, False where it is in its unit"
    return arguments.flag(relative, "relative", says)


def target_rows(rows: Any, n: int) -> NDArray[np.int64]:
    """Positions, from 0, of the records that are looked for.

    Examples
    --------
    >>> target_rows([3, 1], 3).tolist(), target_rows([False, True, True], 3).tolist()
    ([2, 0], [1, 2])
    """
    if rows is None:
        return np.arange(n, dtype=np.int64)
    given = np.asarray(rows)
    if given.dtype == np.bool_ and given.shape == (n,):
        positions = np.flatnonzero(given)
    elif given.dtype == np.bool_:
        raise DataError(f"rows= as true and false needs one value for each of the {n} records", argument="rows")
    elif given.ndim != 1 or (given.dtype.kind not in "iu" and len(given)):
        words = "rows= takes row numbers of the original, from 1, or true and false for each record"
        raise DataError(words, argument="rows")
    else:
        positions = given.astype(np.int64) - 1
    if len(positions) == 0:
        raise DataError("rows= names no record", argument="rows")
    if positions.min() < 0 or positions.max() >= n:
        raise DataError(f"rows= counts from 1 to {n}, the records of the original", argument="rows")
    if len(np.unique(positions)) < len(positions):
        raise DataError("rows= names a record more than once", argument="rows")
    return positions


# B1: open an original and its releases, and decide how each variable is matched.


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The arguments that define the matching rule; None where not given."""

    known: Sequence[str] = ()
    synthetic: Sequence[str] = ()
    numeric: Sequence[str] | None = None
    width: float | Sequence[float] | Mapping[str, float] | None = None
    relative: bool | Sequence[bool] | Mapping[str, bool] | None = None
    missing: MissingRule | None = None
    scenario: Scenario | None = None
    known_exact: bool = False  # whether only a dict of widths gives a known number an interval


@dataclass(frozen=True, eq=False)
class FilesToMatch:
    """The opened files, the matching rule, notes for the reader, and the rules of other readings.

    `readings`: where nothing says whether some whole numbers are numbers or categories, all of them as either, and of a
    scenario's keys without a width all numbers as known exactly; with whether a reading counts only where it is
    riskier, as that does, and categories of many different numbers.
    """

    pair: Pair
    by: MatchBy
    notes: dict[str, str]
    readings: tuple[tuple[MatchBy, bool], ...] = ()


def declared_matching(scenario: Scenario | None) -> Matching:
    """The scenario's table ``[matching]``; its defaults without a scenario.

    Examples
    --------
    >>> declared_matching(None).tol
    1e-09
    """
    scenario = arguments.scenario_or_none(scenario)
    return Matching() if scenario is None else scenario.matching


def files_to_match(
    original: Any, released: Any, asked: Asked, *, id: str | None, also: Sequence[str] = (), counted: bool = False,
) -> FilesToMatch:  # fmt: skip
    """Open the files and decide how each variable is matched: as declared, otherwise by the data.

    Of a scenario's keys that it calls neither known nor synthetic, those that every release left as they were are
    known. Numbers are those of `numeric` or the scenario, where one declares any, else those that `_by_values` and
    `_meant` find, and all that a dict `width` names. `also`: further columns of the original, in parts of every file.
    `counted` as for `open_pair`.
    """
    scenario = arguments.scenario_or_none(asked.scenario)
    fixed = arguments.names(asked.known, "known") or ()
    made = arguments.names(asked.synthetic, "synthetic") or ()
    keys: tuple[str, ...] = ()
    if not fixed and not made and scenario is not None:
        keys = resolve_roles(scenario=scenario).keys
    names = keys or (*fixed, *made)
    of_scenario = declared_matching(scenario).among(names)
    if keys:
        fixed, made = of_scenario.known, of_scenario.synthetic
    rest = tuple(name for name in keys if name not in (*fixed, *made))
    declared = number_columns.declared_numbers(asked.numeric, scenario, names)
    given = asked.width if asked.width is not None else of_scenario.width
    by: dict[str, Any] = {"width": DEFAULT_WIDTH if given is None else given, "missing": asked.missing}
    by |= {"relative": asked.relative, "scenario": scenario}
    if asked.relative is None:
        by["relative"] = {name: of_scenario.is_relative(name) for name in names}
    early = by  # before any file is read; lists wait until it is known which variables are numbers
    if declared is None:
        early = {**by, "width": _one_of(by["width"], DEFAULT_WIDTH), "relative": _one_of(by["relative"], True)}
    match_by(known=(*fixed, *rest), synthetic=made, numeric=declared or (), **early)
    roles = {"keys": keys} if keys else {"known": fixed, "synthetic": made}
    opened = open_files(original, released, id=id)
    in_parts = counted and parted_pair.can_deal_together(opened, (*names, *also))
    try:
        if in_parts and not also and parted_pair.do_not_fit(opened, names):
            raise TooMuchError
        pair = open_pair(opened, categories={}, unread=roles, also=also, aligned=True, counted=counted)
        changed = tuple(name for name in rest if not all(pair.identical([name])))
    except TooMuchError:
        if not in_parts:
            raise
        changed = tuple(name for name in rest if name not in parted_pair.kept_columns(opened, rest))
        pair = parted_pair.deal_together(opened, tuple(names), also=also)
    fixed, made = (*fixed, *(name for name in rest if name not in changed)), (*made, *changed)
    by |= {"known": _in_order(fixed, names), "synthetic": _in_order(made, names)}
    by["exact"] = by["known"] if asked.known_exact or (keys and declared is None) else ()
    values = _by_values(pair, names)
    numbers, unsaid = (declared, ()) if declared is not None else _numbers(values, by, given, scenario)
    matched_by = match_by(numeric=numbers, **by)
    equal = {
        role: [name for name in some if name in matched_by.equal]
        for role, some in {"known": matched_by.known, "synthetic": matched_by.synthetic}.items()
    }
    if not isinstance(pair, parted_pair.PartedPair):
        pair = open_pair(pair, categories=equal, numeric={"numeric": matched_by.numeric}, aligned=True)
    many, sure = [name for name in unsaid if values[name] == "many"], [name for name in numbers if name not in unsaid]
    # Codes left as they were are matched by equality: as numbers, they never have fewer matches.
    few = [n for n in unsaid if n not in many and (n in by["synthetic"] or not all(pair.identical([n])))]
    some = [([*sure, *many], False), ([*sure, *many, *few], False)] if few else []
    some += [(sure, True)] if many else []
    # Who knows a number exactly finds it where it was kept; a width, or numeric=, says that it is known less well.
    some += [([], True)] if keys and sure and given is None and asked.numeric is None else []
    readings = ((match_by(numeric=chosen, **by), riskier) for chosen, riskier in some)
    return FilesToMatch(
        pair, matched_by, _unused(asked, of_scenario, matched_by) | _exact_note(matched_by, values),
        tuple((other, riskier) for other, riskier in readings if other.widths != matched_by.widths),
    )  # fmt: skip


def refuse_what_does_not_fit(pair: Pair, n_variables: int, n_intervals: int = 0) -> None:
    """Raise TooMuchError where matching what came from an engine takes more than is left beside it."""
    plan: Any = next((frame for frame in pair.plans if frames.is_lazy(frame)), None)
    here = None if plan is None or isinstance(pair, parted_pair.PartedPair) else memory.bytes_here(plan)
    rows = max(map(len, pair.frames)) if here is not None else 0
    takes = memory.bytes_of_matching(rows, 2 * n_variables, n_intervals)
    if here is not None and takes > here:
        raise TooMuchError(
            f"matching {rows:,} rows with as many takes about {takes / 1e9:.1f} GB, and {here / 1e9:.1f} GB are left "
            f"beside the engine; take fewer columns, recode them more coarsely, {memory.what_opens(plan, takes / here)}"
        )


def _by_values(pair: Pair, names: Sequence[str]) -> dict[str, Values]:
    """How the values look, over all files, of the columns (in memory) that every file stores as finite numbers."""
    looks: dict[str, Values] = {}
    for name in names:
        try:
            original, *others = (values[~np.isnan(values)] for values in pair.numbers(name))
        except DataError:  # no numbers, nothing but missing values, or infinite ones: no distance says anything
            continue
        if any((values != np.round(values)).any() for values in (original, *others)):
            looks[name] = "decimals"
        elif len(distinct := np.unique(original)) > number_columns.MOST_CODES:
            looks[name] = "many"
        elif number_columns.measured_columns(pair, [name]):
            looks[name] = "floats"
        else:
            looks[name] = "codes" if all(np.isin(values, distinct).all() for values in others) else "new"
    return looks


def _numbers(
    values: Mapping[str, Values], by: Mapping[str, Any], given: Any, scenario: Scenario | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that are numbers where none is declared, and those that may as well be categories, or numbers.

    `given` is the width, None where it is the default. A width of its own declares a number, an order or a hierarchy
    in the scenario a category.
    """
    width, relative = by["width"], by["relative"]
    apart = (*scenario.ordered, *scenario.hierarchies) if scenario is not None else ()
    listed = any(_one_of(argument, None) is None for argument in (width, relative))
    sized: Collection[str] = () if isinstance(width, Mapping) else relative if isinstance(relative, Mapping) else values
    whole = [name for name, look in values.items() if look != "decimals" and name not in apart and name in sized]
    numbers = [
        name for name, look in values.items()
        if look == "decimals" or (name not in apart and look in ("many", "floats"))
        or (look == "new" and name in by["synthetic"] and name in whole)
    ]  # fmt: skip
    meant = _meant(given, numbers, [name for name in values if name not in apart], by)
    reached = (name for name in whole if name not in by["exact"] and name not in meant and not listed)
    return tuple(dict.fromkeys([*numbers, *meant])), tuple(reached)


def _meant(width: Any, numbers: Sequence[str], stored: Sequence[str], by: Mapping[str, Any]) -> list[str]:
    """The variables stored as numbers that alone a width can be meant for: a list by its length, a figure one."""
    if not isinstance(width, np.ndarray) and (isinstance(width, Mapping) or not width):
        return []
    takes = {name for name in numbers if name not in by["exact"]}
    wanted = len(takes) or 1 if _one_of(width, None) is width else len(width)
    for roles in (("synthetic",), ("known", "synthetic")):
        may = [name for role in roles for name in by[role] if name in stored and name not in by["exact"]]
        if takes < set(may) and len(may) == wanted:
            return may
    return []


def _exact_note(by: MatchBy, values: Mapping[str, Values]) -> dict[str, str]:
    """Name the variables matched exactly although their values are numbers."""
    names = ", ".join(name for name in by.equal if values.get(name) in ("decimals", "many"))
    words = f"matched exactly although their values are numbers: {names}; numeric=[...] or a dict width= says otherwise"
    return {"exact": words} if names else {}


def _one_of(given: Any, default: Any) -> Any:
    """A single value in place of a list."""
    is_list = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
    return default if is_list else given


def _in_order(some: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in names if name in some]


def _unused(asked: Asked, of_scenario: Matching, by: MatchBy) -> dict[str, str]:
    """Refuse a width argument that no variable uses; a scenario's unused width, meant for others, becomes a note."""
    given = asked.width if asked.width is not None else of_scenario.width
    if isinstance(given, np.ndarray | Sequence | Mapping) or not given or by.widths:  # a width of 0 asks for equality
        return {}
    known = [name for name in by.numeric if name in by.known]
    if known:
        why = f"{', '.join(known)} is left as it was"
        todo = f"a dict gives a known number a width: width={{{known[0]!r}: ...}}"
    else:
        why, todo = "none of the variables is a number", "numeric=[...] names those that are"
    if asked.width is not None:
        raise DataError(f"width is used by no variable: {why}; {todo}", argument="width")
    return {"width": f"the scenario's width is used by no variable: {why}"}


def refuse_missing(pair: Pair, by: MatchBy) -> None:
    """Raise where a value is missing and missing='error'."""
    for name, rule in by.rules.items():
        if rule != "error":
            continue
        gaps = (
            [int(np.isnan(values).sum()) for values in pair.numbers(name)]
            if name in by.widths
            else pair.codes(name).counts[:, 0].tolist()
        )
        for label, gap in zip(pair.names, gaps, strict=True):
            if gap:
                words = f"{label}: {name!r} is missing in {counted(gap, 'record')}, and missing='error'"
                raise DataError(f"{words}; complete it or choose 'category' or 'wildcard'")
