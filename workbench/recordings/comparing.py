"""Comparison of a recorded cluster with the recording of a simulated one, to find what the simulator and the catalogue
assume wrongly.

Each difference names the file that contains the wrong assumption. Values that differ between any two clusters are left
out: names and ids, which a recording replaces, times, and states of operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.catalog.azure_native import TypeMapping, mappings
from physical_ai.catalog.seen import NOTHING
from physical_ai.catalog.system_namespaces import KUBERNETES_NAMESPACES
from physical_ai.catalog.timings import GPU_GATE, timing
from physical_ai.kubernetes.objects import at, labels, name, namespace
from physical_ai.nested import mappings as mappings_in
from physical_ai.readiness.objects import pool_of
from workbench.recordings import addresses
from workbench.recordings.collecting import GUID
from workbench.recordings.durations import durations
from workbench.recordings.reading import Recording

ABSENT = NOTHING
SIZES, IMAGES = "physical_ai/catalog/data/vm_sizes.yaml", "physical_ai/catalog/data/gpu/node_images.yaml"
NODES, RESERVED = "simulator/azure/nodes.py", "simulator/azure/reservations.py"
TOLERATED, FILLED = "physical_ai/catalog/data/tolerated_differences.yaml", "simulator/azure/outputs.py"
CHARTS, VERSION = "simulator/charts/data", "physical_ai/catalog/data/kubernetes.yaml"
STACK = "the stack's settings"
TIMINGS = "physical_ai/catalog/data/timings.yaml"
NODE_STEPS = "physical_ai/catalog/data/node_steps.yaml"
INSTANCE = "node.kubernetes.io/instance-type"
WORKLOADS = ("deployments", "daemonsets", "statefulsets", "cronjobs")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CHANGES = re.compile(r"(^|\.)(etag|eTag|provisioningState|systemData|resourceGuid|createdAt|createdDate|timeCreated"
                     r"|creationTime|modifiedDate|lastModified\w*|powerState|status|state|currentOrchestratorVersion"
                     r"|nodeImageVersion)($|[.\[])|(^|\.)id$|\.count$|^(name|type)$")  # fmt: skip
"""Paths in ARM bodies that are not compared: their values change from day to day, or name the resource."""
OWN_LABELS = re.compile(r"^(kubernetes\.io/hostname|.*topology.*/(zone|region)|failure-domain.*|.*/node-image-version"
                        r"|kubernetes\.azure\.com/(cluster|kubelet-identity-client-id|nodeset.*)|nvidia\.com/.*|feature\.node.*"
                        r"|.*/gpu-driver.*|physical-ai/.*)$")  # fmt: skip
"""Node labels that are not compared: they identify the node or cluster, or are set by workloads or by this project."""
REPLACED = re.compile(r"\b(?:host-|user-|name|h)\d{4,}(?:[.@][\w.-]+)?|(?<=-)1000\d{4}(?=-vmss)")


@dataclass(frozen=True, order=True)
class Difference:
    """One value that differs between the recorded cluster (`seen`) and the simulated cluster (`believed`). `home`: the
    file with the wrong assumption.
    """

    about: str
    """Kind of the subject: `size`, `node`, `azure`, `object`, `definition` or `version`."""
    subject: str
    """Subject of the value: a VM size, a pool, an ARM type with a resource's name, a workload, a CRD, or
    `Kubernetes`.
    """
    path: str
    believed: Any
    seen: Any
    home: str

    def document(self) -> dict[str, Any]:
        """The difference as JSON data."""
        return {key: getattr(self, key) for key in ("about", "subject", "path", "believed", "seen", "home")}


def differences(seen: Recording, believed: Recording) -> list[Difference]:
    """Differences between the recordings of a real cluster (`seen`) and of a simulated cluster (`believed`), sorted by
    kind and subject.
    """
    pairs = ((_sizes, "size"), (_nodes, "node"), (_bodies, "azure"), (_workloads, "object"),
             (_definitions, "definition"), (_version, "version"))  # fmt: skip
    found: list[Difference] = []
    for facts_of, about in pairs:
        one, other = facts_of(seen), facts_of(believed)
        # A size, pool or resource that only one of the recordings has shows no wrong assumption.
        shared = one.keys() & other.keys() if about in ("size", "node", "azure") else one.keys() | other.keys()
        for subject in sorted(shared):
            found += _of_subject(about, subject, one.get(subject, {}), other.get(subject, {}))
    return found if seen.simulated else [*found, *_timings(seen)]


def _timings(seen: Recording) -> Iterator[Difference]:
    """Durations in a real cluster that are shorter or longer than the catalogue's usual time. Durations of a simulated
    cluster are not used.
    """
    for kind, (shortest, longest) in sorted(durations(seen).items()):
        usual = timing(kind).minutes
        if shortest < usual[0] or longest > usual[1]:
            home = NODE_STEPS if kind == GPU_GATE else TIMINGS
            yield Difference("timing", kind, "minutes", list(usual), [shortest, longest], home)


Facts = Mapping[str, Mapping[str, Any]]
"""Values of one recording that are compared, by subject (such as a VM size or a pool), and by the value's path."""


def _of_subject(about: str, subject: str, seen: Mapping[str, Any], believed: Mapping[str, Any]) -> Iterator[Difference]:
    for path in sorted(seen.keys() | believed.keys()):
        first, second = seen.get(path, ABSENT), believed.get(path, ABSENT)
        if first != second:
            yield Difference(about, subject, path, second, first, _home(about, subject, path, second))


