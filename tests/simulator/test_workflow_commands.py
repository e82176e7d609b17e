"""The commands of the GitHub workflows, in their order and with their identities, on a simulated stack.

`make test` runs the workflows' scripts one by one, in `tests/unit/github`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.config import CHARTS_VARIABLE
from simulator.entra import READER, SECOND_DEPLOYER, TENANT_ID, Principal
from simulator.kubernetes.client import MERGE_PATCH
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.simulator.pipeline import Runner, StepFailed, stacks_of
from tests.support.azure_subscription import SUBSCRIPTION
from tests.support.github_assertions import SUBJECT, Service, serving
from tests.support.workflow_files import GITHUB, Workflow, workflows

DEPLOY, DEPLOY_STACK, DRIFT, DESTROY = (
    Workflow(GITHUB / "workflows" / f"{name}.yaml") for name in ("deploy", "deploy-stack", "drift", "destroy")
)
pytestmark = pytest.mark.usefixtures("saved_at_each_step")

STACK = "dev-westus2"
READS = (
    "--set",
    f"access.principals=[{{principalId: {READER.object_id}, principalType: ServicePrincipal, role: drift-reader}}]",
)
INPUTS = {
    "inputs__stack": STACK,
    "inputs__environment": "dev",
    "inputs__gates": "",
    "inputs__add-runner-address": "false",
}

MATRIX = {"matrix__stack__name": STACK, "matrix__stack__environment": "dev"}


RUN_HERE = {
    ("deploy", "plan"),
    ("deploy-stack", "preview"),
    ("deploy-stack", "up"),
    ("drift", "look"),
    ("destroy", "destroy"),
}
ELSEWHERE = {
    ("deploy", "dev"): "calls deploy-stack",
    ("deploy", "staging"): "calls deploy-stack",
    ("deploy", "prod"): "calls deploy-stack",
    ("deploy", "reviewed"): "test_workflow_scripts.py",
    ("drift", "plan"): "the same as in deploy",
    ("drift", "issue"): "test_workflow_scripts.py",
    ("main", "test"): "these tests",
    ("weekly", "deep"): "these tests",
    ("pull-request", "checks"): "these tests",
    ("pull-request", "preview"): "test_pull_request.py",
    ("pull-request-comment", "comment"): "test_workflow_comment.py",
    ("team-pull-request", "checks"): "test_team_repository.py runs its commands",
    ("team-pull-request", "preview"): "test_team_repository.py runs its commands",
    **{("team-deploy", each): "calls team-deploy-stack" for each in ("dev", "staging", "prod")},
    **{("team-deploy", each): "test_workflows_from_a_clone.py" for each in ("plan", "reviewed")},
    **{("team-deploy-stack", each): "test_workflows_from_a_clone.py" for each in ("preview", "up")},
    **{("team-drift", each): "test_workflows_from_a_clone.py" for each in ("plan", "look", "issue")},
    **{("release", each): "test_release_workflow.py" for each in ("build", "attest", "publish", "notes")},
}
"""Jobs that this file does not run, and what runs or tests their steps."""


def variables(principal: Principal) -> dict[str, str]:
    """What `physai bootstrap` writes into a GitHub environment."""
    return {
        "AZURE_CLIENT_ID": principal.client_id,
        "AZURE_TENANT_ID": TENANT_ID,
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "AZURE_SUBJECT": SUBJECT,
        "PULUMI_STATE": "azblob://state-dev?storage_account=stphysicalaidev",
    }


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    monkeypatch.setenv(CHARTS_VARIABLE, "cache")  # as the workflows set it: the same charts, by another address
    folder = tmp_path / "jobs"
    folder.mkdir()
    environments = {"dev": variables(SECOND_DEPLOYER), "dev-preview": variables(READER)}
    with serving(Service()) as github:
        yield Runner(folder, environments, github.address)


def test_every_job_is_run_by_a_test() -> None:
    assert {(workflow.name, job) for workflow in workflows() for job in workflow.jobs} == RUN_HERE | set(ELSEWHERE)


@pytest.mark.deep
def test_a_stack_is_deployed_and_destroyed_by_its_workflows(runner: Runner, deployed: Simulation) -> None:
    assert STACK in stacks_of(runner.run(DEPLOY, "plan"), "dev")
    physai("preview", *READS)  # the simulation's copy of the stack file gets the change that is deployed
    runner.run(DEPLOY_STACK, "up", **INPUTS, needs__preview__outputs__removals="[]")
    assert physai("preview", "--json", *READS).json["changes"] == []
    with pytest.raises(StepFailed, match="the two names differ"):
        runner.run(DESTROY, "destroy", inputs__stack=STACK, inputs__confirm="dev-westus3")
    destroyed = runner.run(DESTROY, "destroy", inputs__stack=STACK, inputs__confirm=STACK)
    assert deployed.cloud_resources() == {}, destroyed.printed


@pytest.mark.deep
def test_a_stack_is_previewed_deployed_and_compared_by_its_workflows(runner: Runner, deployed: Simulation) -> None:
    physai("preview", *READS)
    preview = runner.run(DEPLOY_STACK, "preview", **INPUTS)
    removals = preview.names["needs.preview.outputs.removals"]
    assert json.loads(removals) == []
    assert "drift-reader" in preview.summary
    runner.run(DEPLOY_STACK, "up", **INPUTS, needs__preview__outputs__removals=removals)
    runner.run(DRIFT, "look", **MATRIX)

    cluster = deployed.clusters().client(deployed.clusters().ids()[0])
    quotas = "/api/v1/namespaces/osmo-workflows/resourcequotas"
    quota = cluster.get(quotas)["items"][0]
    hard = {"spec": {"hard": dict.fromkeys(quota["spec"]["hard"], "7")}}
    cluster.patch(f"{quotas}/{quota['metadata']['name']}", hard, MERGE_PATCH, {"fieldManager": "kubectl-edit"})
    with pytest.raises(StepFailed, match="ResourceQuota physical-ai-osmo-workflows-gpus-resource-quota") as drift:
        runner.run(DRIFT, "look", **MATRIX)
    assert "\n1 to update\n" in str(drift.value), "something else is reported as drift"


@pytest.mark.deep
def test_what_the_approved_preview_did_not_remove_is_not_removed(runner: Runner, deployed: Simulation) -> None:
    physai("preview", "--set", "pools.h100gpu.sku=Standard_NC80adis_H100_v5")
    before = deployed.cloud_resources()
    with pytest.raises(StepFailed, match="h100gpu-nodes would be deleted or replaced"):
        runner.run(DEPLOY_STACK, "up", **INPUTS, needs__preview__outputs__removals="[]")
    assert deployed.cloud_resources() == before
