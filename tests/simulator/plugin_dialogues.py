"""What users do with one object or release, on a provider that is the stand-in or Pulumi's own plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cluster.definitions import definition
from simulator.kubernetes import Client
from simulator.kubernetes.client import MERGE_PATCH
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.wire import Provider
from tests.simulator.plugin_stack import OneResource, Seen
from tests.simulator.provider_requests import pod_spec
from tests.support.waiting import until

NODE = "example.com/dialogue"
"""Label of a dialogue's node, with its namespace."""
NOWHERE = {"no": "such"}
"""The node selector of a Pod that no node takes."""


@dataclass(frozen=True)
class Scene:
    """One dialogue's place: a namespace of its own, and a folder for charts.

    `short` is how many seconds a wait takes that ends without success, `settled` one that has to see the endpoints.
    """

    provider: Provider
    client: Client
    namespace: str
    folder: Path
    helm: Callable[..., object]
    short: int
    settled: int

    def resource(self, type: str, timeout: float = 0) -> OneResource:
        hide = {self.namespace: "NAMESPACE", str(self.folder): "FOLDER"}
        return OneResource(self.provider, type, hide, timeout)

    def object(self, api_version: str, kind: str, name: str = "thing", **fields: Any) -> dict[str, Any]:
        held = {"name": name, "namespace": self.namespace, **fields.pop("metadata", {})}
        return {"apiVersion": api_version, "kind": kind, "metadata": held, **fields}

    def edit(self, obj: Mapping[str, Any], change: Mapping[str, Any], manager: str) -> None:
        """As `kubectl` edits: an Update of a manager of its name."""
        path = self.client.path(obj["apiVersion"], obj["kind"], self.namespace, obj["metadata"]["name"])
        self.client.patch(path, dict(change), MERGE_PATCH, {"fieldManager": manager})

    def chart(self, version: str, text: str) -> str:
        """Makes a chart of one template, and returns its path."""
        folder = self.folder / version / "greeting"
        (folder / "templates").mkdir(parents=True)
        (folder / "Chart.yaml").write_text(f"apiVersion: v2\nname: greeting\nversion: {version}\n")
        (folder / "values.yaml").write_text("word: hello\nstuck: false\n")
        (folder / "templates" / "all.yaml").write_text(text)
        return str(folder)


Dialogue = Callable[[Scene], list[Seen]]


def secret(scene: Scene) -> list[Seen]:
    one, other = (scene.object("v1", "Secret", stringData={"word": word}) for word in ("one", "two"))
    thing = scene.resource("core/v1:Secret")
    return [thing.up(one), {"inputs": sorted(thing.inputs)}, thing.preview(one), thing.preview(other), thing.refresh()]


