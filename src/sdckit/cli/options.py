"""The options commands share, and how a command line and a scenario file become one scenario."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from sdckit.data.limits import LimitKind, declarable
from sdckit.data.packaged import packaged
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

# An option or argument and its row of `options.toml`.


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return packaged("cli/options.toml")


def option(group: str, *flags: str, **filled: str) -> Any:
    """An option by its flags: its row has the name of the first one; `filled` is what its help leaves open.

    >>> option("reading", "--sheet").metavar
    'NAME_OR_NUMBER'
    """
    rows = _rows()[group]
    *metavar, words = rows[flags[0].strip("-").partition("/")[0]]
    return Option(*flags, metavar=(*metavar, None)[0], help=words.format(**filled), rich_help_panel=rows.get("panel"))


def argument(group: str, name: str) -> Any:
    """An argument by the name of its row.

    >>> argument("shared", "file").metavar
    'FILE'
    """
    metavar, words = _rows()[group][name]
    return typer.Argument(metavar=metavar, help=words)


# One line where a file is taken for the whole population: every risk in it is then the largest it could
# be.


IN_OPTIONS = "--weight W or --sampling-fraction X"
IN_A_SCENARIO = 'weight = "W" or sampling_fraction = X in the scenario'


def whole_population(scenario: Scenario, name: str, *, options: bool = False) -> str:
    """What is said of a file without weight and sampling fraction; "" of another.

    `options`: whether the command has options for them.

    >>> from sdckit import Scenario
    >>> whole_population(Scenario(keys=["age"], weight="w"), "a.csv")
    ''
    >>> print(whole_population(Scenario(keys=["age"]), "a.csv", options=True))
    a.csv is taken for the whole population.
    If it is a sample, say so: --weight W or --sampling-fraction X.
    """
    if scenario.weight is not None or scenario.sampling_fraction is not None:  # a fraction of 1 says it, too
        return ""
    return (
        f"{name} is taken for the whole population.\n"
        f"If it is a sample, say so: {IN_OPTIONS if options else IN_A_SCENARIO}."
    )


def path_typed(path: Path | str) -> str:
    """A file as it is typed, which no option is.

    >>> path_typed("our survey.csv"), path_typed(Path("-9.csv"))
    ("'our survey.csv'", './-9.csv')
    """
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))


def as_typed(*groups: Any) -> str:
    """The options of such groups as they are typed, each with a blank before it.

    >>> as_typed(ReleaseType(release_type="teaching", release_types=Path("rules/our office.toml")))
    " --release-type teaching --release-types 'rules/our office.toml'"
    """
    given = [(option.name, getattr(group, option.name)) for group in groups for option in fields(group) if option.init]
    typed = ""
    for name, values in given:
        for value in values if isinstance(values, list) else [values]:
            if name == "file" or value is None or value is False:
                continue
            typed += f" --{name.replace('_', '-')}"
            if value is not True:
                text = str(value)
                typed += f"{' ' if text.strip('-') == text != '' else '='}{shlex.quote(text)}"
    return typed


# The options that say what a file is released as, and an office's limits for such files.


PANEL = _rows()["limits"]["panel"]


def _limit(name: str, kind: LimitKind) -> tuple[str, Any, Any]:
    """A limit as an option: its name as a flag of one letter has two dashes, too."""
    typed = int | None if kind.values == "level" else float | None
    flags = (f"--{name}",) if len(name) == 1 else ()
    shown = Option(*flags, metavar=kind.metavar, help=kind.option, rich_help_panel=PANEL)
    return name, Annotated[typed, shown], field(default=None)


Limits = make_dataclass("Limits", [_limit(*row) for row in declarable().items()], frozen=True, kw_only=True)
Limits.__doc__ = "Thresholds by their names in a scenario."


@dataclass(frozen=True, kw_only=True)
class ReleaseType:
    """A type of release by its name in a scenario, and the file of an office's types."""

    release_type: Annotated[str | None, option("limits", "--release-type")] = None
    release_types: Annotated[Path | None, option("limits", "--release-types")] = None

    @property
    def entries(self) -> dict[str, Any]:
        """What was given, as entries of a scenario."""
        given = {"release": self.release_type, "release_types": self.release_types}
        return {name: value for name, value in given.items() if value is not None}

    def of(self, scenario: Scenario | None) -> Scenario | None:
        """The same scenario with what was given."""
        if not self.entries:
            return scenario
        if scenario is None:
            raise ScenarioError("--release-type and --release-types need a scenario; give --scenario S.toml")
        return scenario.changed(**self.entries)


