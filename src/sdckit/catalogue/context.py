"""What is known of a run before a measure runs, and the files it runs on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdckit.cells.pair import Pair
    from sdckit.data.scenarios.scenario import Scenario


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
