"""The disclosure scenario: intruders and their key variables, sensitive variables, and limits of a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, field_validator, model_validator

from sdckit.data.files.file_checks import WITHHELD, may_tell, warn_of_absent
from sdckit.data.limits import LIMITS
from sdckit.data.nearest import did_you_mean
from sdckit.data.rule_conditions import EditRule, read_edit_rules
from sdckit.data.scenarios import scenario_checks
from sdckit.data.scenarios.matching import Matching
from sdckit.data.scenarios.scenario_form import NOBODY, NONE
from sdckit.data.scenarios.scenario_toml import read_toml, write_toml
from sdckit.data.scenarios.thresholds import Thresholds, check_release, limits_in_force, office_types, read_limits
from sdckit.display import Displayed, plain_html
from sdckit.errors import ColumnError, DataError, ScenarioError

# Published tables declared by a scenario: names and types of entries are checked here, their meaning later.


TEXTS = ("file", "count", "sum", "total", "name")
BASES = ("rounded", "suppressed_below")
ROUNDING = ("random", "nearest")
ENTRIES = ("variables", *TEXTS, *BASES, "rounding")


def read_tables(value: Any) -> tuple[dict[str, Any], ...]:
    """Validate the tables of a scenario, as plain dicts.

    Raises `ScenarioError`: names an entry that does not exist, or is of another type.

    >>> read_tables([{"variables": ("region", "sex"), "rounded": 5}])
    ({'variables': ['region', 'sex'], 'rounded': 5},)
    """
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(isinstance(table, Mapping) for table in value):
        raise ScenarioError("tables must be a list of tables, each with variables or a file: [[tables]]")
    return tuple(_read(table, f"tables[{number}]") for number, table in enumerate(value, 1))


def _read(given: Mapping[Any, Any], place: str) -> dict[str, Any]:
    table = {str(name): entry.as_posix() if isinstance(entry, Path) else entry for name, entry in given.items()}
    for name, entry in table.items():
        if name not in ENTRIES:
            raise ScenarioError(f"there is no entry '{place}.{name}'; {did_you_mean(name, ENTRIES)}")
        if name in TEXTS and not isinstance(entry, str):
            raise ScenarioError(f"{place}.{name} must be text in quotes")
        if name in BASES and (type(entry) is not int or entry < 2):
            raise ScenarioError(f"{place}.{name} must be a whole number, 2 or more")
    if table.get("rounding", "random") not in ROUNDING:
        raise ScenarioError(f"{place}.rounding must be 'random' or 'nearest'")
    if "variables" in table:
        table["variables"] = _names(table["variables"], place)
    elif "file" not in table:
        raise ScenarioError(f"{place} has neither variables nor a file of counts")
    return table


def _names(given: Any, place: str) -> list[str]:
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed or not given or not all(isinstance(name, str) and name for name in given):
        raise ScenarioError(f'{place}.variables must be a list of column names, such as ["region", "sex"]')
    return list(given)


def _rules(value: Any) -> tuple[dict[str, Any], ...]:
    """Validate the edit rules of a scenario, as plain dicts with their column.

    Raises `ScenarioError`: in another form.
    """
    try:
        rules = read_edit_rules(value)
    except DataError as error:
        raise ScenarioError(str(error), argument="rules") from None
    return tuple({"column": rule.column, **rule.entries} for rule in rules)


MissingRule = Literal["wildcard", "category", "error"]
_Names = tuple[scenario_checks.Name, ...]
_Share = Annotated[float, Field(strict=True, gt=0, le=1)]


class Scenario(Displayed, BaseModel):
    """A disclosure scenario: what intruders could know and what the file holds; validated on construction.

    Parameters
    ----------
    keys
        Columns one intruder could know; short for ``intruders={"default": keys}``.
    intruders
        Named intruders, each with the columns they could know.
    weight
        Column of sampling weights; not together with `sampling_fraction`.
    sampling_fraction
        Share of the population in the file (above 0, at most 1).
    household, person
        Columns that say which records belong to one household, to one person. ``household="none"`` says that there are
        no households in the file, so a type of release asks for no limit on them; a column cannot have that name.
    time
        Column that says when a row of a person is from: the wave of a panel, the date of a visit; it may be a key, too.
    household_variables
        Columns that all members of a household share (region, tenure, household size); they may have other
        roles, too. Left out, methods that need them find them in the data.
    sensitive
        Columns an intruder would learn from. An empty list says that there are none, so a type of release asks for no
        limit on them; left out, nothing is said.
    numeric
        Columns measured on a scale; such a column may also be a key or sensitive.
    magnitudes
        Columns of amounts of which few units hold most (turnover, income, wealth); they are numeric, too, and may be
        keys or sensitive. An empty list says that there are none; left out, nothing is said, and a limit on
        `exact_numbers` cannot be judged.
    number_groups
        Columns whose combinations are the groups in which a magnitude dominates; the keys as released unless given.
    ordered
        Columns of categories or codes whose order means something; each is a key or sensitive.
    hierarchies
        For keys that are codes, the file of their hierarchy (`read_hierarchy`): what belongs together. A path
        starts where the scenario file lies.
    identifiers
        Direct identifiers (names, numbers of persons); no figure reads them. Beside a release those that it leaves out
        are held against its other columns: one may have been made of them.
    insensitive
        Columns known to nobody and harming nobody, by name or by a pattern such as ``"att_*"``; ``"*"`` are all that
        have no other role. A pattern covers no column in which 5 % of the records or more hold a value that occurs
        once.
    insensitive_because
        Who found the columns of the patterns insensitive, and why; a pattern needs it.
    thresholds
        `Thresholds` or a dict of them.
    missing
        What a missing value in a key is: ``"wildcard"`` (may stand for any value), ``"category"``,
        ``"error"``; or a dict per key, where keys not named are wildcards.
    alpha
        Weight of a match by wildcard, 0 to 1.
    release
        The type of release: ``"public-use"``, ``"teaching"``, ``"scientific-use"``, ``"enclave"``,
        ``"synthetic"`` (every record is made up), or one of `release_types`. Its limits hold where `thresholds` does
        not say otherwise.
    release_types
        An office's own limits by type, a dict of dicts or the path of a TOML file; they replace the published
        ones, limit by limit (``"none"``: not asked).
    missing_codes
        Codes in files that mean missing, such as ``["NA", "-999"]``; an empty one among them, ``["", "NA"]``, says
        that there are no others, and no other value is warned of.
    title
        A line for the report.
    aligned
        Row i of the released file was made from row i of the original.
    tables
        What is published of the same people beside the file: a list of dicts with the entries of `PublishedTable`, a
        path of counts as ``file``.
    rules
        Edit rules (`edit_rules`): a dict by column, as ``synthesize(rules=)`` takes it, or a list of dicts with the
        entries ``column``, ``when`` and ``value``.
    matching
        How rows of a release are matched back: a dict of ``known``, ``synthetic``, ``width``, ``relative``,
        ``tol`` and ``high_risk``.
    ledger
        Where earlier releases are remembered (`ReleaseLedger`): a dict of ``folder``, ``key``, ``survey``, ``people``,
        ``id``, ``within``, ``first``, ``new``, ``add`` and ``files``. Paths start where the scenario file lies.
    children
        Another file with the rows of the people (`Children`): a dict of ``file``, ``key``, ``keys``, ``time`` and
        ``released``. Paths start where the scenario file lies.
    unconfirmed
        Columns whose guessed role nobody has confirmed yet; with one left `check` refuses to be a gate.

    Raises
    ------
    ScenarioError
        An entry does not exist, is out of range, or a column has two conflicting roles.

    Examples
    --------
    >>> scenario = Scenario(keys=["sex", "age"], weight="w", sensitive=["income"], thresholds={"k": 3})
    >>> scenario.keys, scenario.columns
    (('sex', 'age'), ('sex', 'age', 'w', 'income'))
    >>> attitudes = Scenario(keys=["sex"], insensitive=["att_*"], insensitive_because="looked through by the office")
    >>> attitudes.insensitive
    ('att_*',)
    >>> print(scenario.to_toml(), end="")
    keys = ["sex", "age"]
    weight = "w"
    sensitive = ["income"]
    <BLANKLINE>
    [thresholds]
    k = 3
    """

    model_config = scenario_checks.STRICT

    intruders: dict[scenario_checks.Name, _Names]
    weight: scenario_checks.Name | None = None
    sampling_fraction: _Share | None = None
    household: scenario_checks.Name | None = None
    person: scenario_checks.Name | None = None
    time: scenario_checks.Name | None = None
    household_variables: _Names = ()
    sensitive: _Names = ()
    numeric: _Names = ()
    magnitudes: _Names = ()
    number_groups: _Names = ()
    ordered: _Names = ()
    identifiers: _Names = ()
    insensitive: _Names = ()
    insensitive_because: str = ""
    # roles of which the scenario says who has them, or none
    stated: tuple[Literal["sensitive", "household", "magnitudes"], ...] = ()
    hierarchies: dict[scenario_checks.Name, scenario_checks.Name] = Field(default_factory=dict)
    thresholds: Thresholds = Field(default_factory=Thresholds)
    missing: MissingRule | dict[scenario_checks.Name, MissingRule] = "wildcard"
    alpha: Annotated[float, Field(strict=True, ge=0, le=1)] = 1.0
    release: scenario_checks.Name | None = None
    release_types: dict[scenario_checks.Name, dict[scenario_checks.Name, Any]] = Field(default_factory=dict)
    missing_codes: tuple[str, ...] = ()
    title: str = ""
    aligned: Annotated[bool, Field(strict=True)] = False
    unconfirmed: _Names = ()
    matching: Matching = Field(default_factory=Matching)
    ledger: scenario_checks.LedgerPlace | None = None
    children: scenario_checks.Children | None = None
    tables: tuple[dict[scenario_checks.Name, Any], ...] = ()
    rules: tuple[dict[scenario_checks.Name, Any], ...] = ()
    _folder: Path = PrivateAttr(default_factory=Path)  # root of relative paths; not compared

    def __init__(
        self,
        /,
        *,
        keys: Sequence[str] | None = None,
        intruders: Mapping[str, Any] | None = None,
        weight: str | None = None,
        sampling_fraction: float | None = None,
        household: str | None = None,
        person: str | None = None,
        time: str | None = None,
        household_variables: Sequence[str] = (),
        sensitive: Sequence[str] | None = None,
        numeric: Sequence[str] = (),
        magnitudes: Sequence[str] | None = None,
        number_groups: Sequence[str] = (),
        ordered: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        insensitive_because: str = "",
        hierarchies: Mapping[str, str | Path] | None = None,
        thresholds: Thresholds | Mapping[str, Any] | None = None,
        missing: MissingRule | Mapping[str, MissingRule] = "wildcard",
        alpha: float = 1.0,
        release: str | None = None,
        release_types: Mapping[str, Mapping[str, Any]] | str | Path | None = None,
        missing_codes: Sequence[str | int | float] = (),
        title: str = "",
        aligned: bool = False,
        matching: Matching | Mapping[str, Any] | None = None,
        ledger: scenario_checks.LedgerPlace | Mapping[str, Any] | None = None,
        children: scenario_checks.Children | Mapping[str, Any] | None = None,
        tables: Sequence[Mapping[str, Any]] = (),
        rules: Mapping[str, Any] | Sequence[Mapping[str, Any]] = (),
        unconfirmed: Sequence[str] = (),
        **unknown: object,
    ) -> None:
        stated = _stated(sensitive, household, magnitudes, unknown.pop("stated", None))
        try:
            super().__init__(
                intruders=scenario_checks.name_intruders(keys, intruders), weight=weight,
                sampling_fraction=sampling_fraction, household=None if household == NONE else household, person=person,
                time=time, household_variables=household_variables, sensitive=() if sensitive is None else sensitive,
                numeric=_with_magnitudes(numeric, magnitudes), magnitudes=() if magnitudes is None else magnitudes,
                number_groups=number_groups, ordered=ordered, identifiers=identifiers, insensitive=insensitive,
                insensitive_because=insensitive_because, stated=stated,
                hierarchies=_paths(hierarchies), thresholds=_thresholds(thresholds), missing=missing, alpha=alpha,
                release=release, release_types=office_types(release_types), missing_codes=missing_codes,
                title=title, aligned=aligned, matching=Matching() if matching is None else _table(Matching, matching),
                ledger=_table(scenario_checks.LedgerPlace, ledger), children=_table(scenario_checks.Children, children),
                tables=read_tables(tables), rules=_rules(rules), unconfirmed=unconfirmed, **unknown,
            )  # fmt: skip
        except ValidationError as error:
            raise scenario_checks.explained(error, ["keys", *type(self).model_fields]) from None

    def __eq__(self, other: object) -> bool:
        """Whether all entries are equal, wherever they were read from."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).model_fields)

    __hash__ = None  # type: ignore[assignment]  # it holds tables

    @field_validator(
        "household_variables", "sensitive", "numeric", "magnitudes", "number_groups", "ordered", "identifiers",
        "insensitive", "unconfirmed", mode="before",
    )  # fmt: skip
    @classmethod
    def _ordered(cls, value: Any) -> Any:
        # refused: the order of a set differs between runs, and a column has values of records where names are asked for
        return names if isinstance(names := scenario_checks.listed_names(value), tuple) else None

    @field_validator("missing", mode="before")
    @classmethod
    def _known_rule(cls, value: Any) -> Any:
        scenario_checks.check_missing_rules(value)
        return value

    @field_validator("missing_codes", mode="before")
    @classmethod
    def _codes_as_text(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(str(v) if type(v) in (int, float) else v for v in value)
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        scenario_checks.check_consistent(self)
        check_release(self)
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the only intruder; with several, choose one by `intruder`."""
        if len(self.intruders) > 1:
            names = ", ".join(f"'{name}'" for name in self.intruders)
            raise ScenarioError(f"the scenario has several intruders ({names}); choose one with .intruder(name)")
        return next(iter(self.intruders.values()), ())

    @property
    def all_keys(self) -> tuple[str, ...]:
        """The keys of all intruders together, in the order of first mention."""
        return tuple(dict.fromkeys(key for keys in self.intruders.values() for key in keys))

    @property
    def judged_numbers(self) -> tuple[str, ...]:
        """The columns whose large numbers are looked at: magnitudes, and numeric columns that are no keys.

        Examples
        --------
        >>> Scenario(keys=["age"], numeric=["age", "hours"], magnitudes=["turnover"]).judged_numbers
        ('turnover', 'hours')
        """
        return tuple(dict.fromkeys([*self.magnitudes, *(name for name in self.numeric if name not in self.all_keys)]))

    @property
    def limits(self) -> Thresholds:
        """Limits of a file by itself: `thresholds`, completed by the limits of the type of release.

        Examples
        --------
        >>> Scenario(keys=["sex"], release="public-use", thresholds={"k": 10}).limits.declared
        {'k': 10, 'risk': 0.05, 'l': 2, 'household_risk': 0.05, 'exact_numbers': 0.0}
        """
        return self.limits_of(compared=False)

    def limits_of(self, *, compared: bool) -> Thresholds:
        """The limits in force; `compared`: whether a release is compared with its original."""
        if self.release is None:
            return self.thresholds
        in_force = limits_in_force(self, compared=compared)
        return read_limits("limits", {name: limit.value for name, limit in in_force.items()})

    def limit_on(self, measure: str) -> Any:
        """The limit in force on a file or a release that reads this measure, the first of several; else None."""
        in_force = self.limits_of(compared=True).declared.items()
        return next((limit for name, limit in in_force if LIMITS[name].measure == measure), None)

    @property
    def folder(self) -> Path:
        """Root of relative paths: the folder of the scenario file, else the current one."""
        return self._folder

    @property
    def followed(self) -> str | None:
        """The column that says whose row it is, where people have several: in this file, or in that of `children`."""
        return self.children.key if self.children is not None else self.person

    @property
    def not_compared(self) -> tuple[str, ...]:
        """Columns that number or weight records, and identifiers: a comparison of the others leaves them out."""
        named = (self.weight, self.household, self.followed, None if self.ledger is None else self.ledger.id)
        return (*self.identifiers, *(name for name in named if name is not None))

    @property
    def stated_none(self) -> dict[str, Any]:
        """The entries that say that no column has a role."""
        return {role: none for role, none in NOBODY.items() if role in self.stated and not getattr(self, role)}

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to read, in order, without identifiers."""
        counted = [name for table in self.tables for name in table.get("variables", ())]
        counted += [table["sum"] for table in self.tables if "sum" in table]
        counted += [name for rule in self.edit_rules for name in rule.columns]
        return tuple(
            dict.fromkeys([*(name for role, name in scenario_checks.roles_of(self) if role != "identifiers"), *counted])
        )

    @property
    def edit_rules(self) -> tuple[EditRule, ...]:
        """The edit rules, as they are held against records."""
        return read_edit_rules(self.rules)

    def intruder(self, name: str) -> Scenario:
        """The scenario restricted to one intruder.

        Raises
        ------
        ScenarioError
            There is no intruder of that name.
        """
        if name not in self.intruders:
            raise ScenarioError(f"there is no intruder '{name}'; {did_you_mean(name, self.intruders)}")
        keys = self.intruders[name]
        return self.changed(intruders={name: keys}, missing=self._missing_of(keys))

    def narrowed(self, columns: Collection[str]) -> Scenario:
        """The scenario for a file that lacks some columns, without the roles of these.

        Keys are kept: a file without a key cannot be measured.
        """
        fields: dict[str, Any] = {role: None for role in scenario_checks.SINGLE if getattr(self, role) not in columns}
        for role in ("household_variables", "sensitive", "numeric", "magnitudes", "number_groups"):
            fields[role] = tuple(name for name in getattr(self, role) if name in columns)
        if self.children is not None and self.children.key not in columns:
            fields["children"] = None
        if self.ledger is not None and self.ledger.id not in columns:
            fields["ledger"] = self.ledger.model_copy(update={"id": None})
        if fields.get("household", self.household) is None:
            fields["household_variables"] = ()
        return self.changed(**fields)

    def _missing_of(self, keys: Collection[str]) -> MissingRule | dict[scenario_checks.Name, MissingRule]:
        if not isinstance(self.missing, dict):
            return self.missing
        return {key: rule for key, rule in self.missing.items() if key in keys} or "wildcard"

    def of_keys(self, columns: Collection[str]) -> Scenario:
        """The scenario with the keys that are among some columns; without an intruder where nobody has any."""
        intruders = {
            name: kept
            for name, keys in self.intruders.items()
            if (kept := tuple(key for key in keys if key in columns))
        }
        missing = self._missing_of({key for keys in intruders.values() for key in keys})
        if not intruders:  # what no scenario may be declared as
            return self.model_copy(update={"intruders": intruders, "missing": "wildcard"}).changed()
        return self.changed(intruders=intruders, missing=missing)

    def of_release(self, columns: Collection[str]) -> Scenario:
        """The scenario of a release by itself, as whoever gets it could assess it.

        Roles of columns that it has not are left out, and the ledger, which stays in the room.

        >>> scenario = Scenario(keys=["age", "job"], sensitive=["ill"], identifiers=["name"], insensitive=["note"])
        >>> left = scenario.of_release(["age", "ill"])
        >>> left.all_keys, left.sensitive, left.identifiers, left.insensitive
        (('age',), ('ill',), (), ())
        """
        return self.of_keys(columns).narrowed(columns).changed(
            ledger=None, identifiers=[name for name in self.identifiers if name in columns],
            insensitive=[name for name in self.insensitive if name in columns or scenario_checks.is_pattern(name)],
        )  # fmt: skip

    def keeping_back_id(self) -> Scenario:
        """The scenario of a release that goes out without the ledger's id, which is an identifier then."""
        id = None if self.ledger is None else self.ledger.id
        return self if id is None else self.changed(identifiers=list(dict.fromkeys([*self.identifiers, id])))

    def changed(self, **fields: Any) -> Scenario:
        """The scenario with other entries; settings of columns that have no role any more are dropped."""
        given = {field: getattr(self, field) for field in type(self).model_fields} | fields
        used = {*given["sensitive"], *(key for keys in given["intruders"].values() for key in keys)}
        given["matching"] = given["matching"].among([key for keys in given["intruders"].values() for key in keys])
        given["ordered"] = tuple(name for name in given["ordered"] if name in used)
        given["hierarchies"] = {name: file for name, file in given["hierarchies"].items() if name in used}
        if (place := given["ledger"]) is not None:
            unread = place.id in self.identifiers and place.id not in given["identifiers"]
            left = {"id": None if unread else place.id, "new": tuple(name for name in place.new if name in used)}
            given["ledger"] = place.model_copy(update=left)
        # that of a release which has no key of anybody's left is declared by nobody, and was checked with them
        nobody = not self.all_keys and not any(given["intruders"].values())
        changed = self.model_copy(update=given) if nobody else Scenario(**given)
        changed._folder = self._folder
        return changed

    def check_columns(self, columns: Sequence[str], *, certain: bool = True) -> None:
        """Check that all declared columns exist; absent identifiers only raise a warning.

        Parameters
        ----------
        columns
            The file's column names.
        certain
            `FileHeader.certain`: if False, no column name of the file is quoted unless a declared one is among them.

        Raises
        ------
        ColumnError
            Columns are absent; each is named with its role and the nearest existing name.
        """
        present = set(columns)
        absent: dict[str, str] = {}
        for role, name in scenario_checks.roles_of(self):
            if role != "identifiers" and name not in present:
                absent.setdefault(name, role)
        if absent:
            may = may_tell(columns, self.columns, certain=certain)
            problems = []
            for name, role in absent.items():
                problems.append(f"the file has no column '{name}' (declared as {scenario_checks.role_words(role)})")
                problems += [did_you_mean(name, columns)] if may else []
            # what there is stands once, behind all that there is not
            raise ColumnError("; ".join([*dict.fromkeys(reversed(problems))][::-1] + ([] if may else [WITHHELD])))
        warn_of_absent(self.identifiers, columns)

    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file.

        Raises
        ------
        FileFormatError
            The file is absent or cannot be read.
        ScenarioError
            It is not TOML (with the line), or its entries contradict each other (with their names).
        """
        file = Path(path)
        try:
            entries = read_toml(file)
            if "stated" in entries:  # no entry: it follows from the others
                raise ScenarioError(f"there is no entry 'stated'; {did_you_mean('stated', cls.model_fields)}")
            if isinstance(office := entries.get("release_types"), str):
                entries["release_types"] = file.parent / office
            scenario = cls(**entries)
        except ScenarioError as error:
            message = str(error)
            raise ScenarioError(message if message.startswith(file.name) else f"{file.name}: {message}") from None
        scenario._folder = file.parent
        return scenario

    def _repr_html_(self) -> str:
        return plain_html(self.to_toml())

    def to_toml(self) -> str:
        """The scenario as TOML, without entries at their default; inverse of `from_toml`."""
        entries: dict[str, Any] = {}
        tables: list[tuple[Sequence[str], Mapping[str, Any]]] = []
        if self.title:
            entries["title"] = self.title
        if list(self.intruders) == ["default"]:
            entries["keys"] = self.keys
        else:
            tables += [(("intruders", name), {"keys": keys}) for name, keys in self.intruders.items()]
        if isinstance(self.missing, dict):
            tables.append((("missing",), self.missing))
        if self.hierarchies:
            tables.append((("hierarchies",), self.hierarchies))
        if self.thresholds.entries:
            tables.append((("thresholds",), self.thresholds.entries))
        tables += [(("release_types", name), limits) for name, limits in self.release_types.items()]
        tables += self.matching.tables
        places = (table for table in (self.ledger, self.children) if table is not None)
        tables += [((table.place,), table.declared) for table in places]
        lists = {"tables": self.tables, "rules": self.rules}
        listed = "".join(f"\n[[{name}]]\n{write_toml(row, ())}" for name, rows in lists.items() for row in rows)
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name not in _WRITTEN_APART and value != field.default and not isinstance(value, dict):
                entries[name] = value
        entries |= self.stated_none
        return write_toml(entries, tables) + listed


def _thresholds(value: Any) -> Any:
    if value is None:
        return Thresholds()
    return {str(name): limit for name, limit in value.items()} if isinstance(value, Mapping) else value


def _stated(sensitive: Any, household: Any, magnitudes: Any, stated: Any) -> tuple[str, ...]:
    """Roles of which a scenario says which column has them, or that none has; `stated` is that of a copied one."""
    said = {"sensitive": sensitive, "household": household, "magnitudes": magnitudes}
    if stated is not None:  # an empty list of a copied one says nothing by itself
        said |= {role: said[role] or None for role in ("sensitive", "magnitudes")}
    return tuple(role for role, value in said.items() if value is not None or role in (stated or ()))


def _table(kind: type[Any], value: Any) -> Any:
    return kind(**{str(name): entry for name, entry in value.items()}) if isinstance(value, Mapping) else value


def _paths(value: Any) -> Any:
    """Paths as text with forward slashes."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return value
    return {str(name): path.as_posix() if isinstance(path, Path) else path for name, path in value.items()}


def _with_magnitudes(numeric: Any, magnitudes: Any) -> Any:
    """The numeric columns with the magnitudes among them; as given where either is no list."""
    numeric, magnitudes = scenario_checks.listed_names(numeric), scenario_checks.listed_names(magnitudes)
    if not (isinstance(numeric, tuple) and isinstance(magnitudes, tuple)):
        return numeric
    return (*numeric, *(name for name in magnitudes if name not in numeric))


_WRITTEN_APART = {"title", "intruders", "thresholds", "matching", "ledger", "children", "tables", "rules", "stated"}
