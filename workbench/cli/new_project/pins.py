"""Pinned requirements of a new project: the platform's three wheels and the packages that they need, with hashes."""

from __future__ import annotations

import csv
import hashlib
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from physical_ai.repository import INSTALLED
from workbench.cli.new_project.pip import PipFailed, pip

DISTRIBUTIONS = ("physical-ai", "physical-ai-simulator", "physical-ai-workbench")
FOR_TESTS = ("iniconfig", "packaging", "pluggy", "pygments", "pytest")
"""Names of the packages that a project's own tests need."""
FOR_BUILDS = ("hatchling", "pathspec", "trove-classifiers")
"""Packages that only an editable installation needs."""
DOWNLOAD_SECONDS = 600


class NoPins(Exception):
    """Error if the platform's wheels are not found, or differ from the installed ones. The text says what to do."""


def version() -> str:
    """Version of the installed platform."""
    return metadata.version(DISTRIBUTIONS[0])


def hashes_in(folder: Path, wanted: str | None = None) -> dict[str, str]:
    """SHA-256 of each of the platform's wheels in `folder`, by the distribution's name. Raises NoPins unless `folder`
    has exactly one wheel of each distribution in the version `wanted`, by default the installed one.
    """
    chosen = wanted or version()
    return {name: hashlib.sha256(_wheel(folder, name, chosen).read_bytes()).hexdigest() for name in DISTRIBUTIONS}


def hashes_of_index(wanted: str | None = None) -> dict[str, str]:
    """SHA-256 of each of the platform's wheels at the package index that pip uses, by the distribution's name.

    Raises NoPins if a wheel cannot be downloaded. Those of the installed version are compared with the installed files:
    they differ, for example, if another project has taken the name at the index.

    Args:
        wanted: Version of the wheels; by default the installed one.
    """
    chosen = wanted or version()
    pinned = [f"{name}=={chosen}" for name in DISTRIBUTIONS]
    with tempfile.TemporaryDirectory() as folder:
        words = ("download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:")
        try:
            pip(*words, "--dest", folder, *pinned, seconds=DOWNLOAD_SECONDS)
        except PipFailed as problem:
            raise NoPins(f"{' '.join(pinned)} could not be downloaded: {problem}\n{_INSTEAD}") from None
        if chosen == version():
            for name in DISTRIBUTIONS:
                _compare(name, _wheel(Path(folder), name, chosen))
        return hashes_in(Path(folder), chosen)


_INSTEAD = "  Name a folder that has the three wheels: --wheels DIR"


def _wheel(folder: Path, name: str, wanted: str) -> Path:
    found = sorted(folder.glob(f"{name.replace('-', '_')}-{wanted}-*.whl"))
    if len(found) == 1:
        return found[0]
    problem = "has no wheel" if not found else "has more than one wheel"
    which = ", which is the installed version" if wanted == version() else ""
    raise NoPins(f"{folder} {problem} of {name} {wanted}{which}.\n{_BUILD}")


_BUILD = "  In a checkout of the platform, `make wheels` writes the three wheels into dist/."


def _compare(name: str, wheel: Path) -> None:
    """Raises NoPins if a file in `wheel` differs from the same file of the installed distribution `name`."""
    with zipfile.ZipFile(wheel) as archive:
        record = next(each for each in archive.namelist() if each.endswith(".dist-info/RECORD"))
        offered = _digests(archive.read(record).decode())
    installed = _digests(metadata.distribution(name).read_text("RECORD") or "")
    if changed := sorted(path for path, digest in offered.items() if installed.get(path) != digest):
        raise NoPins(
            f"{name} {version()} at the package index is not what is installed: {changed[0]} differs, of {len(changed)}"
            f" files.\n{_INSTEAD}"
        )


def _digests(record: str) -> dict[str, str]:
    rows = (row for row in csv.reader(record.splitlines()) if len(row) == 3)
    return {path: digest for path, digest, _ in rows if digest and ".dist-info/" not in path}


def requirements(hashes: Mapping[str, str]) -> str:
    """Text of a project's `requirements.txt`: the pinned packages that `pulumi up` and `physai` need, with hashes."""
    own = "".join(f"{name}=={version()} \\\n    --hash=sha256:{hashes[name]}\n" for name in DISTRIBUTIONS)
    others = "".join(text for name, text in _pinned("requirements-deploy.txt") if name not in FOR_BUILDS)
    return f"{_HEAD}{own}# What the platform needs, as it was tested.\n{others}"


def requirements_for_tests() -> str:
    """Text of `requirements-dev.txt`: packages that a project's tests need in addition to `requirements.txt`."""
    present = {name for name, _ in _pinned("requirements-deploy.txt")} - set(FOR_BUILDS)
    pins = _pinned("requirements-dev.txt")
    texts = "".join(text for name, text in pins if name in FOR_TESTS and name not in present)
    return f"-r requirements.txt\n{texts}"


_HEAD = """\
# Every package with its hash: `pip install --require-hashes --no-deps` installs nothing else. `physai upgrade` writes
# this file again for another version of the platform.
"""


def _pinned(file: str) -> Iterator[tuple[str, str]]:
    return blocks((INSTALLED / file).read_text(encoding="utf-8"))


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Packages of a requirements file with the text of each: its pin, its marker and its hashes."""
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE):
        if found := re.match(r"([A-Za-z0-9._-]+)==", block):
            lines = [line for line in block.splitlines() if not line.lstrip().startswith("#")]
            yield found[1].lower(), "".join(f"{line}\n" for line in lines if line.strip())
