"""What the program declares for AMD's GPUs."""

from __future__ import annotations

from parts.amd import names as amd
from tests.support.amd_settings import GIVEN, STACK
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS, DATA


def test_the_operator_comes_after_nfds_release_and_before_the_pools_device_config(simulate: Simulate) -> None:
    found = simulate(STACK, GIVEN)
    release = found.resource("Release", "physical-ai-amd-operator-release")
    assert (release.inputs["chart"], release.inputs["namespace"]) == (amd.CHART, amd.NAMESPACE)
    assert any("gpu-operator-release" in urn for urn in release.options.depends_on)
    config = found.resource("DeviceConfig", "physical-ai-amd-operator-mi300x")
    assert config.inputs["metadata"]["name"] == "mi300x"
    assert any("amd-operator-release" in urn for urn in config.options.depends_on)
    pool = found.resource("AgentPool", "mi300x")
    assert pool.inputs["nodeTaints"] == ["amd.com/gpu=present:NoSchedule"]
    assert pool.inputs["gpuProfile"] == {"driver": "None"}


def test_the_registrys_password_is_a_secret_of_the_state(simulate: Simulate) -> None:
    secret = simulate(STACK, GIVEN).resource("Secret", amd.REGISTRY_SECRET)
    assert secret.inputs["type"] == "kubernetes.io/dockerconfigjson"
    held = secret.inputs["stringData"]
    assert type(held).__name__ == "Secret" or all(type(value).__name__ == "Secret" for value in held.values())


def test_its_release_waits_for_the_cert_manager_that_the_stack_installs(simulate: Simulate) -> None:
    tls = {"source": "certManager", "certManager": {"clusterIssuer": "corp"}}
    osmo = {"mode": "platform", "access": {**ACCESS, "tls": tls}}
    secrets = {**GIVEN["secrets"], "osmoOidcClientSecret": "word"}
    found = simulate(STACK, {**GIVEN, "dataServices": DATA, "osmo": osmo, "secrets": secrets})
    release = found.resource("Release", "physical-ai-amd-operator-release")
    assert any("cert-manager-release" in urn for urn in release.options.depends_on)
    without = simulate(STACK, GIVEN).resource("Release", "physical-ai-amd-operator-release")
    assert not any("cert-manager" in urn for urn in without.options.depends_on)


def test_there_is_nothing_of_it_unless_asked_for(simulate: Simulate) -> None:
    found = simulate(STACK, {"charts": {"source": "repository"}})
    assert amd.NAMESPACE not in [each.inputs["metadata"]["name"] for each in found.of_type("Namespace")]
