"""The GRID driver agent as the program declares it: where it runs, what it carries, what it may do."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from grid_agent.facts import CONDITION, GATE_LABELS, NAMESPACE, PAUSED
from grid_agent.wanted import wanted_from
from physical_ai.catalog.own_names import GRID_DRIVER_WANTED
from physical_ai.planning import agents, manifests
from physical_ai.planning.grid_driver import grid_plan
from physical_ai.planning.grid_objects import (
    DIGEST_ANNOTATION,
    VERSION_ANNOTATION,
    daemon_set,
    program,
)
from physical_ai.repository import GRID_AGENT
from physical_ai.settings import load
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import node_taints
from physical_ai.settings.models.node_pools import DriverSource
from tests.support.gpu_settings import given_settings
from tests.support.recording import Recording
from tests.support.stacks import STACKS, sweep
from tests.unit.conftest import Simulate
from workbench.policies import Resource

NAME = "gpu-grid-driver-installer"
PREFIX = "physical-ai-grid-driver"
GRID_STACKS = [
    stack
    for stack in STACKS
    if any(pool.driver.source is DriverSource.GRID for pool in load(stack).settings.pools.values())
]
EMPTY = {"pools": {"rtxprogpu": {"scale": {"count": 0, "min": None, "max": None, "initial": None}}}}


def ours(recording: Recording) -> list[Resource]:
    return [each for each in recording.resources if each.custom and each.name.startswith(PREFIX)]


def agent(recording: Recording) -> Resource:
    return recording.resource("DaemonSet", NAME)


def files_of(recording: Recording) -> Resource:
    """The ConfigMap that the agent's Pods mount."""
    return recording.resource("ConfigMap", template(recording)["spec"]["volumes"][0]["configMap"]["name"])


def template(recording: Recording) -> dict[str, Any]:
    return agent(recording).inputs["spec"]["template"]


@pytest.mark.parametrize("stack", sweep(GRID_STACKS))
def test_the_agent_runs_on_every_grid_node_and_on_no_other(simulate: Simulate, stack: str) -> None:
    recording, pools = simulate(stack), load(stack).settings.pools
    pod = template(recording)["spec"]
    assert agent(recording).inputs["metadata"]["namespace"] == NAMESPACE
    assert pod["nodeSelector"] == {"physical-ai/gpu-driver": "grid"}
    for name, pool in pools.items():
        labels = recording.resource("AgentPool", name).inputs["nodeLabels"]
        selected = pod["nodeSelector"].items() <= labels.items()
        assert selected == (pool.driver.source is DriverSource.GRID)
        if selected:
            tolerated = {(item["key"], item["effect"]) for item in pod["tolerations"] if item["operator"] == "Exists"}
            wanted = {(k, effect) for k, _, effect in map(split_taint, node_taints(pool))}
            assert wanted <= tolerated


MIRRORED = {"gridDriver": {"imageRegistry": "example.azurecr.io/mirror", "imagePullSecret": "registry-login"}}


