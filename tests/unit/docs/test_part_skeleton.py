"""A made-up chart is added with `make part` to a copy of the tree: eight files, one edit outside, no traceback."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from docs.generator.part_skeleton import files, input_problem, next_steps
from docs.generator.part_templates import FILES
from physical_ai.planning.part_files import OPEN, open_lines
from physical_ai.repository import ROOT
from tests.support.part_copy import CHART, COLD, DAY, NAME, VERSION, PartCopy, part_copy


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Generator[PartCopy]:
    """A copy of the tree, with the part as the skeleton leaves it, and not listed."""
    with part_copy(tmp_path_factory.mktemp("tree")) as made:
        yield made


def test_a_part_has_eight_files_in_one_folder(copied: PartCopy) -> None:
    assert sum(file.is_file() for file in copied.folder.iterdir()) == len(FILES) == 8


def explained(copied: PartCopy) -> tuple[int, str]:
    return copied.answer("explain", "dev-westus2", "parts.madeUp", loaded=COLD)


def fault(copied: PartCopy, place: str) -> None:
    code, text = explained(copied)
    assert (code, "Traceback" in text) == (2, False), text
    assert place in text


def test_a_new_part_is_a_fault_with_its_file_until_it_is_filled_in(copied: PartCopy) -> None:
    copied.listed()
    fault(copied, f"parts/{NAME}/charts.yaml:4: repository")
    copied.filled()
    code, text = explained(copied)
    assert code == 0, text


@pytest.mark.deep  # in `make test`: the part loads with the stack, above, and every committed part breaks no policy
def test_a_new_part_that_is_filled_in_breaks_no_policy(copied: PartCopy) -> None:
    shutil.copy(ROOT / "parts" / "registry.py", copied.parts)
    copied.listed()
    copied.filled()
    code, text = copied.answer("policy", "dev-westus2")
    assert code == 0, text
    assert "0 errors" in text


@pytest.mark.deep  # in `make test`: one state, above
def test_every_other_state_of_a_new_part_is_a_fault_with_its_file(copied: PartCopy) -> None:
    """Each takes a process of the copy."""
    shutil.copy(ROOT / "parts" / "registry.py", copied.parts)
    fault(copied, "parts/registry.py: NAMES")
    copied.listed()
    copied.filled()
    for file, key in (("charts.yaml", CHART), (f"{CHART}-keys.yaml", CHART), ("namespaces.yaml", CHART)):
        kept = (copied.folder / file).read_text()
        (copied.folder / file).unlink()
        fault(copied, f"parts/{NAME}/{file}: {key}")
        (copied.folder / file).write_text(kept)
    level = copied.folder / "namespaces.yaml"
    level.write_text(level.read_text().replace("enforce: restricted", "enforce: privilegd"))
    fault(copied, f"parts/{NAME}/namespaces.yaml: {CHART}: metadata.labels")
    level.write_text(level.read_text().replace("privilegd", "restricted"))
    code, text = explained(copied)
    assert code == 0, text


def test_what_is_left_is_listed_line_by_line(tmp_path: Path) -> None:
    folder = tmp_path / "parts" / NAME
    folder.mkdir(parents=True)
    (tmp_path / "parts" / "registry.py").write_text("")
    for file, text in files(NAME, CHART, VERSION, DAY).items():
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
