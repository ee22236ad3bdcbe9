"""The tool that breaks the code: what it changes, and that it knows the tests of a file."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from tree import ROOT, SRC, TESTS

CODE = '''
def f(a, b=1, *, ok=True):
    """A text with 2 < 3 in it."""
    log(a)
    if not a and b <= 2 or a is None:
        return a + b
    b += 1
    return max(a for a in [b]) if ok else f"{a + 1} 7"
'''


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("mutate", ROOT / ".ci" / "mutate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module
    spec.loader.exec_module(module)
    return module


def test_every_kind_of_change_is_made_once(tool: Any, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(CODE, encoding="utf-8")
    found = [(one.kind, " ".join(CODE[one.start : one.end].split()), one.new) for one in tool.mutants(path)]
    assert set(found) == {
        ("constant", "1", "2"), ("constant", "1", "0"), ("constant", "2", "3"), ("constant", "2", "1"),
        ("constant", "True", "False"), ("call left out", "log(a)", "pass"), ("not left out", "not a", "(a)"),
        ("and to or", "and", "or"), ("or to and", "or", "and"), ("boundary", "<=", "<"), ("comparison", "<=", ">"),
        ("comparison", "is", "is not"), ("sign", "+", "-"), ("assignment left out", "b += 1", "pass"),
        ("if True", "not a and b <= 2 or a is None", "True"), ("if False", "not a and b <= 2 or a is None", "False"),
        ("return dropped", "return a + b", "return None"),
        ("return dropped", 'return max(a for a in [b]) if ok else f"{a + 1} 7"', "return None"),
        ("other branch", 'max(a for a in [b]) if ok else f"{a + 1} 7"', '(f"{a + 1} 7")'),
        ("call", "max(a for a in [b])", "min((a for a in [b]))"),
    }  # fmt: skip
    for one in tool.mutants(path):
        assert ast.dump(ast.parse(one.apply(CODE))) != ast.dump(ast.parse(CODE))


def test_a_file_is_tried_by_its_mirror_first(tool: Any) -> None:
    found = tool.tests_of(SRC / "report" / "rates.py", ROOT)
    assert found[0] == TESTS / "report" / "test_rates.py"
    assert found[-1] == TESTS / "report" / "test_real_documents.py"
    assert len(found) == len(set(found)) > 3


def test_other_letters_move_no_place(tool: Any, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text('x = "ä≥–" + y < 3\n', encoding="utf-8")
    changed = {one.apply(path.read_text(encoding="utf-8")) for one in tool.mutants(path)}
    assert 'x = "ä≥–" + y <= 3\n' in changed
    assert 'x = "ä≥–" - y < 3\n' in changed
