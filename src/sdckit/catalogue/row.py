"""The rows of the catalogue: `Measure`, the `Context` it runs in and the `Knowledge` of simulated intruders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import getdoc, signature
from typing import TYPE_CHECKING, Any, Literal

from sdckit.data.packaged import packaged, rows, sentences

if TYPE_CHECKING:
    from sdckit.cells.pair import Pair
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.result import Result

# The context of a run: files, scenario and intruder.


Step = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """Background knowledge of simulated intruders, and the number of attacks.

    Attributes
    ----------
    variables : tuple of str
        Columns used by attacks that are not given any.
    known : tuple of str
        Columns whose values an intruder knows of a person.
    halves : tuple of two tuples of str, or None
        Two disjoint sets of known columns that may be linked; None where there are not two.
    targets : tuple of str
        Sensitive variables that they infer.
    numeric : tuple of str or None
        Columns declared to be numbers; None where nothing is declared.
    by : tuple of str
        Columns that define subgroups.
    blocking : tuple of tuple of str
        Blocking rules; a candidate pair must satisfy at least one.
    n_attacks : int
        Attempts per attack.
    every : bool
        Whether `variables` are all columns of the release rather than those declared.
    """

    variables: tuple[str, ...]
    known: tuple[str, ...] = ()
    halves: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    targets: tuple[str, ...] = ()
    numeric: tuple[str, ...] | None = None
    by: tuple[str, ...] = ()
    blocking: tuple[tuple[str, ...], ...] = ()
    n_attacks: int = 500
    every: bool = False

    def numbers(self, *names: str) -> dict[str, Any]:
        """The argument `numeric` for these columns; empty where nothing is declared."""
        if self.numeric is None:
            return {}
        return {"numeric": tuple(name for name in self.numeric if name in names)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """One intruder with one file, or with a release and its original.

    What will run is decided from metadata, without reading the data; the files are only set when it is run.

    Attributes
    ----------
    scenario : Scenario
        Restricted to this intruder.
    n : int or None
        Records of the file or the original; None if not counted yet.
    sizes : tuple of int
        Records of each release; empty if not counted yet.
    columns : frozenset of str or None
        Columns common to all files; None for a single file.
    aligned : bool
        Whether row i of a release is declared to come from row i of the original.
    has_control : bool
        Whether there is a control file (people who were never in the original).
    on_engine : bool
        Whether a release and its original stay on an engine, which counts them.
    named : bool
        Whether an id names each row, so that people can be drawn by it.
    asked : int or None
        How many people are to be drawn; None where that follows from the number of records.
    lean : bool
        Whether verdicts alone are asked for: what no limit reads is left out where it takes long.
    models : dict of str to str
        Formulas with their families.
    knowledge : Knowledge or None
        Of simulated attacks.
    seed : int or None
    target : str or None
        The sensitive variable, for measures that take one at a time.
    data, pair
        The file; or the pair of original and releases, with the control. None in a dry run.
    left_out : dict of str to tuple of str
        Keys of each intruder that a step left out of the release.
    by : tuple of str
        Columns of the file, or of the original, whose combinations are subgroups.
    shared : dict
        Cache of results that do not depend on the intruder.
    recovered : dict or None
        What the search for what a release gives back keeps of these very files beyond one assessment, as trials of a
        recipe do; None where nothing is kept.
    tell : callable
        Callback that receives progress messages.
    """

    scenario: Scenario
    n: int | None = None
    sizes: tuple[int, ...] = ()
    columns: frozenset[str] | None = None
    aligned: bool = False
    has_control: bool = False
    on_engine: bool = False
    named: bool = False
    asked: int | None = None
    lean: bool = False
    models: Mapping[str, str] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    seed: int | None = None
    target: str | None = None
    data: Any = None
    pair: Pair | None = None
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    shared: dict[str, Any] = field(default_factory=dict)
    recovered: dict[Any, Any] | None = None
    tell: Step = lambda _: None

    @property
    def intruder(self) -> str:
        """The intruder's name."""
        return next(iter(self.scenario.intruders), "")

    @property
    def keys(self) -> tuple[str, ...]:
        """Key variables that the intruder knows."""
        return self.scenario.keys

    @property
    def targets(self) -> tuple[str, ...]:
        """Sensitive variables that the intruder would learn."""
        return self.scenario.sensitive if self.knowledge is None else self.knowledge.targets

    @cached_property
    def cells(self) -> Any:
        """The cells (distinct key combinations), under the scenario's rule for missing values."""
        from sdckit.cells.as_cells import tabulate_roles
        from sdckit.data.scenarios.roles import resolve_roles

        return tabulate_roles(self.data, resolve_roles(scenario=self.scenario), by_levels=True)

    @cached_property
    def categories(self) -> Any:
        """The cells with a missing value as a category of its own."""
        return self.cells.as_categories() if self.cells.has_wildcards else self.cells

    @property
    def wildcards(self) -> bool:
        """Whether missing values in the keys match any value."""
        return bool(self.cells.has_wildcards)

    @property
    def grouped(self) -> dict[str, tuple[str, ...]]:
        """The keyword argument `by`; empty where no subgroups are requested."""
        return {"by": self.by} if self.by else {}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What does not depend on the intruder, made when the first one asks for it."""
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def numeric(self, *names: str) -> tuple[str, ...]:
        """Those of the columns that the scenario declares as numeric."""
        return tuple(name for name in names if name in self.scenario.numeric)

    @property
    def too_many(self) -> bool:
        """Whether more records stay on an engine than are compared with each other here."""
        return self.on_engine and too_many(self.n)

    @property
    def draws_records(self) -> bool:
        """Whether what a release gives back is looked for in records drawn, since all of them do not fit here."""
        if not self.too_many or self.pair is None:
            return self.too_many
        return draws_records(self.pair, self.scenario)

    @property
    def not_searched(self) -> str:
        """Why what a release gives back is not looked for in all records where these do not fit."""
        return NOT_SEARCHED.format(n=self.n or 0)

    @property
    def n_drawn(self) -> int | None:
        """People that are drawn by their id to be looked up; None where that is all."""
        return self.asked or (TARGETS if self.too_many and self.named else None)

    @property
    def n_pairs(self) -> int:
        """Pairs of a released record that is looked up and a record of the original."""
        n = self.n or 0
        return min(max(self.sizes, default=0), self.n_drawn or n) * n

    def about(self, target: str) -> Context:
        """The same context with `target` as its sensitive variable."""
        return replace(self, target=target)


def as_numbers(scenario: Scenario, pair: Pair) -> Scenario:
    """The scenario without the numeric variables that are released, and compared, in classes.

    A limit on large numbers looks at those, too, in the original as it was: they stay, as magnitudes.
    """
    from sdckit.data.scenarios.column_roles import numbers_limited

    types = pair.original.collect_schema()
    recoded = {recoding.column for recoding in pair.recoded}
    in_classes = {name for name in recoded if name in types and not types[name].is_numeric()}
    left = tuple(name for name in scenario.numeric if name not in in_classes)
    if not any(name in in_classes for name in scenario.judged_numbers):
        return scenario.model_copy(update={"numeric": left})
    judged = scenario.judged_numbers if numbers_limited(scenario) else scenario.magnitudes
    return scenario.model_copy(update={"numeric": left, "magnitudes": judged})


Room = Literal["identity", "attribute", "attacks", "utility"]
Files = Literal["one", "release", "attack", "utility", "population", "estimates"]
# What a measure collects of a lazy frame (DuckDB, Spark, Polars): the cells that the engine has counted; the columns
# it needs, coded; nothing, since it takes estimates; or it changes records, and lazy frames are refused.
OfPlan = Literal["cells", "columns", "nothing", "refused"]
# The suffix of the result's place (after the colon), and the call that computes the result.
Part = tuple[str, Callable[[], "Result"]]
IN_CLASSES = "no numeric variable of the scenario is released as numbers"
# Required argument: the attribute of the scenario, and the reason given where it is not declared.
LACKING: Mapping[str, tuple[str, str]] = {
    "household": ("household", "the scenario names no household column"),
    "person": ("followed", "the scenario names no person column"),
    "sensitive": ("sensitive", "the scenario names no sensitive variable"),
    "numeric": ("numeric", "the scenario names no numeric variable"),
}
MOST_ON_ENGINE = 2_000_000  # records of files on an engine that are brought to be compared one by one
TARGETS = 10_000  # people drawn by their id where there are more
REASONS = sentences("catalogue/reasons.toml")
TOO_MANY = REASONS["too_many"]
NOT_SEARCHED = REASONS["not_searched"]
NO_TARGET = "no sensitive variable is named"
NO_CONTROL = "there is no control file"


def too_many(n: int | None) -> bool:
    """Whether more records are on an engine than are brought to be compared with each other."""
    return (n or 0) > MOST_ON_ENGINE


def draws_records(pair: Pair, scenario: Scenario) -> bool:
    """Whether files on an engine have more records than are brought, and than fit here to be searched."""
    from sdckit.cells.plans.drawn_pair import all_fit

    return too_many(pair.n) and not all_fit(pair, scenario.household)


def raising(error: Exception) -> Callable[[], Any]:
    """A part whose call raises an error that was met while its input was prepared."""

    def refuse() -> Any:
        raise error

    return refuse


@cache
def public_function(name: str) -> Callable[..., Any]:
    """The public function of this name (cached lookup)."""
    import sdckit

    function: Callable[..., Any] = getattr(sdckit, name)
    return function


def described_parameters(function: Callable[..., Any]) -> Iterator[tuple[list[str], str, str]]:
    """Names, type and words of each entry under the parameters of a docstring.

    >>> names, kind, words = next(described_parameters(public_function("k_anonymity")))
    >>> names, kind, words
    (['data'], 'data frame or Cells', '')
    """
    section = re.search(r"^Parameters\n-+\n(.*?)(^\w[\w ]*\n-+$|\Z)", getdoc(function) or "", re.M | re.S)
    for entry in re.split(r"^(?=\S)", section[1], flags=re.M)[1:] if section else ():
        head, _, body = entry.partition("\n")
        listed, _, kind = head.partition(" : ")
        yield listed.split(", "), kind, " ".join(body.split())


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """A row of the catalogue: everything known about a measure outside its own module.

    What is plain data stands in `measures.toml`.

    Attributes
    ----------
    name : str
        The public function, its file, and its view.
    question : str
        The question it answers, in plain words.
    room : str
        The room its file stands in.
    files : str
        What it takes: "one" file; a "release" beside its original; the same as an "attack" by intruders or for
        its "utility"; a file and its "population"; "estimates" or a single record.
    needs : tuple of str
        Required arguments, named as roles.
    missing : str
        Its default rule for missing key values.
    of_plan : str
        What it collects of a lazy frame: the "cells", the "columns" it needs, "nothing" where it takes estimates;
        "refused" where it changes records.
    of_categories : bool
        Whether these are cells only where no variable is a number.
    words : str
        Progress message of `assess`; ``{intruder}`` and ``{target}`` are filled in.
    arguments : callable or None
        Builds its arguments from the context; None where `assess` does not run it, or `parts` does.
    parts : callable or None
        Builds several results, or one that is not called with the cells or the pair of files.
    condition : callable
        Gives one sentence why it cannot run though its roles are declared; "" where it can.
    when : callable or None
        Whether it applies at all; where it does not, it is omitted and not listed as skipped.
    limited : bool
        Whether it applies where a limit in force reads it; without `when` nowhere else.
    on_targets : bool
        Whether it tries people drawn by their id (`targets=`), or queries drawn, and not every record: where an id
        names them it is begun with any number of records.
    records_drawn : int or None
        How many records it draws by their id where there are too many; None where it draws people, as `targets=` says.
    on_request : bool
        Whether `assess` runs it only where it is named.
    essential : bool
        Whether the assessment cannot do without it, so that its error ends the run.
    of_intruder : bool
        Whether it depends on what an intruder knows.
    once : bool
        Whether a file, or a pair of files, gives the same for every intruder, so that `assess` makes it once.
    per_target : bool
        Whether it is run once for each sensitive variable.
    residual : bool
        Whether it reports a residual risk, on which a scenario may set a limit.
    alone : bool
        Of a measure of a release: whether it measures a file by itself, too, as its own release.
    inside : callable or None
        For a measure that runs others: their places, and why each cannot run.
    command : str
        Name on the command line, where it is not its name with hyphens.
    by_command : callable or None
        For a command that is not the function itself: takes the typed options before any file is read and returns the
        call, which may give several results. Its own arguments are options, its docstring is part of the help text.
    instead : tuple of str
        Arguments of the function that these options replace.
    function : callable or None
        The function of a measure from outside the package.
    no_chart : str
        Why a chart would not help; "" for a measure that has one.
    """

    name: str
    question: str
    room: Room
    files: Files
    needs: tuple[str, ...] = ()
    missing: Literal["wildcard", "category"] = "category"
    of_plan: OfPlan = "columns"
    of_categories: bool = False
    words: str = ""
    arguments: Callable[[Context], Mapping[str, Any]] | None = None
    parts: Callable[[Context], Iterator[Part]] | None = None
    condition: Callable[[Context], str] = lambda _: ""
    when: Callable[[Context], bool] | None = None
    limited: bool = False
    on_targets: bool = False
    records_drawn: int | None = None
    on_request: bool = False
    essential: bool = False
    of_intruder: bool = True
    once: bool = False
    per_target: bool = False
    residual: bool = False
    alone: bool = False
    inside: Callable[[Context], Sequence[tuple[str, str]]] | None = None
    command: str = ""
    by_command: Callable[..., Callable[..., Any]] | None = None
    instead: tuple[str, ...] = ()
    function: Callable[..., Any] | None = None
    no_chart: str = ""

    @property
    def runs(self) -> bool:
        """Whether `assess` can run it."""
        return self.arguments is not None or self.parts is not None

    @property
    def kind(self) -> str:
        """Its name on the command line."""
        return self.command or self.name.replace("_", "-")

    @property
    def public(self) -> Callable[..., Any]:
        """The public function."""
        return public_function(self.name) if self.function is None else self.function

    def measure(self, *given: Any, **arguments: Any) -> Any:
        """Call the public function."""
        return self.public(*given, **arguments)

    def applies(self, context: Context) -> bool:
        """Whether it applies at all to these files."""
        if self.limited and context.scenario.limit_on(self.name) is not None:
            return True
        return not self.limited if self.when is None else self.when(context)

    def lacks(self, context: Context) -> str:
        """The one sentence why it cannot run here; "" where it can.

        Decided here only; plan, run and dry run call it.
        """
        for need in self.needs:
            role, sentence = LACKING.get(need, ("", ""))
            if role and not getattr(context.scenario, role):
                in_classes = need == "numeric" and context.pair is not None and context.pair.recoded
                return IN_CLASSES if in_classes else sentence
            if need == "target" and not context.targets:
                return NO_TARGET
            if need == "control" and not context.has_control:
                return NO_CONTROL
        used = [*filter(None, [context.target]), *(context.scenario.numeric if "numeric" in self.needs else ())]
        if context.columns is not None and (gone := [name for name in used if name not in context.columns]):
            return f"a release does not have the variable {gone[0]}"
        if self.too_large(context):
            return TOO_MANY.format(n=context.n or 0, most=MOST_ON_ENGINE)
        return self.condition(context)

    def too_large(self, context: Context) -> bool:
        """Whether it is not begun because so many records stay on an engine, and nobody is drawn of them."""
        by_record = self.of_plan == "columns" and self.files in ("release", "attack")
        return by_record and context.too_many and not (self.on_targets and context.named)

    def draws(self, context: Context) -> str:
        """Whom it draws by their id, in words; "" where it takes all."""
        if self.records_drawn is not None:
            drawn = f"{self.records_drawn:,} records drawn by their id"
            return f"all records where they fit, else {drawn}" if context.too_many else ""
        return f"{context.n_drawn:,} people drawn by their id" if self.on_targets and context.n_drawn else ""

    def run(self, context: Context) -> Iterator[Part]:
        """Yield each part of the result as a call, which may raise what the measure raises."""
        if self.parts is not None:
            yield from self.parts(context)
        elif self.once and self.arguments is not None:
            given, subject = self.arguments(context), context.data if context.pair is None else context.pair
            yield "", lambda: context.once(self.name, lambda: self.measure(subject, **given))
        elif self.arguments is not None:
            given = {**self.arguments(context), **self._grouped(context)}
            if self.files == "one":
                subject = context.cells if self.missing == "wildcard" else context.categories
            else:
                subject = context.data if context.pair is None else context.pair
            yield "", lambda: self.measure(subject, **given)

    def _grouped(self, context: Context) -> Mapping[str, Any]:
        """The keyword argument `by`, where subgroups are requested and this measure supports them."""
        if not context.by or self.room not in ("identity", "attribute"):
            return {}
        return context.grouped if "by" in signature(public_function(self.name)).parameters else {}

    def place(self, context: Context, detail: str = "") -> str:
        """The key of a result: the measure, with intruder, variable or variant after colons."""
        whose = context.intruder if self.files == "attack" and self.of_intruder else ""
        place = ":".join(filter(None, (self.name, whose, context.target, detail)))
        if context.knowledge is None or not context.knowledge.every:
            return place
        from sdckit.attacks.attack_rates import EVERY

        return f"{place}:{EVERY}"

    def doing(self, context: Context) -> str:
        """The progress message while it runs."""
        return self.words.format(intruder=context.intruder, target=context.target or "")


ROWS = {
    row.name: row
    for room, entries in packaged("catalogue/measures.toml").items()
    for row in rows(Measure, {name: {**entry, "room": room} for name, entry in entries.items()})
}


def rows_of(room: Room, *made: Measure) -> tuple[Measure, ...]:
    """The rows of a room in their order, those that do something by a function as they were `made`."""
    by_name = {row.name: row for row in made}
    return tuple(by_name.get(name, row) for name, row in ROWS.items() if row.room == room)
