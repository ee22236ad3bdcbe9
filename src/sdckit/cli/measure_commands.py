"""The commands that are a measure and nothing else: made of its signature, its docstring and its row."""

from __future__ import annotations

import builtins
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer.core
import typer.main

from sdckit.catalogue import Measure, measure
from sdckit.catalogue.row import described_parameters
from sdckit.cli.options import TABLE_WORDS, codes, split, split_named
from sdckit.cli.progress import Steps
from sdckit.cli.source import BEHIND, DESIGN, Source, takes
from sdckit.display import capital
from sdckit.errors import ColumnError, DataError, ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

PANELS = {
    "identity": "Who can be recognised", "attribute": "What can be learnt", "attacks": "Simulated attacks",
    "utility": "What a release is good for",
}  # fmt: skip
METAVARS = {  # where the kind of an argument does not say what its option takes
    "alpha": "A", "count": "COLUMN", "counted": "A,B", "draws": "DRAWS.npz", "formula": "'COLUMN ~ TERMS'",
    "family": "linear|logistic|poisson|multinomial", "hierarchies": "A=FILE", "high_risk": "R", "household": "COLUMN",
    "id": "COLUMN", "interactions": "M", "k": "K,K", "log": "LOG.json", "max_dim": "D", "max_size": "M",
    "missing": "RULE", "models": "FORMULA", "person": "P", "relative": "yes|no|A=yes|no", "risk": "R",
    "summed": "C:A,B", "sums": "C:FILE", "tables": "FILE", "target": "T", "time": "COLUMN", "weight": "W",
}  # fmt: skip
WORDS = {  # what is said of a value that is none
    "N": "a whole number", "X": "a number", "yes|no": "yes or no", "N,N": "whole numbers, such as {} 2,3,5",
    "X,X": "numbers, such as {} 0.1,0.2",
}  # fmt: skip
NEEDED = {  # the role of a scenario that gives what a measure needs, and what is said where nothing does
    "numeric": ("numeric", "variables are numeric"), "sensitive": ("sensitive", "variables are sensitive"),
    "target": ("sensitive", "variable would be learnt"), "household": ("household", "column is the household"),
    "known": ("all_keys", "variables are known"), "variables": ("all_keys", "variables are known"),
}  # fmt: skip
ROLES = ("household", "sensitive", "numeric")
NUMBERS = ("magnitudes", "number_groups")
ENTRIES = (*ROLES, *DESIGN, "person", "time", "alpha", "identifiers")  # of a scenario, that can be typed
WHOLE_ROLES = ("", "population")  # files that must have every column declared
ALL_UNLESS = ("variables", "columns", "targets")  # without these all columns are read
COLUMNS = (
    *ROLES, *ALL_UNLESS, "weight", "person", "id", "by", "ordered", "known", "synthetic", "categorical", "target",
    "earlier_keys", "time", "also_known", "hierarchies", *NUMBERS,
)  # fmt: skip
NOT_TYPED = ("keys", "scenario", "step", "prefix")


@dataclass(frozen=True)
class Described:
    """What a docstring says of an argument: its type, and in words."""

    type: str = ""
    words: str = ""


def descriptions(function: Callable[..., Any]) -> dict[str, Described]:
    """The arguments of a function as its docstring describes them, or that of the measure it refers to.

    >>> from sdckit import k_anonymity
    >>> descriptions(k_anonymity)["alpha"].words
    "Weight in [0, 1] of a match through another record's missing value; default 1."
    """
    described: dict[str, Described] = {}
    for names, kind, body in described_parameters(function):
        # What is printed of subgroups stands below; a measure's limits are thresholds on the command line.
        words = re.sub("; see ``by_group``|`", "", body).replace("limit", "threshold")
        parts = words.removesuffix(".").split("; ")
        other = re.match(r"As in (\w+)", words)
        for at, name in enumerate(names):
            own = f"{parts[at]}." if len(parts) == len(names) > 1 else words
            described[name] = Described(kind, capital(own))
            if other is not None:
                described[name] = descriptions(measure(other[1]).public).get(name, described[name])
    return described


# How a value is read off the command line.


