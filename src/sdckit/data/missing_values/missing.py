"""Codes for missing values: detection and removal; rules for missing values of keys."""

from __future__ import annotations

import json
import math
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sdckit.data import nearest, pl
from sdckit.data.frames import exactly
from sdckit.errors import ColumnError, ScenarioError, SdcWarning

# Codes for missing: default texts, their removal, and suspicious numbers and words.


# "None" is excluded: it is a real answer in many surveys (children: None).
DEFAULT_CODES = ("NA", "N/A", "NaN", "nan", "NULL", "null", ".")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_BELOW = re.compile("-([7-9]|9+[6-9])")
_ABOVE = re.compile("99+[6-9]|99")  # 96 to 98 are answers more often than codes, where no 99 stands above them
_ALL_NINES = re.compile("99+")
_RUN = re.compile("9+[6-9]")  # what stands beside the largest code: 997 refused, 998 not known, 999 not answered
_LARGEST = 10**15  # beyond it not every whole number is a float of its own
_NEGATIVE = tuple(map(float, range(-9, 0)))  # codes of surveys whose answers are counted from 1
_SCALE = 5  # a scale around 0 goes up as far as down: beyond so many times its least value, negative numbers are codes
_FAR = 3  # a code lies at least this many median steps from the next value
_FARTHER = 10  # so do several codes together, and a single one that does not end in 9
_SAMPLE = 100_000  # records from which the median step is computed
_FIRST = 1_000  # values of a column of texts, one of which is a number where the column holds any
_MOST, _FEWEST = 3, 5  # texts among numbers, and records that each is in: a value of fewer is nobody's to print
_WORDS = (
    "refused", "refusal", "refuses", "don't know", "don’t know", "dont know", "do not know", "doesn't know",
    "not asked", "not answered", "no answer", "no response", "not stated", "missing", "not applicable", "inapplicable",
    "not assessed", "not tested", "not examined", "not measured", "not ascertained", "not recorded", "not reported",
    "not collected", "not available", "not known", "no data", "no information", "prefer not to say",
    "prefer not to answer", "declined to answer", "can't say", "cannot say", "don't know/refused",
    "keine angabe", "keine angaben", "k.a.", "k. a.", "weiß nicht", "weiss nicht", "weiß ich nicht", "verweigert",
    "antwort verweigert", "keine antwort", "nicht beantwortet", "nicht gefragt", "nicht befragt", "nicht erhoben",
    "nicht erfasst", "nicht bewertet", "nicht beurteilt", "nicht getestet", "nicht untersucht", "nicht gemessen",
    "nicht bekannt", "nicht verfügbar", "nicht anwendbar", "nicht zutreffend", "entfällt", "nicht teilgenommen",
    "keine daten", "fehlend",
    "ne sait pas", "sans réponse", "pas de réponse", "refus", "sans objet", "non applicable", "non évalué",
    "no sabe", "no contesta", "sin respuesta", "no aplica", "no evaluado",
    "non so", "non risponde", "rifiuta", "non applicabile", "non valutato",
)  # fmt: skip
_UNSAID = (
    "unknown", "unbekannt", "inconnu", "undetermined", "dk", "nk", "ns", "ns/nc", "nsp", "-", "--", "?", "x", "n.a.",
)  # fmt: skip
_AWAY = ("absent", "abwesend")  # an answer, too, as of a symptom: it counts beside another of these words only
_RARE = "other"  # what recodings of ours call the rare codes of a column of numbers
_PHRASES = tuple(
    dict.fromkeys(form for word in (*_WORDS, *_AWAY) for form in (word, word.capitalize(), word.title(), word.upper()))
)
_BARE = re.compile(r"^[\[(]?-?\d+[\])]?[\s.:=–-]+|\s*\([^()]*\)$")  # a code before a label, and what explains it


def _bare(label: str) -> str:
    return _BARE.sub("", label.strip()).strip().lower()


