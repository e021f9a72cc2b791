"""Checks the types of one of our plugins, and tries it with the real framework. SWAR_PLUGIN names its folder in sdk."""

import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).parents[2]
folder = root / "sdk" / os.environ["SWAR_PLUGIN"]
source = folder / "src" if (folder / "src").exists() else folder
paths = [root / "sdk/python/src", root / "sdk/python/tests", source]
env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
package = next(source.rglob("py.typed")).parent
cache = pathlib.Path(sys.prefix) / "mypy"
for command in (
    ["mypy", "--cache-dir", str(cache), "-p", ".".join(package.relative_to(source).parts)],
    ["pytest", "-q", "-p", "no:cacheprovider", "-p", "bounded"],
):
    if status := subprocess.run([sys.executable, "-m", *command], cwd=folder, env=env).returncode:
        sys.exit(status)
