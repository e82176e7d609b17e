"""A made-up chart is added with `make part` to a copy of the tree: eight files, one edit outside, no traceback."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generator.part_skeleton import FILES, files, input_problem, next_steps
from physical_ai.planning.part_files import OPEN, open_lines
from physical_ai.repository import ROOT

NAME, CHART = "made_up", "made-up"
COPIED = ("parts", "physical_ai", "workbench", "simulator", "components", "manifests", "values", "stacks", "agents")
DAY = datetime.date(2026, 11, 28)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, with the part as the skeleton leaves it, and not listed."""
    root = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name)  # with its bytecode: to compile all takes seconds
    for each in ("__main__.py", "Pulumi.yaml", "pyproject.toml"):
        shutil.copy(ROOT / each, root)
    folder = root / "parts" / NAME
    folder.mkdir()
    for file, text in files(NAME, CHART, "1.2.3", DAY).items():
        (folder / file).write_text(text)
    return root


def listed(root: Path) -> None:
    registry = root / "parts" / "registry.py"
    registry.write_text(registry.read_text().replace("NAMES = (\n", f'NAMES = (\n    "{NAME}",\n'))


def filled(root: Path) -> None:
    """Everything that is left to be written, written."""
    for file in filter(Path.is_file, (root / "parts" / NAME).iterdir()):
        file.write_text(re.sub(r"‹[^›]*›", "example.com/made-up:1", file.read_text()))


def answer(root: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and error of a command in the copy."""
    ended = subprocess.run(
        [sys.executable, "-m", "workbench.cli", *arguments, "--set", "parts={madeUp: {}}"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_a_part_has_eight_files_in_one_folder(copied: Path) -> None:
    assert sum(file.is_file() for file in (copied / "parts" / NAME).iterdir()) == len(FILES) == 8


def explained(root: Path) -> tuple[int, str]:
    return answer(root, "explain", "dev-westus2", "parts.madeUp")


def fault(root: Path, place: str) -> None:
    code, text = explained(root)
    assert (code, "Traceback" in text) == (2, False), text
    assert place in text


def test_a_new_part_is_a_fault_with_its_file_until_it_is_filled_in_and_then_breaks_no_policy(copied: Path) -> None:
    listed(copied)
    fault(copied, f"parts/{NAME}/charts.yaml:4: repository")
    filled(copied)
    code, text = answer(copied, "policy", "dev-westus2")
    assert code == 0, text
    assert "0 errors" in text


@pytest.mark.deep
def test_every_other_state_of_a_new_part_is_a_fault_with_its_file(copied: Path) -> None:
    """Each takes a process of the copy; one state is above."""
    folder = copied / "parts" / NAME
    shutil.copy(ROOT / "parts" / "registry.py", copied / "parts")
    fault(copied, "parts/registry.py: NAMES")
    listed(copied)
    filled(copied)
    for file, key in (("charts.yaml", CHART), (f"{CHART}-keys.yaml", CHART), ("namespaces.yaml", CHART)):
        kept = (folder / file).read_text()
        (folder / file).unlink()
        fault(copied, f"parts/{NAME}/{file}: {key}")
        (folder / file).write_text(kept)
    level = folder / "namespaces.yaml"
    level.write_text(level.read_text().replace("enforce: restricted", "enforce: privilegd"))
    fault(copied, f"parts/{NAME}/namespaces.yaml: {CHART}: metadata.labels")
    level.write_text(level.read_text().replace("privilegd", "restricted"))
    code, text = explained(copied)
    assert code == 0, text


def test_what_is_left_is_listed_line_by_line(tmp_path: Path) -> None:
    folder = tmp_path / "parts" / NAME
    folder.mkdir(parents=True)
    (tmp_path / "parts" / "registry.py").write_text("")
    for file, text in files(NAME, CHART, "1.2.3", DAY).items():
        (folder / file).write_text(text)
    steps = list(next_steps(NAME, tmp_path))
    assert steps[0].startswith("parts/registry.py: ")
    assert f"parts/{NAME}/part.py:10: title: what it is, in a few words" in steps
    count = sum(line.count(OPEN) > 0 for text in files(NAME, CHART, "1", DAY).values() for line in text.splitlines())
    assert len(list(open_lines(folder))) == count


@pytest.mark.parametrize(
    ("name", "version", "text"),
    [("class", "1.2.3", "NAME=class "), ("registry", "1.2.3", "NAME=registry "), (NAME, "latest", "VERSION=latest ")],
)
def test_a_name_that_is_taken_and_a_version_of_no_release_are_refused(name: str, version: str, text: str) -> None:
    assert input_problem(NAME, "v1.2.3") is None
    assert (input_problem(name, version) or "").startswith(text)