def labelled_suspects(frame: pl.DataFrame, codes: Mapping[str, Mapping[str, Any]]) -> tuple[Found, ...]:
    """Numbers of columns of numbers whose label says that they mean missing.

    `codes`: of each column the codes by their labels.

    >>> labels = {"score": {"not assessed": -5, "absent": -6, "none": 0}}
    >>> labelled_suspects(pl.DataFrame({"score": [0, 31, 44, -5, -6, -5]}), labels)
    (Found(column='score', code='-5', records=2), Found(column='score', code='-6', records=1))
    """
    code_counts: list[Found] = []
    for name, by_label in codes.items():
        if name in frame.columns and frame.schema[name].is_numeric():
            named = [str(code) for label, code in by_label.items() if _bare(label) in (*_WORDS, *_AWAY)]
            code_counts += counted_codes(frame.select(exactly(name)), named)
    return tuple(code_counts)


def suspects(frame: pl.DataFrame) -> tuple[Found, ...]:
    """Find values suspected to mean missing: numbers at the extremes, texts by keywords, the few texts among numbers.

    A number is suspected if it lies far from all others, or is negative while the others are not. Columns whose minimum
    and maximum are not usual codes cost no more than computing these. A text without a digit ("N", not "90+") is
    suspected where it keeps a column of numbers from being one.

    >>> import polars as pl
    >>> suspects(pl.DataFrame({"educ": [1, 2, 3, 2, -999], "job": ["a", "b", "Refused", "a", "b"]}))
    (Found(column='educ', code='-999', records=1), Found(column='job', code='Refused', records=1))
    """
    numbers = [name for name, dtype in frame.schema.items() if dtype.is_integer() or dtype.is_float()]
    extremes = frame.select(
        *(exactly(name).min().alias(f"min {i}") for i, name in enumerate(numbers)),
        *(exactly(name).max().alias(f"max {i}") for i, name in enumerate(numbers)),
    )
    labels = (dtype.categories.to_list() for dtype in frame.schema.values() if isinstance(dtype, pl.Enum))
    spoken = [label for own in labels for label in own if _bare(label) in (*_WORDS, *_AWAY)]
    texts = found_texts(frame, [*_PHRASES, *spoken])
    by_name = {name: [text for text in texts if text.column == name] for name in frame.columns}
    for name, own in by_name.items():
        if all(_bare(text.code) in _AWAY for text in own):
            by_name[name] = []
    for i, name in enumerate(numbers):
        low, high = extremes.item(0, f"min {i}"), extremes.item(0, f"max {i}")
        if _is_code(low, _BELOW) or low in _NEGATIVE or _is_code(high, _ABOVE):
            by_name[name] = _far_off(frame[name])
    for name, dtype in frame.schema.items():
        if dtype == pl.String and not by_name[name]:
            by_name[name] = _among_numbers(frame[name])
    return tuple(code_count for name in frame.columns for code_count in by_name[name])


def mean_missing(series: pl.Series) -> list[Any]:
    """The different values of a column that say that somebody has not answered, or usually stand for it.

    More than `suspects`: for questions in which nothing is lost where a code is taken for one in vain.

    >>> mean_missing(pl.Series(["flu", "keine Angabe", "-9", "?"])), mean_missing(pl.Series([1, 2, -1, 99, 99]))
    (['keine Angabe', '-9', '?'], [-1, 99])
    """
    held = series.drop_nulls().unique(maintain_order=True)
    if series.dtype.is_numeric():
        codes = _codes_among(held.cast(pl.Float64))
        return [value for value in held.to_list() if value in codes]
    texts = held.cast(pl.String).to_list()
    numbers = [number for text in texts if (number := _number(text)) is not None and not math.isnan(number)]
    codes = _codes_among(pl.Series(numbers, dtype=pl.Float64)) if len(numbers) == len(texts) else _plain_codes(numbers)
    words = {*_WORDS, *_UNSAID, *(code.lower() for code in DEFAULT_CODES)}
    return [text for text in texts if _bare(text) in words or text.strip() in words or _number(text) in codes]


def _plain_codes(numbers: Sequence[float]) -> set[float]:
    """Those of some numbers among texts that are usual codes by themselves, as no distance tells."""
    return {number for number in numbers if _is_code(number, _BELOW) or _is_code(number, _ALL_NINES)}


def _is_code(value: Any, form: re.Pattern[str]) -> bool:
    """Whether a number, which may be missing, is whole and has the digits of a code."""
    whole = value is not None and abs(value) < _LARGEST and value == int(value)
    return whole and bool(form.fullmatch(str(int(value))))


