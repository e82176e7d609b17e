"""Which stacks a change affects."""

from __future__ import annotations

from pathlib import Path

import pytest

from physical_ai.settings import STACKS
from workbench.cli.pull_request.affected import Kind, affected, own_files

HERE = own_files(STACKS)


def stacks(*files: str) -> set[str]:
    return {each.stack for each in affected(files, HERE, HERE)}


@pytest.mark.parametrize(
    "file",
    ["README.md", "docs/settings.md", "tests/unit/test_x.py", ".github/workflows/x.yaml", "stacks/schema/stack.json"],
)
def test_what_no_stack_is_made_of_affects_none(file: str) -> None:
    assert stacks(file) == set()


@pytest.mark.parametrize(
    "file",
    ["components/aks/cluster.py", "physical_ai/catalog/data/vm_sizes.yaml", "requirements.txt", "something/new.txt"],
)
def test_code_and_unknown_files_affect_all(file: str) -> None:
    assert stacks(file) == set(HERE)


def test_a_stack_file_affects_its_stack_only() -> None:
    assert stacks("stacks/Pulumi.prod-westus2.yaml") == {"prod-westus2"}


def test_layers_affect_the_stacks_made_of_them() -> None:
    assert stacks("stacks/layers/base.yaml") == set(HERE)
    assert stacks("stacks/layers/env/prod.yaml") == {name for name in HERE if name.startswith("prod-")}
    assert stacks("stacks/layers/region/westus2.yaml") == {name for name in HERE if name.endswith("-westus2")}
    assert stacks("stacks/layers/profile/seed-2026-02.yaml") == {"seed-westus2"}


def test_a_layer_that_no_stack_uses_affects_none() -> None:
    assert stacks("stacks/layers/region/uksouth.yaml") == set()


def test_a_layer_that_only_the_base_used_counts_too() -> None:
    file = "stacks/layers/profile/old.yaml"
    (found,) = affected([file], {"dev-westus2": frozenset({file})}, {"dev-westus2": frozenset()})
    assert (found.stack, found.kind) == ("dev-westus2", Kind.CHANGED)


def test_new_and_removed_stacks_are_recognized() -> None:
    one = {"dev-westus2": frozenset({"stacks/Pulumi.dev-westus2.yaml"})}
    two = {"dev-eastus2": frozenset({"stacks/Pulumi.dev-eastus2.yaml"})}
    files = ["stacks/Pulumi.dev-eastus2.yaml", "stacks/Pulumi.dev-westus2.yaml"]
    found = affected(files, one, two)
    assert [(each.stack, each.kind) for each in found] == [("dev-eastus2", Kind.NEW), ("dev-westus2", Kind.REMOVED)]
    assert found[0].files == ("stacks/Pulumi.dev-eastus2.yaml",)


def test_its_own_files_are_named_before_the_code() -> None:
    files = ["components/aks/cluster.py", "stacks/Pulumi.dev-westus2.yaml"]
    found = {each.stack: each for each in affected(files, HERE, HERE)}
    assert found["dev-westus2"].files == ("stacks/Pulumi.dev-westus2.yaml", "components/aks/cluster.py")


def test_a_broken_file_is_left_for_the_preview_to_complain_about(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev-westus2.yaml").write_text("{")
    assert "stacks/layers/env/dev.yaml" in own_files(tmp_path / "stacks")["dev-westus2"]
