"""The script of `physai bootstrap`, run as a user runs it: twice, interrupted, and against what is there already.

Its commands keep state and answer as the providers document (tests/support/bootstrap_commands.py).
"""

from __future__ import annotations

import copy
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.aks import ASSIGNED
from tests.support.bootstrap_commands import World, world_in
from tests.support.bootstrap_words import FRESH
from tests.unit.cli.test_cli_commands import call

DEV = "00000000-0000-4000-8000-000000000001"
PROD = "00000000-0000-4000-8000-000000000003"
ZONE = "/subscriptions/00000000-0000-0000-0000-000000000005/resourceGroups/rg-dns"
IDENTITY = "id-physical-ai-dev"
REVIEWED = {
    "name": "dev",
    "protection_rules": [
        {"type": "wait_timer", "wait_timer": 30},
        {
            "type": "required_reviewers",
            "prevent_self_review": True,
            "reviewers": [{"type": "User", "reviewer": {"id": 7}}, {"type": "Team", "reviewer": {"id": 8}}],
        },
        {"type": "branch_policy"},
    ],
    "deployment_branch_policy": {"protected_branches": True, "custom_branch_policies": False},
    "policies": [],
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path / "bin") as made:
        yield made


def run(world: World, script: str, *, programs: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs the script with commands that are functions of its shell; with `programs`, processes as a user has them."""
    world.change(calls=[])
    environment = {"PATH": f"{world.commands}{os.pathsep}{os.environ['PATH']}", "PAUSE": "0"}
    command = ["bash", "-c", script if programs else world.functions + script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def written(stack: str, *environments: str) -> str:
    """The script for these environments, with one of their stacks: each is recorded for a second."""
    given = [word for each in environments for word in ("--subscription", each)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("physical_ai.settings.deployed_to_azure", lambda: [stack])
        code, out, err = call("bootstrap", "--repository", "acme/platform", *given)
    assert code == 0, err
    return out


@pytest.fixture(scope="module")
def dev() -> str:
    return written("dev-southeastasia", f"dev={DEV}")


@pytest.fixture(scope="module")
def prod() -> str:
    return written("prod-westus2", f"prod={PROD}")


@pytest.fixture(scope="module")
def done(dev: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What there is after a first run."""
    with world_in(tmp_path_factory.mktemp("first") / "bin") as first:
        ran = run(first, dev)
        assert ran.returncode == 0, ran.stderr
        return first.state


def test_a_second_run_changes_nothing_and_ends_with_the_lock_on(world: World, dev: str, done: dict[str, Any]) -> None:
    assert done["locks"] == [DEV]
    world.change(**done)
    before = copy.deepcopy(world.state)
    again = run(world, dev)
    assert again.returncode == 0, again.stderr
    after = world.state
    assert {key: after[key] for key in after if key != "calls"} == {
        key: before[key] for key in before if key != "calls"
    }
    assert not world.calls("gh", "api", "--method", "POST")
    assert not world.calls("gh", "api", "--method", "PUT")


DEEP = pytest.mark.deep
STEPS = (
    "az lock delete",
    "az group create",
    "az keyvault create",
    "az identity create",
    "gh variable set",
    "gh api --method PUT",
    "pulumi login",
    "az lock create",
)
FEW = ("az lock delete", "gh api --method PUT")
"""In `make test`: the first step without the lock, and one in the middle whose work was not done."""


@pytest.mark.parametrize("step", [pytest.param(each, marks=() if each in FEW else DEEP) for each in STEPS])
def test_a_run_that_is_interrupted_leaves_the_group_locked_and_the_next_one_completes(
    world: World, dev: str, done: dict[str, Any], step: str
) -> None:
    world.change(**done)
    missing = ("environments", "made") if step in ("az keyvault create", "gh api --method PUT") else ()
    world.change(**{key: FRESH[key] for key in missing}, interrupts=step)
    stopped = run(world, dev, programs=True)
    assert world.state["interrupts"] == "", "the step was not run"
    assert stopped.returncode == 130, stopped.stderr
    assert world.state["locks"] == [DEV]
    assert "run the script again" in stopped.stderr
    ended = run(world, dev)
    assert ended.returncode == 0, ended.stderr
    assert world.state["locks"] == [DEV]


def test_a_first_run_that_stops_locks_what_it_has_made(world: World, dev: str) -> None:
    world.change(fails={"az storage account create": 1})
    stopped = run(world, dev)
    assert stopped.returncode == 1
    assert world.state["locks"] == [DEV]
    assert run(world, dev).returncode == 0


def test_a_lock_that_cannot_be_restored_is_named_with_its_command(world: World, dev: str, done: dict[str, Any]) -> None:
    world.change(**done)
    world.change(fails={"az storage account create": 1, "az lock create": 1})
    stopped = run(world, dev)
    assert stopped.returncode == 1
    assert f"of {DEV} is NOT locked" in stopped.stderr
    assert f"--subscription {DEV}" in stopped.stderr


LATE = ("pulumi login", "pulumi stack init", "az group create")
"""Steps that wait by the same function of the script as the one that is left in `make test`."""


@pytest.mark.parametrize(
    "slow",
    ["az keyvault key create", *(pytest.param(each, marks=DEEP) for each in LATE)],
)
def test_what_takes_effect_after_minutes_is_waited_for(world: World, dev: str, slow: str) -> None:
    world.change(fails={slow: 3})
    ran = run(world, dev)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("answer", "prefix"),
    [
        ({"use_default": True, "sub_claim_prefix": "repo:acme@1/Platform@2"}, "repo:acme@1/Platform@2"),
        ({"use_default": True, "use_immutable_subject": True, "sub_claim_prefix": "repo:a@1/b@2"}, "repo:a@1/b@2"),
        ({"use_default": True, "sub_claim_prefix": "repo:acme/Platform"}, "repo:acme/Platform"),
        ({"use_default": True}, "repo:acme/Platform"),
        ({"use_default": True, "sub_claim_prefix": None}, "repo:acme/Platform"),
    ],
)
def test_credentials_are_for_the_subject_that_github_names(
    world: World, dev: str, done: dict[str, Any], answer: dict[str, Any], prefix: str
) -> None:
    world.change(**done)
    world.change(subject=answer)
    ran = run(world, dev)
    assert ran.returncode == 0, ran.stderr
    made, variables = world.state["made"]["credential"], world.state["variables"]
    for name in ("dev", "dev-preview"):
        assert made[f"id-physical-ai-{name}"] == variables[f"{name}/AZURE_SUBJECT"] == f"{prefix}:environment:{name}"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"use_default": False, "include_claim_keys": ["repo"]}, "template of its own"),
        ({"use_default": False, "sub_claim_prefix": "repo:acme@1/platform@2"}, "-F use_default=true"),
        ({}, "template of its own"),
        ({"use_default": True, "sub_claim_prefix": "repo:acme/platform; rm -rf /"}, "none: repo:acme/platform; rm"),
        ({"use_default": True, "sub_claim_prefix": "repo:a/b:environment:prod"}, "named a prefix"),
        ({"use_default": True, "sub_claim_prefix": "*"}, "named a prefix"),
        (None, "Not Found"),
    ],
)
def test_a_subject_that_cannot_be_foreseen_stops_the_script_before_azure(
    world: World, dev: str, answer: Any, said: str
) -> None:
    world.change(subject=answer)
    ran = run(world, dev)
    assert ran.returncode == 1
    assert said in ran.stderr
    assert not world.calls("az")