def _codes_among(values: pl.Series) -> set[float]:
    """Those of some different numbers that are usual codes: far from the others, or negative where these are not."""
    codes = {float(code.code) for code in _far_off(pl.concat([values, values]))}  # a single large number is none
    rest = values.filter(~values.is_in([*codes]))
    negative = rest.filter(rest.is_in([*_NEGATIVE])).to_list()
    others = rest.filter(~rest.is_in(negative))
    return codes | ({*negative} if len(others) and float(others.to_numpy().min()) >= 1 else set())


def _far_off(series: pl.Series) -> list[Found]:
    """Remove codes from both ends of a column while they lie far from the remaining values."""
    values = series.alias("values").cast(pl.Float64).drop_nans().drop_nulls()
    codes = sorted({int(value) for value in values.filter(values < 0).unique() if _is_code(value, _BELOW)})
    body = values.filter(~values.is_in([float(code) for code in codes]))
    if codes and len(body) and _least(body) >= 0:
        outliers = codes
    else:
        outliers = _codes_below_zero(values)
        body = values.filter(~values.is_in([float(code) for code in outliers]))
        while (code := _lowest_code(body)) is not None:
            outliers, body = [*outliers, code], body.filter(body != code)
    while run := _highest_codes(body):
        outliers, body = [*outliers, *run], body.filter(~body.is_in([float(code) for code in run]))
    return [Found(series.name, str(code), int((values == code).sum())) for code in outliers]


def _codes_below_zero(values: pl.Series) -> list[int]:
    """The only negative numbers, where they are few, from -9 to -1, in several records each, and no end of a scale.

    >>> _codes_below_zero(pl.Series([-1.0] * 5 + [0.0, 810.5])), _codes_below_zero(pl.Series([-1.0] * 5 + [0.0, 1.0]))
    ([-1], [])
    """
    negative = values.filter(values < 0).value_counts()
    codes = sorted(int(code) for code, records in negative.rows() if code in _NEGATIVE and records >= _FEWEST)
    if not codes or len(codes) < len(negative):
        return []
    if _is_code(codes[0], _BELOW):
        return codes if len(codes) <= _FEWEST else []
    others = values.filter(values >= 0)
    counted_from_one = _least(others) >= 1 and others.n_unique() >= _MOST
    return codes if len(codes) <= _MOST and (counted_from_one or -_least(-others) > _SCALE * -codes[0]) else []


def _among_numbers(series: pl.Series) -> list[Found]:
    """The few texts without a digit that stand in many records of a column of numbers."""
    given = series.drop_nulls().alias("text")  # the column's name may be "count"
    if given.head(_FIRST).str.strip_chars(" ").cast(pl.Float64, strict=False).is_not_null().sum() == 0:
        return []
    numbers = given.str.strip_chars(" ").cast(pl.Float64, strict=False)  # as the files with columns of a fixed width
    texts = given.filter(numbers.is_null()).value_counts(sort=True)
    if len(texts) > _MOST or numbers.drop_nulls().n_unique() < 2:
        return []
    return [
        Found(series.name, text, int(records))
        for text, records in texts.rows()
        if records >= _FEWEST and not re.search(r"\d", text) and text != _RARE
    ]


def _lowest_code(values: pl.Series) -> int | None:
    """The least value, if it is a code and lies far from the next one."""
    least = _least(values)
    others = values.filter(values != least)
    if not _is_code(least, _BELOW) or not len(others):
        return None
    return int(least) if _least(others) - least >= _FAR * _usual_step(others) else None


def _highest_codes(values: pl.Series) -> list[int]:
    """The largest value, or several codes of as many digits, if all others are far; a single large number may be real.

    >>> _highest_codes(pl.Series([1.0, 2.0, 3.0, 97.0, 97.0, 98.0, 98.0, 99.0, 99.0]))
    [99, 98, 97]
    """
    highest = -_least(-values)
    if not _is_code(highest, _ABOVE):
        return []
    near = values.filter(values >= highest - 3)
    codes = sorted((int(value) for value in near.unique() if _is_code(value, _RUN)), reverse=True)
    for several in range(1, len(codes) + 1):
        run = codes[:several]
        others = values.filter(~values.is_in([float(code) for code in run]))
        far = _FAR if several == 1 and run[0] % 10 == 9 else _FARTHER
        if not len(others) or len(values) - len(others) < 2 * several:
            continue
        if run[-1] + _least(-others) >= far * _usual_step(others):
            return run
    return []


