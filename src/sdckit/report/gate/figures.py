"""A document before it is protected: typed figures, the relations between them, and the tree they form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sdckit.report.gate.relations import Sizes


Kind = Literal["count", "value", "sum"]
# Joins the names of two counts to the name of their difference.
DIFFERENCE = " - "
Watched = Literal["everywhere", "table", "nowhere"]


@dataclass(frozen=True)
class Quantity:
    """What a number measures, and in which file: wherever it occurs in a document, it is printed alike.

    Parameters
    ----------
    name
        In words, the same wherever it stands.
    base
        The file: ``"original"``, ``"recoded original"``, ``"release 1"``, ``"after step 2"``; its document fills it in.
    rule
        What a missing key value was taken for: ``"wildcard"``, ``"category"``, or "" where none is missing.
    intruder
        Name and keys of the intruder.
    """

    name: str
    base: str = ""
    rule: str = ""
    intruder: str = ""


@dataclass(frozen=True)
class Variable:
    """A true number behind the document.

    Parameters
    ----------
    true
        The exact number; None for one that is never printed and only links others.
    group
        The table it is printed in: figures of one table are coarsened together.
    kind
        ``"count"`` a whole number; ``"value"`` an estimate, printed to two significant digits; ``"sum"`` an
        expected number in which one cell may count one, printed like a count.
    watched
        Under which relations it must not be disclosed: ``"everywhere"``, all of them; ``"table"``, those between
        printed figures (cells of five or more records are no small groups: how many there are follows from the number
        of their records); or ``"nowhere"``.
    of
        The quantity, if it may occur in a document more than once.
    stated
        Interval that the document discloses whatever is printed: 0 or at least 1 by the verdict on a limit, five or
        more for a level that is shown.
    late
        Whether it is specific to this document: such figures are printed after all others, so that those are printed
        alike in other documents of the file.
    weighted
        Whether a count depends on weights or on a sampling fraction, too.
    guard
        Counts of records that it could disclose without a relation that says how: it is printed if each of them is 0 or
        large enough, in so few digits that a step of the last one covers five of them.
    """

    true: float | None
    group: str = ""
    kind: Kind = "count"
    watched: Watched = "everywhere"
    of: Quantity | None = None
    stated: tuple[float, float] = (0.0, math.inf)
    late: bool = False
    guard: tuple[str, ...] = ()
    weighted: bool = False

    @property
    def stage(self) -> int:
        """When it is printed: counts of the file (0), estimates (1), counts asked for (2), estimates asked for (3).

        So what follows from the file alone is printed the same whatever weight or sampling fraction is declared.
        """
        return (self.weighted or self.kind != "count") + 2 * self.late


@dataclass(frozen=True)
class Relation:
    """A publicly known linear constraint on the true numbers: lower <= sum of coefficient x variable <= upper."""

    terms: tuple[tuple[str, float], ...]
    lower: float = 0.0
    upper: float = 0.0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables of its terms."""
        return tuple(name for name, _ in self.terms)


@dataclass(frozen=True)
class Count:
    """A count of records, cells or households, by the name of its variable."""

    name: str


@dataclass(frozen=True)
class Value:
    """An estimated number (an expected count), by the name of its variable."""

    name: str


@dataclass(frozen=True)
class Share:
    """One count as a part of another; computed from the printed counts, so that it discloses nothing more."""

    part: str
    whole: str


@dataclass(frozen=True)
class Ratio:
    """An expected number divided by a count, computed from what is printed of the two."""

    value: str
    count: str


@dataclass(frozen=True)
class Difference:
    """Whole minus part, computed from the printed counts."""

    whole: str
    part: str


@dataclass(frozen=True)
class Total:
    """The sum of counts of one family (names that start alike), computed from the printed counts.

    A total rounded by itself would disclose more about its parts.
    """

    family: str


@dataclass(frozen=True)
class Cumulative:
    """The share some counts have in all of them, computed from the printed counts."""

    parts: tuple[str, ...]
    wholes: tuple[str, ...]


@dataclass(frozen=True)
class Chance:
    """The chance that a match is a hit: hits x share in hits x share + misses x (1 - share), as printed.

    `hits` and `misses` are variables of two counts, `share` the share of the population in the file.
    """

    hits: str
    misses: str
    share: float


