"""The text of a recipe to start from: a comment above each step says why it is there and what it brought.

A recipe may go out with its file. The figures in it are therefore shares in wide steps, ten records or more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from sdckit.data.scenarios.scenario_toml import toml_string
from sdckit.identity.contributions.coarsening import step_text

FEWEST_RECORDS = 50  # of fewer nothing is said
RECORDS_IN_A_STEP = 10
PERCENT = 5
WIDTH = 100
COMMENT = re.compile(r"(?:^#.*\n)+", re.MULTILINE)

Told = tuple[Mapping[str, object] | None, Sequence[str]]  # a step, or None for a remark; its comment


def about_share(count: int, n: int) -> str:
    """A share of the records as a range of whole percents, ten records wide or more; "" of a small file.

    >>> about_share(894, 944), about_share(3, 944), about_share(30, 60), about_share(1, 20)
    ('90 to 95 %', 'under 5 %', '40 to 60 %', '')
    """
    if n < FEWEST_RECORDS:
        return ""
    step = PERCENT * math.ceil(100 * RECORDS_IN_A_STEP / n / PERCENT)
    low = min(100 * count // n // step, 100 // step - 1) * step
    high = low + step if low < (100 // step - 1) * step else 100
    return f"{low} to {high} %" if low else f"under {step} %"


def write_starter(title: str, head: Sequence[str], told: Sequence[Told]) -> str:
    """Write the recipe with its comments.

    >>> print(write_starter("Mine", ["A start."], [({"method": "random_order"}, ["Mixed."])]), end="")
    # A start.
    <BLANKLINE>
    title = "Mine"
    <BLANKLINE>
    # Mixed.
    [[steps]]
    method = "random_order"
    """
    blocks = [_comment(head), f"title = {toml_string(title)}"]
    blocks += ["\n".join(part for part in (_comment(lines), step_text(step)) if part) for step, lines in told]
    return "\n\n".join(blocks) + "\n"


def comments_in(text: str, say: Callable[[str], str]) -> str:
    r"""The same recipe with its comments as `say` has them, folded anew; commands in them stay.

    >>> print(comments_in("# A start.\n#   sdckit check\n[[steps]]\n", str.upper), end="")
    # A START.
    #   sdckit check
    [[steps]]
    """
    return COMMENT.sub(lambda found: f"{_comment(_said(found[0], say))}\n", text)


def _said(comment: str, say: Callable[[str], str]) -> Iterator[str]:
    lines = (line[2:] for line in comment.splitlines())
    for command, ones in groupby(lines, key=lambda line: line.startswith(" ")):
        told = list(ones)
        yield from told if command else [say(" ".join(told))]


def _comment(lines: Iterable[str]) -> str:
    return "\n".join(f"# {part}" for line in lines for part in _folded(line))


def _folded(line: str) -> list[str]:
    """A line in several of a readable width; what is indented is a command and stays whole."""
    if line.startswith(" "):
        return [line]
    parts, current = [], ""
    for word in line.split(" "):
        if current and len(current) + 1 + len(word) > WIDTH:
            parts.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    return [*parts, current]
