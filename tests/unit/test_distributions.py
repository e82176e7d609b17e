"""The distributions of the repository: editable in the environment of development, complete as wheels."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest
from hatchling.builders.wheel import WheelBuilder

from physical_ai.repository import PACKAGES, ROOT

DISTRIBUTIONS = {"physical-ai": ".", "physical-ai-workbench": "workbench", "physical-ai-simulator": "simulator"}
"""Folder of each distribution, whose pyproject.toml says what it installs."""
DATA = "physical_ai/installed/"
"""Folder in the program's wheel of files that lie elsewhere in a checkout."""
SHIPPED = ("agents/", "manifests/", "values/", "stacks/layers/", ".github/scripts/")
"""Folders of the checkout, beside the packages, that the program reads."""
NOT_INSTALLED = re.compile(r"(^|/)(README\.md|pyproject\.toml|LICENSE)$")
TESTS = re.compile(r"(^|/)(tests?|fixtures?|golden|recordings)/|(^|/)(test_|conftest)[^/]*\.py$|\.pyc$|^\.")
ALLOWED = re.compile(r"^workbench/recordings/[a-z_]+\.(py|yaml)$")
"""A package whose name is that of a kind of test data."""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_editable_installation_copies_no_module(name: str) -> None:
    """A copy would come before the checkout, so that a command would not follow what is edited or pulled."""
    copied = [path for path in metadata.files(name) or () if path.suffix == ".py"]
    assert not copied, (
        f"{name} is installed as a copy of {len(copied)} modules; see {DISTRIBUTIONS[name]}/pyproject.toml"
    )


@cache
def wheel(name: str) -> dict[str, Path]:
    """Files of a distribution's wheel: their sources, by path in the wheel."""
    builder = WheelBuilder(str(ROOT / DISTRIBUTIONS[name]))
    data = builder.get_default_build_data()
    builder.set_build_data_defaults(data)
    for hook in builder.get_build_hooks(str(ROOT)).values():
        hook.initialize("standard", data)
    with builder.config.set_build_data(data):
        return {each.distribution_path: Path(each.path) for each in builder.recurse_included_files()}


@cache
def committed() -> frozenset[str]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-coz", "--exclude-standard"], check=True, capture_output=True, text=True
    )
    return frozenset(path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file())


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_contains_no_test_and_no_path_of_the_build_machine(name: str) -> None:
    files = wheel(name)
    assert [
        path for path in files if TESTS.search(path.removeprefix(DATA + ".github/")) and not ALLOWED.match(path)
    ] == []
    assert [path for path, source in files.items() if str(ROOT).encode() in source.read_bytes()] == []
    outside = [path for path, source in files.items() if source.relative_to(ROOT).as_posix() not in committed()]
    assert outside == [], "files that are not committed"


def test_the_wheels_contain_every_module_and_all_data_of_the_packages() -> None:
    contained = {path for name in DISTRIBUTIONS for path in wheel(name)}
    needed = {path for path in committed() if PurePosixPath(path).parts[0] in PACKAGES}
    needed |= {f"{DATA}{path}" for path in committed() if path.startswith(SHIPPED)}
    assert {path for path in needed - contained if not NOT_INSTALLED.search(path)} == set()


def test_two_wheels_have_no_file_in_common() -> None:
    listed = [path for name in DISTRIBUTIONS for path in wheel(name)]
    assert len(listed) == len(set(listed))
