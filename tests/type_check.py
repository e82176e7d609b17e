"""Checks the types of the files whose result may have changed since they last passed: `python -m tests.type_check`.

Pyright keeps nothing between two runs, and all files take it a minute. Its result for a file depends on that file, on
what it imports, directly or not, on the configuration, and on the installed packages. A digest of these is kept, in the
user's cache folder, for each file that passed. So a second clone, or a branch that was checked before, checks no file
again, and a machine without that folder, as CI has, checks every file.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath
from posixpath import dirname, join
from tempfile import NamedTemporaryFile
from typing import Any

from docs.generator.packages import imported, reachable, statements
from physical_ai.repository import ROOT, user_folder

PASSED = user_folder() / "types.txt"
"""Digests of the files that passed, of any checkout, one a line, the latest last."""
KEPT = 20_000
"""Lines that are kept: of a dozen versions of all files."""
# A tenth less time: what pyright reads is used until it ends, so there is little garbage.
NODE_OPTIONS = "--max-semi-space-size=256"


def imports(path: str, source: bytes) -> Iterator[str]:
    """Every dotted name that may be a module, relative ones from the top."""
    try:
        module = ast.parse(source)
    except SyntaxError:  # pyright reports it
        return
    for node in statements(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (".".join(filter(None, each)) for each in imported(node, PurePosixPath(path)))


def digests(sources: Mapping[str, bytes], roots: Sequence[str], environment: str) -> dict[str, str]:
    """A digest of everything that pyright's result for a file depends on, for each file.

    Args:
        sources: The files' contents by path.
        roots: Folders that modules are imported from. A module may also import those of its own folder.
        environment: What the result of every file depends on.
    """
    own = {path: hashlib.sha256(path.encode() + b"\n" + source).hexdigest() for path, source in sources.items()}

    @cache
    def modules(folder: str, name: str) -> tuple[str, ...]:
        """The module `name` in `folder`, and the packages that it is in."""
        parts = name.split(".")
        paths = [join(folder, *parts[:length]) for length in range(1, len(parts) + 1)]
        return tuple(file for path in paths for file in (f"{path}.py", f"{path}/__init__.py") if file in sources)

    def targets(path: str) -> set[str]:
        folders = (*roots, dirname(path))
        return {file for name in imports(path, sources[path]) for folder in folders for file in modules(folder, name)}

    arrows = {path: targets(path) for path in sources}

    def digest(path: str) -> str:
        parts = (environment, own[path], *sorted(own[each] for each in reachable(arrows, path)))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    return {path: digest(path) for path in sources}


def _sources(included: Sequence[str]) -> dict[str, bytes]:
    files = (
        file for each in included for file in ([ROOT / each] if each.endswith(".py") else (ROOT / each).rglob("*.py"))
    )
    return {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in files}


def _environment() -> str:
    installed = sorted(f"{each.name} {each.version}" for each in distributions())
    return "\n".join((sys.version, *installed, (ROOT / "pyproject.toml").read_text()))


def _passed() -> dict[str, None]:
    """The kept digests in order."""
    return dict.fromkeys(PASSED.read_text().split()) if PASSED.exists() else {}


def _keep(digests: Iterable[str]) -> None:
    """Adds digests. Of two checkouts that do so at once, one may lose its own, and checks its files once more."""
    new = dict.fromkeys(digests)
    kept = [*(digest for digest in _passed() if digest not in new), *new][-KEPT:]
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=PASSED.parent, delete=False) as file:
        file.write("\n".join(kept))
    Path(file.name).replace(PASSED)


def main() -> int:
    """Checks what may have changed; pyright's exit code."""
    configured: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"]
    roots = [each["root"].removeprefix(".") for each in configured["executionEnvironments"]]
    found = digests(_sources(configured["include"]), roots, _environment())
    passed = _passed()
    due = sorted(path for path, digest in found.items() if digest not in passed)
    if not due:
        print(f"types: {len(found)} files passed before")
        return 0
    print(f"types: checking {len(due)} of {len(found)} files", flush=True)
    code = subprocess.run(
        [Path(sys.prefix) / "bin" / "pyright", "--pythonpath", sys.executable, "-"],
        cwd=ROOT,
        env={**os.environ, "NODE_OPTIONS": NODE_OPTIONS},
        input="\n".join(due),
        text=True,
        check=False,
    ).returncode
    if not code:
        _keep(found.values())
    return code


if __name__ == "__main__":
    sys.exit(main())