@contextmanager
def cups(scene: Scene) -> Iterator[str]:
    """A kind `Cup` with a group of its own; gives its apiVersion."""
    group = f"{scene.namespace}.example.com"
    sizes = {"size": {"type": "integer"}, "with": {"type": "object"}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": sizes}}}
    scene.client.request("POST", DEFINITIONS, definition(group, "v1", "Cup", "cups", schema))
    path = f"/apis/{group}/v1/namespaces/{scene.namespace}/cups"
    until(lambda: scene.client.find(path) is not None, "cups are not served")
    yield f"{group}/v1"
    scene.client.request("DELETE", f"{DEFINITIONS}/cups.{group}")


def empty_labels(scene: Scene) -> list[Seen]:
    """`labels: {}` of a ConfigMap, and of an object whose kind a CRD brings; there also `{}` in its `spec`."""
    with cups(scene) as version:
        cup = scene.resource(f"{version}:Cup")
        labelled = scene.object(version, "Cup", metadata={"labels": {}}, spec={"with": {}})
        found = [cup.up(labelled), cup.preview(labelled), cup.refresh(), cup.preview(labelled)]
    settings = scene.resource("core/v1:ConfigMap")
    program = scene.object("v1", "ConfigMap", metadata={"labels": {}}, data={"a": "1"})
    return [*found, settings.up(program), settings.preview(program)]


def paths(scene: Scene) -> list[Seen]:
    """How keys are written."""
    keys = ("a-b", "a.b", "a_b")
    thing = scene.resource("core/v1:ConfigMap")
    thing.up(scene.object("v1", "ConfigMap", data=dict.fromkeys(keys, "1")))
    return [thing.preview(scene.object("v1", "ConfigMap", data=dict.fromkeys(keys, "2")))]


def quantities(scene: Scene) -> list[Seen]:
    thing = scene.resource("core/v1:LimitRange")

    def limits(cpu: str) -> dict[str, Any]:
        return scene.object("v1", "LimitRange", spec={"limits": [{"type": "Pod", "max": {"cpu": cpu}}]})

    return [thing.up(limits("1000m")), thing.preview(limits("1")), thing.preview(limits("2")), thing.refresh()]


CHART = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {word: {{ .Values.word }}}
"""
STUCK = """\
{{- if .Values.stuck }}
---
apiVersion: v1
kind: Pod
metadata: {name: {{ .Release.Name }}-never}
spec: {nodeSelector: {no: such}, containers: [{name: a, image: a}]}
{{- end }}
"""


def failed_release(scene: Scene) -> list[Seen]:
    """An upgrade that never becomes ready, a refresh, and what the next runs do; then a way back."""
    good = scene.chart("1.1.0", CHART + STUCK)
    bad = scene.chart("1.2.0", CHART + STUCK.replace(".Values.stuck", "true"))
    thing = scene.resource("helm.sh/v3:Release")
    base = {"name": "hi", "namespace": scene.namespace, "timeout": scene.short, "values": {"word": "two"}}
    old, new = {**base, "chart": good}, {**base, "chart": bad}
    added, changed = ({**old, "values": values} for values in ({"word": "two", "stuck": True}, {"word": "three"}))
    found = [thing.up(old), thing.preview(old), thing.preview(added), thing.preview(changed)]
    found += [thing.up(new), thing.preview(new), thing.refresh(), thing.preview(new), thing.up(new), thing.preview(old)]
    return [*found, thing.up(old), thing.up(added), thing.preview(added), thing.refresh(), thing.up(added)]


def rolled_back(scene: Scene) -> list[Seen]:
    """A failed upgrade that added a value, `helm rollback`, and what a run does without a refresh, and after one."""
    thing = scene.resource("helm.sh/v3:Release")
    old = {
        "name": "hi",
        "namespace": scene.namespace,
        "timeout": scene.short,
        "chart": scene.chart("1.1.0", CHART + STUCK),
        "values": {"word": "two"},
    }
    added = {**old, "values": {"word": "two", "stuck": True}}
    changed = {**old, "values": {"word": "three", "stuck": True}}
    found = [thing.up(old), thing.up(changed)]
    scene.helm("rollback", "hi", "--namespace", scene.namespace)
    return [*found, thing.preview(changed), thing.refresh(), thing.preview(changed), thing.preview(added)]


def release_of_others(scene: Scene) -> list[Seen]:
    """Names that are in use, and a release that somebody uninstalled."""
    program = {"name": "hi", "namespace": scene.namespace, "chart": scene.chart("1.1.0", CHART), "timeout": 30}
    thing, other = scene.resource("helm.sh/v3:Release"), scene.resource("helm.sh/v3:Release")
    found = [thing.up(program), other.up(program)]
    scene.helm("uninstall", "hi", "--namespace", scene.namespace, "--wait")
    return [*found, thing.up({**program, "values": {"word": "two"}}), thing.refresh()]


def deployment(scene: Scene, replicas: int = 1, **spec: Any) -> dict[str, Any]:
    """Its Pods run on the dialogue's node, unless `spec` says otherwise."""
    pod = pod_spec(**{"nodeSelector": {NODE: scene.namespace}, "terminationGracePeriodSeconds": 0, **spec})
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod}
    whole = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return scene.object("apps/v1", "Deployment", "web", spec=whole)


