"""The Actions Runner Controller on a live cluster."""

from __future__ import annotations

import logging

from simulator.cluster.loop import Loop
from simulator.cluster.objects import Json, at, is_terminating, labels, name, timestamp
from simulator.cluster.pods import ended
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import MERGE_PATCH, ApiError, Client
from simulator.runners import model, names

log = logging.getLogger("runners")
SCALE_SETS = "/apis/actions.github.com/v1alpha1/autoscalingrunnersets"
_PLACED = "/apis/actions.github.com/v1alpha1/namespaces/{}/autoscalingrunnersets/{}"
PART_OF = ",".join(f"{key}={value}" for key, value in names.PART_OF.items())
RETRY_SECONDS = 0.5
"""Seconds until the controller tries again to log in for a scale set; the real controller waits longer after each
failure.
"""


class RunnerController:
    """Simulates the Actions Runner Controller while the controller's Deployment is available, in the namespace that the
    controller watches.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.loop = Loop("runners", self.round)
        self._controllers = Watch(client, "/apis/apps/v1/deployments", self.loop.wake, PART_OF)
        self._watches: tuple[Watch, Watch] | None = None
        self._number = 0
        self._refused: dict[str, str] = {}

    def round(self) -> float | None:
        """Serves all scale sets once. Returns None, or the seconds until the next round if the controller could not log
        in for a scale set.
        """
        found = [each for each in self._controllers.all() if int(at(each, "status.availableReplicas", 0)) > 0]
        if not found:
            return None
        if self._watches is None:
            pods = Watch(self._client, "/api/v1/pods", self.loop.wake, names.SCALE_SET_LABEL)
            self._watches = Watch(self._client, SCALE_SETS, self.loop.wake), pods
        scale_sets, pods = self._watches
        watched = labels(found[0]).get("actions.github.com/controller-watch-single-namespace")
        live = [each for each in scale_sets.all() if not is_terminating(each)]
        ours = [each for each in live if watched in (None, at(each, "metadata.namespace"))]
        accepted = [self._serve(each, found[0], pods) for each in ours]
        self._remove_listeners(ours, pods)
        return None if all(accepted) else RETRY_SECONDS

    def _serve(self, scale_set: Json, controller: Json, pods: Watch) -> bool:
        mine = [pod for pod in pods.all() if _is_of(pod, scale_set) and not is_terminating(pod)]
        why = self._refusal(scale_set)
        if why:
            if self._refused.get(name(scale_set)) != why:
                log.warning("%s: %s", name(scale_set), why)
            self._refused[name(scale_set)] = why
            return False
        self._refused.pop(name(scale_set), None)
        if not any(_component(pod) == model.LISTENER for pod in mine):
            self._create(model.listener(scale_set, controller), pods)
        self._run(scale_set, [pod for pod in mine if _component(pod) == model.RUNNER], pods)
        return True

    def _refusal(self, scale_set: Json) -> str:
        if problem := model.url_problem(str(at(scale_set, "spec.githubConfigUrl", ""))):
            return problem
        wanted = str(at(scale_set, "spec.githubConfigSecret", ""))
        found = self._client.find(f"/api/v1/namespaces/{at(scale_set, 'metadata.namespace')}/secrets/{wanted}")
        return model.secret_problem(wanted, found)

    def _run(self, scale_set: Json, runners: list[Json], pods: Watch) -> None:
        step, by_name = model.actions(scale_set, runners), {name(pod): pod for pod in runners}
        if step.queued != model.queued_jobs(scale_set):
            self._patch(scale_set, {"metadata": {"annotations": {model.QUEUED: str(step.queued)}}})
        for key in step.start:
            self._report(by_name[key], {"phase": "Running", "startTime": timestamp()}, pods)
        for key in step.end:
            self._report(by_name[key], ended(by_name[key]), pods)
        for key in step.delete:
            self._delete(by_name[key], pods)
        for _ in range(step.create):
            self._number += 1
            self._create(model.runner(scale_set, self._number), pods)
        left = [pod for pod in pods.all() if _is_of(pod, scale_set) and _component(pod) == model.RUNNER]
        wanted = model.status([pod for pod in left if not is_terminating(pod)])
        if wanted != at(scale_set, "status", {}):
            self._patch(scale_set, {"status": wanted}, "/status")

    def _remove_listeners(self, ours: list[Json], pods: Watch) -> None:
        """Removes the listeners of scale sets that no longer exist; garbage collection removes the runners of these
        scale sets.
        """
        for pod in pods.all():
            is_listener = _component(pod) == model.LISTENER and not is_terminating(pod)
            if is_listener and not any(_is_of(pod, each) for each in ours):
                self._delete(pod, pods)

    def _create(self, pod: Json, pods: Watch) -> None:
        try:
            pods.put(self._client.request("POST", f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", pod))
        except ApiError as refusal:
            log.warning("%s: %s", name(pod), refusal)

    def _report(self, pod: Json, status: Json, pods: Watch) -> None:
        try:
            pods.put(self._client.patch(f"{_path(pod)}/status", {"status": status}, MERGE_PATCH))
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise

    def _delete(self, pod: Json, pods: Watch) -> None:
        try:
            self._client.request("DELETE", _path(pod), params={"gracePeriodSeconds": "0"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise
        pods.forget(pod)

    def _patch(self, scale_set: Json, body: Json, sub: str = "") -> None:
        path = _PLACED.format(at(scale_set, "metadata.namespace"), name(scale_set))
        try:
            self._client.patch(f"{path}{sub}", body, MERGE_PATCH)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise


def _path(pod: Json) -> str:
    return f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{name(pod)}"


def _component(pod: Json) -> str:
    return labels(pod).get(model.COMPONENT, "")


def _is_of(pod: Json, scale_set: Json) -> bool:
    found, wanted = labels(pod), (name(scale_set), str(at(scale_set, "metadata.namespace")))
    return (found.get(names.SCALE_SET_LABEL), found.get("actions.github.com/scale-set-namespace")) == wanted
