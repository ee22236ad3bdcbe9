"""What a guess is: a role, how sure it is, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sdckit.data.nearest import did_you_mean
from sdckit.display import EXACT, Displayed, exact_shown, table_html
from sdckit.errors import ColumnError

Role = Literal["key", "weight", "household", "person", "sensitive", "numeric", "identifier", "ignore"]
Confidence = Literal["sure", "likely", "unsure"]


@dataclass(frozen=True)
class Guess(Displayed):
    """What a column probably is.

    Attributes
    ----------
    column : str
        Its name.
    role : str
        Its role in a scenario; ``"ignore"`` where it has none.
    confidence : str
        ``"sure"``, ``"likely"`` or ``"unsure"``; see `RoleGuesses`.
    evidence : tuple of str
        Why, in words, without any value of a record.
    warning : str or None
        What to do before it is used.
    question : str or None
        What must be answered before a gate may rest on it.
    """

    column: str
    role: Role
    confidence: Confidence
    evidence: tuple[str, ...]
    warning: str | None = None
    question: str | None = None

    def _repr_html_(self) -> str:
        return RoleGuesses((self,), 0)._repr_html_()

    @property
    def reason(self) -> str:
        """The evidence in one line."""
        return "; ".join(self.evidence)


@dataclass(frozen=True)
class RoleGuesses(Displayed):
    """A guess for every column, in column order.

    Attributes
    ----------
    guesses : tuple of Guess
        Column, role, confidence, evidence, warning and question of each.
    n_records : int
        Records looked at.
    household_variables : tuple of str
        Columns that are the same for all members of every household; empty where no household was found.

    Notes
    -----
    ``"sure"``: two kinds of evidence agree, such as a name and the values, and none speaks against it.
    ``"likely"``: one kind says so, or one that the values cannot test. ``"unsure"``: it is hinted at, or
    disputed. Sensitive columns are never sure: what hurts is for people to say.

    Examples
    --------
    >>> import polars as pl
    >>> import sdckit as sdc
    >>> data = pl.DataFrame({"sex": ["m", "f"] * 20, "v3": [1, 2, 3, 4] * 10})
    >>> found = sdc.guess_roles(data)
    >>> found["sex"].role, found["sex"].confidence, found.unconfirmed
    ('key', 'sure', ('v3',))
    """

    guesses: tuple[Guess, ...]
    n_records: int
    household_variables: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Guess]:
        return iter(self.guesses)

    def __len__(self) -> int:
        return len(self.guesses)

    def __getitem__(self, column: str) -> Guess:
        for guess in self.guesses:
            if guess.column == column:
                return guess
        names = [guess.column for guess in self.guesses]
        raise ColumnError(f"there is no column '{column}'; {did_you_mean(column, names)}")

    def _repr_html_(self) -> str:
        """The reasons hold exact numbers of values."""
        exact = exact_shown.get()
        head = ["column", "role", "how sure", *(["why"] if exact else [])]
        rows = [
            [one.column, one.role, one.confidence, *([one.reason] if exact else [])] for one in self.guesses
        ]
        return table_html(head, rows, title=EXACT if exact else "")

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """The columns with a question that is to be answered."""
        return tuple(guess.column for guess in self.guesses if guess.question is not None)

    def of(self, role: Role) -> tuple[str, ...]:
        """The columns guessed to have a role.

        Parameters
        ----------
        role
            A role of `Guess`.
        """
        return tuple(guess.column for guess in self.guesses if guess.role == role)

    def __str__(self) -> str:
        width = max((len(guess.column) for guess in self.guesses), default=0)
        lines = [
            f"{one.column:{width}}  {one.role:10}  {one.confidence:6}  {one.reason}" for one in self.guesses
        ]
        return "\n".join(lines)
