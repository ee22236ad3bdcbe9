"""SPSS, Stata and SAS files: codes become their value labels, user-missing values become missing."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.exact_names import exactly
from sdckit.data.files.coded_columns import code_text
from sdckit.data.files.file_checks import FileHeader, clear_errors, pick_columns, refuse_duplicates
from sdckit.data.files.file_labels import Code, ColumnLabels
from sdckit.data.missing_values.missing_codes import Found, apply_codes, take_defaults
from sdckit.errors import FileFormatError, SdcWarning

if TYPE_CHECKING:
    import polars as pl


_READERS = {
    "SPSS": "read_sav", "SPSS portable": "read_por", "Stata": "read_dta",
    "SAS": "read_sas7bdat", "SAS transport": "read_xport",
}  # fmt: skip
_MOST_UNLABELLED = 50  # more values without a label than this: a measured number with a few labelled codes


def labelled_header(path: Path, kind: str, *, encoding: str | None = None) -> FileHeader:
    """Give names, and the number of records where the file tells it."""
    meta = _call(path, kind, encoding, metadataonly=True)[1]
    names = tuple(str(name) for name in meta.column_names)
    refuse_duplicates(path, names)
    n_rows = meta.number_rows
    return FileHeader(names, int(n_rows) if n_rows is not None and n_rows >= 0 else None, kind)


def read_column_labels(path: Path, kind: str, *, encoding: str | None = None) -> dict[str, ColumnLabels]:
    """Give what the file says of each column; see `file_labels.read_labels`."""
    meta = _call(path, kind, encoding, metadataonly=True, **_with_user_missing(kind))[1]
    named: Mapping[str, str | None] = meta.column_names_to_labels
    sets: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels
    found: dict[str, ColumnLabels] = {}
    for name in map(str, meta.column_names):
        one = ColumnLabels(
            (named.get(name) or "").strip(),
            _category_codes(sets.get(name, {})),
            _user_missing(meta, name),
            _measure(meta, name),
            str(meta.original_variable_types.get(name, "")) if kind == "SPSS" else "",
        )
        found |= {} if one == ColumnLabels() else {name: one}
    return found


def _with_user_missing(kind: str) -> dict[str, bool]:
    return {"user_missing": True} if kind in ("SPSS", "Stata") else {}


def _user_missing(meta: Any, name: str) -> tuple[tuple[Any, Any], ...]:
    ranges = tuple(
        (_plain_code(one["lo"]), _plain_code(one["hi"])) for one in meta.missing_ranges.get(name, ())
    )
    labelled = meta.variable_value_labels.get(name, {})
    letters = {*meta.missing_user_values.get(name, ()), *(one for one in labelled if _is_letter(meta, one))}
    return ranges + tuple((one, one) for one in sorted(letters))


def _is_letter(meta: Any, code: object) -> bool:
    """Whether it is one of Stata's missing values: there no text has labels."""
    return isinstance(code, str) and meta.file_format == "dta"


def _measure(meta: Any, name: str) -> str:
    found = str(meta.variable_measure.get(name, ""))
    return found if found in ("nominal", "ordinal", "scale") else ""


def _category_codes(labels: Mapping[Any, str]) -> dict[str, Code]:
    """Give the code of each category, by its text as it is read."""
    texts = _distinct({code_text(code): str(label) for code, label in labels.items()})
    codes = {code_text(code): _plain_code(code) for code in labels}
    return {text: codes[code] for code, text in texts.items()}


