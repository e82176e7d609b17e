"""Modules of tools without the parts that a simulation does not use, for builds.

A tool's folder may have a file `left-out.toml`. The module is then copied, and in the copy the imports that the file
names lead to stand-ins, which are small packages of this repository. All else is compiled as it is.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.tools.errors import BuildFailed

FILE, STAND_INS, REPLACED = "left-out.toml", "stand-ins", "replaced"
UNUSED = ("testdata", "testing")
"""Folders of a module that are not copied, because no command uses them."""


def leaves_out(folder: Path) -> bool:
    """True if a tool's folder names parts that are left out."""
    return (folder / FILE).exists()


def module_of(folder: Path) -> str:
    """The module of which a tool's folder leaves parts out."""
    return str(_named(folder)["module"])


def _named(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / FILE).read_text(encoding="utf-8"))


def definitions(folder: Path) -> tuple[Path, ...]:
    """Files that decide what is left out, in a fixed order; none if nothing is."""
    if not leaves_out(folder):
        return ()
    return (folder / FILE, *sorted((folder / STAND_INS).rglob("*.go")), *sorted((folder / REPLACED).rglob("*.go")))


def without(folder: Path, original: Path, work: Path) -> Path:
    """Writes a module into `work` that builds the tool without the parts that `folder` leaves out; returns its folder.

    Args:
        original: Folder of the module's verified files, in Go's cache.

    Raises:
        BuildFailed: the module lacks an import or a file that the tool's folder names.
    """
    named = _named(folder)
    module: str = named["module"]
    imports: dict[str, str] = named["imports"]
    copy = work / "module"
    _copy(original, copy)
    found = _lead_to_stand_ins(copy, {f'"{path}"': f'"{module}/{STAND_INS}/{name}"' for path, name in imports.items()})
    if missing := sorted(set(imports) - found):
        raise BuildFailed(f"{folder / FILE} names imports that {module} lacks: {', '.join(missing)}")
    shutil.copytree(folder / STAND_INS, copy / STAND_INS)
    for file in sorted((folder / REPLACED).rglob("*.go")):
        target = copy / file.relative_to(folder / REPLACED)
        if not target.exists():
            raise BuildFailed(f"{file} replaces a file that {module} lacks")
        shutil.copyfile(file, target)
    main = work / "main"
    main.mkdir()
    shutil.copyfile(folder / "go.sum", main / "go.sum")
    pins = (folder / "go.mod").read_text(encoding="utf-8")
    (main / "go.mod").write_text(f"{pins}\nreplace {module} => {copy}\n", encoding="utf-8")
    return main


def _copy(original: Path, copy: Path) -> None:
    """Copies a module's files, which are read-only in Go's cache, without its tests."""

    def unused(_: str, names: list[str]) -> list[str]:
        return [name for name in names if name in UNUSED or name.endswith("_test.go")]

    shutil.copytree(original, copy, ignore=unused, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(copy):
        Path(folder).chmod(0o755)


def _lead_to_stand_ins(module: Path, imports: Mapping[str, str]) -> set[str]:
    """Changes imports in all files of a module; returns the paths of the packages that were imported."""
    found = set[str]()
    for file in module.rglob("*.go"):
        text = changed = file.read_text(encoding="utf-8")
        for path, stand_in in imports.items():
            if path in text:
                changed = changed.replace(path, stand_in)
                found.add(path.strip('"'))
        if changed != text:
            file.write_text(changed, encoding="utf-8")
    return found