def test_it_is_declared_for_a_pool_without_nodes(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", EMPTY)
    assert recording.resource("AgentPool", "rtxprogpu").inputs["count"] == 0
    assert template(recording) == template(simulate("dev-westus2"))


@pytest.mark.parametrize("change", [None, {"driver": {"source": "aks"}, "priority": "Regular"}])
def test_no_agent_is_declared_without_a_grid_pool(simulate: Simulate, change: dict[str, Any] | None) -> None:
    recording = simulate("dev-westus2", {"pools": {"rtxprogpu": change}})
    assert ours(recording) == []
    assert [
        each for each in recording.of_type("ValidatingAdmissionPolicy") if NAME in each.inputs["metadata"]["name"]
    ] == []


def test_the_engine_does_not_wait_for_builds_and_one_node_follows_the_other(simulate: Simulate) -> None:
    inputs = agent(simulate("dev-westus2")).inputs
    assert inputs["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"
    assert inputs["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }


def test_nodes_keep_their_agent_until_its_pod_is_deleted_where_the_stack_says_so(simulate: Simulate) -> None:
    inputs = agent(simulate("dev-westus2", {"gridDriver": {"updateStrategy": "OnDelete"}})).inputs
    assert inputs["spec"]["updateStrategy"] == {"type": "OnDelete"}


def test_the_pod_is_one_that_nodes_keep_and_monitors_find(simulate: Simulate) -> None:
    found = template(simulate("dev-westus2"))
    pod = found["spec"]
    (container,) = pod["containers"]
    assert pod["priorityClassName"] == "system-node-critical"
    assert (pod["hostPID"], pod.get("hostNetwork")) == (True, None)
    assert container["securityContext"] == {"privileged": True}
    assert container["resources"]["requests"] == {"cpu": "50m", "memory": "64Mi"}
    assert container["ports"] == [{"name": "metrics", "containerPort": 9401, "protocol": "TCP"}]
    probes = {name: container[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert probes == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    assert found["metadata"]["labels"]["app.kubernetes.io/name"] == NAME
    selector = agent(simulate("dev-westus2")).inputs["spec"]["selector"]["matchLabels"]
    assert selector.items() <= found["metadata"]["labels"].items()


def test_the_image_is_pinned_wherever_it_comes_from(simulate: Simulate) -> None:
    mirrored = simulate("dev-westus2", MIRRORED)
    (theirs,), (ours_,) = (template(each)["spec"]["containers"] for each in (simulate("dev-westus2"), mirrored))
    name, _, digest = theirs["image"].partition("@")
    assert name == "docker.io/library/ubuntu:22.04"
    assert digest.startswith("sha256:")
    assert ours_["image"] == f"example.azurecr.io/mirror/library/ubuntu:22.04@{digest}"


def test_a_secret_with_the_registrys_login_is_named_in_the_pod(simulate: Simulate) -> None:
    assert "imagePullSecrets" not in template(simulate("dev-westus2"))["spec"]
    found = template(simulate("dev-westus2", MIRRORED))["spec"]
    assert found["imagePullSecrets"] == [{"name": "registry-login"}]


@pytest.mark.parametrize("stack", sweep(GRID_STACKS))
def test_each_pod_carries_what_its_node_is_to_have(simulate: Simulate, stack: str) -> None:
    annotations = template(simulate(stack))["metadata"]["annotations"]
    wanted = wanted_from(json.loads(annotations[GRID_DRIVER_WANTED]))
    settings = load(stack).settings
    assert wanted.version == settings.grid_driver.version
    assert wanted.devices == ("10de:2bb5",)
    assert annotations[VERSION_ANNOTATION] == wanted.version
    assert annotations[DIGEST_ANNOTATION]


def test_what_is_wanted_reaches_a_pod_with_the_pod_and_never_while_it_runs(simulate: Simulate) -> None:
    code, wanted = template(simulate("dev-westus2"))["spec"]["volumes"]
    (item,) = wanted["downwardAPI"]["items"]
    assert item == {
        "path": "wanted.json",
        "fieldRef": {"fieldPath": f"metadata.annotations['{GRID_DRIVER_WANTED}']"},
    }
    assert "wanted.json" not in {entry["path"] for entry in code["configMap"]["items"]}


def test_the_agents_files_are_mounted_where_they_lie_in_the_repository(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    code = template(recording)["spec"]["volumes"][0]["configMap"]
    data = recording.resource("ConfigMap", code["name"]).inputs["data"]
    items = {item["path"]: item["key"] for item in code["items"]}
    there = {
        path.relative_to(GRID_AGENT).as_posix(): path.read_text()
        for path in (GRID_AGENT).rglob("*")
        if path.suffix in (".py", ".sh") and "__pycache__" not in path.parts
    }
    assert there.keys() == items.keys()
    assert {path: data[items[path]] for path in items} == there
    assert len(json.dumps(data)) < 900_000, "a ConfigMap holds 1 MiB"


def test_the_first_process_finds_its_files_and_what_is_wanted(simulate: Simulate) -> None:
    (container,) = template(simulate("dev-westus2"))["spec"]["containers"]
    script = agents.files("grid_driver")["host/entry.sh"]
    defaults = dict(re.findall(r"\$\{GRID_AGENT_(FILES|WANTED):-([^}]+)\}", script))
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"] if each["readOnly"]}
    assert defaults == {"FILES": mounted["agent"], "WANTED": f"{mounted['wanted']}/wanted.json"}
    assert container["command"] == ["/bin/bash", f"{mounted['agent']}/host/entry.sh"]
    assert {each["name"] for each in container["env"]} == {"NODE_NAME", "POD_NAMESPACE"}


def test_another_driver_and_other_code_roll_out_and_nothing_else_does() -> None:
    (manifest,) = manifests.load("grid-driver.yaml")

    def made(*assignments: str, **files: str) -> dict[str, Any]:
        plan = grid_plan(given_settings(*assignments).settings)
        assert plan is not None
        return daemon_set(manifest, plan, program({"grid_agent/decide.py": "1", **files}))["spec"]["template"]

    first = made()
    assert made("pools.rtxprogpu.scale.max=9", "gpuOperator.driver.version=595.91.07") == first
    for other in (made("gridDriver.version=580.105.08"), made(**{"grid_agent/decide.py": "2"})):
        assert other["metadata"]["annotations"] != first["metadata"]["annotations"]
        assert {**other, "metadata": None, "spec": None} == {**first, "metadata": None, "spec": None}


def test_limits_precede_rights_and_rights_before_the_pods(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    found = {each.urn: each for each in ours(recording)}

    def before(resource: Resource) -> set[str]:
        return set(resource.options.depends_on) & set(found)

    policies = {urn for urn, each in found.items() if "ValidatingAdmission" in each.type}
    rights = {urn for urn, each in found.items() if each.type.startswith("kubernetes:rbac")}
    assert len(policies) == 6
    assert all(policies <= before(found[urn]) for urn in rights)
    assert policies | rights <= before(agent(recording)) | {
        urn for each in before(agent(recording)) for urn in before(found[each])
    }
    assert files_of(recording).urn in agent(recording).options.depends_on


def test_the_operator_depends_on_the_agent(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    assert agent(recording).urn in recording.resource("Release", "physical-ai-gpu-operator-release").options.depends_on


def test_the_agent_is_deleted_with_the_cluster_and_protected_with_it(simulate: Simulate) -> None:
    recording = simulate("prod-westus2")
    provider = recording.resource("kubernetes", "physical-ai-kubernetes-provider").urn
    for each in ours(recording):
        protected = each.urn != files_of(recording).urn
        assert (each.options.deleted_with, each.options.protect) == (provider, protected), each.name


def test_the_files_never_change_and_those_of_old_pods_remain(simulate: Simulate) -> None:
    """A protected object could not be replaced, and an old Pod mounts its own files when its node restarts."""
    found = files_of(simulate("prod-westus2"))
    assert found.inputs["immutable"] is True
    assert found.inputs["metadata"]["name"].startswith("gpu-grid-driver-agent-")
    assert found.options.retain_on_delete
    assert found.inputs["metadata"]["annotations"]["pulumi.com/patchFieldManager"]


def test_other_files_are_another_config_map_and_other_settings_are_not() -> None:
    (manifest,) = manifests.load("grid-driver.yaml")

    def mounted(*assignments: str, **files: str) -> str:
        plan = grid_plan(given_settings(*assignments).settings)
        assert plan is not None
        agent = program({"grid_agent/decide.py": "1", **files})
        completed = daemon_set(manifest, plan, agent)
        name = completed["spec"]["template"]["spec"]["volumes"][0]["configMap"]["name"]
        assert name == agent.config_map("gpu-operator", {})["metadata"]["name"]
        return name

    assert mounted() == mounted("gridDriver.version=580.105.08")
    assert len({mounted(), mounted(**{"grid_agent/decide.py": "2"}), mounted(**{"host/job.sh": "1"})}) == 3


def test_rights_and_limits_are_about_one_account(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    policies = [p for p in recording.of_type("ValidatingAdmissionPolicy") if NAME in p.inputs["metadata"]["name"]]
    bindings = [*recording.of_type("RoleBinding"), *recording.of_type("ClusterRoleBinding")]
    for each in (each for each in bindings if each.inputs["metadata"]["name"].startswith(NAME)):
        assert each.inputs["subjects"] == [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}]
    assert template(recording)["spec"]["serviceAccountName"] == NAME
    for each in policies:
        (condition,) = each.inputs["spec"]["matchConditions"]
        assert condition["expression"] == f'request.userInfo.username == "system:serviceaccount:{NAMESPACE}:{NAME}"'
        assert each.inputs["spec"]["failurePolicy"] == "Fail"
    bound = {each.inputs["spec"]["policyName"] for each in recording.of_type("ValidatingAdmissionPolicyBinding")}
    assert bound >= {each.inputs["metadata"]["name"] for each in policies}
    assert len(policies) == 3


def test_limits_name_exactly_what_the_agent_sets(simulate: Simulate) -> None:
    policy = simulate("dev-westus2").resource("ValidatingAdmissionPolicy", f"{NAME}-nodes").inputs["spec"]
    (gates,) = (each["expression"] for each in policy["variables"] if each["name"] == "gates")
    listed = yaml.safe_load(gates.partition("]")[0] + "]")
    assert sorted(f"nvidia.com/gpu.deploy.{operand}" for operand in listed) == sorted(GATE_LABELS)
    text = json.dumps(policy)
    assert PAUSED in text
    assert f'each.type != \\"{CONDITION}\\"' in text


def test_a_files_key_is_one_a_config_map_may_have() -> None:
    keys = [agents.key(path) for path in agents.files("grid_driver")]
    assert len(keys) == len(set(keys))
    assert not any("/" in each for each in keys)
