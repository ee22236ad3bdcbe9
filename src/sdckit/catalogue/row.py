"""What a row of the catalogue says of a measure, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sdckit.cells.pair import Pair
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.result import Result

# What is known of a run before a measure runs, and the files it runs on.


Step = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What simulated intruders have to go by, and how often they try.

    Attributes
    ----------
    variables : tuple of str
        Columns of the attacks that are told none.
    known : tuple of str
        What an intruder knows of a person.
    halves : tuple of two tuples of str, or None
        Two pieces of knowledge that may be joined; None where there are not two.
    targets : tuple of str
        What they infer.
    numeric : tuple of str or None
        Columns declared to be numbers; None where nothing is declared.
    by : tuple of str
        Columns of subgroups.
    blocking : tuple of tuple of str
        Rules of which a pair of linked records must meet one.
    n_attacks : int
        Attempts of each attack.
    """

    variables: tuple[str, ...]
    known: tuple[str, ...] = ()
    halves: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    targets: tuple[str, ...] = ()
    numeric: tuple[str, ...] | None = None
    by: tuple[str, ...] = ()
    blocking: tuple[tuple[str, ...], ...] = ()
    n_attacks: int = 500

    def numbers(self, *names: str) -> dict[str, Any]:
        """The argument `numeric` for these columns; empty where nothing is declared."""
        if self.numeric is None:
            return {}
        return {"numeric": tuple(name for name in self.numeric if name in names)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Context:
    """One intruder before one file, or before a release beside its original.

    A plan is made from what is known without reading the data; the files are there when it is run.

    Attributes
    ----------
    scenario : Scenario
        Of this intruder alone.
    n : int or None
        Records of the file or the original; None where nobody has counted yet.
    sizes : tuple of int
        Records of each release; empty where nobody has counted.
    columns : frozenset of str or None
        Columns that all files have; None where there is one file.
    aligned : bool
        Whether row i of a release is declared to come from row i of the original.
    has_control : bool
        Whether there are people who were never in the file.
    models : dict of str to str
        Formulas with their families.
    knowledge : Knowledge or None
        Of simulated attacks.
    seed : int or None
    target : str or None
        The sensitive variable of a measure of one.
    data, pair
        The file; the files beside each other, with the people never in it. None in a plan that is not run.
    by : tuple of str
        Columns of the file, or of the original, whose combinations are subgroups.
    shared : dict
        What does not depend on the intruder is kept here from one intruder to the next.
    tell : callable
        Is told in words what is being done.
    """

    scenario: Scenario
    n: int | None = None
    sizes: tuple[int, ...] = ()
    columns: frozenset[str] | None = None
    aligned: bool = False
    has_control: bool = False
    models: Mapping[str, str] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    seed: int | None = None
    target: str | None = None
    data: Any = None
    pair: Pair | None = None
    by: tuple[str, ...] = ()
    shared: dict[str, Any] = field(default_factory=dict)
    tell: Step = lambda _: None

    @property
    def intruder(self) -> str:
        """The intruder's name."""
        return next(iter(self.scenario.intruders))

    @property
    def keys(self) -> tuple[str, ...]:
        """What the intruder knows."""
        return self.scenario.keys

    @property
    def targets(self) -> tuple[str, ...]:
        """What the intruder would learn."""
        return self.scenario.sensitive if self.knowledge is None else self.knowledge.targets

    @cached_property
    def cells(self) -> Any:
        """The distinct combinations of keys, under the scenario's rule for missing values."""
        from sdckit.cells.as_cells import tabulate_roles
        from sdckit.data.scenarios.roles import resolve_roles

        return tabulate_roles(self.data, resolve_roles(scenario=self.scenario), by_levels=True)

    @cached_property
    def categories(self) -> Any:
        """The same, a missing value being a value of its own."""
        return self.cells.as_categories() if self.cells.has_wildcards else self.cells

    @property
    def wildcards(self) -> bool:
        """Whether missing values in the keys match any value."""
        return bool(self.cells.has_wildcards)

    @property
    def grouped(self) -> dict[str, tuple[str, ...]]:
        """The argument `by` of a measure that gives figures of subgroups; empty where none are asked for."""
        return {"by": self.by} if self.by else {}

    def numeric(self, *names: str) -> tuple[str, ...]:
        """Those of the columns that the scenario declares to be numbers."""
        return tuple(name for name in names if name in self.scenario.numeric)

    def about(self, target: str) -> Context:
        """The same for a measure of one sensitive variable."""
        return replace(self, target=target)


Room = Literal["identity", "attribute", "attacks", "utility"]
Files = Literal["one", "release", "attack", "utility", "population", "estimates"]
# What it takes of a plan (DuckDB, Spark, Polars lazy): the cells that the engine has counted; the columns asked for,
# coded; nothing, since it takes estimates; or it changes records, and takes none.
OfPlan = Literal["cells", "columns", "nothing", "refused"]
# What stands behind the colon of the result's place, and the call that gives the result.
Part = tuple[str, Callable[[], "Result"]]
# Role of an argument: how it reads where the scenario declares nothing for it.
LACKING: Mapping[str, tuple[str, str]] = {
    "household": ("household", "the scenario names no household column"),
    "sensitive": ("sensitive", "the scenario names no sensitive variable"),
    "numeric": ("numeric", "the scenario names no numeric variable"),
}
NO_TARGET = "no sensitive variable is named"
NO_CONTROL = "there is no control file"


def raising(error: Exception) -> Callable[[], Any]:
    """The call of a part whose input was refused before there was anything to call."""

    def refuse() -> Any:
        raise error

    return refuse


def nothing_lacks(_: Context) -> str:
    """The condition of a measure that needs nothing but its roles."""
    return ""


@cache
def _public(name: str) -> Callable[..., Any]:
    """The public function of a name, looked up once."""
    import sdckit

    function: Callable[..., Any] = getattr(sdckit, name)
    return function


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """All that there is to know about a measure outside its own file.

    Attributes
    ----------
    name : str
        The public function, its file, and its view.
    question : str
        What it answers, in plain words.
    room : str
        The room its file stands in.
    files : str
        What it takes: "one" file; a "release" beside its original; the same as an "attack" by intruders or for
        its "utility"; a file and its "population"; "estimates" or a single record.
    needs : tuple of str
        Arguments that it cannot do without, named as roles.
    missing : str
        What a missing key value is to it unless the caller says otherwise.
    of_plan : str
        What it takes of a plan into memory: the "cells", the "columns" asked for, "nothing" where it takes estimates;
        "refused" where it changes records.
    words : str
        What `assess` tells while it runs; ``{intruder}`` and ``{target}`` are filled in.
    arguments : callable or None
        Its arguments, given the context; None where `assess` does not run it, or `parts` does.
    parts : callable or None
        For a measure with several results, or one that is not called with its cells or its pair of files.
    condition : callable
        Why it cannot run here though its roles are declared, in one sentence; "" where it can.
    when : callable or None
        Whether there is anything for it to look at; where there is not it is left out, and not among what did not run.
    on_request : bool
        Whether `assess` runs it only where it is named.
    essential : bool
        Whether nothing can be said without it, so that its error ends the run.
    of_intruder : bool
        Whether it depends on what an intruder knows.
    per_target : bool
        Whether it is run once for each sensitive variable.
    residual_risk : bool
        Whether it gives a residual risk, on which a scenario may set a limit.
    inside : callable or None
        For one that runs others: their places, and what each lacks.
    command : str
        What an attack is called on the command line, where that is not its name with hyphens.
    function : callable or None
        The function of a measure from outside the package.
    no_chart : str
        Why a picture would not help; "" for a measure that has one.
    """

    name: str
    question: str
    room: Room
    files: Files
    needs: tuple[str, ...] = ()
    missing: Literal["wildcard", "category"] = "category"
    of_plan: OfPlan = "columns"
    words: str = ""
    arguments: Callable[[Context], Mapping[str, Any]] | None = None
    parts: Callable[[Context], Iterator[Part]] | None = None
    condition: Callable[[Context], str] = nothing_lacks
    when: Callable[[Context], bool] | None = None
    on_request: bool = False
    essential: bool = False
    of_intruder: bool = True
    per_target: bool = False
    residual_risk: bool = False
    inside: Callable[[Context], Sequence[tuple[str, str]]] | None = None
    command: str = ""
    function: Callable[..., Any] | None = None
    no_chart: str = ""

    @property
    def runs(self) -> bool:
        """Whether `assess` can run it."""
        return self.arguments is not None or self.parts is not None

    @property
    def kind(self) -> str:
        """What it is called on the command line."""
        return self.command or self.name.replace("_", "-")

    def measure(self, *given: Any, **arguments: Any) -> Any:
        """Call the public function."""
        function = _public(self.name) if self.function is None else self.function
        return function(*given, **arguments)

    def lacks(self, context: Context) -> str:
        """The one sentence why it cannot run here; "" where it can.

        The only place where it is decided: plan, run and dry run ask here.
        """
        for need in self.needs:
            role, sentence = LACKING.get(need, ("", ""))
            if role and not getattr(context.scenario, role):
                return sentence
            if need == "target" and not context.targets:
                return NO_TARGET
            if need == "control" and not context.has_control:
                return NO_CONTROL
        used = [
            *filter(None, [context.target]),
            *(context.scenario.numeric if "numeric" in self.needs else ()),
        ]
        if context.columns is not None and (gone := [name for name in used if name not in context.columns]):
            return f"a release does not have the variable {gone[0]}"
        return self.condition(context)

    def run(self, context: Context) -> Iterator[Part]:
        """Give each part of the result as a call; a call may raise what the measure raises."""
        if self.parts is not None:
            yield from self.parts(context)
        elif self.arguments is not None:
            given = {**self.arguments(context), **self._grouped(context)}
            if self.files == "one":
                subject = context.cells if self.missing == "wildcard" else context.categories
            else:
                subject = context.pair
            yield "", lambda: self.measure(subject, **given)

    def _grouped(self, context: Context) -> Mapping[str, Any]:
        """The argument `by`, where subgroups are asked for and this measure has figures of them."""
        if not context.by or self.room not in ("identity", "attribute"):
            return {}
        return context.grouped if "by" in signature(_public(self.name)).parameters else {}

    def place(self, context: Context, detail: str = "") -> str:
        """Where a result stands: the measure, with intruder, variable or variant after colons."""
        whose = context.intruder if self.files == "attack" and self.of_intruder else ""
        return ":".join(filter(None, (self.name, whose, context.target, detail)))

    def doing(self, context: Context) -> str:
        """What is told while it runs."""
        return self.words.format(intruder=context.intruder, target=context.target or "")
