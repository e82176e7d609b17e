"""Whether what was asked for last has reached a node that offers its GPUs, or a change has only begun. Pure.

The operator needs seconds to see a changed resource, and a DaemonSet longer to bring it onto the nodes; meanwhile the
old pods offer the old GPUs. Neither resource says which generation its status is about, so what it asks for is compared
with what the DaemonSets say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from physical_ai.readiness.evidence import GRID_AGENT, GRID_DRIVER_READY, Evidence, Role
from physical_ai.readiness.model import Expected, Json, Shut
from physical_ai.readiness.objects import at, condition, labels, name
from physical_ai.readiness.phase import is_running, phase

GATE = "rollout"
UPGRADE_STATE = "nvidia.com/gpu-driver-upgrade-state"
_AT_REST = ("", "upgrade-done")
_FAILED = "upgrade-failed"
_ROLES: Sequence[Role] = ("grid-agent", "driver", "toolkit", "validator", "device-plugin")
OPERANDS: Mapping[str, tuple[str, str]] = {
    "toolkit": ("nvidia-container-toolkit-daemonset", "nvidia-container-toolkit-ctr"),
    "validator": ("nvidia-operator-validator", "nvidia-operator-validator"),
    "devicePlugin": ("nvidia-device-plugin-daemonset", "nvidia-device-plugin"),
    "gfd": ("gpu-feature-discovery", "gpu-feature-discovery"),
    "migManager": ("nvidia-mig-manager", "nvidia-mig-manager"),
}
"""DaemonSet and main container of each component of the ClusterPolicy."""
_PASSED_ON = ("RUNTIME_CONFIG_SOURCE",)
_DIGESTS = ("GPU_", "_DIGEST")
"""Variables that operands get unchanged, and how the names of those that stand for a ConfigMap's content begin and end.
The operator has digests of its own, of which no resource speaks."""


@dataclass(frozen=True)
class Pending:
    """Something that has yet to reach the nodes with these labels."""

    selector: Mapping[str, str]
    reason: str


def pending(evidence: Evidence) -> list[Pending]:
    """Everything that the operator or a DaemonSet has still to carry out."""
    cluster = evidence.cluster
    found: list[Pending] = []
    daemonsets = {name(item): item for item in cluster.daemonsets}
    for policy in cluster.policies:
        found += _of_policy(policy, daemonsets)
    for driver in cluster.drivers:
        found += _of_driver(driver, cluster.daemonsets)
    by_hand = _driver_upgrades_by_hand(cluster.policies, cluster.drivers)
    for item in cluster.daemonsets:
        kind, owner = _owner(item)
        followed = kind or name(item) == GRID_AGENT
        if followed and not (kind == "NVIDIADriver" and owner in by_hand) and (behind := _behind(item)):
            found.append(Pending(at(item, "spec.template.spec.nodeSelector", {}), behind))
    return found


def shut(expected: Expected, node: Json, evidence: Evidence, waiting: Iterable[Pending]) -> Shut | None:
    """Why a node with all its GPUs is not done yet; None when it is."""
    given = labels(node)

    def closed(reason: str, *, opens_itself: bool = True, pod: Json | None = None) -> Shut:
        shown = {"pod": name(pod), "phase": phase(pod)} if pod else {}
        return Shut(expected.pool, name(node), GATE, reason, opens_itself=opens_itself, **shown)

    state = given.get(UPGRADE_STATE, "")
    if state not in _AT_REST:
        failed = state == _FAILED
        reason = "The driver's upgrade failed on the node." if failed else f"The driver is being upgraded: {state}."
        return closed(reason, opens_itself=not failed)
    agents = condition(node, GRID_DRIVER_READY)
    if expected.driver_source == "grid" and expected.resources and agents.get("status", "True") != "True":
        return closed(f"The GRID driver agent has not proven what is wanted: {agents.get('message', '')}")
    for each in waiting:
        if all(given.get(key) == value for key, value in each.selector.items()):
            return closed(each.reason)
    for role in _ROLES:
        pod = evidence.pod(name(node), role)
        if pod is not None and not is_running(pod):
            return closed("A pod that the GPUs depend on is not ready, though they are still offered.", pod=pod)
    return None


def is_unsettled(evidence: Evidence) -> bool:
    """Whether a DaemonSet that GPUs depend on has pods that are not available: then the pods have to be looked at."""
    items = [item for role in _ROLES for item in evidence.daemonsets[role]]
    return any(int(at(item, "status.numberUnavailable", 0)) for item in items)


def _of_policy(policy: Json, daemonsets: Mapping[str, Json]) -> Iterator[Pending]:
    for component, (daemonset, main) in OPERANDS.items():
        item = daemonsets.get(daemonset)
        if item is None:
            continue
        container = _container(item, main)
        wanted = at(policy, f"spec.{component}", {})
        same = _is_version(container, at(wanted, "version", "")) and _has_env(container, at(wanted, "env", []))
        if component == "devicePlugin":
            same = same and _env(container).get("MIG_STRATEGY", "") == at(policy, "spec.mig.strategy", "")
        if not (same and _tolerates(item, at(policy, "spec.daemonsets.tolerations", []))):
            selector = at(item, "spec.template.spec.nodeSelector", {})
            yield Pending(selector, f"The operator has yet to carry what the ClusterPolicy says into {daemonset}.")


def _of_driver(driver: Json, daemonsets: Iterable[Json]) -> Iterator[Pending]:
    for item in daemonsets:
        if _owner(item) != ("NVIDIADriver", name(driver)):
            continue
        container = _container(item, "nvidia-driver-ctr")
        spec: Json = at(driver, "spec", {})
        same = _is_version(container, spec.get("version") or "", "-") and _has_env(container, spec.get("env") or ())
        if not (same and _has_modules(container, spec) and _tolerates(item, spec.get("tolerations") or ())):
            reason = f"The operator has yet to carry what NVIDIADriver {name(driver)} says into {name(item)}."
            yield Pending(at(driver, "spec.nodeSelector", {}), reason)


def _driver_upgrades_by_hand(policies: Iterable[Json], drivers: Iterable[Json]) -> set[str]:
    """NVIDIADrivers whose nodes keep the driver they have until somebody deletes its pod."""
    common = all(at(policy, "spec.driver.upgradePolicy.autoUpgrade", True) for policy in policies)
    return {name(item) for item in drivers if not at(item, "spec.upgradePolicy.autoUpgrade", common)}


def _behind(item: Json) -> str:
    """How far a DaemonSet is from what it says; empty where all its pods are of its newest template."""
    if int(at(item, "status.observedGeneration", 0)) < int(at(item, "metadata.generation", 0)):
        return f"DaemonSet {name(item)} has just changed."
    total, new = int(at(item, "status.desiredNumberScheduled", 0)), int(at(item, "status.updatedNumberScheduled", 0))
    return f"DaemonSet {name(item)} has reached {new} of {total} nodes with its newest version." if new < total else ""


def _owner(item: Json) -> tuple[str, str]:
    references: Sequence[Json] = at(item, "metadata.ownerReferences", [])
    kinds = ("ClusterPolicy", "NVIDIADriver")
    return next(((each["kind"], each["name"]) for each in references if each.get("kind") in kinds), ("", ""))


def _container(item: Json, wanted: str) -> Json:
    found: Sequence[Json] = at(item, "spec.template.spec.containers", [])
    return next((each for each in found if each.get("name") == wanted), found[0] if found else {})


def _env(container: Json) -> dict[str, str]:
    given: Sequence[Json] = container.get("env") or ()
    return {each["name"]: str(each.get("value", "")) for each in given}


def _has_env(container: Json, wanted: Sequence[Json]) -> bool:
    """Whether the variables that tell are the wanted ones; a digest that nobody wants any more tells as well."""
    given, asked = _env(container), _env({"env": wanted})
    digests = {key: value for key, value in given.items() if _is_digest(key)}
    passed_on = all(given.get(key) == asked[key] for key in _PASSED_ON if key in asked)
    return passed_on and digests == {key: value for key, value in asked.items() if _is_digest(key)}


def _is_digest(variable: str) -> bool:
    return variable.startswith(_DIGESTS[0]) and variable.endswith(_DIGESTS[1])


def _has_modules(container: Json, spec: Json) -> bool:
    """Whether the driver builds the kernel modules that its resource names."""
    wanted, made = spec.get("kernelModuleType"), _env(container).get("KERNEL_MODULE_TYPE")
    return None in (wanted, made) or wanted == made


def _tolerates(item: Json, wanted: Sequence[Json]) -> bool:
    """Whether a DaemonSet's pods have all of these tolerations; the operator may add some."""
    given: Sequence[Json] = at(item, "spec.template.spec.tolerations", [])
    return all(each in given for each in wanted)


def _is_version(container: Json, wanted: str, then: str = "") -> bool:
    """Whether the image is of a version; after a driver's comes the system it is for. Nothing wanted fits anything."""
    image = str(container.get("image", ""))
    if not wanted or "@" in image:
        return not wanted or image.endswith(f"@{wanted}")
    tag = image.rpartition(":")[2]
    return tag.startswith(f"{wanted}{then}") if then else tag == wanted