# The options that say whose a report is, and what its readers call the file.


@dataclass(frozen=True, kw_only=True)
class CoverOptions:
    """The file's name for readers, the institution, and the language."""

    name: Annotated[str | None, option("cover", "--name")] = None
    institution: Annotated[str | None, option("cover", "--institution")] = None
    logo: Annotated[Path | None, option("cover", "--logo")] = None

    language: Annotated[str | None, option("cover", "--language")] = None

    def check(self, *, written: bool) -> None:
        """Refuse a cover without a report, a logo that is no picture and an unknown language, before any work."""
        given = (self.name, self.institution, self.logo, self.language)
        if not written and any(option is not None for option in given):
            raise ScenarioError(
                "--name, --institution, --logo and --language are those of a report; name it by --report"
            )
        if written and self.logo is not None:
            from sdckit.report.cover import Cover

            _ = Cover(logo=self.logo).picture
        if written and self.language is not None:
            from sdckit.report.language import check_language

            check_language(self.language)

    def arguments(self, *files: Path | None) -> dict[str, Any]:
        """What `report` takes; the files are those that were read."""
        return {
            "name": self.name or "",
            "institution": self.institution or "",
            "logo": self.logo,
            "files": [file for file in files if file is not None],
            "language": self.language or "en",
        }


Texts = list[str] | None

File = Annotated[Path, argument("shared", "file")]
Missing = Annotated[Texts, option("reading", "--missing")]
Delimiter = Annotated[str | None, option("reading", "--delimiter")]
Encoding = Annotated[str | None, option("reading", "--encoding")]
Decimal = Annotated[str | None, option("reading", "--decimal")]
Sheet = Annotated[str | None, option("reading", "--sheet")]
HeaderRow = Annotated[int | None, option("reading", "--header-row")]
UserMissing = Annotated[bool, option("reading", "--user-missing")]
Join = Annotated[Path | None, option("reading", "--join")]
JoinKey = Annotated[str | None, option("reading", "--join-key")]
TABLE_WORDS: str = option("output", "--figures").help
Quiet = Annotated[bool, option("shared", "--quiet", "-q")]
MissingRule = Annotated[Texts, option("shared", "--missing-rule")]


def split(values: Iterable[str] | None) -> list[str]:
    """Join the values of a repeatable option whose values may be comma-separated; quotes hold a comma together.

    Examples
    --------
    >>> split(["sex, age", "region"]), split(['"age, in years",sex'])
    (['sex', 'age', 'region'], ['age, in years', 'sex'])
    """
    rows = (row for value in values or () for row in csv.reader([value], skipinitialspace=True))
    return [part for part in (part.strip() for row in rows for part in row) if part]


def codes(values: Iterable[str] | None) -> list[str]:
    """Read the codes that mean missing; an empty one says that, beside the empty field, there are no others.

    Examples
    --------
    >>> codes(["NA,-9"]), codes(["", "NA"]), codes(None)
    (['NA', '-9'], ['', 'NA'], [])
    """
    given = list(values or ())
    named = split(given)
    return ["", *named] if "" in given or (given and not named) else named


