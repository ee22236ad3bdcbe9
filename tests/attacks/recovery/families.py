"""Families of releases made to be undone by whoever knows how their columns are made, and files without any relation.

A family is a protected column beside companions that the file keeps. Its script is what an intruder writes who has
only the release and knows the formula; its twin is the same release without the companions, or with companions
recomputed from the released values, from which the script's formula gives back nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

Rng = np.random.Generator
Change = Callable[[pl.DataFrame, str, Rng], pl.Series]
Base = Callable[[Rng, int], pl.DataFrame]
Script = pl.Expr | Callable[[pl.DataFrame], pl.Series]

c = pl.col
TOLERANCE = 1e-6
REGIONS = ["north", "south", "east", "west", "centre", "coast"]
CODES = {name: 11 + 7 * i for i, name in enumerate(REGIONS)}
SHORT = {"north": "NO", "south": "SO", "east": "EA", "west": "WE", "centre": "CE", "coast": "CO"}


@dataclass(frozen=True, eq=False)
class Release:
    """One release of a family.

    `known` is the original, `released` shows the changed `column`; `twin_known` and `twin` are the pair whose companion
    was left out or recomputed. `unit` is the unit in which the original prints its numbers, None for categories.
    """

    known: pl.DataFrame
    released: pl.DataFrame
    twin_known: pl.DataFrame
    twin: pl.DataFrame
    column: str
    script: Script
    unit: float | None
    roles: Mapping[str, str]

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """(n,) whether the value of the column was changed."""
        before, after = (frame[self.column].cast(pl.String) for frame in (self.known, self.released))
        return (before.is_not_null() & before.ne_missing(after)).to_numpy()

    def guesses(self, released: pl.DataFrame) -> pl.Series:
        """What the script makes of a released file alone."""
        return released.select(self.script).to_series() if isinstance(self.script, pl.Expr) else self.script(released)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """(n,) changed values that the script gives back, within half the printed unit."""
        truth, guesses = self.known[self.column], self.guesses(self.released)
        if self.unit is None:
            hits = (truth == guesses).fill_null(value=False)
        else:
            # floating point may place what lies on the edge of the tolerance beyond it
            hits = ((truth - guesses).abs() <= self.unit / 2 + TOLERANCE).fill_null(value=False)
        return hits.to_numpy() & self.changed

    def roles_of(self, frame: pl.DataFrame) -> dict[str, str]:
        """The roles whose columns a file has: a twin may lack them."""
        return {role: name for role, name in self.roles.items() if name in frame}


@dataclass(frozen=True, eq=False)
class Family:
    """How a family of releases is made: a column changed, companions by name as expressions of the original, a script.

    The last companion is the one that is wrong in the exceptions. With `recomputed` the twin's companions are made anew
    from the released values, else they are left out. `base` makes the original without companions; columns beginning
    with "_" do not go out. With `place` the rows stand in the order of the column `_place`, and the twin's do not.
    """

    column: str
    change: Change
    companions: Mapping[str, pl.Expr]
    script: Script
    unit: float | None = 1.0
    recomputed: bool = False
    base: Base | None = None  # of persons unless given
    roles: Mapping[str, str] = field(default_factory=dict)
    wrong: pl.Expr | None = None  # one of these records is wrong, whatever share is asked for,
    source: pl.Expr = field(default_factory=lambda: pl.lit(value=True))  # and shows the value of one of these
    spoils: int = 1  # records that a wrong companion spoils: two where it links rows
    place: bool = False

    def release(self, n: int, exceptions: float, rng: Rng) -> Release:
        """Make a release of n records, a share of whose last companion is wrong."""
        frame = (self.base or persons)(rng, n).with_columns(**self.companions)
        telling = list(self.companions)[-1]
        frame = frame.with_columns(self._confused(frame, telling, exceptions, rng))
        if self.place:
            frame = frame.sort("_place")
        changed = frame.with_columns(self.change(frame, self.column, rng).alias(self.column))
        if self.recomputed:
            twin_known, twin = frame, changed.with_columns(**self.companions)
        else:
            twin_known, twin = frame.drop(self.companions), changed.drop(self.companions)
        if self.place:
            order = rng.permutation(frame.height)
            twin_known, twin = twin_known[order], twin[order]
        shown = pl.exclude("^_.*$")
        pairs = (part.select(shown) for part in (frame, changed, twin_known, twin))
        return Release(*pairs, self.column, self.script, self.unit, self.roles)

    def _confused(self, frame: pl.DataFrame, telling: str, exceptions: float, rng: Rng) -> pl.Series:
        """The telling companion, of which the exceptions show one another's value."""
        rows = np.arange(frame.height)
        if self.wrong is None:
            odd = rng.choice(rows, round(exceptions * frame.height / self.spoils), replace=False)
            rows[odd] = np.roll(odd, 1)
        else:
            to, from_ = (frame.select(pl.arg_where(mask)).to_series() for mask in (self.wrong, self.source))
            rows[rng.choice(to)] = rng.choice(from_)
        return frame[telling].gather(rows)


