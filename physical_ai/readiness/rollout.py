"""Rollout of the latest change to nodes that already offer their GPUs. Pure functions.

The operator needs seconds to notice a changed resource, and a DaemonSet even longer to roll it out; meanwhile the old
Pods still offer the GPUs. ClusterPolicy and NVIDIADriver do not report the generation that their status is about, so
their spec is compared with that of the DaemonSets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.own_names import GRID_AGENT, GRID_DRIVER_READY, ROLL_ANNOTATION
from physical_ai.kubernetes.objects import annotations_of, at, condition, labels, matches, name
from physical_ai.readiness.causes import cause_of, causes
from physical_ai.readiness.evidence import Evidence, Role, role_of
from physical_ai.readiness.model import ROLLOUT, ClosedGate, Expected, Json
from physical_ai.readiness.phase import is_running, phase, unfinished
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE

UPGRADE_STATE = "nvidia.com/gpu-driver-upgrade-state"
PLUGIN_VALIDATION = "plugin-validation"
_AT_REST = ("", "upgrade-done")
_FAILED = "upgrade-failed"
_ROLES: Sequence[Role] = ("grid-agent", "driver", "toolkit", "validator", "device-plugin", "dra-driver")
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
"""Prefix and suffix of the environment variables with a ConfigMap's digest.

