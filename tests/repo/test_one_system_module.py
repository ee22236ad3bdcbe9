"""What differs between systems stands in `operating_system.py`: nothing else names a system."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tree import SRC, nodes, none_offends, parsed, sources

MODULE = "operating_system.py"
# Modules and names that not every system has, or that mean something else there.
MODULES = {"fcntl", "msvcrt", "resource", "pwd", "grp", "termios", "winreg", "pty", "ctypes", "multiprocessing"}
ATTRIBUTES = {
    "sys": {"platform", "getwindowsversion"},
    "platform": {"system", "platform", "uname", "machine", "release", "win32_ver", "mac_ver"},
    "os": {"name", "uname", "kill", "killpg", "getuid", "geteuid", "getgid", "getpgrp", "setsid", "getppid", "nice",
           "umask", "fork", "execv", "execve", "sched_getaffinity", "sysconf", "statvfs", "mkfifo", "chown", "fchmod",
           "O_NOFOLLOW", "O_BINARY", "getloadavg", "startfile", "fsync"},
}  # fmt: skip
TEXTS = ("win32", "darwin", "linux", "posix", "taskkill", "LOCALAPPDATA")
STARTS = ("/proc", "/dev/", "/tmp", "/etc", "/sys/", "XDG_")


def named(tree: ast.AST) -> Iterator[str]:
    """What a module says of systems."""
    for node in nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            yield from MODULES.intersection(name.partition(".")[0] for name in modules)
            if isinstance(node, ast.ImportFrom) and node.module in ATTRIBUTES:
                yield from ATTRIBUTES[node.module].intersection(name.name for name in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            place = node.value.id
            signals = place == "signal" and node.attr.startswith(("SIG", "CTRL_")) and node.attr != "SIG_DFL"
            if signals or node.attr in ATTRIBUTES.get(place, ()):
                yield f"{place}.{node.attr}"
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (node.value in TEXTS or node.value.startswith(STARTS))
        ):
            yield repr(node.value)


def test_nothing_else_names_a_system() -> None:
    offending = {
        path.relative_to(SRC).as_posix(): list(named(parsed(path)))
        for path in sources()
        if path.relative_to(SRC) != Path(MODULE)
    }
    none_offends(
        (f"{path}: {', '.join(names)}" for path, names in offending.items() if names),
        f"only {MODULE} names a system, or what one system has and another lacks",
    )


def test_what_is_looked_for_is_seen() -> None:
    code = "import fcntl\nfrom sys import platform\nos.killpg(1, signal.SIGKILL)\n"
    code += "x = '/proc/self', sys.platform == 'win32'"
    seen = ["fcntl", "platform", "os.killpg", "signal.SIGKILL", "'/proc/self'", "sys.platform", "'win32'"]
    assert sorted(named(ast.parse(code))) == sorted(seen)
