"""What a row of the catalogue says of a measure, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from sdckit.catalogue.context import Context

if TYPE_CHECKING:
    from sdckit.result import Result


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
    asked : bool
        Whether it runs only where it is asked for by name.
    essential : bool
        Whether nothing can be said without it, so that its error ends the run.
    of_intruder : bool
        Whether it depends on what an intruder knows.
    each : bool
        Whether it is run for every sensitive variable by itself.
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
    asked: bool = False
    essential: bool = False
    of_intruder: bool = True
    each: bool = False
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
