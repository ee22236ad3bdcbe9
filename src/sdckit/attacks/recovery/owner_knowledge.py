"""What a release tells of its changed values to somebody who knows how its columns are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.reconstruct import Recovered, put_back
from sdckit.attacks.recovery.reconstruction_rules import Source
from sdckit.attacks.recovery.recovery_files import RecoveryFile
from sdckit.attacks.recovery.touched_cells import ReleasedColumn, read_columns
from sdckit.data.frames import open_frame
from sdckit.data.replace import with_levels, with_some_numbers
from sdckit.numerics.array_types import Bools


@dataclass(frozen=True, eq=False)
class Known:
    """What the relations of one column tell.

    `told` (n,): changed values told rightly, whether or not the release alone gives them, too: each is the original's
    value. `source` (n,): index into `sources`, -1 where nothing is told. `narrowed` (n,): changed values not told of
    which some possibilities are ruled out.
    """

    told: Bools
    source: NDArray[np.int16]
    sources: tuple[Source, ...]
    narrowed: Bools


def owner_knowledge(file: RecoveryFile, recoveries: Mapping[str, Recovered]) -> dict[str, Known]:  # noqa: ARG001
    """What is told of each changed column beyond the release alone; a column of which nothing is has no entry."""
    return {}


def file_put_back(file: RecoveryFile, recoveries: Mapping[str, Recovered]) -> Any:
    """The release with every value put back that is given back; only right ones where the original is known."""
    frame = put_back(file.frame, recoveries, {name: recovered.given for name, recovered in recoveries.items()})
    for name, recovered in recoveries.items():
        if file.truth is not None and recovered.beyond.any():
            frame = open_frame(_with_truth(frame, file.truth[name], recovered.beyond))
    return frame


def _with_truth(frame: Any, truth: ReleasedColumn, told: Bools) -> Any:
    """The frame with the original's values of one column in the records `told`."""
    if frame[truth.name].dtype.is_numeric() and truth.numbers is not None and not np.isnan(truth.numbers[told]).any():
        return with_some_numbers(frame, {truth.name: (told, truth.numbers[told])})
    column = read_columns(frame, (truth.name,))[truth.name]
    labels = [column.labels(), _as_put_back(truth)]
    place = {label: code for code, label in enumerate(dict.fromkeys((*labels[0], *labels[1])))}
    codes, new = (np.array([-1, *(place[label] for label in some)]) for some in labels)
    return with_levels(frame, {truth.name: (list(place), np.where(told, new[truth.codes], codes[column.codes]))})


def _as_put_back(truth: ReleasedColumn) -> list[str]:
    """Labels of the original's values, numbers as `put_back` writes them."""
    if truth.numbers is None or truth.from_labels or truth.coded.kind == "date":
        return truth.labels()
    first = np.zeros(truth.n_levels + 1, np.int64)
    first[truth.codes] = np.arange(len(truth.codes))
    return [f"{value:.10g}" for value in truth.numbers[first[1:]]]