def split_named(values: Iterable[str] | None, *, option: str, example: str = "neighbour=sex,age") -> dict[str, str]:
    """Read ``name=value`` pairs of a repeatable option.

    Examples
    --------
    >>> split_named(["neighbour=sex,age"], option="--intruders")
    {'neighbour': 'sex,age'}
    """
    named: dict[str, str] = {}
    for text in values or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ScenarioError(f"{option} takes name=value, such as {option} {example}")
        if name in named:
            raise ScenarioError(f"{option} names '{name}' twice; give each name once")
        named[name] = value
    return named


def make_scenario(
    file: Path | None, *, keys: list[str] | None = None, intruders: list[str] | None = None,
    missing_rule: list[str] | None = None, thresholds: dict[str, Any] | None = None,
    matching: dict[str, Any] | None = None, **given: Any,
) -> Scenario:  # fmt: skip
    """Build the scenario: the file's entries, each replaced where an option names it.

    Keys, intruders and rules come as typed: ``a,b``, ``name=a,b``, ``rule`` or ``key=rule``; thresholds by name,
    None where not given; `given` are other fields of `Scenario`, None or empty where not given.
    """
    from sdckit.data.scenarios.scenario import Scenario

    fields: dict[str, Any] = {}
    if file is not None:
        base = Scenario.from_toml(file)
        fields = {name: getattr(base, name) for name in type(base).model_fields}
        fields["thresholds"] = base.thresholds.entries
    named = {name: split([value]) for name, value in split_named(intruders, option="--intruders").items()}
    if keys and named:
        raise ScenarioError("give --keys for one intruder or --intruders name=a,b for several, not both")
    if keys:
        fields.pop("intruders", None)
        fields["keys"] = split(keys)
    elif named:
        fields["intruders"] = named
    if not fields.get("keys") and not fields.get("intruders"):
        raise ScenarioError(
            "say what an intruder could know: --keys sex,age,region, or --scenario FILE.toml "
            "(sdckit scenario init FILE writes one)"
        )
    fields |= {name: value for name, value in given.items() if value not in (None, [], "")}
    if "stated" in fields:  # by the file; an empty tuple says that no column has the role
        fields["stated"] = tuple({*fields["stated"], *(name for name, value in given.items() if value == ())})
        if fields["magnitudes"] != base.magnitudes:
            fields["numeric"] = [name for name in fields["numeric"] if name not in base.magnitudes]
    if given.get("weight") and file is not None:
        fields["sampling_fraction"] = given.get("sampling_fraction")
    elif given.get("sampling_fraction") and file is not None:
        fields["weight"] = given.get("weight")
    limits = {name: limit for name, limit in (thresholds or {}).items() if limit is not None}
    stated = fields.get("thresholds", {})  # a typed share leaves the number of known rows as it was
    typed = {name: {**stated[name], "alone": limit} if isinstance(stated.get(name), dict) else limit
             for name, limit in limits.items()}  # fmt: skip
    fields["thresholds"] = {**stated, **typed}
    if matching:
        from sdckit.data.scenarios.matching import merged

        fields["matching"] = merged(fields.get("matching"), matching)
    if missing_rule:
        fields["missing"] = _rules(missing_rule, fields)
    scenario = Scenario(**fields)
    if file is not None:
        scenario._folder = base.folder  # where its paths start
    return scenario


def _rules(texts: list[str], fields: dict[str, Any]) -> str | dict[str, str]:
    """One rule for all keys, or one per key; a bare rule beside named ones holds for the other keys."""
    named = split_named((text for text in split(texts) if "=" in text), option="--missing-rule", example="age=category")
    bare = [text for text in split(texts) if "=" not in text]
    if len(bare) > 1 or not (bare or named):
        raise ScenarioError("--missing-rule takes one rule for all keys, and key=rule for single ones")
    if not named:
        return bare[0]
    if not bare:
        return named
    groups = [fields["keys"]] if "keys" in fields else fields["intruders"].values()
    return {key: bare[0] for group in groups for key in group} | named
