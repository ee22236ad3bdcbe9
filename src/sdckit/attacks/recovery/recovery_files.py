"""Input of a reconstruction attack: the coded release, its changed values, and the original where it is known."""

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import NormalDist
from typing import Any

import numpy as np

from sdckit.attacks.recovery import reconstruct, touched_cells
from sdckit.attacks.recovery.derived_columns import Household, Predictor, Rows
from sdckit.attacks.recovery.linked_rows import linked_rows
from sdckit.attacks.recovery.reconstruction_rules import Reconstruction
from sdckit.attacks.recovery.touched_cells import ChangedColumn, Logged, ReleasedColumn
from sdckit.cells import as_cells, comparable_files
from sdckit.cells.joined_ids import changed_ids, joined_ids
from sdckit.cells.pair import ROW, Pair, open_files, open_pair, released_files
from sdckit.data import arguments
from sdckit.data.frames import really_has
from sdckit.data.scenarios.roles import Roles, check_columns
from sdckit.errors import DataError, ScenarioError, sure
from sdckit.numerics.array_types import Bools, Floats, Ints, Values
from sdckit.numerics.grouping import places_among

# Prediction of suppressed values by a random forest trained on the release, compared with the most frequent value.


TRAINING = 8_000
TREES = 20
LEAF = 3
MOST_CHANGED = 10_000
FEWEST = 50  # known values needed for training
MANY_VALUES = 50  # distinct numbers above which regression is used instead of classification
NEAR = 0.05  # relative error up to which a guessed number is right
FURTHEST_SPLIT = 1e30  # trees hold numbers in single precision
FLOOR = 0.1  # of the standard deviation: least size that the relative error refers to


@dataclass(frozen=True, eq=False)
class Guessed:
    """Guessed values of the records in `rows` as codes or numbers, by the model and by the most frequent value."""

    rows: Ints
    model: Values
    usual: Values
    is_number: bool
    reach: float
    expected: float = math.nan  # out-of-bag accuracy on the known values
    expected_usual: float = math.nan

    def right(self, truth: Values, *, usual: bool = False) -> Bools:
        """Which guesses are right: equal, or within the tolerance for numbers."""
        guess = self.usual if usual else self.model
        if not self.is_number:
            return np.asarray(guess == truth)
        return np.asarray(np.abs(guess - truth) <= NEAR * np.maximum(np.abs(truth), self.reach) + 1e-12)


def guess_values(
    state: Reconstruction, predictors: Sequence[Predictor], *, seed: int, mates: Household | None = None
) -> Guessed | None:
    """Predict the suppressed values of a column from all predictors; None with too few known values to train on."""
    rows, known = _prediction_rows(state, seed)
    if state.numbers is not None:
        known = known[np.isfinite(state.numbers[known])]
    if not len(rows) or len(known) < FEWEST:
        return None
    as_number = state.numbers is not None and len(np.unique(state.known[known])) > MANY_VALUES
    rng = np.random.default_rng(seed)
    some = known if len(known) <= TRAINING else np.sort(rng.choice(known, TRAINING, replace=False))
    use = [
        predictor
        for predictor in predictors
        if predictor.joins and state.name not in predictor.columns and predictor.n_levels > 1
    ]
    if not use:
        return None
    columns = [_feature(predictor, rows, some) for predictor in use]
    if mates is not None:
        columns.append(_of_a_mate(state, mates)[np.concatenate([some, rows])])
    features = np.column_stack(columns)
    train, to_predict = features[: len(some)], features[len(some) :]
    if as_number:
        assert state.numbers is not None
        y: Values = state.numbers[some]
        usual: Values = np.full(len(rows), _best_constant(state.numbers[known]))
        reach = FLOOR * float(state.numbers[known].std())
    else:
        y, reach = state.known[some].astype(np.int64), 0.0
        usual = np.full(len(rows), np.bincount(state.known[known]).argmax())
    if len(np.unique(y)) < 2:
        return Guessed(rows, np.full(len(rows), y[0]), usual, as_number, reach)
    model, left_out = _grow(train, y, to_predict, as_number=as_number, seed=seed)
    guesses = Guessed(rows, model, usual, as_number, reach)
    often = Guessed(some, left_out, np.full(len(some), usual[0]), as_number, reach)
    model_right, usual_right = often.right(y).mean(), often.right(y, usual=True).mean()
    return replace(guesses, expected=float(model_right), expected_usual=float(usual_right))


