"""A test or a script that hangs says where, and ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HANGS = """
import asyncio

async def listen():
    await asyncio.get_running_loop().create_future()

def test_it():
    asyncio.run(listen())
"""
SERVES = """
from pathlib import Path
from serving import Server

server = Server(Path("data"))
"""


def run(folder: Path, script: str, *command: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_hangs.py").write_text(script)
    env = os.environ | {"SWAR_TEST_BOUND": "6", "PYTHONPATH": os.pathsep.join([str(HERE), os.environ["PYTHONPATH"]])}
    return subprocess.run([sys.executable, *command, "test_hangs.py"], cwd=folder, env=env, capture_output=True, text=True, timeout=90)


def test_a_test_that_hangs_says_where(tmp_path: Path) -> None:
    hung = run(tmp_path, SERVES + HANGS, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "bounded")
    assert hung.returncode == 124, hung.stderr
    for part in ("test_hangs.py::test_it hangs: it has taken 6 s", "task Task-1", " listen\n", '"msg":"ready"', "goroutine 1 "):
        assert part in hung.stderr, hung.stderr


def test_a_script_that_hangs_says_where(tmp_path: Path) -> None:
    hung = run(tmp_path, HANGS + "test_it()", str(HERE / "bounded.py"))
    assert hung.returncode == 124, hung.stderr
    for part in ("test_hangs.py hangs: it has taken 6 s", "task Task-1", " listen\n"):
        assert part in hung.stderr, hung.stderr


def test_a_script_that_ends_in_time_is_left_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, "import sys\nprint(sys.argv, __name__)\nraise SystemExit(3)\n", str(HERE / "bounded.py"))
    assert ended.returncode == 3 and ended.stdout == "['test_hangs.py'] __main__\n" and ended.stderr == "", ended
