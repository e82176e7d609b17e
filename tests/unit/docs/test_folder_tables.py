"""The tables of folders and the lists of packages are those of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from docs.generator.package_numbers import top_folders
from docs.generator.packages import OPENED, read
from physical_ai.repository import ROOT
from physical_ai.settings import existing, load
from physical_ai.settings.facts.osmo_access import service_secrets
from physical_ai.settings.layers.names import profile_files, profiles

README, CONTRIBUTING, ARCHITECTURE, STACKS, SETTINGS = (
    (ROOT / page).read_text()
    for page in ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/stacks.md", "docs/settings.md")
)


@pytest.fixture(scope="module")
def packages() -> set[str]:
    return {name for name in read(ROOT).arrows if any((ROOT / folder / name).is_dir() for folder in OPENED)}


@pytest.fixture(scope="module")
def in_program(packages: set[str]) -> set[str]:
    """The packages of `physical_ai` that `pulumi up` imports."""
    return read(ROOT).program & packages


def rows(page: str, after: str) -> list[list[str]]:
    """The cells of the first table after a text."""
    lines = page.partition(after)[2].splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("|---")) + 1
    end = next(index for index, line in enumerate(lines[start:], start) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[start:end]]


def folders(page: str, after: str) -> set[str]:
    """The folders in the first column of a table."""
    return {folder for row in rows(page, after) for folder in re.findall(r"`([\w./-]+)/`", row[0])}


def opened(paths: Iterable[str]) -> set[str]:
    """The packages among folders."""
    return {path.partition("/")[2] for path in paths if path.partition("/")[0] in OPENED}


def code(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)/?`", text))


def below(folder: str) -> set[str]:
    """The folders in a folder, but for what Python leaves there."""
    return {path.name for path in (ROOT / folder).iterdir() if path.is_dir() and path.name != "__pycache__"}


def test_readme_lists_what_pulumi_up_runs_and_the_workbench(packages: set[str], in_program: set[str]) -> None:
    program = folders(README, "**What `pulumi up` runs, reads and deploys:**")
    workbench = folders(README, "**The workbench:**")
    assert opened(program) == in_program
    assert opened(workbench) == packages - in_program
    assert {path.partition("/")[0] for path in program | workbench} - {".github"} == set(top_folders(ROOT))


def test_contributing_lists_every_folder(packages: set[str]) -> None:
    table = folders(CONTRIBUTING, "| folder | contents | constraint |")
    assert opened(table) == packages
    assert {path.partition("/")[0] for path in table} - {".github"} == set(top_folders(ROOT))


@pytest.mark.parametrize("folder", ["agents", "physical_ai/settings"])
def test_contributing_lists_a_folder_with_its_parts(folder: str) -> None:
    (row,) = (row for row in rows(CONTRIBUTING, "| folder | contents | constraint |") if row[0] == f"`{folder}/`")
    assert code(row[1]) == below(folder)


def test_readme_lists_the_agents() -> None:
    (row,) = (row for row in rows(README, "## The folders") if row[0] == "`agents/`")
    assert code(row[1]) == below("agents")


def test_the_packages_that_pulumi_up_runs_are_named(in_program: set[str]) -> None:
    (answer,) = (
        row[1] for row in rows(CONTRIBUTING, "## Find your way") if row[0] == "Which code does `pulumi up` run?"
    )
    assert code(answer.partition("see")[0]) - {"components", "parts", "physical_ai"} == in_program
    sentence = ARCHITECTURE.partition("or through others: ")[2].partition(".")[0]
    assert code(sentence.replace("\n", " ")) == in_program


def test_the_architecture_lists_every_package(packages: set[str]) -> None:
    listed = folders(ARCHITECTURE, "program works without it")
    assert opened(listed) == packages
    assert listed - {each for each in listed if each.startswith(OPENED)} == {
        "components",
        "parts",
        "agents",
        "docs/generator",
        "simulator",
    }
    imports = ARCHITECTURE.partition("## Which way imports point")[2].partition("The table of allowed")[0]
    assert packages - code(imports.replace("\n", " ")) - {"mocks", "simulator"} == set()


def test_who_imports_the_components_is_named() -> None:
    sentence = "imported by the program, the parts, the mocks and `docs`"
    assert sentence in " ".join(ARCHITECTURE.split())
    importing = {name for name, targets in read(ROOT).arrows.items() if "components" in targets}
    assert importing == {"__main__", "platform", "part components", "mocks", "docs"}


def test_the_committed_stacks_are_listed() -> None:
    listed = {name for row in rows(STACKS, "## The committed stacks") for name in re.findall(r"`([\w-]+)`", row[0])}
    assert listed == set(existing())


def test_the_secrets_of_the_committed_stacks_are_named() -> None:
    needed = {name: {secret for _, secret in service_secrets(load(name).settings)} for name in existing()}
    sentence = STACKS.partition("## The committed stacks")[2].partition("also need one [secret]")[0]
    stacks = set(re.findall(r"`([\w-]+)`", sentence.rpartition(". ")[2].replace("\n", " ")))
    assert {name: secrets for name, secrets in needed.items() if secrets} == {
        name: {"osmoOidcClientSecret"} for name in stacks
    }


def test_the_profiles_that_are_records_are_named() -> None:
    records = {
        name: any("record: true" in file.read_text() for file in profile_files(name).values()) for name in profiles()
    }
    section = SETTINGS.partition("A profile can set `record: true`")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([\w-]+)`", section))
    assert {name: name in named for name in records} == records
