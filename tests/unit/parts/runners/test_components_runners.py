"""Runners of GitHub: what is declared, which rights jobs have, and where the App's key is."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.network_policies import GATEWAY_LABELS, GATEWAY_PORT, Address, Entity, Pod, reaches
from tests.support.recording import Recording
from tests.unit.conftest import Simulate

KEY = "-----BEGIN RSA PRIVATE KEY----- word"
RUNNERS: dict[str, Any] = {
    "configUrl": "https://github.com/contoso/robots",
    "app": {"clientId": "Iv23liABCDEF", "installationId": "51234567"},
    "pool": {"sku": "Standard_D4ds_v5", "scale": {"min": 0, "max": 2}},
}
JOB, LISTENER = Pod("arc-runners", {"app.kubernetes.io/component": "runner"}), Pod("arc-systems", {"app": "listener"})
GATEWAY = Pod("osmo-control-plane", GATEWAY_LABELS, {GATEWAY_PORT: 8000})
GITHUB, API, IMDS = Address("140.82.112.3"), Entity("api server"), Address("169.254.169.254")
NOTEBOOK = Pod("team-vision", {"app": "notebook"})


def with_runners(simulate: Simulate, **changes: Any) -> Recording:
    secrets = {"githubAppPrivateKey": KEY}
    return simulate("dev-westus2", {"runners": {**RUNNERS, **changes}, "secrets": secrets})


def values(found: Recording, release: str) -> dict[str, Any]:
    return found.resource("Release", f"physical-ai-github-{release}").inputs["values"]


def test_there_are_no_runners_unless_asked_for(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {})
    assert not [each for each in found.of_type("Namespace") if each.inputs["metadata"]["name"].startswith("arc-")]
    assert not [each for each in found.of_type("AgentPool") if "runners" in each.name]


def test_their_pool_is_tainted_and_empty_while_no_job_runs(simulate: Simulate) -> None:
    pool = with_runners(simulate).resource("AgentPool", "physical-ai-runners-nodes").inputs
    assert pool["nodeTaints"] == ["physical-ai/runners=present:NoSchedule"]
    assert (pool["minCount"], pool["maxCount"], pool["count"]) == (0, 2, 0)
    assert not {"nodeTaints", "nodeLabels"} & set(
        simulate("dev-westus2").resource("AgentPool", "physical-ai-cpu-nodes").inputs
    )


def test_jobs_have_no_rights_and_no_token_of_the_cluster(simulate: Simulate) -> None:
    found = with_runners(simulate)
    spec = values(found, "scale-set")["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    account = found.resource("ServiceAccount", "physical-ai-github-account").inputs
    assert account["metadata"] == {"name": spec["serviceAccountName"], "namespace": "arc-runners"}
    bound = [subject for each in found.of_type("RoleBinding") for subject in each.inputs["subjects"]]
    assert not [subject for subject in bound if subject.get("namespace") == "arc-runners"]
    assert not [each for each in found.of_type("UserAssignedIdentity") if "github" in each.name]


def test_an_identity_of_jobs_is_the_stacks_own_decision(simulate: Simulate) -> None:
    found = with_runners(simulate, clusterRole="admin")
    credential = next(each for each in found.of_type("FederatedIdentityCredential") if "github" in each.name)
    assert credential.inputs["subject"] == "system:serviceaccount:arc-runners:runner"
    roles = [each for each in found.of_type("RoleAssignment") if "github" in each.name]
    assert len(roles) == 2
    assert all("managedClusters" in str(each.inputs["scope"]) for each in roles)
    labels = values(found, "scale-set")["template"]["metadata"]["labels"]
    assert labels == {"azure.workload.identity/use": "true"}


def test_the_apps_key_is_in_a_secret_and_in_no_value(simulate: Simulate) -> None:
    found = with_runners(simulate)
    for release in ("controller", "scale-set"):
        assert KEY not in yaml.safe_dump(values(found, release))
    assert values(found, "scale-set")["githubConfigSecret"] == "github-app"
    secret = found.resource("Secret", "physical-ai-github-github-app").inputs
    assert secret["metadata"] == {"name": "github-app", "namespace": "arc-runners"}


def test_the_controller_has_rights_in_the_runners_namespace_only(simulate: Simulate) -> None:
    found = with_runners(simulate)
    assert values(found, "controller")["flags"]["watchSingleNamespace"] == "arc-runners"
    own = values(found, "scale-set")["controllerServiceAccount"]
    assert own == {"namespace": "arc-systems", "name": values(found, "controller")["serviceAccount"]["name"]}


@pytest.mark.parametrize("pod", [JOB, LISTENER])
def test_they_reach_port_443_and_accept_no_connections(simulate: Simulate, pod: Pod) -> None:
    policies = [dict(each.inputs) for each in with_runners(simulate).of_type("NetworkPolicy")]
    for target in (GITHUB, API):
        assert reaches(policies, pod, target, 443)
    for target, port in ((GITHUB, 22), (IMDS, 80), (GATEWAY, 8000), (JOB, 8080)):
        assert not reaches(policies, pod, target, port)
    assert not reaches(policies, NOTEBOOK, pod, 8080)
