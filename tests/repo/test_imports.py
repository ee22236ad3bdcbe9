"""Who may import what: the rooms by import-linter, frames and engines by reading the syntax trees."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tree import ROOT, SRC, below, nodes, none_offends, parsed, sources, statements

ENGINES = {"pandas", "polars", "pyarrow", "duckdb", "pyspark"}
# What makes a program slow to start; none of it may come with `import sdckit`.
HEAVY = ENGINES | {"numba", "numpy", "scipy", "altair", "narwhals", "pydantic", "statsmodels", "typer", "rich"}
MAY_USE_NARWHALS = {"data", "cells", "result.py"}
# What an import inside a function may be of: optional or slow to load.
ON_DEMAND = ENGINES | {
    "altair",
    "docx",
    "fastexcel",
    "formulaic",
    "jinja2",
    "markupsafe",
    "opendp",
    "pyreadstat",
    "scipy",
    "sklearn",
    "statsmodels",
    "vl_convert",
}
# These rooms load what a command, a step or a row needs when it is used: the command line reads all their names.
LOAD_ON_DEMAND = {"app", "catalogue", "cli", "workflow"}
# And these functions, with the reason.
REACH_FURTHER = {
    ("result.py", "_plot"): "it reaches up to the report",
    ("result.py", "_repr_html_"): "it reaches up to the report",
    ("result.py", "_two_columns"): "results are read without narwhals",
    ("protect/change.py", "_repr_html_"): "it reaches up to the report",
    ("protect/change.py", "to_dict"): "it reaches up to the report",
    ("attacks/linkage/linkage_engines.py", "compared"): "Spark sends the function to its workers",
    ("attacks/linkage/linkage_engines.py", "padded"): "Spark sends the function to its workers",
    ("attacks/linkage/linkage_engines.py", "similarity"): "Spark sends the function to its workers",
    ("cells/plans/attach.py", "over_batches"): "Spark sends the function to its workers",
    ("cells/plans/attach.py", "pack"): "Spark sends the function to its workers",
    ("cells/plans/changed_plan.py", "over_batches"): "Spark sends the function to its workers",
    ("cells/plans/spark_tables.py", "over_batches"): "Spark sends the function to its workers",
}


def imported(tree: ast.AST) -> Iterator[str]:
    """The top package of every import statement below a node."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def run_at_import(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported: no function bodies, no TYPE_CHECKING blocks."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        waiting.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))


def test_no_engine_at_module_level() -> None:
    none_offends(
        (
            path
            for path in sources()
            if any(name in ENGINES for node in run_at_import(parsed(path)) for name in imported(node))
        ),
        "no engine is imported at module level",
    )