def update_not_ready(scene: Scene) -> list[Seen]:
    """A change after which no Pod can run: previews before and after a refresh, and a way back.

    Of a StatefulSet: the plugin can take a Deployment's update for complete before its new Pods exist.
    """
    thing = scene.resource("apps/v1:StatefulSet", timeout=scene.settled)
    old, new = stateful_set_on(scene, {NODE: scene.namespace}), stateful_set_on(scene, NOWHERE)
    found = [thing.up(old)]
    thing.timeout = scene.short
    found += [thing.up(new), thing.preview(new), thing.preview(old), thing.refresh(), thing.preview(new)]
    return [*found, thing.preview(old)]


def new_deployment_not_ready(scene: Scene) -> list[Seen]:
    thing, program = scene.resource("apps/v1:Deployment", scene.short), deployment(scene, nodeSelector=NOWHERE)
    return [thing.up(program), thing.refresh(), thing.preview(program)]


def job(scene: Scene) -> list[Seen]:
    """A Job whose Pod has no node."""
    thing = scene.resource("batch/v1:Job", timeout=scene.short)
    spec = {"template": {"spec": pod_spec(restartPolicy="Never", nodeSelector=NOWHERE)}}
    return [thing.up(scene.object("batch/v1", "Job", spec=spec)), thing.refresh()]