def test_a_repository_that_was_renamed_is_named(world: World, dev: str) -> None:
    world.change(full_name="acme/robots")
    ran = run(world, dev)
    assert ran.returncode == 1
    assert "physai bootstrap --repository acme/robots" in ran.stderr


def pull_request(count: int) -> dict[str, Any]:
    return {"type": "pull_request", "parameters": {"required_approving_review_count": count}}


# In `make test`: one protection of each kind, and all that are none.
@pytest.mark.parametrize(
    ("rules", "protection", "code"),
    [
        ([pull_request(1)], None, 0),
        pytest.param([pull_request(0), pull_request(2)], None, 0, marks=DEEP),
        ([], {"required_pull_request_reviews": {"required_approving_review_count": 1}}, 0),
        pytest.param(None, {"required_pull_request_reviews": {"required_approving_review_count": 2}}, 0, marks=DEEP),
        pytest.param([], {"required_pull_request_reviews": {}}, 0, marks=DEEP),
        ([], None, 1),
        (None, None, 1),
        ([{"type": "deletion"}, {"type": "non_fast_forward"}], None, 1),
        ([], {"required_status_checks": {"strict": True}}, 1),
    ],
)
def test_a_branch_is_protected_by_rulesets_or_by_a_classic_protection_that_requires_pull_requests(
    world: World, dev: str, rules: Any, protection: Any, code: int
) -> None:
    world.change(rules=rules, protection=protection)
    ran = run(world, dev)
    assert ran.returncode == code, ran.stderr
    assert ("Protect the branch main" in ran.stderr) is bool(code)
    if code:
        assert not world.calls("az")


