"""The stand-in in dialogues that Pulumi's own Kubernetes plugin had: it answers the same, or what is listed.

Where the plugin is on the machine, it is held against its recording, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.kubernetes import Client, KubernetesOptions, awaiting
from simulator.kubernetes.provider import Kubernetes
from simulator.kubernetes_plugin import installed
from simulator.tools import toolbox
from tests.simulator.conftest import ApiServer
from tests.simulator.plugin_answers import GENUINE, recorded, scene
from tests.simulator.plugin_dialogues import DIALOGUES
from tests.simulator.plugin_process import plugin_process
from tests.simulator.plugin_stack import Seen
from tests.support.waiting import LIMIT

STAND_IN = {"short": 1, "settled": 300}
"""Seconds: the stand-in does not let endpoints settle."""
RECORDED: Mapping[str, Any] = recorded()


class ControllersTime:
    """A clock that stands still while the controller manager has not observed a change of a namespace's workloads.

    A wait of a second then ends on a busy machine with the same reasons as on an idle one.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self._paths = [client.path("apps/v1", kind, namespace) for kind in ("Deployment", "StatefulSet")]
        self._client, self._last, self._stood = client, time.monotonic(), 0.0

    def monotonic(self) -> float:
        now = time.monotonic()
        if self._stood < LIMIT and any(map(_is_unobserved, self._workloads())):
            self._stood += now - self._last
        self._last = now
        return now - self._stood

    def _workloads(self) -> list[dict[str, Any]]:
        return [item for path in self._paths for item in self._client.get(path)["items"]]


def _is_unobserved(workload: Mapping[str, Any]) -> bool:
    return workload.get("status", {}).get("observedGeneration", 0) < workload["metadata"]["generation"]


def expected(name: str) -> list[Seen]:
    """What the plugin answered, with the stand-in's own answers at the places where they differ."""
    found: list[Seen] = list(RECORDED["answers"][name])
    for difference in RECORDED["differences"].get(name, ()):
        assert found[difference["answer"]] != difference["stand-in"], f"{name}: no difference any more"
        found[difference["answer"]] = difference["stand-in"]
    return found


def test_every_dialogue_is_recorded_and_every_difference_has_its_reason() -> None:
    assert set(RECORDED["answers"]) == set(DIALOGUES)
    assert set(RECORDED["differences"]) <= set(DIALOGUES)
    assert all(each["because"] for listed in RECORDED["differences"].values() for each in listed)
    assert {"source", "recorded"} <= set(RECORDED["plugin"])


SLOW = ("failed_release", "rolled_back", "release_of_others")
"""Left out of `make test`, where `test_helm_releases.py` has a release that fails and the run that repairs it."""


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.deep if each in SLOW else ()) for each in DIALOGUES]
)
def test_the_stand_in_answers_as_recorded(
    name: str, api_server: ApiServer, users_tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helm = str(toolbox(users_tools).path("helm"))
    provider = Kubernetes(KubernetesOptions(helm=helm, working_directory=tmp_path))
    provider.configure({"kubeconfig": api_server.kubeconfig})
    with scene(provider, api_server.kubeconfig, tmp_path, helm, STAND_IN) as place:
        controllers = ControllersTime(place.client, place.namespace)
        monkeypatch.setattr(awaiting, "time", SimpleNamespace(monotonic=controllers.monotonic))
        assert DIALOGUES[name](place) == expected(name)


@pytest.mark.deep  # in `make test`: the stand-in against the same recording, above
@pytest.mark.parametrize("name", list(DIALOGUES))
def test_the_plugin_answers_as_recorded(name: str, api_server: ApiServer, users_tools: Path, tmp_path: Path) -> None:
    plugin = installed(os.environ)
    if plugin is None:
        pytest.skip("Pulumi's own Kubernetes plugin is not on this machine")
    helm = toolbox(users_tools).path("helm")
    with (
        plugin_process(plugin, api_server.kubeconfig, tmp_path, helm.parent) as provider,
        scene(provider, api_server.kubeconfig, tmp_path, str(helm), GENUINE) as place,
    ):
        assert DIALOGUES[name](place) == RECORDED["answers"][name]