def _plain_code(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def read_labelled(
    path: Path, kind: str, *, columns: Sequence[str] | None = None, identifiers: Sequence[str] = (),
    missing: Sequence[str] = (), encoding: str | None = None, labels: bool = True, rows: int | None = None,
    user_missing: bool = False,
) -> tuple[pl.DataFrame, tuple[Found, ...]]:  # fmt: skip
    """Read columns of a statistics package's file; tell the default codes; see `readers.read_file`."""
    import polars as pl

    header = labelled_header(path, kind, encoding=encoding)
    names = pick_columns(path, header.columns, columns, identifiers=identifiers)
    options: dict[str, Any] = {"usecols": list(names), "row_limit": rows or 0}
    frame, meta = _call(path, kind, encoding, **options)
    with clear_errors(path, kind):
        frame = apply_codes(frame.select(map(exactly, names)).with_columns(_plain(frame)), missing)
        if labels:
            sets = {name: codes for name in names if (codes := meta.variable_value_labels.get(name))}
            coded = frame.select(
                exactly(name) for name in sets if not _measured(path, frame[name], sets[name])
            )
            if user_missing and coded.columns and _with_user_missing(kind):
                options |= {"usecols": coded.columns, **_with_user_missing(kind)}
                coded = apply_codes(_as_codes(_call(path, kind, encoding, **options)[0], sets), missing)
            done = [_labelled(coded[name], sets[name]) for name in coded.columns]
            frame = apply_codes(frame.with_columns(done), missing)
        frame = frame.with_columns(pl.col(pl.Null).cast(pl.String))
        return (frame, ()) if missing else take_defaults(frame)


def _as_codes(frame: pl.DataFrame, sets: Mapping[str, Mapping[Any, str]]) -> pl.DataFrame:
    """Stata's missing values stand as letters among numbers: text, and missing where a letter has no label."""
    import polars as pl

    plain = frame.with_columns(_plain(frame))
    texts = [
        pl.Series(
            name, [code_text(one) if _known(one, sets[name]) else None for one in frame[name]], pl.String
        )
        for name, dtype in frame.schema.items()
        if dtype == pl.Object
    ]
    return plain.with_columns(texts)


def _known(code: object, labels: Mapping[Any, str]) -> bool:
    return code is not None and (not isinstance(code, str) or code in labels)


def _call(path: Path, kind: str, encoding: str | None, **options: Any) -> tuple[pl.DataFrame, Any]:
    """Call pyreadstat's reader; its own errors may quote the file."""
    try:
        import pyreadstat
    except ImportError:
        raise FileFormatError(
            f'{path.name}: reading {kind} files needs pyreadstat; install it: pip install "sdckit[files]"'
        ) from None
    if encoding is not None and kind != "SPSS portable":
        options["encoding"] = encoding
    catalogue = path.with_suffix(".sas7bcat")
    if kind == "SAS" and catalogue.is_file():
        options["catalog_file"] = str(catalogue)
    read = getattr(pyreadstat, _READERS[kind])
    with clear_errors(path, kind):
        try:
            frame, meta = read(str(path), output_format="polars", **options)
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
            raise FileFormatError(
                f"{path.name} cannot be read as {kind}: it is truncated, damaged or in another encoding "
                "(name it with encoding=, on the command line --encoding)"
            ) from None
    return frame, meta


def _plain(frame: pl.DataFrame) -> list[pl.Expr]:
    """Empty text is missing; doubles that are all whole numbers become integers, as codes are."""
    import polars as pl

    changed = []
    for name, dtype in frame.schema.items():
        column = exactly(name)
        if dtype == pl.String:
            changed.append(pl.when(column.str.len_bytes() > 0).then(column).alias(name))
        elif dtype.is_float():
            values = frame[name].fill_nan(None)
            whole = ((values == values.floor()) & (values.abs() < 2**53)).all()
            bare = column.fill_nan(None)
            changed.append(bare.cast(pl.Int64) if whole and values.null_count() < len(values) else bare)
    return changed


def _measured(path: Path, series: pl.Series, labels: Mapping[Any, str]) -> bool:
    """Whether a column holds measured numbers of which a few codes have labels; it is warned of."""
    texts = {code_text(code) for code in labels}
    if not series.dtype.is_numeric():
        return False
    used = sum(code_text(value) not in texts for value in series.unique().drop_nulls().to_list())
    if used > _MOST_UNLABELLED:
        warnings.warn(
            f"{path.name}: column '{series.name}' has {used} values without a label; it stays numeric. "
            "If its labelled codes mean missing, name them with missing=",
            SdcWarning,
            stacklevel=2,
        )
    return used > _MOST_UNLABELLED


def _labelled(series: pl.Series, labels: Mapping[Any, str]) -> pl.Series:
    """Replace codes by labels, in code order; a value without a label stays, as text."""
    import polars as pl

    texts = _distinct({code_text(code): str(label) for code, label in labels.items()})
    for value in series.unique().drop_nulls().sort().to_list():
        text = code_text(value)
        if text not in texts:
            texts[text] = text if text not in texts.values() else f"{text} (no label)"
    raw = series.cast(pl.String)
    return raw.replace_strict(texts, default=None, return_dtype=pl.Enum(list(texts.values())))


def _distinct(labels: dict[str, str]) -> dict[str, str]:
    """Keep apart codes that carry the same label: merging them would hide a difference between records."""
    often = Counter(labels.values())
    return {
        code: label if often[label] == 1 else f"{label} ({code})"
        for code, label in sorted(labels.items(), key=_by_code)
    }


def _by_code(item: tuple[str, str]) -> tuple[int, float, str]:
    try:
        return 0, float(item[0]), ""
    except ValueError:
        return 1, 0.0, item[0]
