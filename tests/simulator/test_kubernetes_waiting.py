"""The Kubernetes stand-in waits until objects are ready or deleted, and reports what is missing."""

from __future__ import annotations

import threading
import uuid

import pytest

from simulator.kubernetes import Client, KubernetesOptions
from simulator.kubernetes.client import MERGE_PATCH
from simulator.kubernetes.provider import Kubernetes
from simulator.wire import NotReady, Refused
from tests.simulator.conftest import ApiServer
from tests.simulator.provider_requests import config_map, pod_spec, request


def test_a_deployment_without_a_node_gives_the_reason_and_remains_in_state(
    provider: Kubernetes, namespace: str
) -> None:
    make = request("apps/v1:Deployment", "web", timeout=1)
    inputs = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec(nodeSelector={"no": "such"})},
        },
    }
    with pytest.raises(NotReady) as problem:
        provider.create(make, inputs)
    assert problem.value.id == f"{namespace}/web"
    assert "'web' timed out waiting to be Ready" in problem.value.reasons[0]
    assert problem.value.reasons[-1] == "Minimum number of live Pods was not attained"

    inputs["spec"]["replicas"] = 0
    provider.update(
        request("apps/v1:Deployment", "web", id=problem.value.id), inputs, dict(problem.value.outputs), inputs
    )


def test_a_job_that_is_not_complete_is_replaced_where_it_requests_it(provider: Kubernetes, namespace: str) -> None:
    notes = {"pulumi.com/skipAwait": "true", "pulumi.com/replaceUnready": "true"}
    inputs = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "check", "namespace": namespace, "annotations": notes},
        "spec": {"template": {"spec": pod_spec(restartPolicy="Never", nodeSelector={"no": "such"})}},
    }
    make = request("batch/v1:Job", "check")
    _, state = provider.create(make, inputs)
    diff = provider.diff(make, inputs, state, inputs)
    assert [path for path in diff.changes if path in diff.replaces] == [
        'metadata.annotations["pulumi.com/replaceUnready"]'
    ]


def test_a_namespace_that_is_a_moment_late_is_waited_for(provider: Kubernetes, client: Client) -> None:
    name = f"late-{uuid.uuid4().hex[:6]}"
    late = threading.Timer(0.2, lambda: client.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}}))
    late.start()
    try:
        id, _ = provider.create(request(), config_map(name, a="1"))
    finally:
        late.join()
    assert id == f"{name}/settings"
    client.request("DELETE", f"/api/v1/namespaces/{name}")


def test_a_wait_ends_when_the_simulator_stops_and_the_object_is_kept(api_server: ApiServer, namespace: str) -> None:
    options = KubernetesOptions()
    stopped = Kubernetes(options)
    stopped.configure({"kubeconfig": api_server.kubeconfig})
    inputs = config_map(namespace, a="1")
    inputs["metadata"]["annotations"] = {"pulumi.com/waitFor": "condition=Never"}
    options.stopping.set()
    with pytest.raises(NotReady) as problem:
        stopped.create(request(), inputs)
    assert problem.value.id == f"{namespace}/settings"
    assert "was cancelled" in problem.value.reasons[0]


def test_skip_await_returns_at_once(provider: Kubernetes, namespace: str) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "disk", "namespace": namespace, "annotations": {"pulumi.com/skipAwait": "true"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    id, _ = provider.create(request("core/v1:PersistentVolumeClaim", "disk"), inputs)
    assert id == f"{namespace}/disk"


def test_wait_for_ends_with_its_time_or_with_the_value(provider: Kubernetes, client: Client, namespace: str) -> None:
    inputs = config_map(namespace, phase="starting")
    inputs["metadata"]["annotations"] = {
        "pulumi.com/waitFor": "jsonpath={.data.phase}=ready",
        "pulumi.com/timeoutSeconds": "1",
    }
    with pytest.raises(NotReady) as problem:
        provider.create(request(), inputs)
    assert problem.value.reasons[0].endswith(": timed out waiting for the condition")
    inputs["data"] = {"phase": "ready"}
    provider.update(request(id=problem.value.id), inputs, dict(problem.value.outputs), inputs)


def test_delete_names_the_finalizer_that_blocks(provider: Kubernetes, client: Client, namespace: str) -> None:
    inputs = config_map(namespace, a="1")
    inputs["metadata"]["finalizers"] = ["example.com/hold"]
    id, state = provider.create(request(), inputs)
    with pytest.raises(Refused, match=r"waiting for deletion of v1/ConfigMap .*example\.com/hold"):
        provider.delete(request(id=id, timeout=0.3), inputs, state)
    path = client.path("v1", "ConfigMap", namespace, "settings")
    client.patch(path, {"metadata": {"finalizers": None}}, MERGE_PATCH)
    provider.delete(request(id=id), inputs, state)
    assert client.find(path) is None


def test_a_namespace_that_is_not_deleted_in_time_is_an_error(provider: Kubernetes, client: Client) -> None:
    name = f"held-{uuid.uuid4().hex[:6]}"
    inputs = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    id, state = provider.create(request("core/v1:Namespace"), inputs)
    held = config_map(name, "kept")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    path = client.path("v1", "ConfigMap", name)
    client.request("POST", path, held)
    with pytest.raises(Refused, match=rf'waiting for deletion of v1/Namespace "{name}" \(finalizers: .*kubernetes'):
        provider.delete(request("core/v1:Namespace", id=id, timeout=0.3), inputs, state)
    client.patch(f"{path}/kept", {"metadata": {"finalizers": None}}, MERGE_PATCH)
