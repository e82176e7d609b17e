"""The schemas that editors read: up to date, true of every committed file, and false of the mistakes they are for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import servers, vm_sizes
from physical_ai.settings import STACKS, Overlay, SettingsError, load
from physical_ai.settings.json_schema import LAYER_FILE, STACK_FILE, modeline, schema_files
from tests.support.cases import in_one_test
from tests.support.schema_check import problems
from tests.unit.cli.test_cli_commands import call

FILES = sorted(
    path.relative_to(STACKS) for path in [*STACKS.glob("Pulumi.*.yaml"), *(STACKS / "layers").rglob("*.yaml")]
)


@cache
def texts() -> dict[Path, str]:
    """Made by the tests, not by each worker that collects them."""
    return schema_files()


@cache
def schema_of(file: Path) -> dict[str, Any]:
    return json.loads(texts()[file])


def check(value: Any, schema: dict[str, Any]) -> list[str]:
    return list(problems(value, schema, schema))


def test_the_committed_schemas_match_the_models() -> None:
    committed = {path: (STACKS / path).read_text() for path in (LAYER_FILE, STACK_FILE)}
    assert committed == texts(), "run physai schema"


@in_one_test("path", FILES, ids=str)
def test_every_committed_file_is_valid_and_names_its_schema_for_editors(path: Path) -> None:
    text = (STACKS / path).read_text()
    assert check(yaml.safe_load(text), schema_of(LAYER_FILE if path.parts[0] == "layers" else STACK_FILE)) == []
    assert text.startswith(modeline(path))
    named = text.splitlines()[0].partition("$schema=")[2]
    assert ((STACKS / path).parent / named).resolve().is_file()


@in_one_test(
    "wrong",
    [
        {"pools": {"h100gpu": {"skuu": "Standard_NC40ads_H100_v5"}}},
        {"pools": {"h100gpu": {"sku": "Standard_NC40ads_H100_v6"}}},
        {"pools": {"h100gpu": {"scale": {"min": "3"}}}},
        {"pools": {"h100gpu": {"scale": {"max": 0}}}},
        {"pools": {"h100gpu": {"zones": ["4"]}}},
        {"pools": {"h100gpu": {"driver": {"source": "nvidia"}}}},
        {"pools": {"H100": {}}},
        {"protect": "yes"},
        {"network": {"podCidr": "10.244.0.0"}},
        {"network": {"podCidr": "10.244.0.256/16"}},
        {"cluster": {"tier": "Gold"}},
        {"cluster": {"apiAccess": {"authorizedIpRanges": ["20.30.40.0/33"]}}},
        {"gpuOperator": {"migStrategy": "double"}},
        {"profile": "seed-2026-02"},
        {"environment": "dev"},
    ],
    ids=json.dumps,
)
def test_a_mistake_in_a_layer_is_underlined_and_is_one_to_the_program_too(wrong: dict[str, Any]) -> None:
    assert check(wrong, schema_of(LAYER_FILE))
    if "profile" not in wrong:  # which is no mistake in an overlay
        with pytest.raises(SettingsError):
            load("dev-westus2", [Overlay("test", wrong)])


@pytest.mark.parametrize(
    "right",
    [
        {"pools": {"rtxprogpu": None}},
        {"pools": {"h100gpu": {"scale": {"count": 2, "min": None, "max": None, "initial": None}}}},
        {"pools": {"h100gpu": {"sharing": {"timeSlicing": {"replicas": 2}}}}},
        {"cluster": {"kubernetesVersion": "1.36"}, "tags": {"team": "vision"}},
        {"gpuOperator": {"migStrategy": "single"}},
        {},
    ],
    ids=json.dumps,
)
def test_what_the_program_takes_is_not_underlined(right: dict[str, Any]) -> None:
    load("dev-westus2", [Overlay("test", right)])
    assert check(right, schema_of(LAYER_FILE)) == []


def test_a_stack_file_takes_prefixed_settings_providers_keys_and_secrets() -> None:
    fine = {
        "secretsprovider": "passphrase",
        "config": {
            "physical-ai:protect": True,
            "physical-ai:profile": "seed-2026-02",
            "physical-ai:secrets": {"token": {"secure": "v1:x"}},
            "azure-native:location": "westus2",
        },
    }
    assert check(fine, schema_of(STACK_FILE)) == []
    for wrong in ({"config": {"protect": True}}, {"config": {"physical-ai:protekt": True}}, {"pools": {}}):
        assert check(wrong, schema_of(STACK_FILE))


def test_sizes_are_offered_with_what_they_are() -> None:
    sku = schema_of(LAYER_FILE)["definitions"]["Pool"]["properties"]["sku"]
    assert sku["enum"][:-1] == [*vm_sizes(), *servers()]
    assert len(sku["enum"]) == len(sku["enumDescriptions"])
    assert "H100 NVL, 94 GB" in sku["enumDescriptions"][sku["enum"].index("Standard_NC40ads_H100_v5")]


def test_every_setting_has_a_description_to_hover_over() -> None:
    sections = [schema_of(LAYER_FILE), *schema_of(LAYER_FILE)["definitions"].values()]
    entries = [entry for section in sections for entry in section.get("properties", {}).items()]
    assert [key for key, value in entries if not described(value)] == []


def described(schema: dict[str, Any]) -> bool:
    named = [schema_of(LAYER_FILE)["definitions"][each["$ref"].rpartition("/")[2]] for each in schema.get("allOf", ())]
    return any(each.get("description") for each in (schema, *named))


def test_the_command_writes_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("physical_ai.settings.STACKS", tmp_path)
    assert call("schema")[2].count("written") == 2
    assert call("schema")[2].count("unchanged") == 2
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*.json")} == set(texts())
    assert set(json.loads(call("schema", "--json")[1])) == {"stack", "layer"}