def _home(about: str, subject: str, path: str, believed: Any) -> str:
    if about == "azure":
        return _home_of_body(subject.partition(" ")[0], path, believed)
    if about == "size":
        if path in ("capacity.cpu", "capacity.nvidia.com/gpu"):
            return SIZES
        return RESERVED if path.startswith("allocatable") else NODES
    if about == "node":
        return IMAGES if path.startswith("nodeInfo") else NODES
    return {"object": CHARTS, "definition": CHARTS, "version": VERSION}[about]


def _home_of_body(arm_type: str, path: str, believed: Any) -> str:
    """File to change because of a difference in an ARM body.

    The file is the list of tolerated differences if only the real cluster has the property and the property is an input
    of the resource, because a refresh would report the property as drift. Otherwise the file is the list of the
    simulator's outputs.
    """
    if believed != ABSENT:
        return FILLED
    mapping = next((each for each in mappings().values() if each.arm_type.lower() == arm_type.lower()), None)
    return TOLERATED if mapping is not None and _is_input(mapping, path) else FILLED


def _is_input(mapping: TypeMapping, path: str) -> bool:
    plain = re.sub(r"\[\d*\]", "", path)
    return any(plain == given or plain.startswith(f"{given}.") for given in mapping.inputs.values())


def _sizes(recording: Recording) -> Facts:
    found: dict[str, dict[str, Any]] = {}
    for node in sorted(recording.lists.get("/api/v1/nodes", ()), key=name):
        size = labels(node).get(INSTANCE, "")
        for kind in ("capacity", "allocatable"):
            for key, value in at(node, f"status.{kind}", {}).items():
                # A GPU that is not offered yet, or was lost, is a temporary state: the node of a size
                # with the most GPUs counts.
                path = f"{kind}.{key}"
                own = found.setdefault(size, {}) if size else {}
                own[path] = (
                    max(own.get(path, "0"), str(value), key=_amount) if "/" in key else own.get(path, str(value))
                )
    return {size: {path: value for path, value in own.items() if value != "0"} for size, own in found.items()}


def _amount(value: Any) -> int:
    return int(value) if str(value).isdigit() else 0


def _nodes(recording: Recording) -> Facts:
    found: dict[str, dict[str, Any]] = {}
    for node in sorted(recording.lists.get("/api/v1/nodes", ()), key=name):
        pool = pool_of(node)
        if not pool or pool in found:
            continue
        own: dict[str, Any] = {
            f"labels.{key}": value for key, value in labels(node).items() if not OWN_LABELS.match(key)
        }
        info: Mapping[str, Any] = at(node, "status.nodeInfo", {})
        own |= {f"nodeInfo.{key}": info[key] for key in ("kernelVersion", "containerRuntimeVersion", "osImage",
                                                         "kubeletVersion") if key in info}  # fmt: skip
        taints = sorted(
            f"{each['key']}={each.get('value', '')}:{each['effect']}" for each in at(node, "spec.taints", [])
        )
        own["taints"] = [each for each in taints if not each.startswith("node.kubernetes.io/")]
        found[pool] = own
    return found


def _bodies(recording: Recording) -> Facts:
    found: dict[str, dict[str, Any]] = {}
    for each in recording.of("azure"):
        subject = f"{each['type']} {plain(each['id'].rpartition('/')[2])}"
        flat = dict(_flat(each["body"], ""))
        found[subject] = {path: value for path, value in flat.items() if not CHANGES.search(path)}
    return found


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        for key, each in given.items():
            yield from _flat(each, f"{path}.{plain(key)}".lstrip("."))
        return
    if isinstance(value, list) and any(isinstance(each, dict) for each in cast("list[Any]", value)):
        for number, each in enumerate(cast("list[Any]", value)):
            yield from _flat(each, f"{path}[{number}]")
        return
    if value is not None:
        yield path, [plain(each) for each in cast("list[Any]", value)] if isinstance(value, list) else plain(value)


def plain(value: Any) -> Any:
    """A value with `<name>`, `<id>` or `<address>` in place of replaced names, ids and addresses, which always differ
    between two recordings.
    """
    if not isinstance(value, str):
        return value
    text = REPLACED.sub("<name>", GUID.sub("<id>", value))
    return addresses.replaced_in(text, lambda _: "<address>")


def _workloads(recording: Recording) -> Facts:
    found: dict[str, dict[str, Any]] = {}
    for path, items in recording.lists.items():
        kind = path.rpartition("/")[2]
        for item in items if kind in WORKLOADS else ():
            # The simulator has none of the workloads that AKS runs in these namespaces.
            if namespace(item) in KUBERNETES_NAMESPACES or "ownerReferences" in item["metadata"]:
                continue
            own: dict[str, Any] = {"present": True}
            spec: Any = at(item, "spec.jobTemplate.spec.template.spec") or at(item, "spec.template.spec", {})
            for group in ("initContainers", "containers"):
                for each in cast("Iterable[Mapping[str, Any]]", at(spec, group, ())):
                    own[f"{group}.{each['name']}.image"] = plain(each.get("image", ""))
            own["serviceAccount"] = at(spec, "serviceAccountName", "default")
            found[f"{kind} {namespace(item)}/{plain(name(item))}"] = own
    return found


def _definitions(recording: Recording) -> Facts:
    return {
        name(each): {"versions": sorted(str(one.get("name")) for one in mappings_in(at(each, "spec.versions")))}
        for each in recording.lists.get(DEFINITIONS, ())
    }


def _version(recording: Recording) -> Facts:
    answer: Any = next((each["answer"] for each in recording.of("discovery") if each["path"] == "/version"), None)
    return {"Kubernetes": {"minor": f"{at(answer, 'major', '?')}.{str(at(answer, 'minor', '?')).rstrip('+')}"}}
