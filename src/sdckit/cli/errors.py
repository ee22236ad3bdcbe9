"""Errors and warnings as one line on standard error, and the exit codes."""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from sdckit.data.files.whole_files import reason_of
from sdckit.display import printable
from sdckit.errors import SdcError, SdcWarning

OK = 0
EXCEEDED = 1
BAD_INPUT = 2
INTERNAL = 3
INTERRUPTED = 130

PACKAGE = Path(__file__).resolve().parents[1]
LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
OF_A_FILE = re.compile(r"(?P<file>[^:]+\.\w+): (?P<said>.+)", re.DOTALL)
COUNT = re.compile(r"(\d[\d,]*) records?\b")
FIRST = re.compile(r"[a-z][a-z_.]*(?=[ :])")
ARGUMENT = re.compile(r"(?<![-\w])([a-z_]+)=(?=([\s,.;:)]|$)?)")
# Called otherwise in a scenario.
ENTRIES = {"release": "release_type", "missing": "missing_rule", "matching.high_risk": "high_risk"}
RULE = re.compile(r"\bmissing='(wildcard|category|error)'")  # of keys: --missing names codes
PYTHON = re.compile(r'\b\w+=(?:\[.*?\]|"[^"]*")? \((?:on the command line )?(--.+?)\)(?=[ .;]|$)')


def debugging() -> bool:
    """Whether the user asked for tracebacks, which may show data."""
    return os.environ.get("SDCKIT_DEBUG", "") not in {"", "0"}


def say(text: str) -> None:
    """Print one line on standard error; blanks within it stay, as names of columns may have several in a row."""
    sys.stderr.write(printable(LINE_BREAK.sub(" ", text.strip())) + "\n")


def tell(text: str) -> None:
    """Print lines on standard output."""
    typer.echo(printable(text, lines=True))


def explain(error: Exception, typed: Sequence[str] = (), offered: Collection[str] = ()) -> int:
    """Print what went wrong in one line and give the exit code that says so.

    `typed` is the command line, `offered` the options of its command.

    Only our own messages are printed as they are: those of libraries may show a record's values.
    """
    if debugging():
        traceback.print_exception(error)
    if isinstance(error, SdcError):
        say(f"error: {_as_typed(error, typed, offered)}")
        return BAD_INPUT
    if isinstance(error, typer.Abort):
        return INTERRUPTED
    if isinstance(error, typer.TyperException):
        return _usage(error)
    if isinstance(error, OSError) and error.strerror:
        name = Path(os.fsdecode(error.filename)).name if isinstance(error.filename, str | bytes) else ""
        say(f"error: {reason_of(error)}" + (f": {name}" if name else ""))
        return BAD_INPUT
    if isinstance(error, MemoryError):
        say("error: not enough memory; declare fewer columns or run on a larger machine")
        return BAD_INPUT
    say(
        f"internal error: {type(error).__name__} in {_place(error)}; please report it. "
        "SDCKIT_DEBUG=1 shows the traceback, which may contain data"
    )
    return INTERNAL


def _as_typed(error: SdcError, typed: Sequence[str], offered: Collection[str] = ()) -> str:
    """The message with the option in place of the argument that it refuses.

    An argument that stands first is one of the command line only where its option was typed: it may be an
    entry of a scenario or a recipe.

    Examples
    --------
    >>> _as_typed(SdcError("n_attacks is a count; give a whole number", argument="n_attacks"), ["--n-attacks", "0"])
    '--n-attacks is a count; give a whole number'
    >>> _as_typed(SdcError("rows have no order: give id=, a column", argument="id"), [])
    'rows have no order: give --id, a column'
    >>> _as_typed(SdcError('say so: encoding="utf-16-le" (on the command line --encoding utf-16-le)'), [], ["encoding"])
    'say so: --encoding utf-16-le'
    >>> _as_typed(SdcError("name it by encoding= (on the command line --encoding)"), [], ["encoding"])
    'name it by --encoding'
    """
    text = _in_options(str(error))
    given = {text.partition("=")[0] for text in typed}
    if (start := FIRST.match(text)) and (option := _option_of(start[0])) in given:
        text = option + text[start.end() :]

    def told(found: re.Match[str]) -> str:
        option = f"--{found[1].replace('_', '-')}"
        return option + "=" * (found[2] is None) if found[1] == error.argument or option in offered else found[0]

    return ARGUMENT.sub(told, text)


