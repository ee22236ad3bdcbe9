"""The options commands share, and how a command line and a scenario file become one scenario."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


FILE_PANEL = "How to read the file"
Texts = list[str] | None

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV (also .csv.gz), Parquet, Arrow; Excel, SPSS, Stata or SAS with the extra `files`.",
    ),
]
Missing = Annotated[
    Texts,
    Option(
        "--missing",
        metavar="CODES",
        help="Codes that mean missing, instead of NA, N/A, NaN, NULL and a point: --missing NA --missing=-999.",
        rich_help_panel=FILE_PANEL,
    ),
]
Delimiter = Annotated[
    str | None, Option("--delimiter", metavar="CHAR", help="CSV: the delimiter.", rich_help_panel=FILE_PANEL)
]
Encoding = Annotated[
    str | None, Option("--encoding", metavar="NAME", help="CSV: the encoding.", rich_help_panel=FILE_PANEL)
]
Decimal = Annotated[
    str | None, Option("--decimal", metavar="CHAR", help="CSV: the decimal mark.", rich_help_panel=FILE_PANEL)
]
UserMissing = Annotated[
    bool,
    Option(
        "--user-missing",
        help="SPSS, Stata: labelled user-missing codes, such as refused, stay categories instead of missing.",
        rich_help_panel=FILE_PANEL,
    ),
]
Join = Annotated[
    Path | None,
    Option(
        "--join",
        metavar="FILE",
        help="A second file, such as the households of persons: its columns beside those of FILE.",
        rich_help_panel=FILE_PANEL,
    ),
]
JoinKey = Annotated[
    str | None,
    Option(
        "--join-key", metavar="COLUMN", help="The column that both files have.", rich_help_panel=FILE_PANEL
    ),
]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Errors and warnings only: no tables, no progress.")]
Keys = Annotated[list[str], Option("--keys", metavar="A,B", help="What an intruder could know.")]
Weight = Annotated[str | None, Option("--weight", metavar="W", help="Sampling weights.")]
Fraction = Annotated[
    float | None, Option("--sampling-fraction", metavar="X", help="Share of the population in the file.")
]
MissingRule = Annotated[
    Texts,
    Option(
        "--missing-rule",
        metavar="RULE",
        help="What a missing key value is: wildcard, category or error; key=rule for one key.",
    ),
]


def split(values: Iterable[str] | None) -> list[str]:
    """Join the values of a repeatable option whose values may be comma-separated; quotes hold a comma together.

    Examples
    --------
    >>> split(["sex, age", "region"]), split(['"age, in years",sex'])
    (['sex', 'age', 'region'], ['age, in years', 'sex'])
    """
    rows = (row for value in values or () for row in csv.reader([value], skipinitialspace=True))
    parts = (part.strip() for row in rows for part in row)
    return [part for part in parts if part]


def whole_numbers(values: Iterable[str] | None, *, option: str) -> list[int]:
    """Read whole numbers separated by commas.

    Examples
    --------
    >>> whole_numbers(["2,3", "5"], option="--k")
    [2, 3, 5]
    """
    parts = split(values)
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise ScenarioError(f"{option} takes whole numbers, such as {option} 2,3,5")
    return [int(part) for part in parts]


def codes(values: Iterable[str] | None) -> list[str]:
    """Read the codes that mean missing; an empty one alone stands for the empty field and nothing else.

    Examples
    --------
    >>> codes(["NA,-9"]), codes([""]), codes(None)
    (['NA', '-9'], [''], [])
    """
    given = list(values or ())
    return split(given) or ([""] if given else [])


def split_named(
    values: Iterable[str] | None, *, option: str, example: str = "neighbour=sex,age"
) -> dict[str, str]:
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
    file: Path | None, *, keys: list[str] | None, intruders: list[str] | None, missing_rule: list[str] | None,
    thresholds: dict[str, Any], matching: dict[str, Any] | None = None, **given: Any,
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
        fields["thresholds"] = base.thresholds.declared
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
    if given.get("weight") and file is not None:
        fields["sampling_fraction"] = given.get("sampling_fraction")
    elif given.get("sampling_fraction") and file is not None:
        fields["weight"] = given.get("weight")
    limits = {name: limit for name, limit in thresholds.items() if limit is not None}
    fields["thresholds"] = {**fields.get("thresholds", {}), **limits}
    if matching:
        from sdckit.data.scenarios.matching import merged

        fields["matching"] = merged(fields.get("matching"), matching)
    if missing_rule:
        fields["missing"] = _rules(missing_rule, fields)
    found = Scenario(**fields)
    if file is not None:
        found._folder = base.folder  # where its paths start
    return found


def _rules(texts: list[str], fields: dict[str, Any]) -> str | dict[str, str]:
    """One rule for all keys, or one per key; a bare rule beside named ones holds for the other keys."""
    named = split_named(
        (text for text in split(texts) if "=" in text), option="--missing-rule", example="age=category"
    )
    bare = [text for text in split(texts) if "=" not in text]
    if len(bare) > 1 or not (bare or named):
        raise ScenarioError("--missing-rule takes one rule for all keys, and key=rule for single ones")
    if not named:
        return bare[0]
    if not bare:
        return named
    groups = [fields["keys"]] if "keys" in fields else fields["intruders"].values()
    return {key: bare[0] for group in groups for key in group} | named