def test_a_branch_whose_pull_requests_need_no_review_is_pointed_out(world: World, dev: str) -> None:
    world.change(rules=[pull_request(0)])
    assert "pull requests into main need no review" in run(world, dev).stdout


def test_what_an_environment_has_is_sent_back(world: World, dev: str) -> None:
    world.change(environments={"dev": REVIEWED})
    ran = run(world, dev)
    assert ran.returncode == 0, ran.stderr
    found = copy.deepcopy(world.state["environments"]["dev"])
    assert found["protection_rules"] == REVIEWED["protection_rules"]
    assert found["deployment_branch_policy"] == {"protected_branches": False, "custom_branch_policies": True}
    assert found["policies"] == ["main"]
    assert "Nobody has to approve deployments to dev" not in ran.stdout
    assert run(world, dev).returncode == 0
    assert world.state["environments"]["dev"] == found


def test_an_environment_that_has_branch_policies_is_not_written_and_other_policies_are_pointed_out(
    world: World, dev: str
) -> None:
    own = {"protected_branches": False, "custom_branch_policies": True}
    kept = {**REVIEWED, "deployment_branch_policy": own, "policies": ["release/*"]}
    world.change(environments={"dev": kept})
    ran = run(world, dev)
    assert ran.returncode == 0, ran.stderr
    assert world.state["environments"]["dev"] == {**kept, "policies": ["release/*", "main"]}
    assert "the environment dev also admits jobs of: release/*" in ran.stdout


@pytest.mark.parametrize("visibility", ["public", "private", pytest.param("internal", marks=DEEP)])
def test_production_without_reviewers_is_said_with_what_it_takes(world: World, prod: str, visibility: str) -> None:
    world.change(visibility=visibility, enterprise=False)
    ran = run(world, prod)
    assert ran.returncode == 0, ran.stderr
    assert "Nobody has to approve deployments to prod" in ran.stdout
    assert "deploy.yaml refuses production" in ran.stdout
    assert ("only GitHub Enterprise has required reviewers" in ran.stdout) is (visibility != "public")


def test_providers_are_those_that_the_stacks_of_the_environment_declare(world: World, dev: str, prod: str) -> None:
    assert run(world, dev).returncode == 0
    found = set(world.state["made"]["provider"])
    assert {"Microsoft.DBforPostgreSQL", "Microsoft.Cache", "Microsoft.ContainerRegistry", "Microsoft.Compute"} <= found
    assert "Microsoft.Dashboard" not in found, "no stack of dev has Grafana"
    world.change(**FRESH)
    assert run(world, prod).returncode == 0
    assert {"Microsoft.Dashboard", "Microsoft.Monitor", "Microsoft.AlertsManagement"} <= set(
        world.state["made"]["provider"]
    )


def assigned(world: World, who: str, scope: str) -> set[str]:
    rows = world.state["assignments"]
    return {each["role"] for each in rows if each["who"] == who and each["scope"].startswith(scope)}


def test_rights_on_what_others_own_are_granted_to_deployer_and_reader(world: World, dev: str) -> None:
    ran = run(world, dev)
    assert ran.returncode == 0
    assert assigned(world, IDENTITY, ZONE) == {"Role Based Access Control Administrator"}
    assert assigned(world, f"{IDENTITY}-preview", ZONE) == {"Reader"}
    limited = [each for each in world.state["assignments"] if each["role"].startswith("Role Based")]
    assert all(all(role in each["condition"] for role in ASSIGNED) for each in limited)
    assert ran.stdout.rstrip().endswith("None.")


def test_rights_that_the_user_may_not_grant_are_listed_as_commands_for_the_owner(world: World, dev: str) -> None:
    world.change(denied=[ZONE])
    ran = run(world, dev)
    assert ran.returncode == 0, ran.stderr
    _, _, listed = ran.stdout.partition("Not granted; ask the owner of each scope to run it:")
    commands = [shlex.split(line) for line in listed.strip().splitlines()]
    assert [each[each.index("--role") + 1] for each in commands] == [
        "Role Based Access Control Administrator",
        "Reader",
    ]
    world.change(denied=[])
    assert run(world, listed.strip()).returncode == 0, "what is printed is no command"
    assert assigned(world, IDENTITY, ZONE) == {"Role Based Access Control Administrator"}
    assert world.state["locks"] == [DEV]


def test_an_assignment_with_another_condition_is_replaced(world: World, dev: str) -> None:
    assert run(world, dev).returncode == 0
    rows = copy.deepcopy(world.state["assignments"])
    world.change(assignments=[{**each, "condition": "older" if each["condition"] else ""} for each in rows])
    assert run(world, dev).returncode == 0
    assert sorted(world.state["assignments"], key=str) == sorted(rows, key=str)
