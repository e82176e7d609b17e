"""Pages and files that messages cite exist, in a checkout and in an installation."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from physical_ai import citations
from physical_ai.citations import changed_in, cited, cited_from_installation
from physical_ai.repository import DOCS, ROOT, installed_label
from tests.support.cases import in_one_test
from tests.support.documentation import anchors
from tests.unit.test_distributions import DATA, wheel
from workbench.cli.pages import NoPage, page_text, pages, section

FOLDERS = ("components", "manifests", "parts", "physical_ai", "simulator", "stacks", "workbench")
PAGE = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md(?:#[\w-]+)?")
FILE = re.compile(
    r"(?<![\w/.-])(?:physical_ai|workbench|simulator|agents|manifests|parts|values)/[\w/-]+\.(?:yaml|md|json|py)\b"
)
OTHERS = {
    "docs/metrics/health.md",
    "docs/metrics/exporter.md",
    "docs/configuration/metricslist.md",
    "docs/daily_recommendations.md",
    "docs/infrastructure/README.md",
    "docs/usage/nodeset-operations.md",
}
"""Pages of other projects, whose name stands before the path."""


@cache
def texts() -> dict[str, str]:
    """Texts of the product's modules and data, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *FOLDERS], cwd=ROOT, check=True, capture_output=True, text=True
    )
    names = [each for each in listed.stdout.split("\0") if each.endswith((".py", ".yaml")) and (ROOT / each).is_file()]
    return {each: (ROOT / each).read_text(encoding="utf-8") for each in names}