def _usual_step(values: pl.Series) -> float:
    """The median step between the different values; 0 of a single one."""
    steps = values.head(_SAMPLE).unique().sort().diff().drop_nulls()
    usual = steps.median() if len(steps) else 0.0
    return usual if isinstance(usual, float) else math.inf


def _least(values: pl.Series) -> float:
    least = values.min()
    return float(least) if isinstance(least, float) else float("nan")


@dataclass(frozen=True)
class Found:
    """A code found in a column, with its frequency."""

    column: str
    code: str  # as stored in the column
    records: int  # number of records with it


def _number(code: str) -> float | None:
    if code.strip().lower() == "nan":
        return math.nan
    return float(code) if _NUMBER.fullmatch(code.strip()) else None


def code_texts(codes: Iterable[str]) -> list[str]:
    """All spellings of codes in a text column.

    >>> code_texts(["NA", "-999"])
    ['NA', '-999', '-999.0', '-999,0']
    """
    texts: dict[str, None] = {}
    for code in codes:
        texts[code] = None
        value = _number(code)
        if value is not None and value.is_integer() and abs(value) < 2**53:
            whole = str(int(value))
            texts |= {whole: None, f"{whole}.0": None, f"{whole},0": None}
    return list(texts)


def code_numbers(codes: Iterable[str]) -> list[float]:
    """The codes that are numbers, as floats.

    >>> code_numbers(["NA", "-999", "1e3"])
    [-999.0, 1000.0]
    """
    return [value for value in map(_number, codes) if value is not None]


def apply_codes(frame: pl.DataFrame, codes: Sequence[str]) -> pl.DataFrame:
    """Set codes to missing: compared by value in numeric columns, by text in others.

    >>> import polars as pl
    >>> apply_codes(pl.DataFrame({"x": [1.5, -999.0], "y": ["a", "NA"]}), ["-999", "NA"]).rows()
    [(1.5, 'a'), (None, None)]
    """
    if not codes:
        return frame
    texts = code_texts(codes)
    numbers = code_numbers(codes)
    changed = []
    for name, dtype in frame.schema.items():
        hit = _hits(exactly(name), dtype, texts, numbers)
        if hit is not None:
            changed.append(pl.when(hit).then(None).otherwise(exactly(name)).alias(name))
    return frame.with_columns(changed)


def take_defaults(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Found, ...]]:
    """Set empty fields and the default codes to missing in text columns; return the codes found.

    >>> import polars as pl
    >>> frame, found = take_defaults(pl.DataFrame({"y": ["a", "NA", ""]}))
    >>> frame["y"].to_list(), found
    (['a', None, None], (Found(column='y', code='NA', records=1),))
    """
    texts = ("", *DEFAULT_CODES)
    code_counts = found_texts(frame, texts)
    columns = {code_count.column for code_count in code_counts}
    changed = [
        pl.when(exactly(name).cast(pl.String).is_in(texts)).then(None).otherwise(exactly(name)).alias(name)
        for name in frame.columns
        if name in columns
    ]
    return frame.with_columns(changed), tuple(code_count for code_count in code_counts if code_count.code)


def found_texts(frame: pl.DataFrame, texts: Sequence[str]) -> tuple[Found, ...]:
    """Count the given texts in text columns, in one pass over each."""
    plain = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    hits = frame.select(exactly(name).is_in(texts) for name in plain)
    code_counts: list[Found] = []
    for name, dtype in frame.schema.items():
        if dtype == pl.String:
            values = frame[name].filter(hits[name])
        elif isinstance(dtype, pl.Categorical | pl.Enum):
            levels = dtype.categories if isinstance(dtype, pl.Enum) else frame[name].unique().cast(pl.String)
            held = [text for text in levels if text in texts]
            column = frame[name].cast(pl.String) if held else frame[name].head(0).cast(pl.String)
            values = column.filter(column.is_in(held))
        else:
            continue
        counted = values.alias("text").value_counts(sort=True).rows()  # its name may be "count"
        code_counts += [Found(name, text, int(records)) for text, records in counted]
    return tuple(code_counts)