def release(name: str, n: int = 2_000, exceptions: float = 0.01, seed: int = 1) -> Release:
    """Make a release of a family; the same arguments make the same."""
    rng = np.random.default_rng([seed, n, round(1000 * exceptions), zlib.crc32(name.encode())])
    return FAMILIES[name].release(n, exceptions, rng)


# How a column is changed.


def noise(frame: pl.DataFrame, column: str, rng: Rng, decimals: int = 0, share: float = 0.2) -> pl.Series:
    """Add normal noise of a share of the standard deviation, in the unit that is printed."""
    values = frame[column].cast(pl.Float64)
    moved = (values + pl.Series(rng.normal(0, share * float(values.std()), frame.height))).round(decimals)
    return moved.cast(frame[column].dtype)


def microaggregated(frame: pl.DataFrame, column: str, rng: Rng) -> pl.Series:
    """Replace each value by the mean of five neighbouring ones."""
    rank = frame[column].rank("random", seed=int(rng.integers(1 << 30)))
    return frame.select(c(column).mean().round().cast(frame[column].dtype).over((rank - 1) // 5)).to_series()


def swapped(frame: pl.DataFrame, column: str, rng: Rng, within: str | None = None, share: float = 0.7) -> pl.Series:
    """Permute the values of a share of the records, all of a file or within groups."""
    drawn = {"_in": pl.Series(rng.random(frame.height) < share), "_chance": pl.Series(rng.random(frame.height))}
    permuted = c(column).sort_by("_chance").over("_in", *([] if within is None else [within]))
    return frame.with_columns(**drawn).select(pl.when("_in").then(permuted).otherwise(column)).to_series()


def rounded(frame: pl.DataFrame, column: str, rng: Rng, base: int = 5_000) -> pl.Series:
    """Round to multiples of a base."""
    return ((frame[column] / base).round() * base).cast(frame[column].dtype)


def banded(frame: pl.DataFrame, column: str, rng: Rng, width: int = 10) -> pl.Series:
    """Bands of equal width as text."""
    low = frame[column] // width * width
    return frame.select(pl.format("{}-{}", low, low + width - 1)).to_series()


def suppressed(frame: pl.DataFrame, column: str, rng: Rng, share: float = 0.4) -> pl.Series:
    """Leave a share of the values out."""
    gone = pl.Series(rng.random(frame.height) < share)
    return frame.select(pl.when(gone).then(None).otherwise(column)).to_series()


def suppressed_where(mask: pl.Expr) -> Change:
    """Leave out the values of some records."""
    return lambda frame, column, rng: frame.select(pl.when(mask).then(None).otherwise(column)).to_series()


def top_coded(frame: pl.DataFrame, column: str, rng: Rng) -> pl.Series:
    """Replace the largest 30 % by their smallest."""
    limit = int(frame[column].quantile(0.7) or 0)
    return frame[column].clip(upper_bound=limit)


def post_randomised(frame: pl.DataFrame, column: str, rng: Rng, share: float = 0.3) -> pl.Series:
    """Replace a share of the values by any of the column's."""
    levels = frame[column].unique().sort()
    drawn = levels.gather(rng.integers(0, len(levels), frame.height))
    moved = pl.Series(rng.random(frame.height) < share)
    return frame.select(pl.when(moved).then(drawn).otherwise(column)).to_series()


def synthesised(frame: pl.DataFrame, column: str, rng: Rng) -> pl.Series:
    """Draw the column anew from a model of it given hours and sex."""
    values = frame[column].cast(pl.Float64).to_numpy()
    design = np.column_stack([np.ones(frame.height), frame["hours"], frame["sex"] == "f"]).astype(np.float64)
    fitted = design @ np.linalg.lstsq(design, values)[0]
    drawn = fitted + rng.permutation(values - fitted)
    return pl.Series(np.maximum(drawn.round(), 1)).cast(frame[column].dtype)


def in_wave_two(change: Change) -> Change:
    """Change only the rows of the second wave, as waves that are protected one by one are."""
    return lambda frame, column, rng: frame.select(
        pl.when(c.wave == 2).then(change(frame, column, rng)).otherwise(column)
    ).to_series()


# The files that are protected.


def persons(rng: Rng, n: int) -> pl.DataFrame:
    """Persons with pay, hours, age and codes, which have nothing to do with each other."""
    age = rng.integers(26, 90, n)
    columns = {
        "sex": rng.choice(["f", "m"], n), "region": rng.choice(REGIONS, n), "size": rng.integers(1, 7, n),
        "hours": rng.integers(10, 60, n), "age": age, "first_job_age": rng.integers(15, 25, n),
        "wage": rng.integers(1_000, 8_000, n), "benefits": rng.integers(0, 900, n),
        "capital": rng.integers(0, 500, n), "height": rng.integers(150, 201, n) / 100,
        "sector": rng.choice(list("ABCDEF"), n), "works": rng.choice(["yes", "no"], n),
    }  # fmt: skip
    letters = rng.choice(list("fm"), (n, 6))
    hidden = {
        "_serial": rng.permutation(90_000)[:n] + 10_000, "_month": rng.integers(1, 13, n),
        "_day": rng.integers(1, 29, n), "_letters": ["".join(row) for row in letters],
        "_three": rng.integers(100, 1_000, n),
    }  # fmt: skip
    return pl.DataFrame(columns | hidden)


def having(**columns: tuple[int, ...]) -> Base:
    """Persons with further numbers, from the least to below the greatest, divided by a third number if there is one."""

    def make(rng: Rng, n: int) -> pl.DataFrame:
        more = {name: rng.integers(low, high, n) for name, (low, high, *_) in columns.items()}
        divided = {name: more[name] / limits[2] for name, limits in columns.items() if len(limits) > 2}
        return persons(rng, n).with_columns(**{name: pl.Series(values) for name, values in (more | divided).items()})

    return make


def shuffled(frame: pl.DataFrame, rng: Rng) -> pl.DataFrame:
    """The rows in random order."""
    return frame[rng.permutation(frame.height)]


def households(rng: Rng, n: int, sizes: Sequence[int] = (1, 2, 2, 2, 2, 2, 3, 3, 4, 4)) -> pl.DataFrame:
    """Persons in households, half of them of two, in random order; a tenure that mates share; at most one is marked."""
    size = rng.choice(sizes, n)
    home = np.repeat(np.arange(n), size)[:n]
    frame = persons(rng, n).with_columns(
        _home=pl.Series(rng.permutation(n)[home] + 1_000),
        tenure=pl.Series(rng.choice(["owner", "tenant", "other"], n)[home]),
        _marked=pl.Series(np.append(True, home[1:] != home[:-1]) & (home % 4 > 0)),
    )
    return shuffled(frame, rng)


def homes(rng: Rng, n: int) -> pl.DataFrame:
    """The same with the number of the household."""
    return households(rng, n).rename({"_home": "home"})


def large_homes(rng: Rng, n: int) -> pl.DataFrame:
    """The same with four to six in a household: of two who swapped, each has the other's value."""
    return households(rng, n, (4, 5, 6)).rename({"_home": "home"})


def waves(rng: Rng, n: int) -> pl.DataFrame:
    """Two rows of each person, two to four years apart, in random order."""
    half = n // 2
    person, later = np.arange(2 * half) // 2, np.arange(2 * half) % 2
    gap = rng.integers(2, 5, half)[person] * later
    frame = persons(rng, 2 * half)
    constant = frame.select("sex", "height", "sector")[2 * person]
    frame = frame.with_columns(constant.get_columns()).with_columns(
        _person=pl.Series(rng.permutation(half)[person] + 500), wave=pl.Series(later + 1),
        year=pl.Series(2016 + rng.integers(0, 3, half)[person] + gap),
        age=pl.Series(frame["age"].to_numpy()[2 * person] + gap),
    )  # fmt: skip
    return shuffled(frame, rng)


def mothers(rng: Rng, n: int) -> pl.DataFrame:
    """Persons, two fifths of whom have their mother in the file; a language that both share; rows in random order."""
    frame = persons(rng, n)
    ids = rng.permutation(9 * n)[:n] + 100_000
    count = round(0.4 * n)
    of = np.full(n, -1)
    of[:count] = count + rng.permutation(n - count)[:count]
    ages = frame["age"].to_numpy()
    language = rng.choice(["de", "fr", "it", "rm", "en"], n)
    language[:count] = language[of[:count]]
    known = pl.Series(of >= 0)
    frame = frame.with_columns(
        id=pl.Series(ids), language=pl.Series(language),
        _mother=pl.when(known).then(pl.Series(ids[of])), _mother_age=pl.when(known).then(pl.Series(ages[of])),
    )  # fmt: skip
    return shuffled(frame, rng)


def schooled(rng: Rng, n: int) -> pl.DataFrame:
    """Persons with years of schooling, of as few levels as leave each enough records, and their rank by them."""
    levels = max(4, int(n**0.5 / 5))
    frame = persons(rng, n).with_columns(schooling=pl.Series(6 + rng.integers(0, levels, n)))
    return frame.with_columns(_rank=c.schooling.rank("ordinal").cast(pl.Int64))


# What the intruder knows.


def text(before: str, *parts: pl.Expr) -> pl.Expr:
    """Text with parts put in for {}."""
    return pl.format(before, *parts)


def padded(number: pl.Expr, digits: int) -> pl.Expr:
    """A number with leading zeros."""
    return number.cast(pl.String).str.zfill(digits)


def whole(part: pl.Expr) -> pl.Expr:
    """The whole number that a text is."""
    return part.cast(pl.Int64)


def running_median(by: str | None) -> Script:
    """Of the released values beside, a quarter of a level wide, in the order of a column or of the file."""

    def script(released: pl.DataFrame) -> pl.Series:
        width = max(15, released.height // released["schooling"].n_unique() // 4)
        order = pl.int_range(released.height) if by is None else c(by)
        ranked = released.select(c.schooling, _order=order, _row=pl.int_range(released.height)).sort("_order")
        medians = c.schooling.cast(pl.Float64).rolling_median(width, center=True, min_samples=1)
        return ranked.with_columns(medians.alias("_median")).sort("_row")["_median"]

    return script


def looked_up(value: str, by: str, there: str) -> Script:
    """The value of the row whose column `there` says what the own row's column `by` says."""

    def script(released: pl.DataFrame) -> pl.Series:
        table = released.select(c(there).alias("_key"), c(value).alias("_value")).drop_nulls("_key")
        table = table.unique("_key", keep="first", maintain_order=True)
        own = released.select(c(by).alias("_key"))
        return own.join(table, on="_key", how="left", maintain_order="left")["_value"]

    return script


def dated(form: str, start: int, digits: int) -> Family:
    """Ages in bands beside a date of birth in text."""
    year = whole(c.born.str.slice(start, digits))
    return Family("age", banded, {"born": BIRTH.dt.strftime(form)}, (2024 if digits == 4 else 124) - year)


def moved_by_one(frame: pl.DataFrame, column: str, rng: Rng) -> pl.Series:
    """Add noise of about one level."""
    return frame[column] + pl.Series(rng.normal(0, 0.8, frame.height).round().astype(np.int64))


def few_swapped(frame: pl.DataFrame, column: str, rng: Rng) -> pl.Series:
    """Swap two fifths of the values: what most neighbours show is true."""
    return swapped(frame, column, rng, share=0.4)


BORN = 2024 - c.age
BIRTH = pl.date(BORN, c._month, c._day)
MATES = pl.len().over("home")
IN_WAVE_ONE = c.wave == 1
REGION_SHARE = (c.wage / c.wage.sum().over("region")).round(10)
SHORT_NAME = c.region.replace_strict(SHORT)
FROM_SHORT = c.office.str.head(2).replace_strict({short: name for name, short in SHORT.items()})
REGION_OF_CODE = c.code.replace_strict({code: name for name, code in CODES.items()})
SKIPPED = pl.when(c.works == "yes").then(c.hours + c._day)
WORKS = pl.when(c.job_hours.is_null()).then(pl.lit("no")).otherwise(pl.lit("yes"))
STAMP = (pl.datetime(2024, 1, 8) + pl.duration(minutes=5 * c._rank + c._day % 5)).dt.strftime("%Y-%m-%d %H:%M")
DISTRICT = 100 + (c.region.replace_strict({name: i for i, name in enumerate(REGIONS)}) + 6 * (c._three % 3)) * 7 % 19
REGION_OF = {100 + (i + 6 * j) * 7 % 19: name for i, name in enumerate(REGIONS) for j in range(3)}
LARGEST = c.district == c.district.mode().sort().first()
KEPT = c._three >= 500
SUM = c.wage + c.benefits

HOUSEHOLD = {"household": "home"}
PARTNER = pl.when(MATES == 2).then(c.age.sum().over("home") - c.age)

FAMILIES: dict[str, Family] = {
    # arithmetic of one record
    "noise beside a total": Family("wage", noise, {"total": SUM}, c.total - c.benefits),
    "microaggregation beside a total": Family("wage", microaggregated, {"total": SUM}, c.total - c.benefits),
    "swaps beside a recomputed total": Family("wage", swapped, {"total": SUM}, c.total - c.benefits, recomputed=True),
    "one wrong total": Family("wage", suppressed, {"total": SUM}, c.total - c.benefits, wrong=pl.lit(value=True)),
    "top-coding beside a sum of three": Family(
        "wage", top_coded, {"total": SUM + c.capital}, c.total - c.benefits - c.capital
    ),
    "suppression beside a difference": Family("benefits", suppressed, {"net": c.wage - c.benefits}, c.wage - c.net),
    "swaps beside points": Family("size", swapped, {"points": 2 * c.size + c.hours}, (c.points - c.hours) / 2),
    "noise beside a share": Family("wage", noise, {"net": (0.81 * c.wage).round(2)}, c.net * 100 / 81),
    "swaps beside annual pay": Family("wage", swapped, {"annual": 12 * c.wage}, c.annual / 12, recomputed=True),
    "microaggregation beside annual pay": Family("wage", microaggregated, {"annual": 12 * c.wage}, c.annual / 12),
    "rounding beside a monthly figure": Family(
        "income", rounded, {"monthly": (c.income / 12).round(2)}, 12 * c.monthly, base=having(income=(10_000, 90_000))
    ),
    "noise beside a weekly figure": Family(
        "income", noise, {"weekly": (c.income / 52).round(2)}, 52 * c.weekly, recomputed=True,
        base=having(income=(10_000, 90_000)),
    ),
    "noise beside days": Family(
        "years", partial(noise, decimals=2), {"days": (365.25 * c.years).round().cast(pl.Int64)}, c.days / 365.25,
        0.01, base=having(years=(100, 4_000, 100)),
    ),
    "noise beside another scale": Family(
        "celsius", partial(noise, decimals=1), {"fahrenheit": (1.8 * c.celsius + 32).round(2)},
        (c.fahrenheit - 32) / 1.8, 0.1, base=having(celsius=(-150, 350, 10)),
    ),
    "noise beside a logarithm": Family(
        "wage", noise, {"log_wage": c.wage.log().round(5)}, c.log_wage.exp(), recomputed=True
    ),
    "synthesis beside a decimal logarithm": Family(
        "wage", synthesised, {"log_wage": c.wage.log10().round(6)}, 10**c.log_wage
    ),
    "noise beside a product": Family("hours", noise, {"pay": c.hours * c.wage}, c.pay / c.wage),
    "swaps beside a ratio": Family("wage", swapped, {"per_head": (c.wage / c.size).round(2)}, c.per_head * c.size),
    "noise beside a body mass index": Family(

        "kilos", noise, {"index": (c.kilos / c.height**2).round(2)}, c.index * c.height**2, base=having(kilos=(45, 130))
    ),
    # shares of totals
    "noise beside a share of the household's total": Family(
        "wage", noise,
        {"home_wage": c.wage.sum().over("home"), "share": (c.wage / c.wage.sum().over("home")).round(6)},
        c.share * c.home_wage, base=homes, roles=HOUSEHOLD,
    ),
    "swaps among mates beside shares": Family(
        "wage", partial(swapped, within="home"), {"share": (c.wage / c.wage.sum().over("home")).round(6)},
        c.share * c.wage.sum().over("home"), base=large_homes, roles=HOUSEHOLD,
    ),
    "noise beside a share of the region's total": Family(
        "wage", noise, {"region_wage": c.wage.sum().over("region"), "share": REGION_SHARE}, c.share * c.region_wage
    ),
    "swaps within regions beside shares": Family(
        "wage", partial(swapped, within="region"), {"share": REGION_SHARE}, c.share * c.wage.sum().over("region")
    ),
    "suppression beside a household's total": Family(
        "wage", suppressed_where(c._marked), {"home_wage": c.wage.sum().over("home")},
        c.home_wage - c.wage.sum().over("home"), base=homes, roles=HOUSEHOLD,
    ),
    # ages
    "bands beside a year of birth": Family("age", banded, {"born": BORN}, 2024 - c.born),
    "noise beside a year of birth": Family("age", noise, {"born": BORN}, 2024 - c.born, recomputed=True),
    "bands beside a year in text": Family(
        "age", banded, {"born": text("born in {}", BORN)}, 2024 - whole(c.born.str.tail(4))
    ),
    "bands beside an ISO date": dated("%Y-%m-%d", 0, 4),
    "bands beside a German date": dated("%d.%m.%Y", 6, 4),
    "bands beside a US date": dated("%m/%d/%Y", 6, 4),
    "bands beside a compact date": dated("%Y%m%d", 0, 4),
    "bands beside a six-digit date": dated("%y%m%d", 0, 2),
    "bands beside digits of an id": Family(
        "age", banded, {"id": 7_000_000_000 + BORN % 100 * 10_000_000 + c._serial * 100 + c._day},
        124 - c.id // 10_000_000 % 100,
    ),
    "bands beside the prefix of a code": Family(
        "age", banded, {"file": text("{}-{}", BORN, c._serial)}, 2024 - whole(c.file.str.head(4))
    ),
    "bands beside years of work": Family(
        "age", banded, {"years_worked": c.age - c.first_job_age}, c.first_job_age + c.years_worked
    ),
    # codes and texts
    "suppression beside a code": Family(
        "region", suppressed, {"code": c.region.replace_strict(CODES)}, REGION_OF_CODE, None
    ),
    "post-randomisation beside a code": Family(
        "region", post_randomised, {"code": c.region.replace_strict(CODES)}, REGION_OF_CODE, None
    ),
    "post-randomisation beside a finer code": Family(
        "sector", post_randomised, {"occupation": text("{}{}", c.sector, c._three)}, c.occupation.str.head(1), None
    ),
    "post-randomisation beside a finer number": Family(
        "size", post_randomised, {"occupation": c.size * 1_000 + c._three}, c.occupation // 1_000, None
    ),
    "suppression beside districts": Family(
        "region", suppressed, {"district": DISTRICT}, c.district.replace_strict(REGION_OF), None
    ),
    "one deviating record in the largest group": Family(
        "region", suppressed_where(~KEPT), {"district": DISTRICT}, c.district.replace_strict(REGION_OF), None,
        wrong=KEPT & ~LARGEST, source=LARGEST,
    ),
    "suppression beside a prefix": Family(
        "region", suppressed, {"office": text("{}{}", SHORT_NAME, c._serial)}, FROM_SHORT, None
    ),
    "suppression beside a token": Family(
        "region", suppressed, {"note": text("desk {} {} branch", c._three, c.region)},
        c.note.str.split(" ").list.get(2), None,
    ),
    "post-randomisation beside the length of a text": Family(
        "size", post_randomised, {"members": c._letters.str.head(c.size)}, c.members.str.len_chars().cast(pl.Int64)
    ),
    "noise beside an amount in text": Family(
        "wage", noise, {"paid": text("{}.{},00 EUR", c.wage // 1_000, padded(c.wage % 1_000, 3))},
        whole(c.paid.str.replace_all(r"\.|,00 EUR", "")),
    ),
    "suppression beside a skipped question": Family("works", suppressed, {"job_hours": SKIPPED}, WORKS, None),
    "post-randomisation beside a skipped question": Family(
        "works", post_randomised, {"job_hours": SKIPPED}, WORKS, None
    ),
    "noise beside a struct": Family(
        "wage", noise, {"pay": pl.struct(gross="wage", days=c._day)}, c.pay.struct.field("gross")
    ),
    "post-randomisation beside a struct": Family(
        "region", post_randomised, {"address": pl.struct(zone="region", door=c._day)}, c.address.struct.field("zone"),
        None,
    ),
    "noise beside a list": Family(
        "wage", noise, {"figures": pl.concat_list(c._day.cast(pl.Int64), c.wage)}, c.figures.list.get(1)
    ),
    # other rows
    "noise beside another wave": Family(
        "height", in_wave_two(partial(noise, decimals=2)), {"person": c._person},
        pl.when(c.wave == 2).then(c.height.filter(c.wave == 1).first().over("person")), 0.01, base=waves, spoils=2,
    ),
    "suppression beside another wave": Family(
        "sector", in_wave_two(suppressed), {"person": c._person},
        pl.when(c.wave == 2).then(c.sector.filter(c.wave == 1).first().over("person")), None, base=waves, spoils=2,
    ),
    "noise beside the age of another wave": Family(
        "age", in_wave_two(noise), {"person": c._person},
        pl.when(c.wave == 2).then((c.age - c.year).filter(c.wave == 1).first().over("person")) + c.year, base=waves,
        spoils=2,
    ),
    "bands beside the mother's age in the child's row": Family(
        "age", banded, {"mother": c._mother, "mother_age": c._mother_age},
        looked_up("mother_age", by="id", there="mother"), base=mothers,
    ),
    "suppression beside the mother's language": Family(
        "language", suppressed_where(c._mother.is_not_null() & (c.hours < 40)), {"mother": c._mother},
        looked_up("language", by="mother", there="id"), None, base=mothers,
    ),
    "bands beside the partner's age": Family(
        "age", banded, {"partner_age": PARTNER},
        pl.when(MATES == 2).then(c.partner_age.sum().over("home") - c.partner_age), base=homes, roles=HOUSEHOLD,
    ),
    "suppression beside mates": Family(
        "tenure", suppressed_where(c._marked), {"home": c._home}, c.tenure.drop_nulls().first().over("home"), None,
        base=households, roles=HOUSEHOLD, spoils=2,
    ),
    # order
    "swaps in the order of the rows": Family(
        "schooling", few_swapped, {"_place": c._rank}, running_median(None), base=schooled, place=True
    ),
    "suppression in the order of the rows": Family(
        "schooling", suppressed, {"_place": c._rank}, running_median(None), base=schooled, place=True
    ),
    "noise in the order of ids": Family(
        "schooling", moved_by_one, {"id": 7 * c._rank + c._day % 7 + 5_000}, running_median("id"), base=schooled
    ),
    "swaps in the order of time stamps": Family(
        "schooling", few_swapped, {"entered": STAMP}, running_median("entered"), base=schooled
    ),
}  # fmt: skip


# Files without a relation.

SHAPES = ("independent", "correlated", "small whole numbers", "few bands")
WAYS = ("noise", "swaps", "bands", "suppression", "rounding", "microaggregation")


def unrelated(number: int, most: int = 5_000) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The file of a number, three columns of which were changed, and its release: nothing tells these values.

    Shapes and ways take turns. Some files have ids, dates and households, too, that have nothing to do with the rest.
    """
    rng = np.random.default_rng([20261125, number])
    shape, way = SHAPES[number % len(SHAPES)], WAYS[number // len(SHAPES) % len(WAYS)]
    n = min(int(rng.choice([200, 600, 2_000, 5_000])), most)
    z = rng.normal(size=(n, 9))
    if shape == "correlated":
        r = rng.uniform(0.3, 0.95)
        z = r**0.5 * z[:, :1] + (1 - r) ** 0.5 * z
    named = {f"v{i}": _shaped(shape, z[:, i], rng) for i in range(9)}
    if number % 3 == 0:
        named |= {"id": rng.permutation(9 * n)[:n] + 10_000, "home": rng.integers(0, n // 2, n)}
        days = pl.Series(rng.integers(-20_000, 10_000, n)).cast(pl.Int32).cast(pl.Date)
        named["born"] = days.dt.strftime("%d.%m.%Y").to_numpy()
    original = pl.DataFrame(named)
    changed = rng.choice([name for name in named if name.startswith("v")], 3, replace=False)
    return original, original.with_columns(_changed(original, name, way, rng).alias(name) for name in map(str, changed))


def _shaped(shape: str, z: NDArray[np.float64], rng: Rng) -> NDArray[np.generic]:
    """A column of a shape, whose order is that of z."""
    if shape == "small whole numbers":
        return np.searchsorted(np.sort(rng.normal(size=4)), z)
    if shape == "few bands":
        cut = np.searchsorted(np.quantile(z, np.linspace(0, 1, int(rng.integers(4, 7)))[1:-1]), z)
        return np.array([f"{20 * low}-{20 * low + 19}" for low in range(7)])[cut]
    return np.round(1_000 + 150 * z) if rng.random() < 0.5 else np.round(np.exp(8 + 0.5 * z), int(rng.integers(0, 3)))


def _changed(frame: pl.DataFrame, column: str, way: str, rng: Rng) -> pl.Series:
    """The column changed in a way; texts, of which there is no mean, by suppression or at random."""
    values = frame[column]
    if way == "suppression":
        return suppressed(frame, column, rng, share=float(rng.uniform(0.05, 0.5)))
    if way == "swaps":
        return swapped(frame, column, rng)
    if values.dtype == pl.String:
        return post_randomised(frame, column, rng)
    few = values.n_unique() < 10
    if way == "noise":
        return noise(frame, column, rng, decimals=0 if few else 2, share=float(rng.uniform(0.3, 1)))
    base = 2 if few else int(rng.choice([50, 100, 500]))
    if way == "bands":
        return banded(frame.with_columns(c(column).cast(pl.Int64)), column, rng, base)
    if way == "rounding":
        return rounded(frame, column, rng, base)
    return microaggregated(frame, column, rng)
