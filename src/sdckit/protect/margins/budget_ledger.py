"""The ledger of a privacy budget: what all runs on a dataset may spend together, and what they have spent."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdckit.data import arguments
from sdckit.data.domain import Domain
from sdckit.data.ledger import budget_file
from sdckit.display import Displayed, table_html
from sdckit.errors import DataError
from sdckit.protect.margins.privacy_budget import check_promise, epsilon_of, rho_of


@dataclass(frozen=True)
class BudgetLedger(Displayed):
    """What the runs of `synthesize_margins` on a dataset may spend together: added up in ρ, converted to ε once.

    A run reserves its ρ before data are read, and what exceeds the total is refused. What failed after its first noise
    counts as spent; what failed before gives its share back. The file holds nothing of the data. Its entries are a
    chain that shows what was changed by accident; who may write to the file can make another one.

    Attributes
    ----------
    file : BudgetFile
        The file as it was when it was opened.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     ledger = BudgetLedger.create(pathlib.Path(folder) / "budget.toml", dataset="survey", epsilon=3, delta=1e-6)
    ...     ledger.spent, ledger.left
    (0.0, 3.0)
    """

    file: budget_file.BudgetFile

    @classmethod
    def create(cls, path: str | Path, *, dataset: str, epsilon: float, delta: float) -> BudgetLedger:
        """Start a budget.

        Parameters
        ----------
        path
            A new file, which only its owner can read.
        dataset
            The name that the domain declares; a corrected file of the same people has the same.
        epsilon, delta
            What all runs may spend together.

        Raises
        ------
        FileFormatError
            The file exists, or cannot be written.
        DataError
            An argument is out of range, or OpenDP is not installed.
        """
        epsilon, delta = check_promise(epsilon, delta)
        rho = rho_of(epsilon, delta)
        return cls(budget_file.create_budget(Path(path), dataset=dataset, epsilon=epsilon, delta=delta, rho=rho))

    @classmethod
    def open(cls, path: str | Path) -> BudgetLedger:
        """Open a budget.

        Raises
        ------
        FileFormatError
            There is none, or an entry of it was changed.
        """
        return cls(budget_file.open_budget(path))

    def throw_away(self, run: int, *, reason: str) -> BudgetLedger:
        """Declare that nothing of a run went out or will: its ρ is not spent then, by your word.

        For runs that only measure, such as an audit with coins. What the run made is to be deleted, and what was
        measured of it stays in the room: a figure of it that goes out spends. The ledger keeps run and reason.

        Parameters
        ----------
        run
            The number of the run, as ``rows`` has it.
        reason
            What the run was for; kept in the ledger.

        Raises
        ------
        DataError
            No such run, one that spends nothing as it is, or no reason.
        """
        number = arguments.count(run, "run", "is the number of a run")
        return BudgetLedger(self.file.thrown_away(str(number), arguments.text(reason, "reason")))

    @property
    def dataset(self) -> str:
        """Whose budget it is."""
        return self.file.dataset

    @property
    def epsilon(self) -> float:
        """What all runs may spend together, at δ."""
        return self.file.epsilon

    @property
    def delta(self) -> float:
        """δ of the whole budget."""
        return self.file.delta

    @property
    def spent(self) -> float:
        """ε at δ of all that was spent or is reserved."""
        return _epsilon(self.file.spent, self.delta)

    @property
    def left(self) -> float:
        """ε at δ of a run that would spend all that is left."""
        return _epsilon(self.file.rho - self.file.spent, self.delta)

    @property
    def head(self) -> str:
        """Number and digest of the last entry: who keeps it can tell an older copy."""
        return str(self.file.head)

    @property
    def thrown(self) -> tuple[int, float]:
        """How many runs were declared thrown away, and ε at δ of all that was spent if they are counted."""
        return len(self.file.reasons), _epsilon(self.file.spent_at_most, self.delta)

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """Number, ρ and state of each run, and why it was declared thrown away, as text."""
        reasons = self.file.reasons
        runs = self.file.runs.items()
        return [(number, f"{rho:.6g}", STATES[state], reasons.get(number, "")) for number, (rho, state) in runs]

    def _repr_html_(self) -> str:
        title = f"Budget of {self.dataset}: ε = {self.spent:.4g} of {self.epsilon:g} spent at δ = {self.delta:g}"
        return table_html(["run", "ρ", "state", "reason"], self.rows, title=title)


STATES = {
    budget_file.THROWN_AWAY: "declared thrown away",
    budget_file.RESERVED: "reserved, or failed after noise was drawn",
    budget_file.DONE: "done",
    budget_file.WITHDRAWN: "given back",
}


@contextlib.contextmanager
def reserving(budget: BudgetLedger | str | Path | None, domain: Domain, rho: float) -> Iterator[budget_file.Run]:
    """Reserve ρ for a run in the budget of its dataset, if there is one.

    Raises DataError: the domain has another dataset, or more than is left; FileFormatError: the file is no budget.
    """
    if budget is None:
        yield budget_file.Run("")
        return
    if not isinstance(budget, BudgetLedger | str | Path):
        raise DataError("budget= is a BudgetLedger, or the path of its file", argument="budget")
    file = budget.file if isinstance(budget, BudgetLedger) else budget_file.open_budget(budget)
    file.check_dataset(domain.dataset)
    with file.reserved(rho, worded=lambda part: f"ε = {_epsilon(part, file.delta):.4g} (ρ = {part:.6g})") as run:
        yield run


def _epsilon(rho: float, delta: float) -> float:
    return epsilon_of(rho, delta) if rho > 0 else 0.0