The operator passes these variables to operands unchanged, and adds digests that no resource contains.
"""


@dataclass(frozen=True)
class Pending:
    """Change of a resource or DaemonSet that has not reached the nodes with the labels `selector` yet."""

    selector: Mapping[str, str]
    reason: str


def pending(evidence: Evidence) -> list[Pending]:
    """All changes that the operator or a DaemonSet has not applied yet."""
    cluster = evidence.cluster
    found: list[Pending] = []
    daemonsets = {name(item): item for item in cluster.daemonsets}
    # The operator reconciles one of several ClusterPolicies, and writes no status into the others.
    followed = [policy for policy in cluster.policies if at(policy, "status.state", "")] or cluster.policies
    for policy in followed:
        found += _of_policy(policy, daemonsets)
    for driver in cluster.drivers:
        found += _of_driver(driver, cluster.daemonsets)
    manual = _manual_driver_upgrades(followed, cluster.drivers)
    for item in cluster.daemonsets:
        kind, owner = _owner(item)
        followed = kind or name(item) == GRID_AGENT
        followed = followed and not (kind == "NVIDIADriver" and owner in manual) and not _waits_for_deletion(item)
        if followed and (behind := _behind(item, cluster.nodes)):
            found.append(Pending(at(item, "spec.template.spec.nodeSelector", {}), behind))
    return found


def closed_gate(expected: Expected, node: Json, evidence: Evidence, waiting: Iterable[Pending]) -> ClosedGate | None:
    """Closed gate `rollout` of a node that offers all its GPUs, with the reason, if a change has not reached the node
    yet; None if all changes have reached it.
    """
    given = labels(node)

    def closed(reason: str, *, may_recover: bool = True, pod: Json | None = None, **known: Any) -> ClosedGate:
        shown = {"pod": name(pod), "phase": phase(pod)} if pod else {}
        return ClosedGate(expected.pool, name(node), ROLLOUT, reason, may_recover=may_recover, **shown, **known)

    state = given.get(UPGRADE_STATE, "")
    failed = state == _FAILED
    if state not in _AT_REST and (failed or ROLL_ANNOTATION not in annotations_of(node)):
        reason = "The driver's upgrade failed on the node." if failed else f"The driver is being upgraded: {state}."
        again = f"kubectl label node {name(node)} --overwrite {UPGRADE_STATE}=upgrade-required"
        if failed:
            fix = f"Correct what stopped it, then {again}"
            return closed(reason, may_recover=False, cause="upgrade-failed", fix=fix)
        return closed(reason)
    agents = condition(node, GRID_DRIVER_READY)
    if expected.driver_source == "grid" and expected.resources and agents.get("status", "True") != "True":
        return closed(**_of_agent(expected, node, agents))
    for each in waiting:
        if all(given.get(key) == value for key, value in each.selector.items()):
            return closed(each.reason)
    for role in _ROLES:
        pod = evidence.pod(name(node), role)
        if expected.by_claims and role == "validator" and pod is not None and unfinished(pod)[0] == PLUGIN_VALIDATION:
            continue  # the Pod waits for a device plugin, which the node must not have (NVIDIA/gpu-operator#2550)
        if pod is not None and not is_running(pod):
            return closed("A pod that the GPUs depend on is not ready, although they are still offered.", pod=pod)
    return None


def _of_agent(expected: Expected, node: Json, reported: Json) -> dict[str, Any]:
    """Fields of a closed gate for a driver that the GRID agent has not verified."""
    message = str(reported.get("message", ""))
    cause_and_facts = cause_of(ROLLOUT, f"{reported.get('reason', '')} {message}")
    known = cause_and_facts[0] if cause_and_facts is not None else causes()["grid-driver"]
    facts = {"node": name(node), "pool": expected.pool, "stack": expected.stack, "namespace": OPERATOR_NAMESPACE}
    facts |= {"value": str(reported.get("reason", "")), "message": message}
    reason, fix = known.describe(facts, azure=not expected.existing)
    if cause_and_facts is None:
        reason = f"The GRID driver agent has not verified the configured driver: {message}"
    return {"reason": reason, "cause": known.id, "fix": fix, "message": message, "may_recover": known.waits}


def is_unsettled(evidence: Evidence) -> bool:
    """True where a DaemonSet that GPUs depend on has unavailable Pods. The Pods then have to be read to find the
    reason.
    """
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
            yield Pending(selector, f"The operator has not applied the ClusterPolicy to {daemonset} yet.")


def _of_driver(driver: Json, daemonsets: Iterable[Json]) -> Iterator[Pending]:
    for item in daemonsets:
        if _owner(item) != ("NVIDIADriver", name(driver)):
            continue
        container = _container(item, "nvidia-driver-ctr")
        spec: Json = at(driver, "spec", {})
        same = _is_version(container, spec.get("version") or "", "-") and _has_env(container, spec.get("env") or ())
        if not (same and _has_modules(container, spec) and _tolerates(item, spec.get("tolerations") or ())):
            reason = f"The operator has not applied NVIDIADriver {name(driver)} to {name(item)} yet."
            yield Pending(at(driver, "spec.nodeSelector", {}), reason)


def _manual_driver_upgrades(policies: Iterable[Json], drivers: Iterable[Json]) -> set[str]:
    """Names of the NVIDIADrivers without automatic upgrade: a node gets the new driver only when somebody deletes the
    driver's Pod.
    """
    common = all(at(policy, "spec.driver.upgradePolicy.autoUpgrade", True) for policy in policies)
    return {name(item) for item in drivers if not at(item, "spec.upgradePolicy.autoUpgrade", common)}


def _waits_for_deletion(item: Json) -> bool:
    """True for an operand whose Pods stay until somebody deletes them, as `physai roll` does: no deployment waits for
    that. Pods of drivers are deleted by the GPU Operator.
    """
    return at(item, "spec.updateStrategy.type") == "OnDelete" and role_of(item) != "driver"


def _behind(item: Json, nodes: Sequence[Json]) -> str:
    """Text on a DaemonSet's rollout: the number of nodes that have the newest version; empty if all nodes have it.
    Nodes that `physai roll` upgrades in their turn do not count.
    """
    if int(at(item, "status.observedGeneration", 0)) < int(at(item, "metadata.generation", 0)):
        return f"DaemonSet {name(item)} has just changed."
    total, new = int(at(item, "status.desiredNumberScheduled", 0)), int(at(item, "status.updatedNumberScheduled", 0))
    selector: Mapping[str, str] = at(item, "spec.template.spec.nodeSelector", {})
    later = sum(ROLL_ANNOTATION in annotations_of(node) and matches(selector, labels(node)) for node in nodes)
    text = f"DaemonSet {name(item)} has reached {new} of {total} nodes with its newest version."
    return text if new + later < total else ""


def _owner(item: Json) -> tuple[str, str]:
    references: Sequence[Json] = at(item, "metadata.ownerReferences", [])
    kinds = ("ClusterPolicy", "NVIDIADriver")
    return next(((each["kind"], each["name"]) for each in references if each.get("kind") in kinds), ("", ""))


def _container(item: Json, wanted: str) -> Json:
    containers: Sequence[Json] = at(item, "spec.template.spec.containers", [])
    return next((each for each in containers if each.get("name") == wanted), containers[0] if containers else {})


def _env(container: Json) -> dict[str, str]:
    given: Sequence[Json] = container.get("env") or ()
    return {each["name"]: str(each.get("value", "")) for each in given}


def _has_env(container: Json, wanted: Sequence[Json]) -> bool:
    """True if the container has the values in `wanted` for the variables in `_PASSED_ON`, and the same variables with a
    ConfigMap's digest as `wanted`. All other variables are ignored.
    """
    given, required = _env(container), _env({"env": wanted})
    digests = {key: value for key, value in given.items() if _is_digest(key)}
    passed_on = all(given.get(key) == required[key] for key in _PASSED_ON if key in required)
    return passed_on and digests == {key: value for key, value in required.items() if _is_digest(key)}


def _is_digest(variable: str) -> bool:
    return variable.startswith(_DIGESTS[0]) and variable.endswith(_DIGESTS[1])


def _has_modules(container: Json, spec: Json) -> bool:
    """True where the driver container builds the kind of kernel modules in the resource's `spec`, or where the
    container or the spec names no kind.
    """
    wanted, made = spec.get("kernelModuleType"), _env(container).get("KERNEL_MODULE_TYPE")
    return None in (wanted, made) or wanted == made


def _tolerates(item: Json, wanted: Sequence[Json]) -> bool:
    """True where a DaemonSet's Pods have all of these tolerations, besides any that the operator adds."""
    given: Sequence[Json] = at(item, "spec.template.spec.tolerations", [])
    return all(each in given for each in wanted)


def _is_version(container: Json, wanted: str, then: str = "") -> bool:
    """True where the container's image has the version `wanted`; an empty version matches any image.

    Tags of driver images continue after the version, so `then` is the text that must follow.
    """
    image = str(container.get("image", ""))
    if not wanted or "@" in image:
        return not wanted or image.endswith(f"@{wanted}")
    tag = image.rpartition(":")[2]
    return tag.startswith(f"{wanted}{then}") if then else tag == wanted
