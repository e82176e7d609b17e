"""Changes that the webhooks of KAI v0.17.0 make to a Pod, and their refusals. Pure functions over plain objects.

Source: kai-scheduler/KAI-Scheduler tag v0.17.0: pkg/admission/webhook (Pods and Topologies, in the order in which
cmd/admission/main.go registers the plugins), pkg/binder/common (names and variables of shared GPUs). The plugin
hamicore is not simulated: it is off unless it is on in the binder.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulator.cluster.objects import Json, annotations_of, at

FRACTION, MEMORY, DEVICES = "gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"
CONTAINER = "gpu-fraction-container-name"
MPS = "mps"
SHARED = "runai/shared-gpu-configmap"
"""Annotation that the webhook adds to a Pod. Its value is a prefix: the names of the ConfigMaps that the Pod needs for
a shared GPU begin with it.
"""
VISIBLE = "NVIDIA_VISIBLE_DEVICES"
SHARED_VARIABLES = (VISIBLE, "RUNAI_NUM_OF_GPUS", "GPU_PORTION")
GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-"
DEFAULT_CLASS = "nvidia"
_LONGEST = 63 - 7 - 6 - len("shared-gpu") - 5
"""Maximum length of the first part of the name of a shared GPU's ConfigMap: the name of the Pod or of its owner (cut to
fit), a hyphen, and the container's index. KAI appends a random word, `shared-gpu` and suffixes.
"""


@dataclass(frozen=True)
class Options:
    """Options that the admission container was started with."""

    scheduler: str = "kai-scheduler"
    gpu_sharing: bool = False
    runtime_class: str = DEFAULT_CLASS
    """Runtime class of Pods that ask for a fraction of a GPU; empty if the webhook sets no class."""
    block_devices: bool = False


def options(args: Sequence[str]) -> Options:
    """Options in the command line `args` of KAI's admission container, with the program's defaults."""
    given: dict[str, str] = {}
    for index, each in enumerate(args):
        name, sign, value = each.removeprefix("--").partition("=")
        given[name] = value if sign else args[index + 1] if index + 1 < len(args) else ""
    old, new = given.get("gpu-pod-runtime-class-name"), given.get("gpu-fraction-runtime-class-name")
    return Options(
        scheduler=given.get("scheduler-name", "kai-scheduler"),
        gpu_sharing=given.get("gpu-sharing-enabled") == "true",
        runtime_class=next((each for each in (new, old) if each is not None), DEFAULT_CLASS),
        block_devices=given.get("block-nvidia-visible-devices") == "true",
    )


class Refused(ValueError):
    """Error for an object that the webhook refuses; the text is the webhook's answer."""


def mutated(pod: Json, given: Options, chance: str) -> Json:
    """The Pod after the webhook's changes. A Pod that requests whole GPUs stays as it is. `chance`: random characters
    for generated names.

    Raises:
        Refused: the Pod wants its fraction of a GPU for a container that the Pod does not have.
    """
    found = copy.deepcopy(pod)
    containers: list[Json] = at(found, "spec.containers", [])
    if at(found, "spec.schedulerName") != given.scheduler or not containers:
        return found
    asks = asks_for_fraction(found)
    place = _fraction_place(found) if asks else None
    if place is not None:
        _share(found, place, chance)
    if given.block_devices:
        _hide(found, place)
    if asks and given.runtime_class and not at(found, "spec.runtimeClassName", ""):
        found["spec"]["runtimeClassName"] = given.runtime_class
    return found


def pod_problem(pod: Json, given: Options) -> str:
    """Reason why the webhook refuses a Pod; empty if it accepts the Pod."""
    if at(pod, "spec.schedulerName") != given.scheduler:
        return ""
    asks = asks_for_fraction(pod)
    if asks and not given.gpu_sharing:
        where = f"{at(pod, 'metadata.namespace', '')}/{at(pod, 'metadata.name', '')}"
        return f"attempting to create a pod {where} with gpu sharing request, while GPU sharing is disabled"
    problem = next(_request_problems(annotations_of(pod), _has_gpu_limit(pod)), "")
    if problem or not given.block_devices:
        return problem
    place = _fraction_place(pod) if asks else None
    return next(_device_problems(pod, place), "")


def asks_for_fraction(pod: Json) -> bool:
    return FRACTION in annotations_of(pod) or MEMORY in annotations_of(pod)


def topology_problem(topology: Json) -> str:
    """Reason why the webhook refuses a Topology: two levels have the same alias, or an alias equals a node label. Empty
    if the webhook accepts the Topology.
    """
    levels: list[Json] = at(topology, "spec.levels", [])
    labels = {each.get("nodeLabel") for each in levels}
    aliases = [str(each["alias"]) for each in levels if each.get("alias")]
    twice = sorted({each for each in aliases if aliases.count(each) > 1})
    taken = sorted({each for each in aliases if each in labels})
    found = [f"aliases must be unique within the topology; duplicated: {_listed(twice)}"] if twice else []
    found += [f"an alias must not equal a nodeLabel; conflicting: {_listed(taken)}"] if taken else []
    return f"invalid topology aliases: {'; '.join(found)}" if found else ""


def queue_problem(queue: Json) -> str:
    """Reason why the webhook refuses a Queue; empty if it accepts the Queue.

    The webhook compares a Queue's quotas with its parent's quotas only if a flag is set, and the KAI operator does not
    set that flag.
    """
    return "" if at(queue, "spec.resources") is not None else "resources must be specified"


