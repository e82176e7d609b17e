"""The generated pages are current and complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from components.outputs import ANY, OUTPUTS
from docs.generator import pages
from docs.generator.commands import commands
from docs.generator.markdown import table
from docs.generator.outputs import components
from physical_ai.settings import load
from tests.support.cases import in_one_test
from tests.support.recording import record
from tests.unit.components.test_components_private import HUB, PEERED, network
from tests.unit.parts.slurm.test_settings_slurm import given as slurm

_MAPS = ("releases", "pools", "gpus", "osmo.platforms", "osmo.served")
"""Outputs whose keys are such names."""


def output_paths(outputs: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Paths of a stack's outputs in the form of `OUTPUTS`, as deep as that describes them."""
    for key, value in outputs.items():
        name = ANY if prefix.rstrip(".") in _MAPS else key
        path = f"{prefix}{name}"
        if path not in OUTPUTS and isinstance(value, Mapping):
            yield from output_paths(cast("Mapping[str, Any]", value), f"{path}.")
        else:
            yield path


@in_one_test("page", pages.OWN, ids=lambda page: page.name)
def test_the_page_is_fresh(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == pages.OWN[page](), "run make docs-reference"


def test_a_stale_page_is_found_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale, missing, fresh = tmp_path / "stale.md", tmp_path / "missing.md", tmp_path / "fresh.md"
    stale.write_text("old")
    fresh.write_text("new")
    monkeypatch.setattr(pages, "PAGES", {each: lambda: "new" for each in (stale, missing, fresh)})
    assert pages.write() == [stale, missing]
    assert pages.stale() == []
    assert missing.read_text() == "new"


def test_every_output_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.platform.osmo_stage.served_backends", lambda served: {"prod-eastus": "east"})
    osmo = {"mode": "platform", "backendName": "described", "access": {"login": "dev"}}
    found = {
        path
        for source in ("azure", "inCluster")
        for path in output_paths(record("dev-westus2", {"dataServices": {"source": source}, "osmo": osmo}).exports)
    }
    zone = f"{HUB.rpartition('/providers/')[0]}/providers/Microsoft.Network/privateDnsZones"
    api = {"dnsZone": f"{zone}/privatelink.westus2.azmk8s.io", "zoneRole": "given"}
    by_hand = network("private", hub={**PEERED, "peerBack": False}, apiServer=api)
    found |= set(output_paths(record("dev-westus2", by_hand).exports))
    found |= set(output_paths(record("dev-westus2", slurm()).exports))
    assert found == set(OUTPUTS)


def test_an_output_without_a_description_is_found_by_its_path() -> None:
    paths = set(
        output_paths({"cluster": "a", "new": {"thing": 1}, "pools": {"h100gpu": {"size": "s", "colour": "red"}}})
    )
    assert paths - set(OUTPUTS) == {"new.thing", f"pools.{ANY}.colour"}


def keys(value: Any, known: set[str], prefix: str = "") -> Iterator[str]:
    """Paths of effective settings, as deep as the page goes, with ‹name› for names that the user chooses."""
    for key, item in value.items():
        named, listed = f"{prefix}‹name›", f"{prefix}{key}"
        path = listed if listed in known or any(each.startswith(f"{listed}.") for each in known) else named
        if isinstance(item, Mapping) and any(each.startswith(f"{path}.") for each in known):
            yield from keys(item, known, f"{path}.")
        else:
            yield path


def test_all_effective_settings_are_on_the_page(stack_name: str) -> None:
    text = next(page for page in pages.OWN if page.name == "settings.md").read_text()
    known = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    data = load(stack_name).settings.model_dump(by_alias=True, exclude={"environment", "region"})
    assert set(keys(data, known)) - known == set()


def test_every_command_has_its_section_with_all_its_options() -> None:
    text = next(page for page in pages.OWN if page.name == "commands.md").read_text()
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}
    for words, command in commands():
        section = sections[" ".join(words)]
        options = [option for each in command.params if each.param_type_name == "option" for option in each.opts]
        assert [option for option in options if f"`{option}" not in section] == []


def test_every_component_has_a_description() -> None:
    found = components()
    assert {"Platform", "Cluster", "GpuPool", "GpuOperator", "GridDriver"} <= {each.name for each in found}
    assert [each.name for each in found if not each.about] == []


def test_cells_are_escaped() -> None:
    made = table(("a", "b"), [("x | y", "two\nlines"), ("`<env>`", "<env>-<region>")])
    assert made.splitlines()[2:] == ["| x \\| y | two lines |", "| `<env>` | &lt;env>-&lt;region> |"]
