"""What a file says of its columns beside their values: labels, codes, user-missing codes, level of measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sdckit.display import Displayed, table_html
from sdckit.errors import DataError

Code = int | float | str
Range = tuple[Any, Any]


@dataclass(frozen=True)
class ColumnLabels(Displayed):
    """What is known of one column.

    Attributes
    ----------
    label : str
        The variable label: what the column is, in words.
    codes : mapping of str to int, float or str
        The code of each category, by its text as `read_file` gives it.
    missing : tuple of pairs
        User-missing codes: the lowest and the highest of each range. A letter is one of Stata's missing values.
    measure : str
        The level of measurement: "nominal", "ordinal", "scale" or "".
    display : str
        How SPSS shows numbers, such as "F8.2"; "" otherwise.
    """

    label: str = ""
    codes: Mapping[str, Code] = field(default_factory=dict)
    missing: tuple[Range, ...] = ()
    measure: str = ""
    display: str = ""

    def _repr_html_(self) -> str:
        rows = [
            [str(code), text, "yes" if self.is_missing(code) else ""] for text, code in self.codes.items()
        ]
        return table_html(["code", "label", "user-missing"], rows, title=self.label)

    def is_missing(self, code: Code) -> bool:
        """Whether a code is user-missing."""
        return any(
            isinstance(code, str) == isinstance(low, str) and low <= code <= high
            for low, high in self.missing
        )


@dataclass(frozen=True)
class FileLabels(Displayed):
    """What a file says of its columns; columns of which it says nothing are not in it.

    Attributes
    ----------
    columns : mapping of str to ColumnLabels
        By the name of the column.

    Examples
    --------
    >>> FileLabels.of({"educ": "Years of schooling"}).variables
    {'educ': 'Years of schooling'}
    """

    columns: Mapping[str, ColumnLabels] = field(default_factory=dict)

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> FileLabels:
        """Make labels of variables alone."""
        return cls({name: ColumnLabels(label) for name, label in variables.items()})

    @property
    def variables(self) -> dict[str, str]:
        """The variable labels by column, where there are some."""
        return {name: one.label for name, one in self.columns.items() if one.label}

    def _repr_html_(self) -> str:
        rows = [[name, one.label, str(len(one.codes) or "")] for name, one in self.columns.items()]
        return table_html(["column", "label", "codes"], rows)

    def get(self, column: str) -> ColumnLabels:
        """What is known of a column, which may be nothing."""
        return self.columns.get(column, ColumnLabels())


def as_labels(labels: object) -> FileLabels:
    """Take labels as `write_file` does: those of a file, or the variable labels by column.

    Raises `DataError`: anything else.
    """
    if labels is None:
        return FileLabels()
    if isinstance(labels, FileLabels):
        return labels
    if isinstance(labels, Mapping) and all(isinstance(one, str) for pair in labels.items() for one in pair):
        return FileLabels.of(labels)
    raise DataError("labels= is what read_labels gives, or {column: label}, all of text", argument="labels")