def _hits(column: pl.Expr, dtype: pl.DataType, texts: list[str], numbers: list[float]) -> pl.Expr | None:
    """Mask of the rows where a column holds a code; None if its type cannot hold one."""
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return column.cast(pl.String).is_in(texts)
    if not dtype.is_numeric():
        return None
    hits = []
    for value in numbers:
        if math.isnan(value):
            hits += [column.is_nan()] if dtype.is_float() else []
        elif dtype.is_integer():
            hits += [column == int(value)] if value.is_integer() and abs(value) < 2**63 else []
        else:
            hits.append(column == value)
    return pl.any_horizontal(hits) if hits else None


def counted_codes(frame: pl.DataFrame, codes: Sequence[str]) -> tuple[Found, ...]:
    """Count what `apply_codes` would set to missing, by code and column.

    >>> import polars as pl
    >>> counted_codes(pl.DataFrame({"x": [1.5, -999.0], "y": ["a", "-999"]}), ["-999", "NA"])
    (Found(column='x', code='-999', records=1), Found(column='y', code='-999', records=1))
    """
    code_counts = []
    for code in dict.fromkeys(code for code in codes if code):
        texts, numbers = code_texts([code]), code_numbers([code])
        hits = {name: _hits(exactly(name), dtype, texts, numbers) for name, dtype in frame.schema.items()}
        known = [(name, hit) for name, hit in hits.items() if hit is not None]
        sums = frame.select(hit.sum().cast(pl.Int64).alias(str(at)) for at, (_, hit) in enumerate(known))
        counts = sums.row(0) if known else ()
        code_counts += [Found(name, code, n) for (name, _), n in zip(known, counts, strict=True) if n]
    return tuple(code_counts)


# Messages of readers about missing values: codes applied, and codes suspected.


_ENOUGH = 5  # columns named in one message


@dataclass(frozen=True)
class MissingNotes:
    """Codes for missing in a file: given, taken by default, suspected."""

    given: tuple[str, ...] = ()  # codes the caller named
    taken: tuple[Found, ...] = ()  # codes taken for missing because the caller named none
    suspected: tuple[Found, ...] = ()  # values left as they are that may mean missing
    # An empty code among those given says that they are all there are: nothing is suspected then.

    def __post_init__(self) -> None:
        if "" in self.given:
            object.__setattr__(self, "suspected", ())

    @property
    def suggested(self) -> tuple[str, ...]:
        """The codes to give if the suspicion is right (given codes replace the defaults)."""
        return tuple(dict.fromkeys((*self._applied, *(code_count.code for code_count in self.suspected))))

    @property
    def _applied(self) -> tuple[str, ...]:
        codes = self.given or tuple(code_count.code for code_count in self.taken)
        return tuple(dict.fromkeys(code for code in codes if code))

    def messages(self, name: str) -> list[str]:
        """One sentence each: codes, columns and numbers of records, no other value.

        Examples
        --------
        >>> notes = MissingNotes(taken=(Found("occ", "NA", 276),), suspected=(Found("educ", "-999", 31),))
        >>> for line in notes.messages("survey.csv"):
        ...     print(line)
        survey.csv: taken for missing: 'NA' in occ (276 records). To choose the codes yourself give \
missing=["NA"] (on the command line --missing=NA); missing="" (--missing=) takes the empty field alone
        survey.csv: educ holds -999 in 31 records. If that means missing give missing=["NA", "-999"] (on the \
command line --missing=NA --missing=-999); a code holds for all columns. If not, an empty code says so: \
missing=["", "NA"] (on the command line --missing= --missing=NA)
        """
        sentences = []
        if self.taken:
            codes = tuple(dict.fromkeys(code_count.code for code_count in self.taken))
            sentences.append(
                f"{name}: taken for missing: {by_code(self.taken)}. "
                f'To choose the codes yourself give {_options(codes)}; missing="" (--missing=) takes the empty '
                "field alone"
            )
        if self.suspected:
            sentences.append(
                f"{name}: {counted(self.suspected)}. If that means missing give "
                f"{_options(self.suggested)}; a code holds for all columns. If not, an empty code says so: "
                f"{_options(('', *self._applied))}"
            )
        return sentences

    def warn(self, name: str) -> None:
        """Issue the sentences as warnings."""
        for message in self.messages(name):
            warnings.warn(message, SdcWarning, stacklevel=3)