def inside_functions(tree: ast.Module) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
    """The imports inside functions, each with the name of the innermost function."""
    for function in statements(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        waiting: list[ast.AST] = list(function.body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield function.name, node
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                waiting += below(node)


def test_imports_stand_at_the_top() -> None:
    """But those of optional or slow libraries, and where loading on demand is the point."""
    late = {
        (path.relative_to(SRC).as_posix(), function, node.lineno)
        for path in sources()
        if path.relative_to(SRC).parts[0] not in LOAD_ON_DEMAND
        for function, node in inside_functions(parsed(path))
        if not set(imported(node)) <= ON_DEMAND
    }
    none_offends(
        (f"{name}:{line}" for name, function, line in sorted(late) if (name, function) not in REACH_FURTHER),
        "an import inside a function is of an optional or slow library",
    )
    assert {(name, function) for name, function, _ in late} == set(REACH_FURTHER)


def test_only_the_frame_rooms_touch_narwhals() -> None:
    none_offends(
        (
            path
            for path in sources()
            if path.relative_to(SRC).parts[0] not in MAY_USE_NARWHALS and "narwhals" in imported(parsed(path))
        ),
        "only the frame rooms import narwhals",
    )


def test_no_relative_import() -> None:
    none_offends(
        (
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for path in sources()
            for node in statements(parsed(path))
            if isinstance(node, ast.ImportFrom) and node.level
        ),
        "an import names its module in full",
    )


def test_the_rooms_keep_to_their_arrows() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def names_of(path: Path) -> str:
    """The dotted name of a file of the package."""
    return ".".join(path.relative_to(SRC.parent).with_suffix("").parts).removesuffix(".__init__")


def needed(path: Path, modules: set[str]) -> set[str]:
    """The files of the package that a file imports anywhere, functions included, but for types."""
    tree = parsed(path)
    for_types = {
        inner
        for node in statements(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for part in node.body
        for inner in statements(part)
    }
    found: set[str] = set()
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node not in for_types:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & modules or {node.module}
    return (found & modules) - {names_of(path)}


def test_files_import_each_other_in_one_direction() -> None:
    """But for `plot()` and `_repr_html_` of a result, which reach up to the report."""
    paths = {names_of(path): path for path in sources()}
    graph = {name: needed(path, set(paths)) for name, path in paths.items()}
    up = {name for name in graph["sdckit.result"] if name.startswith("sdckit.report")}
    assert up
    graph["sdckit.result"] -= up
    TopologicalSorter(graph).prepare()  # raises at a circle, and names it


def modules_after(statement: str) -> set[str]:
    """The top packages loaded by a statement in a fresh interpreter."""
    code = f"import sys; {statement}; print(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not modules_after("import sdckit") & HEAVY


def test_engines_are_loaded_when_a_name_of_them_is_used() -> None:
    names = "pa, pc, pd, pl, pq, pt"
    assert not modules_after(f"from sdckit.data import {names}") & ENGINES
    assert modules_after("from sdckit.data import pl; pl.DataFrame") & ENGINES == {"polars"}
    code = (
        f"from sdckit.data import {names}; import pandas, polars, pyarrow, pyarrow.compute, pyarrow.parquet, "
        "pyarrow.types; assert (pa.Table, pc.equal, pd.Series, pl.col, pq.read_table, pt.is_null, pl.col) == "
        "(pyarrow.Table, pyarrow.compute.equal, pandas.Series, polars.col, pyarrow.parquet.read_table, "
        "pyarrow.types.is_null, polars.col); assert not hasattr(pl, 'no such name')"
    )
    modules_after(code)


def test_a_gate_loads_nothing_that_draws_or_fits() -> None:
    code = (
        "import polars as pl, sdckit as sdc; own = sdc.Scenario(keys=['a', 'b'], thresholds={'k': 2}); "
        "sdc.check(pl.DataFrame({'a': ['x', 'y'] * 9, 'b': [.5, 2.5] * 9}), scenario=own); "
        "assert 'scipy.optimize' not in sys.modules"
    )
    assert not modules_after(code) & {"altair", "vl_convert", "pandas", "sklearn", "statsmodels"}


def test_a_recipe_loads_no_pandas() -> None:
    """PyArrow imports it to make an array of a list, or an array of NumPy of its own: a quarter of a second."""
    code = (
        "import polars as pl, sdckit as sdc; own = sdc.Scenario(keys=['a', 'b'], thresholds={'k': 2}); "
        "data = pl.DataFrame({'a': ['x', 'y', None] * 9, 'b': [.5, 2.5, 1.0] * 9}); "
        "sdc.Recipe([{'method': 'local_suppression'}, {'method': 'random_order'}]).apply(data, scenario=own, seed=1)"
    )
    assert "pandas" not in modules_after(code)


def test_asking_the_command_line_for_help_loads_no_engine() -> None:
    loaded = modules_after("from sdckit.cli.app import program; program()")
    assert not loaded & (ENGINES | {"numba", "scipy", "altair", "statsmodels", "narwhals"})


def test_the_help_of_the_program_loads_no_measure() -> None:
    code = "import sys; from sdckit.cli.app import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "key-frequencies" in done.stdout
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert not loaded & (ENGINES | {"numba", "scipy", "altair", "statsmodels", "narwhals"})


def test_a_command_line_loads_its_own_command_alone() -> None:
    code = "import sys; from sdckit.cli.app import run; run(['app', '--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert [name for name in loaded if name.startswith("sdckit.cli.commands.")] == ["sdckit.cli.commands.app"]


def test_the_checks_see_what_they_forbid() -> None:
    module = ast.parse(
        "if TYPE_CHECKING:\n    import pandas\nclass A:\n    import polars.io\ndef f():\n    import duckdb\n"
    )
    assert {name for node in run_at_import(module) for name in imported(node)} == {"polars"}
    assert set(imported(module)) == {"pandas", "polars", "duckdb"}
    assert [(name, set(imported(node))) for name, node in inside_functions(module)] == [("f", {"duckdb"})]


def named_classes_compared(module: ast.Module) -> list[int]:
    """The lines on which the name of a class decides something."""
    compared: list[ast.expr] = []
    for node in nodes(module):
        if isinstance(node, ast.Compare):
            compared += [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            compared.append(node.func.value)  # type(x).__name__.startswith(...)
    named = {"__class__", "__module__", "__name__", "__qualname__"}
    found = [part for one in compared for part in ast.walk(one) if isinstance(part, ast.Attribute)]
    return [part.lineno for part in found if part.attr in named]


def test_nothing_is_recognised_by_the_text_of_its_class() -> None:
    """Names of classes are printed in messages, never compared."""
    none_offends(
        (f"{path.relative_to(ROOT)}:{line}" for path in sources() for line in named_classes_compared(parsed(path))),
        "no class is recognised by its name",
    )
    assert named_classes_compared(ast.parse("type(x).__name__ == 'Row'")) == [1]


def bound(tree: ast.Module) -> Iterator[str]:
    """The constants that a module binds at its top, as often as it does."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_no_constant_is_bound_twice() -> None:
    """The second meaning would silently be that of both, as where files were joined."""
    twice = ((path, name) for path in sources() for name, times in Counter(bound(parsed(path))).items() if times > 1)
    none_offends((f"{path.relative_to(ROOT)}: {name}" for path, name in twice), "a constant is bound once")
