"""What a reader says about missing values: the codes it applied, and those it only suspects."""

from __future__ import annotations

import json
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from sdckit.data.missing_values.missing_codes import Found
from sdckit.errors import SdcWarning

_ENOUGH = 5  # columns named in one message


@dataclass(frozen=True)
class MissingNotes:
    """Codes in a file."""

    given: tuple[str, ...] = ()  # codes the caller named
    taken: tuple[Found, ...] = ()  # codes taken for missing because the caller named none
    suspected: tuple[Found, ...] = ()  # values left as they are that may mean missing

    @property
    def suggested(self) -> tuple[str, ...]:
        """The codes to give if the suspicion is right: naming some replaces those taken by default."""
        applied = self.given or tuple(one.code for one in self.taken)
        codes = (*applied, *(one.code for one in self.suspected))
        return tuple(dict.fromkeys(code for code in codes if code))

    def messages(self, name: str) -> list[str]:
        """Say it in a sentence each: codes, columns and numbers of records, no other value.

        Examples
        --------
        >>> notes = MissingNotes(taken=(Found("occ", "NA", 276),), suspected=(Found("educ", "-999", 31),))
        >>> for line in notes.messages("survey.csv"):
        ...     print(line)
        survey.csv: taken for missing: 'NA' in occ (276 records). To choose the codes yourself give \
missing=["NA"] (on the command line --missing=NA); missing="" (--missing=) takes the empty field alone
        survey.csv: educ holds -999 in 31 records. If that means missing give missing=["NA", "-999"] (on the \
command line --missing=NA --missing=-999); a code holds for all columns
        """
        told = []
        if self.taken:
            codes = tuple(dict.fromkeys(one.code for one in self.taken))
            told.append(
                f"{name}: taken for missing: {by_code(self.taken)}. "
                f'To choose the codes yourself give {_options(codes)}; missing="" (--missing=) takes the empty '
                "field alone"
            )
        if self.suspected:
            told.append(
                f"{name}: {counted(self.suspected)}. If that means missing give "
                f"{_options(self.suggested)}; a code holds for all columns"
            )
        return told

    def warn(self, name: str) -> None:
        """Give the sentences as warnings."""
        for message in self.messages(name):
            warnings.warn(message, SdcWarning, stacklevel=3)


def counted(found: Sequence[Found]) -> str:
    """Say which column holds which code how often.

    >>> counted([Found("educ", "-999", 31), Found("job", "refused", 1)])
    "educ holds -999 in 31 records, job holds 'refused' in 1 record"
    """
    shown = [f"{one.column} holds {_code(one.code)} in {_records(one)}" for one in found[:_ENOUGH]]
    return ", ".join(shown) + _more(len(found))


def by_code(found: Sequence[Found]) -> str:
    """Say which code stands in which columns.

    >>> by_code([Found("educ", "NA", 3), Found("job", "NA", 1), Found("job", ".", 2)])
    "'NA' in educ (3 records), job (1 record); '.' in job (2 records)"
    """
    parts = []
    for code in dict.fromkeys(one.code for one in found):
        held = [one for one in found if one.code == code]
        columns = ", ".join(f"{one.column} ({_records(one)})" for one in held[:_ENOUGH])
        parts.append(f"'{code}' in {columns}{_more(len(held))}")
    return "; ".join(parts)


def _more(n: int) -> str:
    return f" and {n - _ENOUGH} more" if n > _ENOUGH else ""


def _records(one: Found) -> str:
    return f"{one.records:,} record{'' if one.records == 1 else 's'}"


def _code(code: str) -> str:
    return code if code.lstrip("-").isdigit() else f"'{code}'"


def _options(codes: Sequence[str]) -> str:
    named = " ".join(f"--missing={shlex.quote(code)}" for code in codes)
    return f"missing={json.dumps(list(codes), ensure_ascii=False)} (on the command line {named})"
