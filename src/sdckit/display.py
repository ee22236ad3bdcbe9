"""Text escaped for display (no control, directional or invisible characters, no line ends), and HTML for notebooks."""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from html import escape
from typing import Any

EXACT = "Exact figures: confidential, for this session only."
SHOWN = 5  # names of a list in a sentence
exact_shown: ContextVar[bool] = ContextVar("exact_shown", default=False)  # set by sdckit.options

_ESCAPE_LIKE = re.compile(r"\\(?=x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_QUOTES = ("'", '"')


def displayed(name: str) -> str:
    r"""A name, label or level escaped for display, in documents and on a terminal; different names stay different.

    Control characters, directional marks, line ends, zero-width characters and lone surrogates are written as Python
    escapes. A backslash that looks like such an escape is escaped, too, unless the text quotes a name, which Python has
    escaped then.

    Examples
    --------
    >>> for name in ["Größe 1", "a\x1b[31mb", r"a\x1bb", "sum\u202etotal", "two\nlines", "half \ud800"]:
    ...     print(displayed(name))
    Größe 1
    a\x1b[31mb
    a\x5cx1bb
    sum\u202etotal
    two\x0alines
    half \ud800
    """
    if name.isprintable() and "\\" not in name:
        return name
    if not any(quote in name for quote in _QUOTES):
        name = _ESCAPE_LIKE.sub(r"\\x5c", name)
    return printable(name)


def printable(text: str, *, lines: bool = False) -> str:
    r"""A whole text escaped for display, in which names may be escaped already; `lines`: keep line ends.

    Examples
    --------
    >>> print(printable("no column\x00\n"), printable("[a]\nb", lines=True))
    no column\x00\x0a [a]
    b
    """
    if text.isprintable():
        return text
    return "".join(char if _is_seen(char) or (lines and char == "\n") else _escaped(char) for char in text)


def counted(n: int, singular: str, plural: str = "") -> str:
    """A number with its noun, singular or plural.

    >>> counted(1, "step"), counted(1_200, "record"), counted(0, "entry", "entries")
    ('1 step', '1,200 records', '0 entries')
    """
    return f"{n:,} {singular if n == 1 else plural or f'{singular}s'}"


def capital(words: str) -> str:
    """A text with a capital first letter; a symbol stays as it is.

    >>> capital("risk after reconstruction"), capital("k after reconstruction")
    ('Risk after reconstruction', 'k after reconstruction')
    """
    return words if words.startswith(("k ", "l ")) else words[:1].upper() + words[1:]


def some_of(names: Sequence[str]) -> str:
    """The first names of a list, and how many others there are.

    >>> some_of(["a", "b"]), some_of(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e and 3 others')
    """
    others = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {counted(others, 'other')}" if others > 0 else "")


def same_note(same: int, m: int, what: str = "values of these variables, row by row") -> dict[str, str]:
    """A note where `same` of m releases have something of the original; empty where none has.

    >>> same_note(1, 2, "keys, row by row"), same_note(0, 1)
    ({'released': "1 of 2 releases have the original's keys, row by row"}, {})
    """
    have = "the release has" if m == 1 else f"{same} of {m} releases have"
    return {"released": f"{have} the original's {what}"} if same else {}


class Displayed:
    """Base of objects that are shown as HTML in a notebook, which then does not store their `repr`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return plain_html(type(self).__name__)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        """Return the HTML, and in a notebook kernel a neutral text, since it would store the `repr` otherwise."""
        shown = {"text/html": self._repr_html_()}
        if "ipykernel" in sys.modules and not exact_shown.get():
            shown["text/plain"] = f"<{type(self).__name__}, shown as HTML>"
        return shown


def plain_html(text: str) -> str:
    """Preformatted text for a notebook.

    Examples
    --------
    >>> plain_html("a < b")
    '<div class="sdckit"><pre>a &lt; b</pre></div>'
    """
    return f'<div class="sdckit"><pre>{escape(printable(text, lines=True))}</pre></div>'


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> str:
    """A table for a notebook.

    Examples
    --------
    >>> table_html(["column"], [["age"]])
    '<div class="sdckit"><table><tr><th>column</th></tr><tr><td>age</td></tr></table></div>'
    """
    lines = ["".join(f"<th>{escape(displayed(cell))}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(displayed(cell))}</td>" for cell in row) for row in rows]
    above = f"<p><strong>{escape(displayed(title))}</strong></p>" if title else ""
    return f'<div class="sdckit">{above}<table>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'


def _is_seen(char: str) -> bool:
    return char.isprintable() or unicodedata.category(char) == "Zs"  # blanks of other widths are blanks


def _escaped(char: str) -> str:
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