def _listed(names: Sequence[str]) -> str:
    return f"[{' '.join(names)}]"


_Place = tuple[str, int]
"""A container's place in a Pod: `containers` or `initContainers`, and the index in that list."""


def _fraction_place(pod: Json) -> _Place:
    wanted = annotations_of(pod).get(CONTAINER)
    if wanted is None:
        return "containers", 0
    for section in ("initContainers", "containers"):
        for index, each in enumerate(at(pod, f"spec.{section}", [])):
            if each.get("name") == wanted:
                return section, index
    raise Refused(f"failed to get fraction container ref: container with name {wanted} not found for fraction request")


def _share(pod: Json, place: _Place, chance: str) -> None:
    section, index = place
    container = pod["spec"][section][index]
    annotations = pod["metadata"].setdefault("annotations", {})
    prefix = annotations.setdefault(SHARED, _prefix(pod, index, chance))
    name = f"{prefix}-{'i' if section == 'initContainers' else ''}{index}"
    kept = [each for each in container.get("env", []) if each["name"] not in SHARED_VARIABLES]
    own = [{"name": key, "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}} for key in SHARED_VARIABLES]
    container["env"] = [*kept, *own]
    sources = container.setdefault("envFrom", [])
    if not any(at(each, "configMapRef.name") == f"{name}-evar" for each in sources):
        sources.append({"configMapRef": {"name": f"{name}-evar", "optional": False}})
    volume = re.sub(r"[^a-z0-9-]+", "-", f"{name}-vol".lower()).strip("-")
    others = [each for each in pod["spec"].get("volumes", []) if each["name"] != volume]
    pod["spec"]["volumes"] = [*others, {"name": volume, "configMap": {"name": name}}]


def _prefix(pod: Json, index: int, chance: str) -> str:
    owners: list[Json] = at(pod, "metadata.ownerReferences", [])
    base = str(owners[0]["name"] if owners else at(pod, "metadata.name", ""))
    return f"{base[: _LONGEST - len(str(index)) - 1].rstrip('.-')}-{chance}-shared-gpu"


def _hide(pod: Json, place: _Place | None) -> None:
    for section, index, container in _others(pod, place):
        if not _requests_gpu(container):
            given = container.setdefault("env", [])
            held = next((each for each in given if each["name"] == VISIBLE), None)
            if held is None:
                given.append({"name": VISIBLE, "value": "void"})
            else:
                held["value"] = "void"
            pod["spec"][section][index] = container


def _others(pod: Json, place: _Place | None) -> Iterator[tuple[str, int, Json]]:
    """All containers of the Pod, except the container that gets the fraction of a GPU."""
    for section in ("initContainers", "containers"):
        for index, container in enumerate(at(pod, f"spec.{section}", [])):
            if (section, index) != place:
                yield section, index, container


def _requests_gpu(container: Json) -> bool:
    requested: Mapping[str, str] = at(container, "resources.requests", {})
    return any((name == GPU or name.startswith(MIG)) and str(value) != "0" for name, value in requested.items())


def _has_gpu_limit(pod: Json) -> bool:
    containers = [*at(pod, "spec.containers", []), *at(pod, "spec.initContainers", [])]
    return any(GPU in at(each, "resources.limits", {}) for each in containers)


def _device_problems(pod: Json, place: _Place | None) -> Iterator[str]:
    for _, _, container in _others(pod, place):
        for item in container.get("env", []):
            if item["name"] != VISIBLE:
                continue
            subject = f"container {container['name']} has an environment variable {VISIBLE} defined"
            if item.get("value") and item["value"] not in ("void", "none"):
                yield (
                    f"{subject} with a value of {item['value']}. This is forbidden due to conflicts with Nvidia's"
                    " device plugin. The only values that are allowed are 'void' or 'none'"
                )
            elif not item.get("value") and item.get("valueFrom"):
                yield (
                    f"{subject} with a valueFrom reference. This is forbidden due to possible conflicts with Nvidia's"
                    " device plugin"
                )


def _request_problems(given: Mapping[str, str], has_limit: bool) -> Iterator[str]:
    fraction, memory, devices = given.get(FRACTION), given.get(MEMORY), given.get(DEVICES)
    if fraction is None and memory is None and given.get(MPS) == "true":
        yield "MPS is only supported with GPU fraction request"
    if fraction is not None and has_limit:
        yield "cannot have both GPU fraction request and whole GPU resource request/limit"
    if memory is not None and (fraction is not None or has_limit):
        yield "cannot request both GPU and GPU memory"
    if devices is not None and fraction is None and memory is None:
        yield "cannot request multiple fractional devices without specifying fraction portion or gpu-memory"
    if memory is not None and not _is_count(memory):
        yield "gpu-memory annotation value must be a positive integer greater than 0"
    if fraction is not None and not _is_fraction(fraction):
        yield "gpu-fraction annotation value must be a positive number smaller than 1.0"
    if devices is not None and not _is_count(devices):
        yield "fraction count annotation value must be a positive integer greater than 0"


def _is_count(text: str) -> bool:
    return re.fullmatch(r"\d+", text) is not None and int(text) > 0


def _is_fraction(text: str) -> bool:
    try:
        return 0 < float(text) < 1
    except ValueError:
        return False