def evaluated(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a function with their annotations; an alias in quotes may be anything."""
    module = getattr(function, "__globals__", {})
    known = {name: Any if isinstance(value, str) else value for name, value in module.items()}
    names = defaultdict(lambda: Any, {**vars(builtins), **known})  # what is there for type checkers alone, too
    parameters = inspect.signature(function, eval_str=True, locals=names).parameters
    return {name: parameter for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD}


def _is(kind: Any, *origins: type) -> bool:
    return get_origin(kind) in origins


def _kinds(hint: Any) -> list[Any]:
    """The kinds of value that an annotation allows and that can be typed."""
    if _is(hint, Union, UnionType):  # type: ignore[arg-type]
        return list(dict.fromkeys(kind for member in get_args(hint) for kind in _kinds(member)))
    if _is(hint, Literal):  # type: ignore[arg-type]
        return [type(get_args(hint)[0])]
    return [hint] if hint in (bool, int, float, str) or _is(hint, Mapping, Sequence, tuple) else []


def _inner(kind: Any) -> list[Any]:
    """The kinds of the members of a sequence."""
    return _kinds(get_args(kind)[0]) or [str]


def _shape(kind: Any) -> str:
    """How a value of this kind is written.

    >>> _shape(int), _shape(Sequence[float]), _shape(Mapping[str, int])
    ('N', 'X,X', 'A=N')
    """
    if _is(kind, Mapping):
        name, value = (_shape((_kinds(member) or [str])[0]) for member in get_args(kind))
        return f"{name.replace('NAME', 'A')}={value}"
    if _is(kind, Sequence, tuple):
        shape = "A=X,Y" if _is(_inner(kind)[0], tuple) else _shape(_inner(kind)[0])
        return shape if "," in shape else f"{shape},{shape}".replace("NAME,NAME", "A,B")
    return {bool: "yes|no", int: "N", float: "X"}.get(kind, "NAME")


def _shapes(kinds: Sequence[Any]) -> list[str]:
    """How values of these kinds are written; one that a list may consist of is not told apart."""
    shapes = list(dict.fromkeys(map(_shape, kinds)))
    return [shape for shape in shapes if f"{shape},{shape}".replace("NAME,NAME", "A,B") not in shapes]


def _word(text: str, kinds: Sequence[Any]) -> Any:
    """One word as the first of these kinds that it can be."""
    for kind in [number for number in (int, float) if number in kinds]:
        with suppress(ValueError):
            return kind(text)
    if bool in kinds and text in ("yes", "no"):
        return text == "yes"
    if str in kinds:
        return text
    raise ValueError


def _value(texts: Sequence[str], kinds: Sequence[Any]) -> Any:
    """A mapping, a word or a list."""
    words, plain = split(texts), [kind for kind in kinds if get_origin(kind) is None]
    for kind in [mapping for mapping in kinds if _is(mapping, Mapping) and "=" in texts[0]]:
        values = _kinds(get_args(kind)[1]) or [str]
        pairs = split_named(texts if _is(values[0], Sequence) else words, option="")
        return {_word(name, _inner(kind)): _value([text], values) for name, text in pairs.items()}
    if len(words) == 1:
        with suppress(ValueError):
            return _word(words[0], plain)
    for inner in (_inner(kind) for kind in kinds if _is(kind, Sequence, tuple)):
        if _is(inner[0], tuple):
            return [(name, *split([rest])) for name, _, rest in (text.partition("=") for text in texts)]
        if _is(inner[0], Sequence):
            return [split([text]) for text in texts]
        return [_word(word, inner) for word in words]
    raise ValueError


def _read(typed: Any, *, kinds: Sequence[Any], option: str) -> Any:
    try:
        return typed if kinds == [str] else _value([typed] if isinstance(typed, str) else typed, kinds)
    except (ValueError, ScenarioError):
        words = " or ".join(WORDS.get(shape, shape).format(option) for shape in _shapes(kinds))
        raise ScenarioError(f"{option} takes {words}") from None


def read_models(texts: Sequence[str] | None) -> dict[str, str]:
    """Read ``--model``: a formula, with its family and a colon before it where it is not linear.

    Examples
    --------
    >>> read_models(["income ~ age", "logistic: ill ~ age:sex"])
    {'income ~ age': 'linear', 'ill ~ age:sex': 'logistic'}
    """
    families = {}
    for text in texts or ():
        family, colon, formula = text.partition(":")
        named = bool(colon) and "~" not in family
        families[formula.strip() if named else text.strip()] = family.strip() if named else "linear"
    return families


def _read_log(path: Path) -> Any:
    from sdckit.workflow.recipes.recipe_log import RecipeLog

    return RecipeLog.read(path)


# What a command takes.


@dataclass(frozen=True)
class Typed:
    """An argument as it is typed: the parameter of the command, and how its value is read."""

    name: str
    parameter: inspect.Parameter
    read: Callable[[Any], Any]


def _typed(
    name: str, kind: Any, words: str, metavar: str | None = None, *, option: str = "", required: bool = False,
    read: Callable[[Any], Any] = lambda value: value,
) -> Typed:  # fmt: skip
    from rich.markup import escape

    option = option or f"--{name.replace('_', '-')}"
    taken = kind if required else kind | None
    shown = typer.Option(option, metavar=METAVARS.get(name, metavar), help=escape(words))
    parameter = inspect.Parameter(
        option.lstrip("-").replace("-", "_"), inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[taken, shown],
        default=inspect.Parameter.empty if required else None,
    )  # fmt: skip
    return Typed(name, parameter, read)


def typed_arguments(parameter: inspect.Parameter, described: Described) -> Iterator[Typed]:
    """The option of an argument; none of one that is no text, no number and no list of them."""
    name, required, words = parameter.name, parameter.default is parameter.empty, described.words
    default, hint = None if required else parameter.default, parameter.annotation
    kinds = _kinds(hint)
    choices = re.findall(r'"(\w+)"', re.sub(r"^[^{]*|}.*", "", described.type))
    if (choices or isinstance(default, str)) and str not in kinds:
        kinds.append(str)
    if len(choices) > 1:
        words = f"{', '.join(choices[:-1])} or {choices[-1]}. {words}"
    if default not in (None, "", ()) and not isinstance(default, bool):
        words += f" Default {','.join(map(str, default)) if isinstance(default, tuple) else default}."
    option = f"--{name.replace('_', '-')}"
    if name == "missing":
        yield _typed(name, list[str], words, option="--missing-rule")
    elif name == "log":
        yield _typed(name, Path, words, read=_read_log)
    elif name == "models":
        yield _typed(name, list[str], words, option="--model", read=read_models)
    elif typed := [member for member in (hint, *get_args(hint)) if member is Path or _is(member, list)]:
        yield _typed(name, typed[0], words, required=required)
    elif kinds == [bool]:
        says = f"Switches off: {words[:1].lower()}{words[1:]}" if default else words
        flag = f"--no-{option[2:]}" if default else option
        yield _typed(name, bool, says, option=flag, read=lambda typed: typed is not default)
    elif kinds and not described.type.startswith("array"):
        metavar = "TEXT" if kinds == [str] and not choices else "|".join(_shapes(kinds))
        taken = str if all(get_origin(kind) is None for kind in kinds) else list[str]
        read = partial(_read, kinds=kinds, option=option)
        yield _typed(name, taken, words, metavar, read=read, required=required)


@dataclass(frozen=True)
class MeasureCall:
    """A measure as a command calls it."""

    row: Measure

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Its arguments, and those of the command line alone."""
        return self._both(evaluated)

    @cached_property
    def told(self) -> dict[str, Described]:
        """What is said of them."""
        return dict.fromkeys(self.parameters, Described()) | self._both(descriptions)

    def _both(self, of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return of(self.row.public) | (of(self.row.by_command) if self.row.by_command else {})

    @cached_property
    def files(self) -> list[Typed]:
        """The files beside the first: what stands without a name, and other data frames."""
        files = []
        for name, parameter in list(self.parameters.items())[1:]:
            kind, words = self.told[name].type, self.told[name].words
            if parameter.kind is not parameter.KEYWORD_ONLY or "data frame" in kind:
                several = list[Path] if re.search("(sequence|mapping) of", kind) else Path
                files.append(_typed(name, several, words, "FILE", required=not kind.endswith("optional")))
        return files

    @cached_property
    def arguments(self) -> list[Typed]:
        """What else can be typed; no column to be carried along, since nothing is printed by record."""
        beside = {*NOT_TYPED, *self.row.instead, *(file.name for file in self.files)}
        if re.search(r"carr(y|ied) along", self.told.get("id", Described()).words):
            beside.add("id")
        names = [name for name in list(self.parameters)[1:] if name not in beside]
        typed = [option for name in names for option in typed_arguments(self.parameters[name], self.told[name])]
        if self.reads_all:
            typed.append(_typed("identifiers", list[str], "Names and numbers; never read.", "A,B", read=split))
        return typed

    def takes(self, *names: str) -> bool:
        """Whether it has an argument of one of these names."""
        return not self.parameters.keys().isdisjoint(names)

    @property
    def reads_all(self) -> bool:
        """Whether it takes all columns of its files where none are named."""
        models = self.takes("formula", "models") and not self.takes("keys")
        return self.takes("scenario") and (models or self.takes(*ALL_UNLESS, "tables", "rules"))

    @property
    def of_intruder(self) -> bool:
        """Whether it is about what one intruder knows."""
        of_keys = not {"keys", "known", "variables"}.isdisjoint(self.row.needs) or self.takes(*NUMBERS)
        return self.row.files == "attack" or of_keys

    def command(self) -> Callable[..., None]:
        """The function of the command."""

        def command(source: Source, **typed: Any) -> None:
            self.run(source, typed)

        options = [*self.files, *self.arguments]
        if not self.row.no_chart:
            options.append(_typed("figures", Path, TABLE_WORDS, "FIGURES.csv"))
        source = inspect.Parameter("source", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Source)
        command.__signature__ = inspect.Signature([source, *(option.parameter for option in options)])  # type: ignore[attr-defined]
        parts = [(self.row.public.__doc__ or self.row.question).strip().partition("\n\n")[0]]
        parts.append((getattr(self.row.by_command, "__doc__", None) or "").partition("\n\n")[0])
        parts.append("Exact figures for your own session.")
        here = {*NOT_TYPED, *self.row.instead, "id", *(option.name for option in options)}
        if only := [name for name in list(self.parameters)[1:] if name not in here]:
            parts.append(f"In Python alone: {', '.join(only)}.")
        command.__doc__ = "\n\n".join(" ".join(part.split()) for part in parts if part)
        taken = {"keys": self.takes("keys"), "intruder": self.of_intruder, "scenario": self.takes("scenario")}
        leave_out = [name for name, is_taken in taken.items() if not is_taken]
        return takes(Source, leave_out=leave_out, behind=BEHIND)(command)

    def run(self, source: Source, typed: dict[str, Any]) -> None:
        """Read what was typed, then the files; measure, and print."""
        from sdckit.cli.attack_files import check_different
        from sdckit.cli.errors import tell
        from sdckit.cli.outputs import check_table, check_targets, write_figures
        from sdckit.cli.terminal import print_measure

        paths = {file.name: typed[file.name] for file in self.files if typed[file.name] is not None}
        texts = [(argument, typed[argument.parameter.name]) for argument in self.arguments]
        given = {argument.name: argument.read(text) for argument, text in texts if text is not None}
        scenario = self.scenario(source, given, paths)
        for need, (role, words) in NEEDED.items():
            there = need in given or (need == "known" and "synthetic" in given)
            if need in self.row.needs and not there and not (scenario and getattr(scenario, role)):
                shown = METAVARS.get(need, "A,B")
                raise ScenarioError(f"say which {words}: --{need} {shown}, or a scenario that names them")
        released, figures = _listed(paths.get("released", ())), typed.get("figures")
        check_table(figures)
        check_targets(figures, inputs=(*source.inputs, source.scenario, *_listed(list(paths.values()))))
        check_different(source.file, released, paths.get("control"), paths.get("original"))
        call = self.call(given, scenario, alone=not paths)
        with source.steps() as steps:
            apart = "children" in paths  # the keys are in another file than the people
            read = partial(self.read, source, given=given, scenario=scenario, steps=steps, apart=apart)
            data, others = read(source.file), {}
            for name, path in paths.items():
                frames = {opened_path: read(opened_path, name) for opened_path in _listed(path)}
                named = {opened_path.stem: frame for opened_path, frame in frames.items()}
                several = [*frames.values()] if self.takes("scenario") else named
                others[name] = several if len(frames) > 1 else next(iter(frames.values()))
            if "released" in others and "row i was made from" in self.told["released"].words:
                from sdckit.cells.pair import open_pair
                from sdckit.workflow.opened_release import warn_of_rows

                pair = open_pair(data, others["released"], categories={}, aligned=True, id=given.get("id"))
                warn_of_rows(pair, "the order of the rows")
            steps.step((self.row.words or "measuring").format(intruder="the intruder", target=given.get("target")))
            result = call(data, **others, **({"step": steps.step} if self.takes("step") else {}))
        before = f"{', '.join(path.name for path in released)} against " if released else ""
        name = before + source.file.name
        results = result if isinstance(result, tuple) else (result,)
        if figures is not None:
            write_figures(figures, results)
        if self.row.no_chart:
            tell(f"{name}: {result}")
        else:
            print_measure(name, *results)

    def call(self, given: dict[str, Any], scenario: Scenario | None, *, alone: bool) -> Callable[..., Any]:
        """The measure with what was typed, which waits for its files; `alone` it has but one."""
        not_taken = {"identifiers", *(("id",) if alone and "original" in self.parameters else ())}
        given = {name: value for name, value in given.items() if name not in not_taken}
        if "missing" in given and scenario is not None:
            given["missing"] = scenario.missing
        if self.takes("scenario"):
            given["scenario"] = scenario
        return self.row.by_command(**given) if self.row.by_command else partial(self.row.public, **given)

    def scenario(self, source: Source, given: Mapping[str, Any], paths: Mapping[str, Any]) -> Scenario | None:
        """What is declared, each entry replaced where an option names it; of it what the measure has a use for."""
        if not self.takes("keys"):
            if source.scenario is None:
                return None
            from sdckit.data.scenarios.scenario import Scenario

            stored = Scenario.from_toml(source.scenario)
            return source.of_intruder(stored) if self.of_intruder else stored
        if "population" in paths and not given.keys().isdisjoint(DESIGN):
            raise ScenarioError("--population says how large it is; leave --weight and --sampling-fraction out")
        roles = {name for name in (*ROLES, "ordered", "hierarchies", "tables", "children") if self.takes(name)}
        roles |= {"sensitive"} if self.takes("target", "targets") else set()
        if "threshold" in f"{self.told['scenario'].words}{self.told.get('k', Described()).words}":
            roles |= {"thresholds", "release", "release_types"}
        entries = {name: given[name] for name in ENTRIES if name in given}
        entries |= {name: _listed(entries[name]) for name in ("sensitive", "numeric") if name in entries}
        design = self.takes(*DESIGN) and "population" not in paths
        return source.declared(design=design, roles=sorted(roles), missing_rule=given.get("missing"), **entries)

    def read(
        self, source: Source, path: Path, name: str = "", *, given: Mapping[str, Any], scenario: Scenario | None,
        steps: Steps, apart: bool,
    ) -> Any:  # fmt: skip
        """Read a file: the columns that are used, of a measure of all columns all but the identifiers."""
        from sdckit.data.files.readers import read_file, scan_header

        steps.step(f"reading {path.name}")
        how = source.beside(path).how
        missing = codes(source.missing) or (list(scenario.missing_codes) if scenario else [])
        if not self.takes("scenario"):
            frame = read_file(path, missing=missing, **how)
            hint = self.parameters[name or next(iter(self.parameters))].annotation
            return frame if hint is Any else frame.to_numpy()
        header = scan_header(path, **how)
        whole = self.reads_all and given.keys().isdisjoint(ALL_UNLESS)
        if whole and scenario is None and not header.certain:
            raise DataError(f"the first line of {path.name} may be a record, not a header; name columns")
        names: list[str] = []
        if scenario is not None:
            roles = [*(["all_keys"] if self.of_intruder else []), *filter(self.takes, ("weight", *ROLES))]
            roles += ["judged_numbers", "number_groups"] if self.takes(*NUMBERS) else []
            names = _listed(scenario.columns if self.takes("keys") else [getattr(scenario, role) for role in roles])
        if name != "population":
            names += [column for role in COLUMNS if role in given for column in _listed(given[role])]
            names += given["log"].columns if "log" in given and self.takes("hierarchies") else ()
        if whole:
            names = [*(names if self.takes("keys") else ()), *header.columns]
        never = {*given.get("identifiers", ()), *(scenario.identifiers if scenario else ())} - {given.get("id")}
        if whole or apart or name not in WHOLE_ROLES:
            names = [column for column in names if column in header.columns]
            never &= {*header.columns} if name else never
        columns = [column for column in dict.fromkeys(names) if column not in never]
        try:
            if scenario is not None and self.takes("keys") and name in WHOLE_ROLES and not (whole or apart):
                scenario.check_columns(header.columns, certain=header.certain)  # names the role, too
            return read_file(path, columns=columns, identifiers=sorted(never), missing=missing, **how)
        except ColumnError as error:
            if name != "population":
                raise
            raise ColumnError(f"population {path.name}: {error}", argument=error.argument) from None


def _listed(value: Any) -> list[Any]:
    """The names in a value, or the paths, however they are nested."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [entry for part in value for entry in _listed(part)]
    return [] if value is None else [value]


class MeasureCommand(typer.core.TyperCommand):
    """The command of a measure; its options and its help are made when somebody asks for them."""

    def __init__(self, row: Measure) -> None:
        super().__init__(row.kind, short_help=row.question, rich_help_panel=PANELS[row.room])
        self.row = row

    @cached_property
    def made(self) -> Any:
        """The command with all that it takes."""
        app = typer.Typer(add_completion=False)
        app.command(self.name)(MeasureCall(self.row).command())
        return typer.main.get_command(app)

    def __getattribute__(self, name: str) -> Any:
        """Of what only the full command has, that of the full command."""
        return getattr(self.made, name) if name in {"params", "callback", "help"} else super().__getattribute__(name)
