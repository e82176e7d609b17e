"""The model of GitHub's controller of runners: what it makes of a scale set, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.runners import model

Json = dict[str, Any]
KEYS = dict.fromkeys(model.APP_KEYS, "eA==")


def scale_set(queued: int = 0, least: int = 0, most: int = 2) -> Json:
    return {
        "apiVersion": "actions.github.com/v1alpha1",
        "kind": "AutoscalingRunnerSet",
        "metadata": {
            "name": "robots",
            "namespace": "arc-runners",
            "uid": "u",
            "annotations": {model.QUEUED: str(queued)},
        },
        "spec": {
            "minRunners": least,
            "maxRunners": most,
            "listenerTemplate": {"spec": {"containers": [{"name": "listener", "securityContext": {"x": 1}}]}},
            "template": {"spec": {"containers": [{"name": "runner", "image": "i"}]}},
        },
    }


def pod(name: str, phase: str = "Pending", node: str | None = "n") -> Json:
    return {"metadata": {"name": name}, "spec": {"nodeName": node} if node else {}, "status": {"phase": phase}}


def test_without_jobs_there_is_no_runner() -> None:
    assert model.actions(scale_set(), []) == model.Actions(0, (), (), (), 0)


def test_each_job_gets_a_runner_up_to_the_maximum() -> None:
    assert model.actions(scale_set(queued=3), []).create == 2
    assert model.actions(scale_set(queued=3), [pod("a", node=None)]).create == 1


def test_a_runner_takes_one_job_ends_and_goes() -> None:
    taken = model.actions(scale_set(queued=1), [pod("a")])
    assert (taken.end, taken.queued, taken.create) == (("a",), 0, 0)
    assert model.actions(scale_set(), [pod("a", "Succeeded")]).delete == ("a",)


def test_runners_that_wait_are_replaced_when_they_have_taken_a_job() -> None:
    assert model.actions(scale_set(least=1), []).create == 1
    assert model.actions(scale_set(least=1), [pod("a")]).start == ("a",)
    busy = model.actions(scale_set(least=1, queued=1), [pod("a", "Running")])
    assert (busy.end, busy.create) == (("a",), 1)
    assert model.actions(scale_set(), [pod("a", "Running")]).delete == ("a",)


def test_the_listener_runs_beside_the_controller_as_the_template_says() -> None:
    controller = {
        "metadata": {"namespace": "arc-systems"},
        "spec": {"template": {"spec": {"serviceAccountName": "arc-controller", "containers": [{"image": "c:1"}]}}},
    }
    made = model.listener(scale_set(), controller)
    assert made["metadata"]["namespace"] == "arc-systems"
    container = made["spec"]["containers"][0]
    assert (container["image"], container["securityContext"]) == ("c:1", {"x": 1})


@pytest.mark.parametrize("url", ["https://github.com", "github.com/contoso", "https://github.com/a/b/c", ""])
def test_an_address_without_an_owner_is_refused(url: str) -> None:
    assert "invalid config URL" in model.url_problem(url)


@pytest.mark.parametrize(
    "url", ["https://github.com/contoso", "https://github.com/contoso/robots", "https://github.com/enterprises/contoso"]
)
def test_an_address_of_github_is_accepted(url: str) -> None:
    assert model.url_problem(url) == ""


def test_without_its_secret_a_scale_set_is_not_served() -> None:
    assert 'secrets "github-app" not found' in model.secret_problem("github-app", None)
    assert "github_app_private_key" in model.secret_problem("s", {"data": {**KEYS, "github_app_private_key": ""}})
    assert model.secret_problem("s", {"data": KEYS}) == ""
