"""The columns of two releases that may link their records together, and by which of them they are linked."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from sdckit.attacks.differencing import near_values, release_ledger, several_columns
from sdckit.attacks.differencing.linked_releases import NEAR, OF_HOMES, TOGETHER, Link
from sdckit.attacks.differencing.release_ledger import MOST_ALIKE, Earlier, OpenedRelease
from sdckit.cells import number_columns, packing
from sdckit.data.columns import code_column, float_values
from sdckit.data.frames import plain_columns
from sdckit.data.ledger.digests import Levels, canonical
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints

FEW_EACH = 4  # people per value of what may be new numbers of persons or households, and of what is to be equal
FEWEST_VALUES = 12  # of a number that is looked for nearby
TOO_MANY = "up to {:,} records of {} columns are searched, and {} and the release have more together"


def link_by_columns(
    new: OpenedRelease, earlier: Earlier, old: OpenedRelease, known: Ints | None, columns: Sequence[str],
    numbers: Sequence[str],
) -> tuple[Link | None, bool, str]:  # fmt: skip
    """Link the records by columns of both releases that do so together; and whether all that both show was tried.

    Of files that are too large for it, or stay on an engine, it is said that they are.

    Of a release that is not at hand the columns that the ledger keeps are tried. `known` are the rows by an id, if
    any. Where both show who lives together, whole households are linked by what their members are, too; and of a file
    at hand who is nobody's yet, by `numbers` that lie near.
    """
    file = earlier.file
    own = [*old.levels] if file is None else plain_columns(file)
    shared = [name for name in columns if name in own]
    names = [name for name in shared if name in (new.levels if file is None else new.frame.columns)]
    people, homes = earlier.people(old)
    most = release_ledger.MOST_SEARCHED // max(1, len(names), len(numbers))
    too_many = TOO_MANY.format(most, max(len(names), len(numbers)), earlier.name) if new.n + len(people) > most else ""
    why = earlier.stays or too_many
    if (new.n + len(people)) * len(names) > release_ledger.MOST_SEARCHED:
        return None, False, why
    whole = file is not None and names == shared and not _not_plain(new.frame, file)
    many = min(new.n, len(people)) >= several_columns.FEWEST  # of fewer nobody could tell a link from chance
    many &= not too_many
    whole, measured = whole and many, _numbers((new.frame, file), numbers) if file is not None and many else {}
    codes: dict[str, tuple[Ints, Ints]] = {}
    for name in names:
        first = new.levels[name] if name in new.levels else _opened(new.memo, new.frame, name)
        second = old.levels[name] if file is None else _opened({}, file, name)
        compared = several_columns.shared_codes(first, second)
        if compared is not None:
            codes[name] = compared[0], compared[1][people] if file is None else compared[1]
        elif name not in measured and not _says_nothing(first, new.n, second, len(people)):
            whole = False
    codes_here, codes_there = ([pair[at] for pair in codes.values()] for at in (0, 1))
    linked, sure = several_columns.link_by_several(codes_here, codes_there)
    ways = [] if linked is None else [linked]
    if new.homes is not None and len(new.homes) and homes is not None and len(homes):
        linked, sure_of_homes = several_columns.link_households(codes_here, codes_there, (new.homes, homes))
        ways, sure = [*ways, *filter(None, [linked])], sure and sure_of_homes
    linking = [name for at, name in enumerate(codes) if any(at in way.columns for way in ways)]
    of_homes = any(way.homes for way in ways)
    together = OF_HOMES if of_homes else TOGETHER
    if measured and sum(len(way.here) for way in ways) < MOST_ALIKE * min(new.n, len(people)):
        few = {name: own for name, own in codes.items() if max(map(np.max, own)) <= new.n / FEW_EACH}
        linked, sure_of_near = near_values.link_by_near_values(few, measured)
        sure &= sure_of_near
        if linked is not None:
            ways.append(linked)
            chosen = [[*few, *measured][at] for at in linked.columns]
            linking = [*dict.fromkeys([*linking, *chosen])]
            together += NEAR.format(", ".join(chosen[np.searchsorted(linked.columns, len(few)) :]))
    rows, taken, right = np.full(new.n, -1, np.int64), np.zeros(len(people), np.bool_), 0.0
    for way in ways:  # who is linked as a person is not linked once more through the household, or by near values
        free = (rows[way.here] < 0) & ~taken[way.there]
        rows[way.here[free]], taken[way.there[free]] = people[way.there[free]], True
        right += way.right * free.sum()
    if not taken.any():
        return None, whole and sure, why
    right = float(right / taken.sum())
    if known is not None and (both := (rows >= 0) & (known >= 0)).any():
        right = float((rows[both] == known[both]).mean())
    return (
        (Link(rows, tuple(linking), right, together, of_homes) if right >= several_columns.LEAST_RIGHT else None),
        whole,
        why,
    )


def many_valued_numbers(frames: Sequence[Any], names: Sequence[str]) -> tuple[str, ...]:
    """The columns that all files (in memory) have as numbers of many values."""
    stored = number_columns.stored_as_numbers([frame.schema for frame in frames], names)
    return tuple(name for name in stored if min(frame[name].n_unique() for frame in frames) >= FEWEST_VALUES)


def _numbers(files: tuple[Any, Any], names: Sequence[str]) -> dict[str, tuple[Floats, Floats]]:
    numbers = {}
    for name in many_valued_numbers(files, names):
        with suppress(DataError):  # numbers that span more than a float can say
            here, there = (float_values(file[name], "column") for file in files)
            numbers[name] = here, there
    return numbers


def _not_plain(frame: Any, file: Any) -> set[str]:
    """Columns of both that hold lists or objects, of which none is tried."""
    both = {*frame.columns} & {*file.columns}
    return both - ({*plain_columns(frame)} & {*plain_columns(file)})


def _says_nothing(here: Levels, n: int, there: Levels, m: int) -> bool:
    """Whether a column that cannot be compared links nobody, too: one value for all, or new numbers of few each."""
    fewest = min(len(here.texts), len(there.texts))
    return fewest < 2 or (FEW_EACH * len(here.texts) >= n and FEW_EACH * len(there.texts) >= m)


def _opened(memo: dict[Any, Any], frame: Any, name: str) -> Levels:
    return packing.made_once(memo, ("shared", name), lambda: canonical(code_column(frame[name])))
