"""Roles guessed from names, types and numbers of values; every guess says why, so people can judge it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sdckit.data.files.readers import describe_file
from sdckit.data.missing_values.missing_notes import MissingNotes
from sdckit.data.scenarios.guess_toml import write_guesses
from sdckit.data.scenarios.guess_words import Topic, key_topic_within, topic_of, words_of
from sdckit.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SAMPLE", "Guess", "Role", "guess_roles", "scenario_toml"]

Role = Literal["key", "weight", "household", "person", "sensitive", "numeric", "identifier", "ignore"]

SAMPLE = 100_000  # records looked at
_FINE = 100  # more levels than this make a key too fine to be used as it is
_MANY = 1_000  # a number with more values than this is measured, not a code
_GROUP = 15  # households and persons have at most so many records on average
_FEW = 10  # below so many records, being different in every record says nothing
_SEVERAL_ROWS = (
    "several rows per person: with the line below each person counts once in every combination of keys; "
    "delete it only if each row is a person of its own, or risks are understated"
)


@dataclass(frozen=True)
class Guess:
    """What a column probably is."""

    column: str
    role: Role  # its role in a scenario; ``"ignore"`` where it has none
    reason: str  # why, in words, without any value of a record
    warning: str | None = None  # what to do before it is used, or None


@dataclass(frozen=True)
class _Facts:
    """What is counted of a column."""

    name: str
    n: int  # values that are not missing
    levels: int
    number: bool
    fraction: bool  # numbers with decimals
    positive: bool

    @property
    def unique(self) -> bool:
        return self.n >= _FEW and self.levels == self.n

    @property
    def grouped(self) -> bool:
        """Repeated in small groups: what the number of a household or a person looks like."""
        return self.levels < self.n <= self.levels * _GROUP and self.levels > 1 and not self.fraction

    @property
    def counted(self) -> str:
        return f"{self.levels:,} {'value' if self.levels == 1 else 'values'}"


def guess_roles(frame: Any) -> tuple[Guess, ...]:
    """Guess a role for every column, in column order.

    Parameters
    ----------
    frame
        A data frame of any engine; its first 100,000 records are looked at.

    Raises
    ------
    DataError
        The frame has no records or no columns.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"sex": [1, 2] * 10, "wgt": [1.5, 2.25] * 10, "v3": [7] * 20})
    >>> [(guess.column, guess.role) for guess in guess_roles(frame)]
    [('sex', 'key'), ('wgt', 'weight'), ('v3', 'ignore')]
    """
    sample = _sample(frame)
    if sample.height == 0 or sample.width == 0:
        raise DataError("there are no records to guess roles from")
    taken: set[str] = set()
    guesses = []
    for facts in (_facts(sample[name]) for name in sample.columns):
        guess = _guess(facts)
        if guess.role in ("weight", "household", "person"):
            if guess.role in taken:
                reason = f"{guess.reason}; but another column is taken as {guess.role} already"
                guess = Guess(facts.name, "ignore", reason)
            taken.add(guess.role)
        guesses.append(guess)
    return tuple(guesses)


def scenario_toml(
    data: Any,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    labels: bool = True,
) -> str:
    r"""Write a commented scenario for a file or a frame, with guessed roles.

    Parameters
    ----------
    data
        A path, or a data frame of any engine.
    missing, delimiter, encoding, decimal, labels
        As in `sdckit.data.files.readers.read_file`; for paths only. Missing codes are written into the scenario.

    Returns
    -------
    str
        TOML that `Scenario.from_toml` accepts. It holds column names and numbers of values, never values.

    Raises
    ------
    DataError
        No column looks like a key.

    Examples
    --------
    >>> import polars as pl
    >>> text = scenario_toml(pl.DataFrame({"sex": [1, 2] * 10, "wgt": [1.5, 2.25] * 10}))
    >>> print("\n".join(line for line in text.splitlines() if line and not line.startswith("#")))
    keys = [
        # named like sex or gender, 2 values
        "sex",
    ]
    weight = "wgt"
    """
    codes = (missing,) if isinstance(missing, str) else tuple(str(code) for code in missing)
    if isinstance(data, str | Path):
        sample = describe_file(
            data, missing=codes, delimiter=delimiter, encoding=encoding, decimal=decimal, labels=labels,
            rows=SAMPLE,
        )  # fmt: skip
        frame, n_rows, name, notes = sample.frame, sample.header.n_rows, Path(data).name, sample.notes
    else:
        frame, n_rows, name, notes = data, None, "the data", MissingNotes(codes)
    guesses = guess_roles(frame)
    if not any(guess.role == "key" for guess in guesses):
        raise DataError(
            f"no column of {name} looks like something a stranger could know; "
            'name the keys by hand in the scenario: keys = ["sex", "age"]'
        )
    return write_guesses(guesses, name=name, looked_at=_looked_at(n_rows), notes=notes)


def _looked_at(n_rows: int | None) -> str:
    if n_rows is None:
        return f"At most the first {SAMPLE:,} records were looked at."
    return f"Only the first {SAMPLE:,} of {n_rows:,} records were looked at." if n_rows > SAMPLE else ""


def _sample(frame: Any) -> pl.DataFrame:
    """Give the first records as a Polars frame, whatever the engine."""
    import narwhals as nw
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame.head(SAMPLE)
    wide = nw.from_native(frame).head(SAMPLE)
    eager = wide.collect("pyarrow") if isinstance(wide, nw.LazyFrame) else wide
    given = pl.from_arrow(eager.to_arrow())
    return given if isinstance(given, pl.DataFrame) else given.to_frame()


def _facts(series: pl.Series) -> _Facts:
    import polars as pl

    if series.dtype.is_nested() or series.dtype == pl.Object:
        return _Facts(series.name, 0, 0, False, False, False)
    values = (series.fill_nan(None) if series.dtype.is_float() else series).drop_nulls()
    number = series.dtype.is_numeric()
    doubles = values.cast(pl.Float64) if number else values
    return _Facts(
        name=series.name, n=len(values), levels=values.n_unique(), number=number,
        fraction=number and bool((doubles != doubles.floor()).any()),
        positive=number and bool((doubles > 0).all()) and len(values) > 0,
    )  # fmt: skip


def _guess(facts: _Facts) -> Guess:
    if facts.n == 0:
        return Guess(facts.name, "ignore", "it holds no value that can be compared")
    if facts.levels == 1:
        return Guess(facts.name, "ignore", "it is the same in every record where it is known")
    topic = topic_of(facts.name)
    return _silent(facts) if topic is None else _BY_ROLE[topic.role](facts, topic)


def _silent(facts: _Facts) -> Guess:
    """Guess from type and counts alone."""
    unsaid = f"{facts.counted}, and the name says nothing"
    if facts.unique and not facts.fraction:
        return Guess(facts.name, "identifier", "different in every record")
    within = key_topic_within(facts.name)
    if within is not None and facts.levels <= _FINE and not facts.fraction:
        return Guess(facts.name, "key", f"its name holds a word of {within.name}, {facts.counted}")
    if facts.number and facts.levels > _MANY:
        return Guess(facts.name, "numeric", f"a number with {facts.counted}")
    return Guess(facts.name, "ignore", f"{unsaid}: add it to keys if a stranger could know it")


def _key(facts: _Facts, topic: Topic) -> Guess:
    reason = f"named like {topic.name}, {facts.counted}"
    if topic.name == "a date of birth" or (topic.name == "a birth" and facts.levels > _FINE):
        return Guess(facts.name, "key", reason, "recode to a year or an age group before it is used as a key")
    if facts.levels > _FINE:
        how = "merge areas" if topic.name == "geography" else "recode to fewer groups"
        warning = f"too fine ({facts.counted}): {how} before it is used as a key"
        return Guess(facts.name, "key", reason, warning)
    return Guess(facts.name, "key", reason)


def _identifier(facts: _Facts, topic: Topic) -> Guess:
    return Guess(facts.name, "identifier", f"named like {topic.name}: it is never read")


def _weight(facts: _Facts, topic: Topic) -> Guess:
    if not facts.positive:
        return Guess(facts.name, "ignore", f"named like {topic.name}, but not a positive number everywhere")
    kind = "positive numbers with decimals" if facts.fraction else "positive whole numbers"
    return Guess(facts.name, "weight", f"named like {topic.name}, {kind}")


def _household(facts: _Facts, topic: Topic) -> Guess:
    if facts.grouped:
        return Guess(facts.name, "household", f"named like {topic.name}, repeated in small groups")
    if facts.unique:
        return Guess(facts.name, "identifier", f"named like {topic.name}, but different in every record")
    if facts.levels <= _FINE and not facts.fraction:
        reason = f"named like {topic.name}, but only {facts.counted}: it describes the household"
        return Guess(facts.name, "key", reason)
    return Guess(facts.name, "ignore", f"named like {topic.name}, but {facts.counted} in large groups")


def _person(facts: _Facts, topic: Topic) -> Guess:
    reason = f"named like {topic.name}"
    if facts.unique:
        return Guess(facts.name, "identifier", f"{reason}, different in every record")
    if facts.grouped:
        return Guess(facts.name, "person", f"{reason}, repeated in small groups", _SEVERAL_ROWS)
    reason = f"{reason}, {facts.counted} in large groups: a number within a household?"
    return Guess(facts.name, "ignore", reason)


def _sensitive(facts: _Facts, topic: Topic) -> Guess:
    warning = None
    if facts.number and facts.levels > _FINE:
        warning = "a number with many values: put it in bands, or diversity will look better than it is"
    return Guess(facts.name, "sensitive", f"named like {topic.name}, {facts.counted}", warning)


def _running_number(facts: _Facts, topic: Topic) -> Guess:
    """Tell an id of records or persons from a count: 'number of rooms' is no id."""
    if facts.unique and not facts.fraction:
        return Guess(facts.name, "identifier", "named like an id, different in every record")
    if facts.grouped and {"id", "ident", "caseid", "respondent", "uid"} & {*words_of(facts.name)}:
        return _person(facts, topic)
    return _silent(facts)


_BY_ROLE = {
    "key": _key, "identifier": _identifier, "weight": _weight, "household": _household, "person": _person,
    "sensitive": _sensitive, "id": _running_number,
}  # fmt: skip