def counted(code_counts: Sequence[Found]) -> str:
    """Words for codes by column, with frequencies.

    >>> counted([Found("educ", "-999", 31), Found("job", "refused", 1)])
    "educ holds -999 in 31 records, job holds 'refused' in 1 record"
    """
    shown = [f"{seen.column} holds {_code(seen.code)} in {_records(seen)}" for seen in code_counts[:_ENOUGH]]
    return ", ".join(shown) + _more(len(code_counts))


def by_code(code_counts: Sequence[Found]) -> str:
    """Words for columns by code, with frequencies.

    >>> by_code([Found("educ", "NA", 3), Found("job", "NA", 1), Found("job", ".", 2)])
    "'NA' in educ (3 records), job (1 record); '.' in job (2 records)"
    """
    parts = []
    for code in dict.fromkeys(code_count.code for code_count in code_counts):
        held = [code_count for code_count in code_counts if code_count.code == code]
        columns = ", ".join(f"{code_count.column} ({_records(code_count)})" for code_count in held[:_ENOUGH])
        parts.append(f"'{code}' in {columns}{_more(len(held))}")
    return "; ".join(parts)


def _more(n: int) -> str:
    return f" and {n - _ENOUGH} more" if n > _ENOUGH else ""


def _records(code_count: Found) -> str:
    return f"{code_count.records:,} record{'' if code_count.records == 1 else 's'}"


def _code(code: str) -> str:
    return code if code.lstrip("-").isdigit() else f"'{code}'"


def _options(codes: Sequence[str]) -> str:
    named = " ".join(f"--missing={shlex.quote(code) if code else code}" for code in codes)
    return f"missing={json.dumps(list(codes), ensure_ascii=False)} (on the command line {named})"


Rule: TypeAlias = Literal["wildcard", "category", "error"]
MissingRule: TypeAlias = "Rule | Mapping[str, Rule]"
RULES = ("wildcard", "category", "error")


def missing_rule(keys: Sequence[str], missing: MissingRule, *, default: Rule, strict: bool = True) -> tuple[Rule, ...]:
    """Resolve the rule for missing values of each key.

    `missing` is one rule for all keys, or a dict of rules by key; keys not in it follow `default`. `strict`: whether
    a dict may only name these keys (a scenario's dict may name those of another intruder). Raises `ScenarioError`: an
    unknown rule; `ColumnError`: a dict names a column that is not a key.

    >>> missing_rule(["sex", "job"], {"job": "category"}, default="wildcard")
    ('wildcard', 'category')
    """
    if not isinstance(missing, (str, Mapping)):
        raise ScenarioError(
            f"missing is a rule or a dict of rules per key, not {type(missing).__name__}", argument="missing"
        )
    rules = {missing} if isinstance(missing, str) else set(missing.values())
    if bad := sorted(str(rule) for rule in rules if rule not in RULES):
        raise ScenarioError(f"missing: {bad[0]!r} is no rule; use one of {', '.join(RULES)}", argument="missing")
    if isinstance(missing, str):
        return (missing,) * len(keys)
    if strict and (unknown := [name for name in missing if name not in keys]):
        says = f"missing: {unknown[0]!r} is not one of the keys; {nearest.did_you_mean(unknown[0], keys)}"
        raise ColumnError(says, argument="missing")
    return tuple(missing.get(key, default) for key in keys)


def describe_rule(keys: Sequence[str], rules: Sequence[Rule], alpha: float) -> str:
    """The rule in words, shown with every result."""
    weight = "" if alpha == 1 else f"; a match through another record's missing value counts {alpha:g}"
    return describe_wildcards(keys, rules, f"may stand for any value{weight}")


def describe_wildcards(keys: Sequence[str], rules: Sequence[Rule], meaning: str) -> str:
    """What a missing value of the keys under the rule "wildcard" means, in words, and what one of the others is."""
    wild = [key for key, rule in zip(keys, rules, strict=True) if rule == "wildcard"]
    if not wild:
        return "a missing key value is a category of its own"
    if len(wild) == len(keys):
        return f"a missing key value {meaning}"
    return f"a missing value of {', '.join(wild)} {meaning}; of the other keys it is a category"
