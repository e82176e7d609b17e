"""Rules that every GitHub workflow file of this repository keeps: pins, permissions, and no way in for strangers."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.support.cases import in_one_test
from tests.support.workflow_files import GITHUB, ROOT, Workflow, actions, workflows

ALL = {workflow.name: workflow for workflow in workflows()}
AZURE = {"contents": "read", "id-token": "write"}
WRITES: dict[tuple[str, str], dict[str, str]] = {
    ("deploy", "dev"): AZURE,
    ("deploy", "staging"): AZURE,
    ("deploy", "prod"): AZURE,
    ("deploy", "reviewed"): {"contents": "read", "actions": "read"},
    ("deploy-stack", "preview"): AZURE,
    ("deploy-stack", "up"): AZURE,
    ("destroy", "destroy"): AZURE,
    ("drift", "look"): AZURE,
    ("drift", "issue"): {"actions": "read", "issues": "write"},
    ("pull-request-comment", "comment"): {"actions": "read", "pull-requests": "write"},
    **{("team-deploy", environment): AZURE for environment in ("dev", "staging", "prod")},
    ("team-deploy", "reviewed"): {"contents": "read", "actions": "read"},
    ("team-deploy-stack", "preview"): AZURE,
    ("team-deploy-stack", "up"): AZURE,
    ("team-drift", "look"): AZURE,
    ("team-drift", "issue"): {"actions": "read", "issues": "write"},
    ("release", "attest"): {"id-token": "write", "attestations": "write"},
    ("release", "publish"): {"id-token": "write"},
    ("release", "notes"): {"contents": "write"},
}
"""Every job that may do more than read the repository, and what exactly."""
READS = {"contents": "read"}
USES = re.compile(r"^\s*(?:- )?uses: (\S+)(.*)$", re.MULTILINE)
each_workflow = pytest.mark.parametrize("workflow", ALL.values(), ids=ALL.keys())


def test_there_are_workflows_to_look_at() -> None:
    assert {"main", "pull-request", "pull-request-comment"} <= set(ALL)
    files = [path for folder in ("workflows", "actions") for path in (GITHUB / folder).rglob("*") if path.is_file()]
    assert all(path.suffix == ".yaml" for path in files)


@in_one_test("path", [*(each.path for each in ALL.values()), *actions()], ids=lambda path: path.parent.name)
def test_actions_of_others_are_pinned_by_commit_with_their_version_beside(path: Any) -> None:
    for action, rest in USES.findall(path.read_text()):
        if action.startswith("./"):
            assert (ROOT / action).is_file() or (ROOT / action / "action.yaml").is_file()
            continue
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), f"{action} is not pinned by a commit"
        assert re.fullmatch(r" # v\d+(\.\d+)+", rest), f"{action} does not say its version"


def test_one_action_has_one_pin_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for path in [*(each.path for each in ALL.values()), *actions()]:
        for action, rest in USES.findall(path.read_text()):
            if "@" in action:
                pins.setdefault(action.partition("@")[0], set()).add(action + rest)
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


@each_workflow
def test_nothing_is_permitted_but_what_a_job_requests_and_no_job_requests_more_than_is_listed(
    workflow: Workflow,
) -> None:
    assert workflow.document["permissions"] == {}
    for name, job in workflow.jobs.items():
        assert job["permissions"] == WRITES.get((workflow.name, name), READS), f"{workflow.name}: {name}"


def test_every_listed_job_is_there() -> None:
    assert all(job in ALL[name].jobs for name, job in WRITES)


@each_workflow
def test_no_expression_is_pasted_into_a_script(workflow: Workflow) -> None:
    for job, step in workflow.steps():
        scripts = (step.get("run", ""), (step.get("with") or {}).get("script", ""))
        assert not [each for each in scripts if "${{" in each], f"{job}: pass it by env instead"


@each_workflow
def test_untrusted_code_gets_neither_secrets_nor_tokens(workflow: Workflow) -> None:
    assert "pull_request_target" not in workflow.events
    if "pull_request" in workflow.events:
        assert "secrets." not in workflow.text
        assert all(job["permissions"] == READS for job in workflow.jobs.values())
        assert not any("environment" in job for job in workflow.jobs.values())


@each_workflow
def test_a_checkout_leaves_no_token_behind(workflow: Workflow) -> None:
    for job, step in workflow.steps():
        if "actions/checkout@" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False, job


@each_workflow
def test_a_workflow_after_an_untrusted_run_executes_none_of_its_code(workflow: Workflow) -> None:
    if "workflow_run" not in workflow.events:
        return
    for _, step in workflow.steps():
        assert "run" not in step
        assert "checkout" not in step["uses"]
    assert set(workflow.document["on"]["workflow_run"]["workflows"]) <= {each.document["name"] for each in ALL.values()}


@each_workflow
def test_every_job_has_a_bound(workflow: Workflow) -> None:
    assert all("timeout-minutes" in job or "uses" in job for job in workflow.jobs.values())


@each_workflow
def test_targets_and_commands_exist(workflow: Workflow) -> None:
    from workbench.cli.main import app

    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    callbacks = [command.callback for command in app.registered_commands if command.callback]
    commands = {callback.__name__.replace("_", "-") for callback in callbacks}
    groups = {group.name for group in app.registered_groups}
    scripts = "\n".join(step.get("run", "") for _, step in workflow.steps())
    assert set(re.findall(r"\bmake ([a-z-]+)", scripts)) <= targets
    assert set(re.findall(r"physai ([a-z-]+)", scripts)) <= commands | groups


@each_workflow
def test_what_logs_in_to_azure_does_so_as_an_environment(workflow: Workflow) -> None:
    for name, job in workflow.jobs.items():
        if "id-token" in job["permissions"] and "uses" not in job:
            assert "environment" in job, f"{name}: its credential is bound to an environment"
    assert "secrets." not in workflow.text


def test_deployments_go_through_the_environments_in_order_and_stop_at_the_first_that_fails() -> None:
    jobs = ALL["deploy"].jobs
    order = ["dev", "staging", "prod"]
    for index, name in enumerate(order):
        needs = jobs[name]["needs"]
        before = {"plan", *order[:index], *(["reviewed"] if name == "prod" else [])}
        assert set([needs] if isinstance(needs, str) else needs) == before
        assert jobs[name]["strategy"]["max-parallel"] == 1
        assert jobs[name]["strategy"]["fail-fast"] is True
        assert jobs[name]["with"]["environment"] == name
        assert index == 0 or "!failure()" in jobs[name]["if"]
    assert ALL["deploy-stack"].jobs["up"]["needs"] == "preview"


@each_workflow
def test_a_job_that_logs_in_runs_on_main_only_restores_no_cache_and_installs_no_development_packages(
    workflow: Workflow,
) -> None:
    for name, job in workflow.jobs.items():
        if "id-token" not in job["permissions"]:
            continue
        ref = (
            "startsWith(github.ref, 'refs/tags/v')" if workflow.name == "release" else "github.ref == 'refs/heads/main'"
        )
        assert ref in job["if"], f"{workflow.name}: {name}"
        for step in job.get("steps", []):
            assert "actions/cache" not in step.get("uses", "")
            if step.get("uses") == "./.github/actions/setup":
                assert step["with"]["login"] == "true", f"{workflow.name}: {name}"


def test_a_login_turns_every_cache_of_the_set_up_off() -> None:
    action = yaml.safe_load((GITHUB / "actions" / "setup" / "action.yaml").read_text())
    python, packages, *rest = action["runs"]["steps"]
    assert python["with"]["cache"] == "${{ inputs.login != 'true' && 'pip' || '' }}"
    assert packages["env"]["REQUIREMENTS"].startswith("${{ inputs.login == 'true' && 'requirements-deploy.txt'")
    caches = [step for step in rest if "actions/cache" in step.get("uses", "")]
    assert all("inputs.login != 'true'" in step["if"] for step in caches)


def test_the_cache_of_a_key_has_everything_that_tests_build() -> None:
    """What is saved under a key is never saved again, so the first job has to build all of it."""
    action = yaml.safe_load((GITHUB / "actions" / "setup" / "action.yaml").read_text())
    (cache,) = (step for step in action["runs"]["steps"] if "actions/cache" in step.get("uses", ""))
    assert "simulator/tools/*/go.mod" in cache["with"]["key"]  # also Prometheus', beside the others
    assert any("physai tools --telemetry" in step.get("run", "") for step in action["runs"]["steps"])


def test_jobs_that_need_the_api_server_run_where_their_environment_says() -> None:
    for environment in ("dev", "staging", "prod"):
        label = ALL["deploy"].jobs[environment]["with"]["runner"]
        assert label == f"${{{{ vars.{environment.upper()}_RUNNER || 'ubuntu-24.04' }}}}"
    assert {job["runs-on"] for job in ALL["deploy-stack"].jobs.values()} == {"${{ inputs.runner }}"}
    assert "matrix.stack.environment" in ALL["drift"].jobs["look"]["runs-on"]


def test_readers_refresh_nothing_that_only_deployers_may_read_and_no_deployment_refreshes_the_cluster() -> None:
    scripts = [step.get("run", "") for step in ALL["deploy-stack"].jobs["preview"]["steps"]]
    assert not any("--refresh" in each or "pulumi refresh" in each for each in scripts)
    up = [step.get("run", "") for step in ALL["deploy-stack"].jobs["up"]["steps"]]
    (refresh,) = [each for each in up if "pulumi refresh" in each]
    assert "--target" in refresh
    assert not any("--refresh" in each for each in up)
    (drift,) = [each["run"] for each in ALL["drift"].jobs["look"]["steps"] if "--refresh" in each.get("run", "")]
    everything, hidden = drift.split("pulumi preview")
    assert re.findall(r'--exclude "(\S+)"', hidden) == [
        "**kubernetes:helm.sh/v3:Release::**",
        "**kubernetes:core/v1:Secret::**",
    ]
    assert '"$ADD_RUNNER_ADDRESS" == true' in everything, "all of Kubernetes is left out only without a way to it"


def test_what_is_removed_is_what_was_approved() -> None:
    jobs = ALL["deploy-stack"].jobs
    assert jobs["preview"]["outputs"] == {"removals": "${{ steps.preview.outputs.removals }}"}
    checks = [step for step in jobs["up"]["steps"] if "removals.py" in step.get("run", "")]
    assert checks[0]["env"] == {"PREVIEWED": "${{ needs.preview.outputs.removals }}"}


def test_a_destroy_needs_neither_the_program_nor_an_api_server() -> None:
    scripts = [step.get("run", "") for step in ALL["destroy"].jobs["destroy"]["steps"]]
    (destroy,) = [each for each in scripts if "pulumi destroy" in each]
    assert "--run-program" not in destroy
    assert "--refresh" not in destroy


def test_one_pool_without_capacity_does_not_end_a_deployment_and_gates_can_be_reported_only() -> None:
    steps = ALL["deploy-stack"].jobs["up"]["steps"]
    _, up = [step for step in steps if "pulumi up" in step.get("run", "")]
    assert "--continue-on-error" in up["run"]
    assert up["env"]["PHYSICAL_AI_GATES"] == "${{ inputs.gates }}"
    assert all(ALL["deploy"].jobs[each]["with"]["gates"] for each in ("dev", "staging", "prod"))


def test_charts_are_verified_before_anything_is_deployed() -> None:
    steps = ALL["deploy-stack"].jobs["up"]["steps"]
    scripts = [step.get("run", "") for step in steps]
    pulled = next(index for index, script in enumerate(scripts) if "charts pull" in script)
    assert "--locked" in scripts[pulled]
    assert pulled < next(index for index, script in enumerate(scripts) if "pulumi up" in script)


def test_nothing_reaches_azure_unless_the_repository_enables_it() -> None:
    for name in ("deploy", "drift"):
        assert ALL[name].jobs["plan"]["if"].startswith("vars.DEPLOY == 'true' && ")
        assert all("needs" in job for job_name, job in ALL[name].jobs.items() if job_name != "plan")


@pytest.mark.parametrize(
    ("stack", "confirm", "continues"),
    [
        ("dev-westus2", "dev-westus2", True),
        ("dev-westus2", "dev-westus3", False),
        ("dev-westus2", "", False),
        ("prod-westus2", "prod-westus2", False),
        ("dev-westus2; echo", "dev-westus2; echo", False),
        ("dev-westus2\nprod", "dev-westus2\nprod", False),
    ],
)
def test_only_a_development_stack_with_a_confirmed_name_is_destroyed(stack: str, confirm: str, continues: bool) -> None:
    steps: list[dict[str, Any]] = ALL["destroy"].jobs["destroy"]["steps"]
    script = ALL["destroy"].step("Both names are the same, and of a development stack")["run"]
    assert steps[0]["run"] == script
    environment = {"STACK": stack, "CONFIRM": confirm, "PATH": os.environ["PATH"]}
    ran = subprocess.run(["bash", "-eo", "pipefail", "-c", script], env=environment, capture_output=True, check=False)
    assert (ran.returncode == 0) is continues


def test_pulumi_and_its_plugins_are_those_whose_checksums_are_recorded() -> None:
    """Their versions are those of the installed packages, which are pinned."""
    scripts = [step.get("run", "") for step in _azure_steps()]
    installed = next(place for place, each in enumerate(scripts) if "pulumi_programs.py install" in each)
    assert not any(each.startswith("pulumi ") for each in scripts[:installed])
    assert not any("pulumi" in step.get("uses", "") for step in _azure_steps())
    every = [step.get("run", "") for workflow in ALL.values() for _, step in workflow.steps()] + scripts
    assert not any("plugin install" in each or "get.pulumi.com" in each for each in every)


@each_workflow
def test_what_runs_the_program_installs_the_charts_that_were_verified(workflow: Workflow) -> None:
    for name, job in workflow.jobs.items():
        scripts = [step.get("run", "") for step in job.get("steps", [])]
        runs = [place for place, each in enumerate(scripts) if re.search(r"\bpulumi (up|preview) ", each)]
        if runs:
            assert job["env"]["PHYSICAL_AI_CHARTS"] == "cache", name
            (pulled,) = [place for place, each in enumerate(scripts) if "charts pull" in each]
            assert "--locked" in scripts[pulled], name
            assert pulled < runs[0], name


def _azure_steps() -> list[dict[str, Any]]:
    return yaml.safe_load((GITHUB / "actions" / "azure" / "action.yaml").read_text())["runs"]["steps"]


def test_the_composite_action_pastes_no_expression_into_a_script() -> None:
    for path in actions():
        steps: list[dict[str, Any]] = yaml.safe_load(path.read_text())["runs"]["steps"]
        assert not [step for step in steps if "${{" in step.get("run", "")]


def test_a_runners_address_is_added_before_the_cluster_is_read_and_taken_away_whatever_happens() -> None:
    steps = ALL["deploy-stack"].jobs["up"]["steps"]
    scripts = [step.get("run", "") for step in steps]
    first = next(place for place, each in enumerate(scripts) if "runner_address.py add" in each)
    assert first < next(place for place, each in enumerate(scripts) if "pulumi preview" in each)
    azure, deploy = (place for place, each in enumerate(scripts) if "pulumi up" in each)
    assert "--exclude-dependents" in scripts[azure]
    assert scripts[azure].rstrip().endswith('runner_address.py add "$STACK"'), "an update of the cluster removes it"
    assert steps[azure]["env"] == {"PHYSICAL_AI_GATES": "skip"}
    assert deploy == azure + 1
    last = steps[-1]
    assert "runner_address.py remove" in last["run"]
    assert last["if"] == "always() && inputs.add-runner-address == 'true'"
    assert {steps[place]["if"] for place in (first, azure)} == {"inputs.add-runner-address == 'true'"}


def test_a_reading_identity_adds_no_address() -> None:
    for job in (ALL["deploy-stack"].jobs["preview"], ALL["drift"].jobs["look"]):
        assert not any("runner_address.py" in step.get("run", "") for step in job["steps"])


@each_workflow
def test_whatever_logs_in_for_long_is_told_in_its_own_log_when_the_assertion_runs_out(workflow: Workflow) -> None:
    for job, step in workflow.steps():
        script = step.get("run", "")
        if re.search(r"\bpulumi (up|destroy|refresh|preview)\b", script):
            keeper = (
                '"$SCRIPTS/keep_assertion.py"'
                if workflow.name.startswith("team-")
                else ".github/scripts/keep_assertion.py"
            )
            assert script.startswith(f"python3 {keeper} --watch $$ &\n"), f"{job}: {step['name']}"


@each_workflow
def test_every_login_compares_its_identity_with_the_credentials(workflow: Workflow) -> None:
    logins = [step for _, step in workflow.steps() if step.get("uses") == "./.github/actions/azure"]
    assert all(step["with"]["subject"] == "${{ vars.AZURE_SUBJECT }}" for step in logins)


def test_what_code_owners_review_is_there_and_all_that_writes_the_bootstrap_is_reviewed() -> None:
    lines = [line.split()[0] for line in (GITHUB / "CODEOWNERS").read_text().splitlines() if line.startswith("/")]
    found = {line: list(ROOT.glob(line.strip("/"))) for line in lines}
    assert all(found.values()), "a pattern that matches no file protects nothing"
    reviewed = {path for paths in found.values() for path in paths}
    assert set((ROOT / "workbench" / "cli").glob("bootstrap_*.py")) <= reviewed