def _grow(train: Floats, y: Values, to_predict: Floats, *, as_number: bool, seed: int) -> tuple[Values, Values]:
    """Predictions of a forest, and those of its own records by the trees without them."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if as_number else RandomForestClassifier
    forest = kind(
        n_estimators=TREES, min_samples_leaf=LEAF, max_features="sqrt", random_state=seed, n_jobs=1, oob_score=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # records without an out-of-bag tree
        forest.fit(train, y)
    return forest.predict(to_predict), forest.oob_prediction_ if as_number else _most_likely(forest)


def _prediction_rows(state: Reconstruction, seed: int) -> tuple[Ints, Ints]:
    """Records to predict, and training records.

    For perturbed columns the model is trained on all records except those predicted.
    """
    touched = state.target.touched
    if not state.target.perturbed:
        return np.flatnonzero(touched & state.target.column.missing), np.flatnonzero(state.known > 0)
    changed = np.flatnonzero(touched)
    rng = np.random.default_rng(seed)
    some = changed if len(changed) <= MOST_CHANGED else rng.choice(changed, MOST_CHANGED, replace=False)
    half = np.sort(some[: max(len(some) // 2, 1)])
    learnt = state.known > 0
    learnt[half] = False
    return half, np.flatnonzero(learnt)


def _most_likely(model: Any) -> Ints:
    return np.asarray(model.classes_[np.nan_to_num(model.oob_decision_function_).argmax(axis=1)])


def _feature(predictor: Predictor, rows: Ints, some: Ints) -> Floats:
    at = np.concatenate([some, rows])
    values = predictor.numbers_of(at)
    if values is not None:
        return np.where(np.isnan(values), -FURTHEST_SPLIT, np.clip(values, -FURTHEST_SPLIT, FURTHEST_SPLIT))
    return np.asarray(predictor.codes[at].astype(np.float64))


def _of_a_mate(state: Reconstruction, mates: Household) -> Floats:
    """Known code of another household member as a feature (n,); 0 where there is none."""
    known = np.flatnonzero((state.known > 0) & (mates.of_row >= 0))
    first, last = np.full((2, mates.n + 1), -1, np.int64)  # the last one: no household
    last[mates.of_row[known]] = known
    first[mates.of_row[known[::-1]]] = known[::-1]
    rows = np.arange(len(state.known))
    other = np.where(first[mates.of_row] == rows, last[mates.of_row], first[mates.of_row])
    return np.where((other >= 0) & (other != rows), state.known[other], 0).astype(np.float64)


def _best_constant(values: Floats) -> float:
    """The constant guess that is right for most of the values."""
    some = np.sort(values)
    candidates = some[:: max(1, len(some) // 1000)]
    width = NEAR * np.maximum(np.abs(candidates), FLOOR * float(values.std()))
    near = np.searchsorted(some, candidates + width, "right") - np.searchsorted(some, candidates - width)
    return float(candidates[near.argmax()])


def beyond(model: Bools, usual: Bools, level: float) -> tuple[float, float, float]:
    """Difference in accuracy of model and baseline, with Agresti and Min's (2005) interval for matched pairs."""
    n = len(model)
    if not n:
        return math.nan, math.nan, math.nan
    more, less = int((model & ~usual).sum()) + 0.5, int((usual & ~model).sum()) + 0.5
    size = n + 2.0
    centre = (more - less) / size
    z = NormalDist().inv_cdf((1 + level) / 2)
    half = z * math.sqrt(max(more + less - (more - less) ** 2 / size, 0.0)) / size
    return float(model.mean() - usual.mean()), max(centre - half, -1.0), min(centre + half, 1.0)