def stateful_set_on(scene: Scene, selector: Mapping[str, str]) -> dict[str, Any]:
    pod = pod_spec(nodeSelector=dict(selector), terminationGracePeriodSeconds=0)
    template = {"metadata": {"labels": {"app": "db"}}, "spec": pod}
    spec = {"serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
    return scene.object("apps/v1", "StatefulSet", spec=spec)


def stateful_set(scene: Scene) -> list[Seen]:
    thing = scene.resource("apps/v1:StatefulSet", timeout=scene.short)
    return [thing.up(stateful_set_on(scene, NOWHERE)), thing.refresh()]


def pod(scene: Scene) -> list[Seen]:
    thing = scene.resource("core/v1:Pod", timeout=scene.short)
    return [thing.up(scene.object("v1", "Pod", spec=pod_spec(nodeSelector=NOWHERE))), thing.refresh()]


def claim(scene: Scene) -> list[Seen]:
    """A claim that nothing binds, without a wait: only a create waits for it."""
    thing = scene.resource("core/v1:PersistentVolumeClaim")
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    held = {"annotations": {"pulumi.com/skipAwait": "true"}}
    program = scene.object("v1", "PersistentVolumeClaim", metadata=held, spec=spec)
    return [thing.up(program), thing.refresh(), thing.preview(program)]


def wait_for(scene: Scene) -> list[Seen]:
    """An annotation that never holds: in the deployment, and in a refresh."""
    thing = scene.resource("core/v1:ConfigMap", timeout=scene.short)
    held = {"annotations": {"pulumi.com/waitFor": "jsonpath={.data.phase}=ready"}}
    program = scene.object("v1", "ConfigMap", metadata=held, data={"phase": "starting"})
    return [thing.up(program), thing.preview(program), thing.refresh(), thing.preview(program)]


def service(scene: Scene) -> list[Seen]:
    """One that selects no Pod."""
    thing = scene.resource("core/v1:Service", timeout=scene.settled)
    program = scene.object("v1", "Service", spec={"selector": {"app": "nobody"}, "ports": [{"port": 80}]})
    return [thing.up(program), thing.refresh(), thing.preview(program)]


def quota(scene: Scene, gpus: str) -> dict[str, Any]:
    return scene.object("v1", "ResourceQuota", spec={"hard": {"requests.nvidia.com/gpu": gpus}})


def counted(scene: Scene, obj: Mapping[str, Any]) -> bool:
    """Returns true once the status of a quota has its limits: a write of the controller between a read and a write of
    the plugin is a conflict.
    """
    live = scene.client.get(scene.client.path("v1", "ResourceQuota", scene.namespace, obj["metadata"]["name"]))
    return live.get("status", {}).get("hard") == live["spec"]["hard"]


def edited_with_kubectl(scene: Scene) -> list[Seen]:
    """A hand edit of an object that no run has updated yet, and one after its correction."""
    thing, wanted = scene.resource("core/v1:ResourceQuota"), quota(scene, "8")
    found = [thing.up(wanted)]
    for gpus in ("77", "78"):
        scene.edit(wanted, {"spec": {"hard": {"requests.nvidia.com/gpu": gpus}}}, "kubectl-patch")
        until(lambda: counted(scene, wanted), "no controller has counted against the edited quota")
        found += [thing.refresh(), thing.preview(wanted), thing.up(wanted), thing.preview(wanted)]
    return found


def edited_by_others(scene: Scene) -> list[Seen]:
    """A field that another controller has taken: a conflict for `up`, too."""
    thing, old = scene.resource("apps/v1:Deployment"), deployment(scene, replicas=0)
    found = [thing.up(old), thing.up(deployment(scene, replicas=0, hostname="a"))]
    scene.edit(old, {"spec": {"revisionHistoryLimit": 3}}, "someone")
    changed = deployment(scene, replicas=0, hostname="a")
    changed["spec"] = {**changed["spec"], "revisionHistoryLimit": 5}
    return [*found, thing.preview(changed), thing.up(changed), thing.preview(changed)]


def misspelt(scene: Scene) -> list[Seen]:
    """A field that the kind does not have, in a new object and in an update."""
    thing = scene.resource("apps/v1:Deployment")
    wrong = deployment(scene, replicas=0)
    wrong["spec"] = {**wrong["spec"], "selektor": {}}
    again = {**wrong, "spec": {**wrong["spec"], "minReadySeconds": 1}}
    return [thing.preview(wrong), thing.up(wrong), thing.preview(wrong), thing.preview(again), thing.up(again)]


def misspelt_custom_object(scene: Scene) -> list[Seen]:
    """The same of a kind that a CRD brings."""
    with cups(scene) as version:
        thing = scene.resource(f"{version}:Cup")
        wrong = scene.object(version, "Cup", spec={"size": 1, "syze": 2})
        again = scene.object(version, "Cup", spec={"size": 2, "syze": 2})
        return [thing.preview(wrong), thing.up(wrong), thing.preview(wrong), thing.preview(again), thing.up(again)]


def existing(scene: Scene) -> list[Seen]:
    """An object that exists already, one that is gone, and one that nothing lets go of."""
    program = scene.object("v1", "ConfigMap", data={"a": "1"})
    thing, other = scene.resource("core/v1:ConfigMap", timeout=scene.short), scene.resource("core/v1:ConfigMap")
    found = [thing.up(program), other.preview(program), other.up(program)]
    scene.edit(program, {"metadata": {"finalizers": ["example.com/hold"]}}, "someone")
    found += [thing.destroy()]
    scene.edit(program, {"metadata": {"finalizers": None}}, "someone")
    return [*found, thing.refresh()]


def invalid(scene: Scene) -> list[Seen]:
    """What the API server refuses, in a preview and in the deployment."""
    thing = scene.resource("core/v1:ConfigMap")
    wrong = scene.object("v1", "ConfigMap", "No_Name", data={"a": "1"})
    return [thing.preview(wrong), thing.up(wrong)]


DIALOGUES: dict[str, Dialogue] = {
    each.__name__: each
    for each in (
        secret,
        empty_labels,
        paths,
        quantities,
        failed_release,
        rolled_back,
        release_of_others,
        update_not_ready,
        new_deployment_not_ready,
        job,
        stateful_set,
        pod,
        claim,
        wait_for,
        service,
        edited_with_kubectl,
        edited_by_others,
        misspelt,
        misspelt_custom_object,
        existing,
        invalid,
    )
}
