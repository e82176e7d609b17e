"""The token of OSMO's agents: what creates it, with which rights, before what, and never in the state."""

from __future__ import annotations

import json
from typing import Any

import pytest

from osmo_token import secret
from physical_ai.catalog import osmo
from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.planning.osmo_token import OsmoTokenObjects, osmo_token_objects
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.facts.osmo_token import ROTATION_ANNOTATION, TOKEN_ANNOTATION, VALID
from tests.support.recording import Recording, Resource
from tests.unit.conftest import Simulate

PLATFORM: dict[str, Any] = {
    "dataServices": {"source": "azure"},
    "osmo": {"mode": "platform", "access": {"login": "dev"}},
}
ACCOUNT = {"kind": "ServiceAccount", "name": "osmo-token", "namespace": "osmo-control-plane"}


def platform(**more: Any) -> dict[str, Any]:
    return {**PLATFORM, "osmo": {**PLATFORM["osmo"], **more}}


def planned(**more: Any) -> OsmoTokenObjects:
    found = osmo_token_objects(load("dev-westus2", [Overlay("test", platform(**more))]).settings)
    assert found is not None
    return found


def job_of(recording: Recording) -> Resource:
    (found,) = recording.of_type("Job")
    return found


def secret_of(recording: Recording) -> Resource:
    ours = [each for each in recording.of_type("Secret") if "metadata" in each.inputs]  # Key Vault has others
    (found,) = (each for each in ours if each.inputs["metadata"]["name"] == osmo.TOKEN_SECRET)
    return found


def container(objects: OsmoTokenObjects) -> dict[str, Any]:
    (found,) = objects.job["spec"]["template"]["spec"]["containers"]
    return found


def test_the_agents_come_after_the_token(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PLATFORM)
    (agents,) = (each for each in recording.of_type("Release") if each.inputs["name"] == osmo.BACKEND_RELEASE)
    job = job_of(recording)
    own = secret_of(recording)
    assert {job.urn, own.urn} <= set(agents.options.depends_on)
    assert own.urn in job.options.depends_on


def test_the_state_has_no_token(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PLATFORM)
    own = secret_of(recording)
    assert not {"data", "stringData"} & set(own.inputs)
    assert {"data", "stringData"} <= set(own.options.ignore_changes)


def test_the_program_may_touch_one_secret_and_create_none(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PLATFORM)
    bindings = [
        each.inputs
        for kind in ("RoleBinding", "ClusterRoleBinding")
        for each in recording.of_type(kind)
        if ACCOUNT in each.inputs["subjects"]
    ]
    (binding,) = bindings
    assert (binding["metadata"]["namespace"], binding["roleRef"]["kind"]) == (osmo.OPERATOR_NAMESPACE, "Role")
    (role,) = (
        each.inputs
        for each in recording.of_type("Role")
        if each.inputs["metadata"] == {"name": binding["roleRef"]["name"], "namespace": osmo.OPERATOR_NAMESPACE}
    )
    wanted = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [osmo.TOKEN_SECRET]}
    assert role["rules"] == [{**wanted, "verbs": ["get", "patch"]}]


def test_the_limits_allow_exactly_the_two_keys(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", PLATFORM)
    (policy,) = (
        each.inputs["spec"]
        for each in recording.of_type("ValidatingAdmissionPolicy")
        if each.inputs["metadata"]["name"] == "osmo-token"
    )
    assert f'["{secret.TOKEN}", "{secret.PREVIOUS}"]' in json.dumps(policy).replace('\\"', '"')
    assert policy["failurePolicy"] == "Fail"
    (binding,) = (each for each in recording.of_type("RoleBinding") if ACCOUNT in each.inputs["subjects"])
    limits = [each.urn for each in recording.of_type("ValidatingAdmissionPolicy") if "token" in each.name]
    assert set(limits) <= set(binding.options.depends_on)


def test_its_pods_meet_the_level_restricted_and_use_the_cpu_pool() -> None:
    objects = planned()
    templates = [objects.job["spec"]["template"], objects.cron_job["spec"]["jobTemplate"]["spec"]["template"]]
    for pod in (each["spec"] for each in templates):
        assert pod["nodeSelector"] == {POOL_LABEL: "cpu"}
        assert not [volume for volume in pod["volumes"] if "hostPath" in volume]
        (only,) = pod["containers"]
        assert only["image"].startswith("mcr.microsoft.com/azurelinux/distroless/python:3.12-nonroot@sha256:")
        assert only["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }


def test_no_argument_or_variable_is_a_secret() -> None:
    found = container(planned())
    assert "--password-file=/opt/osmo-admin/password" in found["args"]
    assert [each["name"] for each in found["env"]] == ["PYTHONPATH"]
    assert not [each for each in found["env"] if "valueFrom" in each]


def test_a_rotation_is_another_job_with_another_name_and_restarts_the_agents(simulate: Simulate) -> None:
    first, second = planned(), planned(tokenRotation="2026-12")
    assert "--name=default-1" in container(first)["args"]
    assert "--name=default-2026-12" in container(second)["args"]
    assert first.job["metadata"]["name"] != second.job["metadata"]["name"]
    assert first.config_map == second.config_map
    recording = simulate("dev-westus2", platform(tokenRotation="2026-12"))
    (agents,) = (each for each in recording.of_type("Release") if each.inputs["name"] == osmo.BACKEND_RELEASE)
    for agent in ("backendListener", "backendWorker"):
        own = agents.inputs["values"]["services"][agent]
        assert own["extraPodAnnotations"] == {ROTATION_ANNOTATION: "2026-12"}


def test_the_daily_check_creates_nothing_and_warns_before_the_token_ends() -> None:
    def arguments(**more: Any) -> list[str]:
        template = planned(**more).cron_job["spec"]["jobTemplate"]["spec"]["template"]
        return template["spec"]["containers"][0]["args"]

    assert (arguments()[0], arguments()[-1]) == ("check", "--warn-days=30")
    assert arguments(tokenDays=10)[-1] == "--warn-days=9"


@pytest.mark.parametrize(
    "osmo_settings", [{"mode": "backend"}, pytest.param({"mode": "namespaces"}, marks=pytest.mark.deep)]
)
def test_a_control_plane_elsewhere_creates_its_own_tokens(simulate: Simulate, osmo_settings: dict[str, Any]) -> None:
    recording = simulate("dev-westus2", {"osmo": osmo_settings})
    assert not [each.name for each in recording.resources if "osmo-token" in each.name]


@pytest.mark.deep  # in `make test`: control planes elsewhere above
def test_without_a_login_there_is_no_token(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", platform(login="dev"))
    assert not recording.of_type("Job")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"tokenRotation": "2026/12"}, "osmo.tokenRotation"),
        ({"tokenRotation": ""}, "osmo.tokenRotation"),
        ({"tokenRotation": "ends-"}, "osmo.tokenRotation"),
        ({"tokenDays": 366}, "osmo.tokenDays"),
        ({"tokenDays": 1}, "osmo.tokenDays"),
    ],
)
def test_what_the_service_would_refuse_is_refused_while_loading(given: dict[str, Any], path: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", platform(**given))])
    assert [fault.where for fault in caught.value.faults] == [path]


def test_a_rotation_without_a_control_plane_is_reported() -> None:
    loaded = load("dev-westus2", [Overlay("test", {"osmo": {"tokenRotation": "2026-12"}})])
    assert "osmo.tokenRotation" in [fault.where for fault in loaded.warnings]


def test_the_annotations_are_those_that_the_program_writes() -> None:
    assert secret.PREFIX == TOKEN_ANNOTATION
    assert secret.VALID == VALID