def citations_of(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Files of the product, each with what it cites."""
    for name, text in texts().items():
        for found in pattern.finditer(text):
            yield name, found[0]


def test_every_cited_page_and_section_exists() -> None:
    found = {each for _, each in citations_of(PAGE)} - OTHERS
    assert len(found) > 30
    wrong = [
        each
        for each, (path, _, anchor) in ((each, each.partition("#")) for each in found)
        if not (ROOT / path).is_file() or (anchor and anchor not in anchors(ROOT / path))
    ]
    assert wrong == []


def test_pages_of_other_projects_are_none_of_ours() -> None:
    assert [each for each in OTHERS if (ROOT / each).exists()] == []
    assert OTHERS - {each for _, each in citations_of(PAGE)} == set()


def test_every_page_is_part_of_the_wheel() -> None:
    contained = set(wheel("physical-ai"))
    assert [file for file in pages().values() if DATA + file.relative_to(ROOT).as_posix() not in contained] == []


def test_an_installation_prints_every_cited_page() -> None:
    for _, each in citations_of(PAGE):
        if each not in OTHERS:
            said = cited_from_installation(f"see {each}, or not")
            command = re.fullmatch(r"see physai docs (\S+), or not", said)
            assert command, said
            assert page_text(command[1]).strip()


def test_a_file_is_named_with_the_installed_platform() -> None:
    path = "physical_ai/catalog/data/vm_sizes.yaml"
    assert cited_from_installation(f"Rule size-unknown; source: {path}") == (
        f"Rule size-unknown; source: {installed_label()}/{path}"
    )
    assert cited_from_installation("stacks/layers/env/dev.yaml, values/osmo/mine.yaml") == (
        "stacks/layers/env/dev.yaml, values/osmo/mine.yaml"
    )


@in_one_test(
    ("text", "installed"),
    [
        ("Read agents/grid_driver/README.md.", "Read physai docs agents/grid_driver/README."),
        ("rows in physical_ai/catalog/data/gpu/.", "rows in {label}/physical_ai/catalog/data/gpu/."),
        ("source: parts/dra/claim_devices.yaml", "source: {label}/parts/dra/claim_devices.yaml"),
        ("in simulator/azure/data/regions.json. If", "in {label}/simulator/azure/data/regions.json. If"),
        ("vectors in tests/fixtures/osmo", "vectors in {label}/tests/fixtures/osmo"),
        # What a team writes: values under the platform's names, and a part of its own.
        (
            "Such values are in values/kai-scheduler/values.yaml;",
            "Such values are in values/kai-scheduler/values.yaml;",
        ),
        ("parts/slurm/slurm-values.yaml:1: a", "parts/slurm/slurm-values.yaml:1: a"),
        ("parts/our_part/model.py: SETTINGS", "parts/our_part/model.py: SETTINGS"),
        ("a folder parts/, or agents/", "a folder parts/, or agents/"),
        ("physai run workbench/osmo/samples", "physai run {root}/workbench/osmo/samples"),
        ("run workbench/osmo/samples/cpu-task.yaml --as x", "run {root}/workbench/osmo/samples/cpu-task.yaml --as x"),
    ],
)
def test_a_team_reads_paths_that_it_can_open_or_write(text: str, installed: str) -> None:
    said = cited_from_installation(text)
    assert said == installed.format(label=installed_label(), root=ROOT)
    assert cited_from_installation(said) == said


ADVICE = re.compile(
    rf"\b(?:add|write|put|correct|change|pin|row|rows|entry)\b[^.;:]{{0,60}}(?:{FILE.pattern}|(?<![\w/.-])"
    r"(?:physical_ai|simulator|parts)/[\w/-]+/)",
    re.IGNORECASE,
)
"""Advice to change a file, with a path of the checkout."""
PATH = re.compile(r"(?:physical_ai|workbench|simulator|agents|manifests|parts|values)/", re.IGNORECASE)
"""Beginning of each path that ADVICE finds. To parse all modules takes seconds, and few have one."""


def messages_of(source: str) -> Iterator[str]:
    """Texts in a module other than docstrings. `…` stands for a computed part of a text, such as `changed_in(…)`."""
    tree = ast.parse(source)
    skipped = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.JoinedStr):
            skipped |= {id(part) for part in each.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in each.values)
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in skipped:
            yield each.value


def test_advice_to_change_a_file_of_the_platform_says_what_a_team_does_instead() -> None:
    """Nothing in an installation can be edited: `changed_in` adds the page that says how such a file changes."""
    found = [
        f"{name}: {advice[0]}"
        for name, text in texts().items()
        if PATH.search(text)
        for message in (messages_of(text) if name.endswith(".py") else [re.sub(r"(?m)^\s*#.*$", "", text)])
        if (advice := ADVICE.search(message))
    ]
    assert found == []
    assert ADVICE.search("Another one is a row in physical_ai/catalog/data/servers.yaml, with")
    page, _, anchor = citations.FILES_OF_THE_PLATFORM.partition("#")
    assert anchor in anchors(ROOT / page)


def test_the_page_about_files_of_the_platform_is_named_in_an_installation_only(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "physical_ai/catalog/data/servers.yaml"
    assert changed_in(path) == path
    monkeypatch.setattr(citations, "IS_CHECKOUT", False)
    assert cited(changed_in(path)) == (
        f"{installed_label()}/{path}, a file of the platform (physai docs own-repository#files-of-the-platform)"
    )


def test_a_citation_is_changed_once_and_only_without_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "see docs/osmo.md#a-control-plane and physical_ai/catalog/data/vm_sizes.yaml"
    assert cited(text) == text
    monkeypatch.setattr(citations, "IS_CHECKOUT", False)
    assert (
        cited(text)
        == f"see physai docs osmo#a-control-plane and {installed_label()}/physical_ai/catalog/data/vm_sizes.yaml"
    )
    assert cited(cited(text)) == cited(text)


FILES_OF_OTHERS = {
    "manifests/gpu-grid-driver-installer.yaml",
    "manifests/state-driver/0500_daemonset.yaml",
    "values/common.yaml",
    "values/kai-scheduler.yaml",
    "values/osmo-backend-operator.yaml",
    "parts/parts.yaml",
}
"""Files of other projects, whose name is before the path, one in the folder of a model, and one that a team writes."""


def test_every_cited_file_exists() -> None:
    missing = {each for _, each in citations_of(FILE) if not any(ROOT.glob(each))}
    assert missing == FILES_OF_OTHERS


@pytest.mark.parametrize(
    ("citation", "begin", "lacks"),
    [
        ("osmo", "# Running OSMO", ""),
        ("docs/osmo.md#a-control-plane", "## A control plane", "\n## What is installed"),
        ("runbooks/alerts#GPUTooHot", "### GPUTooHot", "### GPUPowerCapped"),
        ("troubleshooting-gpu#containerd-drop-in", "### 1. `node`", "### 2."),
        ("values/README", "# ", ""),
    ],
)
def test_a_page_or_one_section_is_printed(citation: str, begin: str, lacks: str) -> None:
    text = page_text(citation)
    assert text.startswith(begin)
    assert not lacks or lacks not in text


def test_a_diagram_is_printed_as_its_description() -> None:
    text = page_text("osmo#which-certificate")
    assert "*Picture: Which source the gateway's certificate has.* keyVault if a key vault has" in text
    assert not [name for name in pages() if "mermaid\n" in page_text(name) or "<!--" in page_text(name)]


def test_a_heading_in_a_code_block_ends_no_section() -> None:
    text = "# A\n\n## B\n\n```sh\n# a comment\n```\n\nrest\n\n## C\n"
    assert section(text, "b", "page") == "## B\n\n```sh\n# a comment\n```\n\nrest\n\n"
    assert section("# A\n\n## B\n\n## B\nsecond\n", "b-1", "page") == "## B\nsecond\n"


@pytest.mark.parametrize(
    ("citation", "problem"),
    [
        ("osmos", "there is no page 'osmos'. Did you mean 'osmo'?"),
        ("osmo#a-control-plan", "page 'osmo' has no section 'a-control-plan'. Did you mean 'a-control-plane'?"),
        ("../pyproject", "there is no page '../pyproject'."),
    ],
)
def test_a_page_that_does_not_exist_is_an_error_with_the_nearest(citation: str, problem: str) -> None:
    with pytest.raises(NoPage, match=re.escape(problem)):
        page_text(citation)


def test_the_start_pages_are_listed_first() -> None:
    listed = list(pages())
    assert set(listed[:5]) == {f"start/{file.stem}" for file in (DOCS / "start").glob("*.md")}
    assert Path(ROOT / "docs" / "osmo.md") in pages().values()
