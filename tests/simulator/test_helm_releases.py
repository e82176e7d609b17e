"""Helm releases of the Kubernetes stand-in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.cluster.definitions import definition
from simulator.kubernetes import Client, KubernetesOptions
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.kubernetes.provider import Kubernetes
from simulator.tools import toolbox
from simulator.wire import UNKNOWN, NotReady, Refused
from tests.simulator.conftest import ApiServer
from tests.simulator.provider_requests import request
from tests.support.waiting import until


@pytest.fixture(scope="session")
def helm(users_tools: Path) -> str:
    return str(toolbox(users_tools).path("helm"))


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "greeting"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: greeting\nversion: 1.2.3\nappVersion: '9'\n")
    (folder / "values.yaml").write_text("word: hello\nbroken: false\n")
    (folder / "values.schema.json").write_text(
        json.dumps(
            {
                "type": "object",
                "properties": {"word": {"type": "string"}, "broken": {"type": "boolean"}},
                "additionalProperties": False,
            }
        )
    )
    (folder / "templates" / "objects.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  word: {{ .Values.word }}\n"
        "{{- if .Values.broken }}\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: never\nspec:\n"
        "  nodeSelector: {no: such}\n  containers: [{name: a, image: a}]\n{{- end }}\n"
    )
    return folder


@pytest.fixture
def helm_provider(api_server: ApiServer, helm: str, tmp_path: Path) -> Kubernetes:
    made = Kubernetes(KubernetesOptions(helm=helm, working_directory=tmp_path))
    made.configure({"kubeconfig": api_server.kubeconfig})
    return made


RELEASE = "helm.sh/v3:Release"
OURS = {"made-by": "hand"}


def test_a_release_is_installed_upgraded_read_and_uninstalled(
    helm_provider: Kubernetes, client: Client, namespace: str, chart: Path
) -> None:
    wanted = {"chart": "./greeting", "name": "hi", "namespace": namespace, "atomic": False}
    first, failures = helm_provider.check(request(RELEASE), {}, wanted)
    assert failures == []
    assert first["resourceNames"] == {"ConfigMap/v1": ["hi"]}
    _, preview = helm_provider.create(request(RELEASE, preview=True), first)
    assert preview["status"] is UNKNOWN

    id, state = helm_provider.create(request(RELEASE), first)
    assert state["status"]["status"] == "deployed"
    assert state["status"]["version"] == "1.2.3"
    assert helm_provider.diff(request(RELEASE), first, state, first).changes == {}

    second, _ = helm_provider.check(request(RELEASE), first, {**wanted, "values": {"word": "bonjour"}})
    changed = helm_provider.diff(request(RELEASE), first, state, second).changes
    assert set(changed) == {"values.word"}
    state = helm_provider.update(request(RELEASE, id=id), first, state, second)
    assert state["status"]["revision"] == 2
    path = client.path("v1", "ConfigMap", namespace, "hi")
    assert client.get(path)["data"] == {"word": "bonjour"}

    _, _, shown = helm_provider.read(request(RELEASE, id=id), state, second)
    assert shown["values"] == {"word": "bonjour"}
    with pytest.raises(Refused, match="cannot re-use a name that is still in use"):
        helm_provider.create(request(RELEASE), first)
    helm_provider.delete(request(RELEASE, id=id), second, state)
    assert client.find(path) is None
    assert helm_provider.read(request(RELEASE, id=id), state, second) == ("", {}, {})
    with pytest.raises(Refused, match="release: not found"):
        helm_provider.delete(request(RELEASE, id=id), second, state)


def test_values_the_chart_does_not_know_fail_the_check(helm_provider: Kubernetes, namespace: str, chart: Path) -> None:
    wanted = {"chart": "./greeting", "name": "hi", "namespace": namespace, "values": {"wrod": "typo"}}
    _, failures = helm_provider.check(request(RELEASE), {}, wanted)
    assert "wrod" in failures[0].reason
    assert "check the chart name and repository configuration" in failures[0].reason


def test_a_release_that_does_not_become_ready_is_kept_and_the_next_run_fixes_it(
    helm_provider: Kubernetes, namespace: str, chart: Path
) -> None:
    wanted = {"chart": "./greeting", "name": "hi", "namespace": namespace, "values": {"broken": True}, "timeout": 1}
    first, _ = helm_provider.check(request(RELEASE), {}, wanted)
    with pytest.raises(NotReady) as problem:
        helm_provider.create(request(RELEASE), first)
    assert problem.value.outputs["status"]["status"] == "failed"
    assert "failed to initialize completely" in problem.value.reasons[0]
    id, shown, kept = helm_provider.read(request(RELEASE, id=problem.value.id), dict(problem.value.outputs), first)
    assert (id, shown["status"]["status"], kept) == (problem.value.id, "failed", first), "a refresh reports no failure"
    assert helm_provider.diff(request(RELEASE), kept, shown, first).changes == {}

    second, _ = helm_provider.check(request(RELEASE), first, {**wanted, "values": {"broken": False}, "timeout": 30})
    state = helm_provider.update(request(RELEASE, id=problem.value.id), first, dict(problem.value.outputs), second)
    assert state["status"]["status"] == "deployed"


def test_what_a_chart_defines_is_there_for_its_templates_and_what_exists_stays(
    helm_provider: Kubernetes, client: Client, namespace: str, chart: Path
) -> None:
    group = f"{namespace}.example.com"
    (chart / "crds").mkdir()
    for kind, plural in (("Cup", "cups"), ("Pot", "pots")):
        made = definition(group, "v1", kind, plural, {"type": "object"})
        if kind == "Pot":
            client.request("POST", DEFINITIONS, {**made, "metadata": {"name": f"{plural}.{group}", "labels": OURS}})
        (chart / "crds" / f"{plural}.yaml").write_text(json.dumps(made))
    (chart / "templates" / "cup.yaml").write_text(f"apiVersion: {group}/v1\nkind: Cup\nmetadata: {{name: tea}}\n")
    wanted = {"chart": "./greeting", "name": "hi", "namespace": namespace}
    first, _ = helm_provider.check(request(RELEASE), {}, wanted)
    state = helm_provider.create(request(RELEASE), first)[1]
    assert state["status"]["status"] == "deployed"
    assert client.get(f"/apis/{group}/v1/namespaces/{namespace}/cups/tea")["kind"] == "Cup"
    managers = [each["manager"] for each in client.get(f"{DEFINITIONS}/cups.{group}")["metadata"]["managedFields"]]
    assert "helm" in managers
    assert client.get(f"{DEFINITIONS}/pots.{group}")["metadata"]["labels"] == OURS

    client.request("DELETE", f"{DEFINITIONS}/cups.{group}")
    with pytest.raises(Refused, match="cannot re-use a name"):
        helm_provider.create(request(RELEASE), first)
    until(lambda: client.find(f"{DEFINITIONS}/cups.{group}") is None, "a refused release brings no definition")


def test_a_chart_by_its_upstream_name_comes_from_the_chart_source(
    api_server: ApiServer, helm: str, namespace: str, chart: Path
) -> None:
    asked: list[tuple[str, str, str]] = []

    def source(name: str, version: str, repository: str) -> Path | None:
        asked.append((name, version, repository))
        return chart

    mapped = Kubernetes(KubernetesOptions(helm=helm, chart_source=source))
    mapped.configure({"kubeconfig": api_server.kubeconfig})
    wanted = {
        "chart": "gpu-operator",
        "version": "v26.7.1",
        "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
        "name": "hi",
        "namespace": namespace,
    }
    _, failures = mapped.check(request(RELEASE), {}, wanted)
    assert failures == []
    assert asked == [("gpu-operator", "v26.7.1", "https://helm.ngc.nvidia.com/nvidia")]
