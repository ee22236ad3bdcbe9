"""C4 for several targets at once, the most disclosed first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from sdckit.attribute.disclosure.attribute_disclosure import AttributeDisclosure, check_exclusions, disclosure_of
from sdckit.attribute.disclosure.target_roles import MISSING_RULE, Bins, bins_by_name, check_targets, coded_columns
from sdckit.cells import pair_result, parted_pair
from sdckit.cells.pair import Pair, open_files
from sdckit.data import arguments, frames
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, ScenarioError

SHOWN = (
    "disclosive_in_original", "disclosive_in_released", "keys_in_released", "disclosed", "correctly_disclosed",
    "disclosed_and_disclosive", "n_checks",
)  # fmt: skip


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AttributeDisclosureTable(pair_result.PairResult):
    """Attribute disclosure of several targets, the most disclosed first.

    Attributes
    ----------
    n : int
        Records of the original.
    targets : tuple of str
        The targets in descending order of `correctly_disclosed`.
    correctly_disclosed, disclosive_in_original : dict of str to float
        DiSCO and Dorig of each target.
    n_checks : dict of str to float
        Checks of each target that found something.
    results : dict of str to AttributeDisclosure
        Everything about each target.
    table : frame
        ``target``, the six shares, and ``n_checks``.
    """

    measure: ClassVar[str] = "attribute_disclosure_table"
    figures: ClassVar[tuple[str, ...]] = ("n", "correctly_disclosed", "disclosive_in_original", "n_checks")
    n: int = 0
    results: dict[str, AttributeDisclosure] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets, the most disclosed first."""
        return tuple(self.results)

    @property
    def correctly_disclosed(self) -> dict[str, float]:
        """DiSCO of each target."""
        return {name: result.correctly_disclosed for name, result in self.results.items()}

    @property
    def disclosive_in_original(self) -> dict[str, float]:
        """Dorig of each target."""
        return {name: result.disclosive_in_original for name, result in self.results.items()}

    @property
    def n_checks(self) -> dict[str, float]:
        """Checks of each target that found something, per release."""
        return {name: result.n_checks for name, result in self.results.items()}

    @cached_property
    def table(self) -> Any:
        """A row per target in a frame of the caller's engine."""
        shown = {name: [float(getattr(result, name)) for result in self.results.values()] for name in SHOWN}
        return self.pair.table({"target": list(self.targets), **shown})


# --- measure ------------------------------------------------------------------------------------------


def attribute_disclosure_table(
    original: Any,
    released: Any = None,
    *,
    keys: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    numeric: Sequence[str] = (),
    bins: Bins = 5,
    exclude_levels: Mapping[str, Sequence[Any]] | None = None,
    exclude_missing_target: bool = False,
    exclude_missing_keys: Sequence[str] = (),
    max_cell: int | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> AttributeDisclosureTable:
    """Measure attribute disclosure for many targets, and put the most disclosed first.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ from the original's.
    keys : sequence of str
        Variables that an intruder could know; a missing value is a level of its own.
    targets : sequence of str, optional
        Variables that they would learn. Default the scenario's sensitive ones; without them every column but
        the keys and the id that all files have.
    numeric : sequence of str
        Keys and targets that are cut into classes; others are taken value by value.
    bins : int or dict of str to int
        Classes of each of them, as in `attribute_disclosure`.
    exclude_levels : dict of str to sequence, optional
        For a target the levels that are no secret.
    exclude_missing_target, exclude_missing_keys, max_cell : optional
        As in `attribute_disclosure`, for every target.
    scenario : Scenario, optional
        Gives the keys, and the targets as above.
    id, prefix : str, optional
        Column carried along, and text before the names of result columns, in the `.records` of each result.

    Returns
    -------
    AttributeDisclosureTable
        ``table``, ``targets`` and ``results``.

    Raises
    ------
    ColumnError, DataError, ScenarioError
        As `attribute_disclosure`; no column left to be a target.

    References
    ----------
    Raab, G. M., Nowok, B. and Dibben, C. (2024). Practical privacy metrics for synthetic data. Privacy in
    Statistical Databases.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["yes", "yes", "no"], "pay": [1, 2, 3]})
    >>> result = attribute_disclosure_table(survey, survey, keys=["sex"])
    >>> result.targets, result.correctly_disclosed["ill"]
    (('ill', 'pay'), 1.0)
    """
    arguments.text(prefix, "prefix")
    names = resolve_roles(scenario=scenario, keys=keys).keys
    opened = open_files(original, released, id=id)
    learnt = _targets(opened, names, targets, scenario)
    cut = bins_by_name(bins, numeric, (*names, *learnt))
    levels = {}
    if exclude_levels is not None:
        levels = arguments.mapping(exclude_levels, "exclude_levels", "lists levels by target")
    if unknown := [name for name in levels if name not in learnt]:
        raise ColumnError(f"exclude_levels: {unknown[0]!r} is not a target", argument="exclude_levels")
    left_out = {
        name: check_exclusions(
            names, levels=levels.get(name, ()), missing_target=exclude_missing_target,
            missing_keys=exclude_missing_keys, pairs=(), max_cell=max_cell,
        )
        for name in learnt
    }  # fmt: skip
    results: dict[str, AttributeDisclosure] = {}
    # an engine counts the keys with one target at a time: all targets together have nearly as many cells as records
    for some in [(name,) for name in learnt] if any(map(frames.is_lazy, opened.frames)) else [learnt]:
        whole = {"keys": names, "targets": some}
        roles = {role: [name for name in of_role if name not in cut] for role, of_role in whole.items()}
        numbers = [name for name in cut if name in (*names, *some)]
        pair = parted_pair.open_or_part(opened, categories=roles, numeric={"numeric": numbers})
        columns = coded_columns(pair, (*names, *some), cut)
        for name in some:
            own = {column: columns[column] for column in (*names, name)}
            results[name] = disclosure_of(pair, names, name, own, left_out[name], prefix)
    order = sorted(results, key=lambda name: -results[name].correctly_disclosed)
    per_release = tuple(
        {f"correctly_disclosed[{name}]": results[name].per_release[j]["correctly_disclosed"] for name in order}
        for j in range(pair.m)
    )
    notes: dict[str, str] = {}
    if same := [name for name in order if "released" in results[name].notes]:
        notes["released"] = f"a release has the original's keys and values, row by row, of {', '.join(same)}"
    return AttributeDisclosureTable(
        pair, per_release, MISSING_RULE, notes, n=pair.n, results={name: results[name] for name in order}
    )


def _targets(
    opened: Pair, keys: Sequence[str], targets: Sequence[str] | None, scenario: Scenario | None
) -> tuple[str, ...]:
    named = arguments.names(targets, "targets")
    if named is None and scenario is not None:
        named = scenario.sensitive or None
    if named is None:
        named = tuple(opened.shared_columns(keys)[0])
    if not named:
        words = "no column is left that an intruder could learn; name some in targets=[...]"
        raise ScenarioError(words, argument="targets")
    check_targets(named, keys)
    return named
