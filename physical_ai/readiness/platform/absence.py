"""What of a platform is missing, switched off or not available. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from physical_ai.catalog import osmo, runners, slurm
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.platform.parts import Installed, Part, made_by_operators

State = Literal["missing", "scaled-down", "selects-none", "unavailable", "not-installed"]
USERS = frozenset({osmo.WORKFLOWS_NAMESPACE, runners.NAMESPACE, slurm.NAMESPACE})
"""Namespaces of users' own work, where a Deployment may well want no replicas."""
DEPLOY_LABEL = "nvidia.com/gpu.deploy."
"""Prefix of the labels by which the GPU Operator switches its operands on and off, node by node."""
QUEUES = f"osmo-pool-{osmo.WORKFLOWS_NAMESPACE}-"


@dataclass(frozen=True)
class Platform:
    """What should be there, and what is. A kind that could not be read is absent from `live`."""

    installed: Installed
    recorded: Sequence[Part] | None = None
    """Of Helm's records; None where they could not be read."""
    releases: frozenset[str] = frozenset()
    """Releases that have a deployed record."""
    live: Mapping[str, Sequence[Json]] = field(default_factory=dict[str, Sequence[Json]])

    def has(self, release: str) -> bool:
        """Whether a release is installed, as far as it is known."""
        return self.recorded is None or release in self.releases


@dataclass(frozen=True)
class Absence:
    """A part that does not do its work."""

    part: Part
    state: State
    evidence: str
    where: str


def absences(given: Platform, nodes: Sequence[Json], *, agents: bool = False) -> list[Absence]:
    """Each part that does not do its work, once; `agents` says whether the stack installs OSMO's."""
    expected: dict[tuple[str, str, str], Part] = {}
    for part in (*(given.recorded or ()), *given.installed.own, *made_by_operators(given.live, nodes, given.installed)):
        # What a hook makes comes with its release.
        if part.revision or not part.release or given.has(part.release):
            expected.setdefault((part.kind, part.namespace, part.name), part)
    held = {(kind, namespace(each), name(each)): each for kind, items in given.live.items() for each in items}
    found = [*_not_installed(given), *_queues(given, agents=agents)]
    for key, part in expected.items():
        if part.kind in given.live and (absent := _judged(part, held.get(key), nodes)) is not None:
            found.append(absent)
    return [*found, *_switched_off(given, expected)]


def _not_installed(given: Platform) -> Iterator[Absence]:
    """Releases of the settings of which Helm has no deployed record."""
    for release, home in given.installed.releases.items():
        if not given.has(release):
            evidence = f"namespace {home} has no Secret of Helm with owner=helm, name={release}, status=deployed"
            part = Part("Release", home, release, release=release, home=home)
            yield Absence(part, "not-installed", evidence, "Helm's records")


def _queues(given: Platform, *, agents: bool) -> Iterator[Absence]:
    """OSMO's queues, which its control plane makes when an agent connects."""
    queues, agents = given.live.get("Queue"), agents or osmo.BACKEND_RELEASE in given.releases
    if agents and queues is not None and not any(name(each).startswith(QUEUES) for each in queues):
        part = Part("Queue", "", f"{QUEUES}*", home=osmo.KAI_NAMESPACE, maker="osmo-agent")
        yield Absence(part, "missing", f"no queue is named {QUEUES}*", "the list of Queues")


def _judged(part: Part, item: Json | None, nodes: Sequence[Json]) -> Absence | None:
    if item is None:
        return Absence(part, "missing", f"{part.title} is not in the cluster", f"the list of {_plural(part.kind)}")
    where = f"spec of the {part.kind}"
    if part.kind in ("Deployment", "StatefulSet"):
        wanted = int(at(item, "spec.replicas", 1))
        if wanted == 0 and part.replicas:
            return Absence(part, "scaled-down", "spec.replicas: 0", where)
        ready = "status.availableReplicas" if part.kind == "Deployment" else "status.readyReplicas"
        if wanted and not int(at(item, ready, 0)):
            evidence = f"{ready.removeprefix('status.')}: 0 of {wanted}"
            return Absence(part, "unavailable", evidence, f"status of the {part.kind}")
    if part.kind == "DaemonSet":
        return _of_daemonset(part, item, nodes)
    if part.kind == "CronJob" and at(item, "spec.suspend"):
        return Absence(part, "scaled-down", "spec.suspend: true", where)
    return None


def _of_daemonset(part: Part, item: Json, nodes: Sequence[Json]) -> Absence | None:
    wanted, ready = int(at(item, "status.desiredNumberScheduled", 0)), int(at(item, "status.numberAvailable", 0))
    if wanted and not ready:
        evidence = f"numberAvailable: 0 of {wanted}"
        return Absence(part, "unavailable", evidence, "status of the DaemonSet")
    selector: Mapping[str, str] = at(item, "spec.template.spec.nodeSelector", {})
    for key, value in selector.items():
        ours = part.selector.get(key) == value or key.startswith(DEPLOY_LABEL)
        if not ours and not any(labels(node).get(key) == value for node in nodes):
            return Absence(part, "selects-none", f"nodeSelector: {key}={value}", "spec of the DaemonSet")
    return None


def _switched_off(given: Platform, expected: Mapping[tuple[str, str, str], Part]) -> Iterator[Absence]:
    """Deployments of the platform's namespaces that want no replicas, and that nothing above knows."""
    for kind in ("Deployment", "StatefulSet"):
        for item in given.live.get(kind, ()):
            here, own = namespace(item), name(item)
            ours = here in given.installed.namespaces - USERS and (kind, here, own) not in expected
            if ours and at(item, "spec.replicas", 1) == 0:
                yield Absence(Part(kind, here, own), "scaled-down", "spec.replicas: 0", f"spec of the {kind}")


def _plural(kind: str) -> str:
    return "ClusterPolicies" if kind == "ClusterPolicy" else f"{kind}{'es' if kind.endswith('s') else 's'}"