@dataclass(frozen=True)
class Guarded:
    """An estimate from `base` records whose number it could disclose: printed if that number is large enough.

    With ``few=True`` it depends on them alone, as a loss does on the records that were changed: then it has so few
    digits that a step of the last one covers five of them. `nothing` is its value without any.
    """

    name: str
    base: str
    few: bool = False
    nothing: float = 0.0


@dataclass(frozen=True)
class Part:
    """An exact proportion, printed in whole per cent, and only if the count `base` is large enough.

    A proportion of values (`counted`) is printed in steps of at least ten of the base: finer ones would count them.
    """

    true: float
    base: str
    counted: bool = False


@dataclass(frozen=True)
class Moved:
    """A relative change, printed in whole per cent, and only if the count `base` is large enough.

    It is printed in steps of at least ten of the base, and of at least `largest`, the share of a single record: a finer
    one would tell about that.
    """

    true: float
    base: str
    largest: float


@dataclass(frozen=True)
class Told:
    """Content shown only if one of the counts `bases` is printed as a number, else `otherwise`.

    Content shown from five records on by the exact count would disclose a count that is printed more coarsely.
    ``otherwise=None`` drops it from a list without a trace. With ``guarded=True`` each of the counts has to be 0, or
    large enough for figures that could disclose it.
    """

    content: Tree
    bases: tuple[str, ...]
    otherwise: Tree = ""
    guarded: bool = False


@dataclass(frozen=True)
class Holds:
    """Whether a limit holds; None when it could not be tested.

    If the answer depends on whether the counts `none` are all 0, it discloses that of them, whatever is printed. A
    `limit` on an expected number `value` as a part of the count `base` stays open unless the printed figures decide it:
    else the verdict would disclose more of the number than its print.
    """

    holds: bool | None
    reason: str = ""
    value: str = ""
    base: str = ""
    limit: float = 0.0
    none: tuple[str, ...] = ()


@dataclass(frozen=True)
class AllHold:
    """Whether all of several limits hold, by their printed verdicts."""

    limits: tuple[Holds, ...]


@dataclass(frozen=True)
class Foreign:
    """Text written elsewhere (a warning, a reason): counts and row numbers in it are protected too."""

    text: str


@dataclass(frozen=True)
class InternalOnly:
    """Exact content of a confidential document only; `otherwise`, if given, replaces it in others."""

    content: Tree
    otherwise: Tree = None


@dataclass(frozen=True)
class Levels:
    """The levels of a key (or sizes of households) with their counts; rare ones and the tail are pooled.

    Parameters
    ----------
    name, counts
        Start of the variables' names; label and number of each level.
    whole, n
        The total: its variable and its true number.
    missing, n_missing
        The same for those without a value, where there are any.
    shown
        How many levels are shown at most.
    records
        Variable of the records, where a label is a number of records (the size of a household).
    sizes
        The cells by size, if the levels are the cells: for an intruder who knows one key.
    """

    name: str
    counts: tuple[tuple[str, int], ...]
    whole: str
    n: int
    missing: str = ""
    n_missing: int = 0
    shown: int = 8
    records: str = ""
    sizes: Sizes | None = None


@dataclass(frozen=True)
class Ranked:
    """Rows sorted by their printed ``n``: sorting by the true numbers would disclose their order."""

    rows: tuple[Mapping[str, Tree], ...]


@dataclass(frozen=True)
class SizeClasses:
    """Numbers of equal-sized groups by their size (cells by records, households by members).

    `alone` is the quantity that the number of groups of size 1 equals, if any.
    """

    name: str
    counts: tuple[tuple[str, int], ...]
    alone: Quantity | None = None


@dataclass(frozen=True)
class Histogram:
    """Records by risk in fixed bins.

    Parameters
    ----------
    name, edges, counts
        Start of the variables' names, the edges and the records of every bin.
    whole
        Variable of all records.
    total, above
        Variables that the bins bound: the sum of the risks, the records above a limit.
    sizes, largest
        If the risk is a function of the cell size: the sizes, and the largest cell whose records have at least the risk
        of an edge.
    guard
        Guard of the bins, as of a variable: if it fails, all records are in one bin.
    """

    name: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    whole: str
    total: str = ""
    above: tuple[tuple[str, float], ...] = ()
    sizes: Sizes | None = None
    largest: Mapping[float, float] = field(default_factory=dict)
    guard: tuple[str, ...] = ()