def _option_of(entry: str) -> str:
    """The option for an entry of a scenario or an argument, as messages begin with it.

    >>> _option_of("thresholds.k"), _option_of("release"), _option_of("matching.width"), _option_of("sampling_fraction")
    ('--k', '--release-type', '--match-width', '--sampling-fraction')
    """
    name = ENTRIES.get(entry, entry.removeprefix("thresholds.").replace("matching.", "match_"))
    return f"--{name.replace('_', '-')}"


def _usage(error: typer.TyperException) -> int:
    if not error.format_message():  # no command was given, and the help has been shown
        return BAD_INPUT
    say(f"error: {error.format_message()}")
    context = getattr(error, "ctx", None)
    if getattr(error, "option_name", "") == "--recipe" and context is not None:
        say(f"the recipe comes first: {context.command_path} RECIPE.toml FILE")  # where no other option is meant
    if context is not None:
        say(f"see: {context.command_path} --help")
    return BAD_INPUT


def _place(error: Exception) -> str:
    """The last line of our own that ran: enough to find the fault, and free of data."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in Path(frame.filename).parents]
    if not ours:
        return "a library"
    return f"{Path(ours[-1].filename).relative_to(PACKAGE).as_posix()} line {ours[-1].lineno}"


@contextmanager
def one_line_warnings() -> Generator[None]:
    """Print each of our warnings once, as one line; keep those of libraries for the debugger.

    What is said of a file is kept to the end, since it may hold for the next file, too.
    """
    shown: set[str] = set()
    of_files: dict[str, dict[str, str]] = {}

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        text = str(message)
        if text in shown or not (issubclass(category, SdcWarning) or debugging()):
            return
        shown.add(text)
        if match := OF_A_FILE.fullmatch(text):
            alike = of_files.setdefault(COUNT.sub("records", match["said"]), {})
            alike.setdefault(match["file"], match["said"])
        else:
            say(f"warning: {_in_options(text)}")

    with warnings.catch_warnings():
        warnings.simplefilter("always" if debugging() else "ignore")
        warnings.simplefilter("always", SdcWarning)
        warnings.showwarning = show
        try:
            yield
        finally:
            for alike in of_files.values():
                say(f"warning: {_and(list(alike))}: {_in_options(_of_all(list(alike.values())))}")


def _of_all(texts: list[str]) -> str:
    """One text for several that differ in numbers of records alone.

    Examples
    --------
    >>> _of_all(["'NA' in job (6 records)", "'NA' in job (1 record)"])
    "'NA' in job (6 and 1 records)"
    >>> _of_all(["'NA' in job (6 records)", "'NA' in job (6 records)"])
    "'NA' in job (6 records each)"
    """
    if len(texts) == 1:
        return texts[0]
    counts = zip(*(COUNT.findall(text) for text in texts), strict=True)
    counted = iter([_counted(list(count)) for count in counts])
    return COUNT.sub(lambda _: next(counted), texts[0])


def _counted(numbers: list[str]) -> str:
    if len(set(numbers)) == 1:
        return f"{numbers[0]} record{'s' * (numbers[0] != '1')} each"
    return f"{_and(numbers)} records"


def _and(parts: list[str]) -> str:
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _in_options(text: str) -> str:
    """Name options as they are typed where a text names them for Python and for the command line.

    Examples
    --------
    >>> _in_options('give missing=["NA"] (on the command line --missing=NA); missing="" (--missing=) takes none')
    'give --missing=NA; --missing= takes none'
    >>> _in_options("a level of their own, missing='category', under which")
    'a level of their own, --missing-rule category, under which'
    """
    return RULE.sub(r"--missing-rule \1", PYTHON.sub(r"\1", text))
