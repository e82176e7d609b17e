"""Objects that the controller creates for a scale set: a listener, and one Pod for each job. Pure functions over plain
objects.

In the real controller, objects of the kinds AutoscalingListener, EphemeralRunnerSet and EphemeralRunner stand between a
scale set and its Pods. Here the scale set owns the Pods directly.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from simulator.cluster.names import RUN_BY, SIMULATOR
from simulator.cluster.objects import Json, annotations_of, at, digest, name
from simulator.runners import names

QUEUED = f"{SIMULATOR}queued-jobs"
"""Annotation of a scale set: the number of jobs that wait at GitHub for one of the scale set's runners. To queue a job,
increase the number.
"""
RUNNER, LISTENER = "runner", "runner-scale-set-listener"
COMPONENT = "app.kubernetes.io/component"
MODEL = "github-runners"
APP_KEYS = ("github_app_id", "github_app_installation_id", "github_app_private_key")
TOKEN_KEY = "github_token"  # noqa: S105 - a name


def url_problem(url: str) -> str:
    """Reason why the controller can't use the GitHub URL of a scale set; empty if it can.

    The rules are those of github/actions/config.go, ParseGitHubConfigFromURL.
    """
    parts = urlsplit(url)
    steps = parts.path.strip("/").split("/")
    invalid = f'invalid config URL: "{url}"'
    if parts.scheme not in ("https", "http") or not parts.hostname:
        return invalid
    if len(steps) == 1 and steps[0]:
        return ""
    return "" if len(steps) == 2 and all(steps) else invalid


def secret_problem(wanted: str, secret: Json | None) -> str:
    """Reason why the controller cannot log in to GitHub with a Secret; empty if it can."""
    if secret is None:
        return f'failed to get kubernetes secret: secrets "{wanted}" not found'
    data: Mapping[str, Any] = at(secret, "data", {})
    if data.get(TOKEN_KEY):
        return ""
    missing = [key for key in APP_KEYS if not data.get(key)]
    if missing:
        return f"failed to get credentials from secret {wanted}: {', '.join(missing)} must be set"
    return ""


def listener(scale_set: Json, controller: Json) -> Json:
    """The listener Pod, which asks GitHub for jobs; it runs beside the controller, from the same image."""
    spec: Json = copy.deepcopy(at(scale_set, "spec.listenerTemplate.spec", {}))
    given: list[Json] = spec.pop("containers", [])
    own: Json = next((each for each in given if each.get("name") == "listener"), dict[str, Any]())
    image = str(at(controller, "spec.template.spec.containers", [{}])[0].get("image", ""))
    container: Json = {**own, "name": "listener", "image": image, "command": ["/ghalistener"]}
    # The listener scales the runners, so it runs with the controller's account, which has the rights.
    account = at(controller, "spec.template.spec.serviceAccountName", "default")
    metadata = {
        "name": f"{name(scale_set)}-{digest(at(scale_set, 'metadata.uid', ''), 8)}-listener",
        "namespace": at(controller, "metadata.namespace"),
        "labels": {**_labels(scale_set), COMPONENT: LISTENER},
    }
    pod: Json = {**spec, "serviceAccountName": account, "restartPolicy": "Never", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod}


def runner(scale_set: Json, number: int) -> Json:
    """A Pod for one job, from the scale set's template."""
    template: Json = copy.deepcopy(at(scale_set, "spec.template", {}))
    given: Json = template.get("metadata") or {}
    reference = {
        "apiVersion": scale_set["apiVersion"],
        "kind": scale_set["kind"],
        "name": name(scale_set),
        "uid": at(scale_set, "metadata.uid", ""),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "name": f"{name(scale_set)}-{digest(at(scale_set, 'metadata.uid', ''), 5)}-runner-{number:05d}",
        "namespace": at(scale_set, "metadata.namespace"),
        "labels": {**given.get("labels", {}), **_labels(scale_set), COMPONENT: RUNNER},
        # The model ends the Pod, and KWOK ignores it.
        "annotations": {**given.get("annotations", {}), RUN_BY: MODEL},
        "ownerReferences": [reference],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


@dataclass(frozen=True)
class Actions:
    """Actions of one round on a scale set's Pods. Each field has names of Pods, except `queued`."""

    create: int
    start: tuple[str, ...]
    """Names of the runners that start: they are registered at GitHub and wait for a job."""
    end: tuple[str, ...]
    """Names of the runners that end, because they have run their job."""
    delete: tuple[str, ...]
    queued: int
    """Number of jobs that still wait after this round."""


def actions(scale_set: Json, runners: list[Json]) -> Actions:
    """Pods to create, start, end and delete for a scale set.

    Each runner takes one job and ends. The scale set gets one runner for each job and `minRunners` idle runners, but at
    most `maxRunners` in total.
    """
    queued = queued_jobs(scale_set)
    live = [pod for pod in runners if at(pod, "status.phase") not in ("Succeeded", "Failed")]
    placed = [pod for pod in live if at(pod, "spec.nodeName")]
    taken = placed[:queued]
    idle = [pod for pod in placed[queued:] if at(pod, "status.phase") != "Running"]
    left = queued - len(taken)
    wanted = int(at(scale_set, "spec.minRunners", 0)) + left
    most = at(scale_set, "spec.maxRunners")
    wanted = wanted if most is None else min(wanted, int(most))
    kept = [pod for pod in live if pod not in taken]
    surplus = kept[wanted:]
    done = [pod for pod in runners if pod not in live]
    return Actions(
        create=max(0, wanted - len(kept)),
        start=tuple(name(pod) for pod in idle if pod not in surplus),
        end=tuple(map(name, taken)),
        delete=tuple(name(pod) for pod in [*done, *surplus]),
        queued=left,
    )


def queued_jobs(scale_set: Json) -> int:
    text = annotations_of(scale_set).get(QUEUED, "0")
    return int(text) if text.isdigit() else 0


def status(runners: list[Json]) -> Json:
    """The status of a scale set that has these runners."""
    phases = [str(at(pod, "status.phase", "Pending")) for pod in runners]
    return {
        "currentRunners": len(runners),
        "pendingEphemeralRunners": phases.count("Pending"),
        "runningEphemeralRunners": phases.count("Running"),
        "failedEphemeralRunners": phases.count("Failed"),
    }


def _labels(scale_set: Json) -> dict[str, str]:
    return {
        "app.kubernetes.io/part-of": "gha-runner-scale-set",
        names.SCALE_SET_LABEL: name(scale_set),
        "actions.github.com/scale-set-namespace": str(at(scale_set, "metadata.namespace")),
    }