Leaf = (
    Count | Value | Share | Ratio | Difference | Cumulative | Total | Chance | Guarded | Part | Moved | Told | Holds
    | AllHold | Foreign | InternalOnly | Levels | Ranked | SizeClasses | Histogram
)  # fmt: skip
Tree = Leaf | str | int | float | bool | None | Mapping[str, "Tree"] | tuple["Tree", ...]


@dataclass
class Ledger:
    """Collects the true numbers and the relations between them while a document is built."""

    variables: dict[str, Variable] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)

    def count(
        self,
        name: str,
        true: int,
        group: str,
        *,
        watched: Watched = "everywhere",
        of: Quantity | None = None,
        guard: tuple[str, ...] = (),
    ) -> Count:
        """Enter a count and return its leaf; a quantity that is there already is coarsened together with it."""
        self._enter(name, Variable(int(true), group, watched=watched, of=of, guard=guard))
        return Count(name)

    def value(
        self,
        name: str,
        true: float,
        group: str,
        *,
        kind: Kind = "value",
        of: Quantity | None = None,
        guard: tuple[str, ...] = (),
    ) -> Value:
        """Enter an estimated number and return its leaf."""
        self._enter(name, Variable(float(true), group, kind, of=of, guard=guard))
        return Value(name)

    def _enter(self, name: str, new: Variable) -> None:
        """Enter a variable; one of the same quantity shares its group, and its true number makes the two equal."""
        twins = [] if new.of is None else [at for at, old in self.variables.items() if old.of == new.of and at != name]
        self.variables[name] = replace(new, group=self.variables[twins[0]].group) if twins else new
        same = next((at for at in twins if self.variables[at].true == new.true), None)
        if same is not None:
            self.equal(name, same)

    def tell(self, name: str, low: float, high: float = math.inf) -> None:
        """Enter that the document discloses low <= number <= high, whatever is printed of it."""
        known = self.variables[name]
        bounds = (max(low, known.stated[0]), min(high, known.stated[1]))
        self.variables[name] = replace(known, stated=bounds)

    def tell_none(self, names: Sequence[str]) -> None:
        """Enter that the document discloses whether all these numbers are 0."""
        if not any(self.variables[name].true for name in names):
            for name in names:
                self.tell(name, 0.0, 0.0)
        elif len(names) == 1:
            self.tell(names[0], 1.0)
        else:
            self.relations.append(Relation(tuple((name, 1.0) for name in names), 1.0, math.inf))

    def ask(self, name: str) -> None:
        """Mark a figure as specific to this document: it is printed after all others."""
        self.variables[name] = replace(self.variables[name], late=True)

    def weigh(self, name: str) -> None:
        """Mark a count that depends on weights or on a sampling fraction: it is printed after those that do not."""
        self.variables[name] = replace(self.variables[name], weighted=True)

    def latent(self, name: str, *, watched: Watched = "everywhere") -> str:
        """Enter a count that is never printed but could be inferred."""
        self.variables.setdefault(name, Variable(None, watched=watched))
        return name

    def equal(self, whole: str, *parts: str) -> None:
        """Enter whole = sum of the parts."""
        self.relations.append(Relation(((whole, 1.0), *((part, -1.0) for part in parts))))

    def nested(self, whole: str, part: str) -> None:
        """Enter that part is contained in whole; their difference is watched like a count of its own."""
        if whole != part and {whole, part} <= self.variables.keys():
            self.equal(whole, part, self.latent(f"{whole}{DIFFERENCE}{part}"))

    def bounded(
        self, total: str, parts: Mapping[str, tuple[float, float]], *, upper: bool = True, lower: bool = True
    ) -> None:
        """Enter sum of low x part <= total <= sum of high x part."""
        if lower:
            terms = tuple((name, -low) for name, (low, _) in parts.items() if low)
            self.relations.append(Relation(((total, 1.0), *terms), upper=float("inf")))
        if upper:
            terms = tuple((name, -high) for name, (_, high) in parts.items() if high)
            self.relations.append(Relation(((total, 1.0), *terms), lower=-float("inf")))


@dataclass(frozen=True)
class Document:
    """A tree of figures named as in the API, with what links them; the only thing `protect` takes.

    `base` is the file that quantities without one are figures of; `listed`: whether its quantities are listed for
    documents that are written later.
    """

    tree: Mapping[str, Tree]
    variables: Mapping[str, Variable]
    relations: tuple[Relation, ...]
    n: int | None
    base: str = ""
    listed: bool = False