@dataclass(frozen=True, eq=False)
class RecoveryFile:
    """One release: coded columns, changed values, and the original values row by row (`truth`) if known.

    `chosen`: columns that are looked at. `rows`: row of the original of each record, None where they are in its order.
    `gone`: the original's values of columns that were left out, of those that are looked for. `times`: the records that
    each row stands for; one unless given. `person`: their column in the `original`, whether or not it was left out.
    """

    frame: Any
    columns: dict[str, ReleasedColumn]
    touched: dict[str, ChangedColumn]
    truth: dict[str, ReleasedColumn] | None
    roles: Roles
    memo: dict[Any, Any]
    chosen: frozenset[str] = frozenset()
    rows: Ints | None = None
    gone: Mapping[str, ReleasedColumn] = field(default_factory=dict)
    times: Ints | None = None
    original: Any = None
    person: str | None = None

    def looking_for(self, original: Any, names: Sequence[str]) -> "RecoveryFile":
        """The same with the original's values of some columns that it does not have, where rows are known."""
        names = [name for name in names if name not in self.columns and name in original.columns]
        read = touched_cells.read_columns(original, names) if names and self.truth is not None else {}
        return replace(self, gone=_ordered({name: read[name] for name in names if name in read}, self.rows))

    def before(self, name: str) -> ReleasedColumn:
        """The original's values of a column, whether or not it was left out."""
        return self.gone[name] if name in self.gone else sure(self.truth)[name]

    def followed(self, time: str | None) -> tuple[dict[str, ReleasedColumn], tuple[str, ...]]:
        """Its columns, the person as whoever has the release follows it where identifiers changed or are gone; by what.

        As `known_points` does: by what stays the same, and by values that the rows of one person alone share.
        """
        name = self.person or ""
        if (place := ("followed", name, time, id(self.frame))) not in self.memo:
            self.memo[place] = self._follow(name, time or "")
        own, led = self.memo[place]
        return self.columns if own is None else {**self.columns, name: own}, led

    def _follow(self, name: str, time: str) -> tuple[ReleasedColumn | None, tuple[str, ...]]:
        """The column of the person so followed, None where nothing says who is who, and what leads to its rows."""
        before = {} if self.truth is None else touched_cells.read_columns(self.original, [name, time])
        if {name, time} - {*before} or time not in self.columns or before[name].missing.any():
            return None, (name,)
        n = len(self.frame)
        own = self.columns.get(name, replace(before[name], codes=np.arange(1, n + 1, dtype=np.int32), n_levels=n))
        owner, led = _ordered(before, self.rows)[name].codes - 1, [name]
        whose, ids = before[name].codes - 1, own.codes - 1
        if not own.missing.any() and changed_ids(ids, owner, n):
            how: Any = {"id": name, "time": time, "by_values": True}
            people, names = joined_ids(self.frame, self.original, ids, whose, owner, **how)
            own = replace(own, codes=people + 1, n_levels=int(people.max()) + 1, ends=None)
            led = sorted(names, key=lambda name: -self.columns[name].n_levels) or led
        return own, tuple(led)

    def linked(self, time: str | None, some: Rows) -> Iterator[Predictor]:
        """What the rows that belong to those of `some` records say of them, named by the columns that lead to them."""
        columns, led = self.followed(time)
        for other in linked_rows(columns, household=self.household, person=self.person, time=time, some=some):
            by = chain(*(led if name == self.person else (name,) for name in other.columns))
            yield replace(other, columns=tuple(by))

    @property
    def household(self) -> str | None:
        """Name of the household column, if the release has it."""
        return self.roles.household

    def truth_of(self, recovered: reconstruct.Recovered) -> tuple[Floats, Floats]:
        """Bounds (n,) of the true values in the form of the reconstructed ones: numbers, or codes of the release."""
        column, truth = recovered.target.column, sure(self.truth)
        before = truth[column.name]
        if recovered.values is not None and before.numeric:
            return sure(before.low), sure(before.high)
        codes = touched_cells.truth_codes(column, before, self.times)
        return codes, codes

    def guess_truth(self, recovered: reconstruct.Recovered, guessed: Guessed | None) -> Floats | None:
        """True values (n,) in the form of the guesses: numbers, or codes of the release."""
        if self.truth is None or guessed is None:
            return None
        before = self.truth[recovered.target.column.name]
        return before.numbers if guessed.is_number else touched_cells.truth_codes(recovered.target.column, before)


