"""One control plane for the clusters of several stacks: each backend with its own platforms, under its own name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.planning.osmo_service import chart_values
from physical_ai.settings import STACKS, Loaded, Overlay, SettingsError, load
from tests.unit.settings.test_osmo_access import ACCESS, DATA

OTHER = "prod-swedencentral"
BACKEND = {"mode": "backend", "serviceUrl": "https://osmo.contoso.com", "backendName": "sweden"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STACKS, tmp_path / "stacks"))


def serving(
    root: Path, osmo: dict[str, Any], stacks: tuple[str, ...] = (OTHER,), data: dict[str, Any] = DATA
) -> Loaded:
    """The stack dev-westus2 with a control plane for others, where `osmo` are the other's settings."""
    file = root / f"Pulumi.{OTHER}.yaml"
    document = yaml.safe_load(file.read_text())
    document["config"] = {**(document.get("config") or {}), "physical-ai:osmo": osmo}
    file.write_text(yaml.safe_dump(document))
    own = {"mode": "platform", "access": ACCESS, "backends": list(stacks)}
    return load("dev-westus2", [Overlay("test", {"dataServices": data, "osmo": own})], root)


def refused(root: Path, osmo: dict[str, Any], stacks: tuple[str, ...] = (OTHER,)) -> list[tuple[str, str]]:
    with pytest.raises(SettingsError) as caught:
        serving(root, osmo, stacks)
    return [(fault.where, fault.problem) for fault in caught.value.faults]


def test_each_backend_has_its_pools_from_its_own_stack(root: Path) -> None:
    loaded = serving(root, BACKEND)
    assert [each.stack for each in loaded.served] == [OTHER]
    configs = chart_values(loaded.settings, loaded.served)["services"]["configs"]
    assert set(configs["backends"]) == {"default", "sweden"}
    assert configs["pools"]["sweden"]["backend"] == "sweden"
    assert configs["pools"]["default"]["backend"] == "default"


def test_every_name_that_a_pool_uses_is_one_that_there_is(root: Path) -> None:
    """OSMO skips a template or validation that does not exist, silently."""
    loaded = serving(root, {**BACKEND, "queues": "perPool"})
    configs = chart_values(loaded.settings, loaded.served)["services"]["configs"]
    pools = {name: pool for name, pool in configs["pools"].items() if name.startswith("sweden")}
    assert len(pools) >= 2
    for pool in pools.values():
        assert set(pool["common_pod_template"]) <= set(configs["podTemplates"])
        assert set(pool["common_resource_validations"]) <= set(configs["resourceValidations"])
        for platform in pool["platforms"].values():
            assert set(platform["override_pod_template"]) <= set(configs["podTemplates"])
            assert set(platform["resource_validations"]) <= set(configs["resourceValidations"])
            assert all(name.startswith("sweden-") for name in platform["override_pod_template"])


def test_the_release_and_the_roles_know_all_pools(root: Path) -> None:
    loaded = serving(root, BACKEND)
    assert loaded.plan.control_plane is not None
    configs = loaded.plan.control_plane.values["services"]["configs"]
    assert "sweden" in configs["pools"]
    assert "pool/sweden" in configs["roles"]["osmo-user"]["policies"][1]["resources"]


def test_a_stack_alone_has_the_values_that_it_had(root: Path) -> None:
    alone = load("dev-westus2", (), root)
    assert alone.served == ()
    assert chart_values(alone.settings, alone.served) == chart_values(alone.settings)


@pytest.mark.parametrize(
    ("osmo", "words"),
    [
        ({**BACKEND, "backendName": "default"}, "both called 'default'"),
        ({**BACKEND, "serviceUrl": "https://other.contoso.com"}, "and not for https://osmo.contoso.com"),
        ({"mode": "namespaces"}, "no agents of its cluster would join"),
        ({**BACKEND, "queues": "nonsense"}, "cannot be loaded"),
    ],
)
def test_a_stack_that_cannot_join_is_refused_where_it_is_named(root: Path, osmo: dict[str, Any], words: str) -> None:
    ((where, problem),) = refused(root, osmo)
    assert where == "osmo.backends[0]"
    assert words in problem


def test_a_stack_that_does_not_exist_is_refused(root: Path) -> None:
    ((where, problem),) = refused(root, BACKEND, (OTHER, "prod-nowhere"))
    assert where == "osmo.backends[1]"
    assert "prod-nowhere" in problem


def test_without_a_vault_and_with_storage_of_its_own_cluster_no_other_stack_is_served(root: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        serving(root, BACKEND, data={"source": "inCluster"})
    assert "osmo.backends" in {fault.where for fault in caught.value.faults}


def test_one_control_plane_serves_two_regions_and_a_cluster_on_premises(root: Path) -> None:
    """Each platform is offered by the backend whose cluster has its nodes."""
    file = root / "Pulumi.onprem-lab.yaml"
    config = yaml.safe_load(file.read_text())["config"]
    del config["physical-ai:dataServices"]
    config["physical-ai:osmo"] = {**BACKEND, "backendName": "lab", "login": "token"}
    file.write_text(yaml.safe_dump({"config": config}))
    loaded = serving(root, BACKEND, (OTHER, "onprem-lab"))
    configs = chart_values(loaded.settings, loaded.served)["services"]["configs"]
    assert set(configs["backends"]) == {"default", "sweden", "lab"}
    offered = {name: set(configs["pools"][name]["platforms"]) for name in ("default", "sweden", "lab")}
    assert offered == {
        "default": {"default", "cpu", "h100", "rtxpro"},
        "sweden": {"cpu", "a10", "h100"},
        "lab": {"cpu", "b200", "rtxpro"},
    }
    assert {configs["pools"][name]["backend"] for name in offered} == set(offered)
