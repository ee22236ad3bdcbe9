"""Try the steps of the Containerfile: in podman where its base image is there, else in an environment of Python.

BASE names the image. Without it, and without podman, every RUN step is done with its folders below a temporary one, and
the program is started as the image would start it; where Linux allows it, without a network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NO_NETWORK = ("unshare", "--map-root-user", "--net")
PLACES = ("/opt/sdckit", "/data", "/cache", "/tmp")
OPTIONS = ("--rm", "--network=none", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges",
           "--tmpfs=/tmp:rw,nosuid,nodev")  # fmt: skip
PATIENCE = 120  # seconds until the app answers


def steps(text: str) -> Iterator[tuple[str, str]]:
    """The instructions, each with what follows on one line."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    for line in filter(None, joined.splitlines()):
        word, _, rest = line.partition(" ")
        yield word, rest


def run(*words: str | Path, **more: object) -> None:
    """Run a program that must not fail."""
    subprocess.run([str(word) for word in words], check=True, **more)  # type: ignore[call-overload]


def below(text: str, place: str) -> str:
    """A step with the folders of the image below another one."""
    return re.sub(rf"(?<![\w/])({'|'.join(PLACES)})\b", rf"{place}\1", text)


def in_environment(text: str) -> str:
    """Do the steps without an image."""
    try:
        able = subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        able = False
    cut = NO_NETWORK if able else ()
    with tempfile.TemporaryDirectory() as place:
        for name in ("opt", "tmp"):
            Path(place, name).mkdir()
        env = {"PATH": os.environ["PATH"]}
        for word, rest in steps(text):
            if word == "RUN":
                source, target, shell = re.match(r"--mount=type=bind,source=(\S+),target=(\S+) (.*)", rest).groups()
                done = below(shell, place).replace(target, str(ROOT / source))
                run(*cut, "sh", "-c", done, env=env, stdout=subprocess.DEVNULL)
            elif word == "ENV":
                env |= dict(pair.split("=", 1) for pair in below(rest, place).split())
            elif word == "ENTRYPOINT":
                entry = [below(one, place) for one in json.loads(rest)]
        run(*cut, *entry, "demo", "--quiet", "--report", f"{place}/data/demo.html", env=env, cwd=f"{place}/data")
        answers(entry, ["app", "--no-browser"], env=env)
    return "in an environment" + (", without a network" if cut else "")


def in_podman(base: str) -> str:
    """Build the image and run it."""
    run("podman", "build", "--network=none", f"--build-arg=BASE={base}", "--tag=sdckit-try", ROOT)
    run("podman", "run", *OPTIONS, "sdckit-try", "demo", "--quiet", "--report", "/tmp/demo.html")
    answers(["podman", "run", *OPTIONS, "sdckit-try"], ["app", "--no-browser"], env=dict(os.environ))
    return f"in podman, from {base}"


def answers(entry: list[str], words: list[str], *, env: dict[str, str]) -> None:
    """Start the app on a socket that is handed in, and fetch its first page by the address that it prints."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        hand_over = (
            "import os, sys; os.dup2(int(sys.argv[1]), 3); "
            "os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid())); os.execvp(sys.argv[2], sys.argv[2:])"
        )
        number = listening.fileno()
        app = subprocess.Popen(
            [sys.executable, "-c", hand_over, str(number), *entry, *words],
            pass_fds=(number,), env=env, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    try:
        assert app.stdout is not None
        address = app.stdout.readline().split()[-1]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        started = time.monotonic()
        for visited in (address, address.partition("?")[0]):  # the first one gives the cookie
            with opener.open(visited, timeout=PATIENCE) as page:
                text = page.read()
        assert b"<html" in text, "no page"
        sys.stdout.write(f"the first page of the app came after {time.monotonic() - started:.0f} s\n")
    finally:
        app.terminate()
        app.wait(30)


def main() -> None:
    """Try what can be tried here."""
    if not (ROOT / "dist" / "air-gapped" / "requirements.txt").is_file():
        sys.exit("the image is made of dist/air-gapped: make wheelhouse")
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    base = os.environ.get("BASE", "")
    has = base and shutil.which("podman") and not subprocess.run(["podman", "image", "exists", base]).returncode  # noqa: PLW1510
    sys.stdout.write(f"container: its steps were tried {in_podman(base) if has else in_environment(text)}\n")


if __name__ == "__main__":
    main()