def recovery_files(
    released: Any, original: Any, *, roles: Roles, columns: Sequence[str] | None, log: Logged | None,
    id: str | None, aligned: bool | None, named: Mapping[str, str | None], needed: Collection[str] = (),
) -> tuple[tuple[RecoveryFile, ...], Pair]:  # fmt: skip
    """Open and check everything before any computation; columns `named` by role in the call must exist.

    `aligned`: None where the log, or else the order of the rows, says whether they belong together. `needed`: the
    columns that are read where a release has all of them; else, or where they are not named, all are.
    """
    if log is not None and not really_has(log, "steps"):
        raise ScenarioError("log= is a RecipeLog; read the file with sdckit.RecipeLog.read(path)", argument="log")
    # several intruders share the opened pair
    memo: dict[Any, Any] = released.memo if isinstance(released, Pair) and original is None else {}
    place = ("recovery", id, aligned, log is None)
    if place not in memo:
        memo[place] = _open(released, original, id=id, aligned=log is not None or None if aligned is None else aligned)
    pair: Pair = memo[place]
    compared = pair.aligned
    files = []
    for j, frame in enumerate(pair.released):
        own = _present(roles, frame.columns)
        check_columns(frame.columns, replace(own, id=None))
        chosen_by = {"columns": columns or (), **{role: (name,) for role, name in named.items() if name is not None}}
        for role, names in chosen_by.items():
            arguments.present(names, frame.columns, role, argument=role, within="the release")
        if log is not None and log.n != len(frame):
            raise DataError(
                f"log: it is of a file of {log.n} records, the release has {len(frame)}; give the log of this release"
            )
        apart = {own.weight, own.household, own.person, id} - set(own.keys)
        key: tuple[Any, ...] = (*place, j)
        names = [name for name in frame.columns if name != ROW]  # which no intruder sees
        if key not in memo and needed and set(needed) <= set(names):
            names = [name for name in names if name in needed]
            key = (*key, *names)
        if key not in memo:
            rows = _rows(pair, log, id) if compared and original is not None else None
            memo[key] = _read(pair, j, names, log, compared=compared, rows=rows)
        read, before, touched, rows = memo[key]
        chosen = set(read) - apart if columns is None else set(columns)
        touched = {name: target for name, target in touched.items() if {name, target.column.within} & chosen}
        whole: Any = {"original": pair.original, "person": roles.person}
        files.append(RecoveryFile(frame, read, touched, before, own, memo, frozenset(chosen), rows, **whole))
    return tuple(files), pair


def _rows(pair: Pair, log: Logged | None, id: str | None) -> Ints | None:
    """Original row of each released row, if a log says that rows were reordered; else None."""
    return None if log is None or id is not None else log.rows(pair.original)


def _read(
    pair: Pair, j: int, names: Sequence[str], log: Logged | None, *, compared: bool, rows: Ints | None
) -> tuple[dict[str, ReleasedColumn], dict[str, ReleasedColumn] | None, dict[str, ChangedColumn], Ints | None]:
    """Coded columns of a release, the original's columns if known, the changed values, and its rows of the original."""
    frame = pair.released[j]
    read = touched_cells.read_columns(frame, names)
    if not compared:
        return read, None, touched_cells.by_log(read, log) if log else touched_cells.by_sight(read), None
    if rows is None:
        order = pair.orders[j] if j < len(pair.orders) else None
        rows = None if order is None else places_among(order, len(frame))  # by release row the original row
    before = _ordered(touched_cells.read_columns(pair.original, names), rows)
    return read, before, touched_cells.by_original(read, before), rows


def _open(released: Any, original: Any, *, id: str | None, aligned: bool | None) -> Pair:
    if isinstance(released, Pair):
        pair = released if original is None else open_files(original, list(released.released), id=id)
    else:
        files = released_files(released)
        first = files[0] if original is None and files else original
        pair = open_files(first, files, id=id if original is not None else None)
    every = pair.plans or (pair.original if pair.raw is None else pair.raw, *pair.released)
    whole = [as_cells.columns_in_memory(frame, {"columns": frame.collect_schema().names()}) for frame in every]
    (first, brought), *others = whole
    pair = replace(pair, original=first, released=tuple(frame for frame, _ in others), brought=pair.brought or brought)
    if original is None and not isinstance(released, Pair):
        return pair
    if aligned is None:
        aligned = comparable_files.in_same_order(pair.original if pair.raw is None else pair.raw, *pair.released)
    if not aligned and id is None:
        return pair
    return pair if pair.aligned else open_pair(pair, categories={}, aligned=True)


def _present(roles: Roles, names: Sequence[str]) -> Roles:
    """Roles reduced to columns that the release has; keys are kept, as they must exist."""
    own = (roles.weight, roles.household, roles.person)
    weight, household, person = (name if name in names else None for name in own)
    left = tuple(name for name in roles.sensitive if name in names)
    return replace(roles, weight=weight, household=household, person=person, sensitive=left)


def _ordered(truth: Mapping[str, ReleasedColumn], rows: Ints | None) -> dict[str, ReleasedColumn]:
    """The original's columns reordered to the rows of the release."""
    if rows is None:
        return dict(truth)
    return {name: replace(column, codes=column.codes[rows]) for name, column in truth.items()}
