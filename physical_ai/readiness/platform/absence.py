"""Parts of the platform that are missing, switched off or not available. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from parts.runners import names as runners
from parts.slurm import names as slurm
from physical_ai.catalog import osmo
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.platform.parts import Installed, Part, made_by_operators
from physical_ai.readiness.platform.records import RELEASE_NAME, release_of
from physical_ai.readiness.platform.services import Targets, selector_of, unanswered, written

State = Literal["missing", "scaled-down", "selects-none", "unavailable", "not-installed", "serves-none", "unanswered"]
MADE = ("Deployment", "DaemonSet", "StatefulSet", "ServiceAccount", "Service")
"""Kinds of objects of which every chart creates at least one. A release that owns no object of these kinds is not
installed.
"""
USERS = frozenset({osmo.WORKFLOWS_NAMESPACE, runners.NAMESPACE, slurm.NAMESPACE})
"""Namespaces for users' own work, in which a Deployment may intentionally have no replicas."""
DEPLOY_LABEL = "nvidia.com/gpu.deploy."
"""Prefix of the labels by which the GPU Operator switches its operands on and off on each node."""
QUEUES = f"osmo-pool-{osmo.WORKFLOWS_NAMESPACE}-"


@dataclass(frozen=True)
class PlatformState:
    """Objects of the platform that should exist, and objects that exist. If a kind of objects could not be read, `live`
    lacks the kind.
    """

    installed: Installed
    recorded: Sequence[Part] = ()
    """Objects in those of Helm's records that could be read."""
    releases: frozenset[str] = frozenset()
    """Releases for which Helm has a record with the status `deployed`."""
    live: Mapping[str, Sequence[Json]] = field(default_factory=dict[str, Sequence[Json]])
    unrecorded: frozenset[str] = frozenset()
    """Namespaces of planned releases in which Helm's records could not be read."""

    def has(self, release: str) -> bool:
        """True if Helm has a record of the release with the status `deployed`.

        If the records in the release's namespace could not be read, the result is True if an object in the cluster has
        the release's annotation, or if a kind of object in `MADE` could not be read either.
        """
        home = self.installed.releases.get(release, "")
        if release in self.releases or home not in self.unrecorded:
            return release in self.releases
        return (release, home) in self._made or not set(MADE) <= self.live.keys()

    @cached_property
    def _made(self) -> frozenset[tuple[str, str]]:
        """Name and namespace of each release that an annotation of some object in the cluster names as its creator."""
        return frozenset(release_of(each) for items in self.live.values() for each in items)


@dataclass(frozen=True)
class Absence:
    """An object of the platform that does not do its work."""

    part: Part
    state: State
    evidence: str
    where: str
    effect: str = ""
    """Work that stops because the object is absent; empty where the object's namespace determines the effect."""


def absences(
    given: PlatformState, nodes: Sequence[Json], pods: Sequence[Json] = (), *, agents: bool = False
) -> list[Absence]:
    """Objects of the platform that do not do their work, each once.

    `agents` is True where the stack installs OSMO's agents.
    """
    targets = Targets(given.live, pods)
    expected: dict[tuple[str, str, str], Part] = {}
    for part in (*given.recorded, *given.installed.own, *made_by_operators(given.live, nodes, given.installed)):
        # Objects of a hook are expected only once their release is installed.
        if part.revision or not part.release or given.has(part.release):
            expected.setdefault((part.kind, part.namespace, part.name), part)
    held = {(kind, namespace(each), name(each)): each for kind, items in given.live.items() for each in items}
    found = [*_not_installed(given), *_queues(given, agents=agents)]
    for key, part in expected.items():
        if part.kind in given.live and (absent := _judged(part, held.get(key), nodes, targets)) is not None:
            found.append(absent)
    found += _unrecorded(given, targets)
    return [*found, *_unanswered(given, targets), *_switched_off(given, expected)]


def _not_installed(given: PlatformState) -> Iterator[Absence]:
    """Absences of planned releases for which Helm has no record with the status `deployed`."""
    for release, home in given.installed.releases.items():
        if not given.has(release):
            evidence = f"namespace {home} has no Secret of Helm with owner=helm, name={release}, status=deployed"
            where = "Helm's records"
            if home in given.unrecorded:
                evidence = f"no object has the annotation {RELEASE_NAME}: {release}"
                where = f"the lists of {', '.join(map(plural, MADE))}"
            part = Part("Release", home, release, release=release, home=home)
            yield Absence(part, "not-installed", evidence, where)


def _queues(given: PlatformState, *, agents: bool) -> Iterator[Absence]:
    """Absence of all OSMO queues. OSMO's control plane creates the queues when an agent connects."""
    queues, agents = given.live.get("Queue"), agents or osmo.BACKEND_RELEASE in given.releases
    if agents and queues is not None and not any(name(each).startswith(QUEUES) for each in queues):
        part = Part("Queue", "", f"{QUEUES}*", home=osmo.KAI_NAMESPACE, maker="osmo-agent")
        yield Absence(part, "missing", f"no queue is named {QUEUES}*", "the list of Queues")


def _judged(part: Part, item: Json | None, nodes: Sequence[Json], targets: Targets) -> Absence | None:
    if item is None:
        return Absence(part, "missing", f"{part.title} is not in the cluster", f"the list of {plural(part.kind)}")
    judge = _JUDGES.get(part.kind)
    return judge(part, item, nodes, targets) if judge is not None else None


def _of_replicas(part: Part, item: Json, _: Sequence[Json], __: Targets) -> Absence | None:
    replicas = int(at(item, "spec.replicas", 1))
    if replicas == 0 and part.replicas:
        return Absence(part, "scaled-down", "spec.replicas: 0", f"spec of the {part.kind}")
    ready = "status.availableReplicas" if part.kind == "Deployment" else "status.readyReplicas"
    if replicas and not int(at(item, ready, 0)):
        evidence = f"{ready.removeprefix('status.')}: 0 of {replicas}"
        return Absence(part, "unavailable", evidence, f"status of the {part.kind}")
    return None


def _of_cron_job(part: Part, item: Json, _: Sequence[Json], __: Targets) -> Absence | None:
    suspended = Absence(part, "scaled-down", "spec.suspend: true", "spec of the CronJob")
    return suspended if at(item, "spec.suspend") else None


def _of_service(part: Part, item: Json, _: Sequence[Json], targets: Targets) -> Absence | None:
    if selector_of(item) == part.selector or targets.of(item):
        return None
    return Absence(part, "serves-none", f"spec.selector: {written(selector_of(item))}", "spec of the Service")


def _unrecorded(given: PlatformState, targets: Targets) -> Iterator[Absence]:
    """Absences of Services without Pods. Only releases whose records could not be read are checked; a Service counts as
    absent if it selects no Pod and no controller creates Pods for it.
    """
    ours = given.installed.namespaces - USERS
    for item in given.live.get("Service", ()):
        release, home = release_of(item)
        if namespace(item) not in ours or home not in given.unrecorded or given.installed.releases.get(release) != home:
            continue
        if selector_of(item) and not targets.of(item) and not targets.is_made(item):
            part = Part("Service", namespace(item), name(item), release=release, home=home)
            evidence = f"spec.selector: {written(selector_of(item))}"
            yield Absence(part, "serves-none", evidence, "the Service and the list of Pods")


def _unanswered(given: PlatformState, targets: Targets) -> Iterator[Absence]:
    """Absences of webhooks whose Service has no ready Pod, so that the API server refuses requests."""
    for found in unanswered(given.live, targets):
        part = Part(found.kind, "", found.configuration, home=found.service.partition("/")[0], maker=found.maker)
        yield Absence(part, "unanswered", found.evidence, f"the {found.kind}", found.effect)


def _of_daemonset(part: Part, item: Json, nodes: Sequence[Json], _: Targets) -> Absence | None:
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


_JUDGES: Mapping[str, Callable[[Part, Json, Sequence[Json], Targets], Absence | None]] = {
    "Deployment": _of_replicas,
    "StatefulSet": _of_replicas,
    "DaemonSet": _of_daemonset,
    "CronJob": _of_cron_job,
    "Service": _of_service,
}


def _switched_off(given: PlatformState, expected: Mapping[tuple[str, str, str], Part]) -> Iterator[Absence]:
    """Absences of Deployments and StatefulSets with 0 replicas in the platform's namespaces. Expected objects are left
    out, because they are checked separately.
    """
    for kind in ("Deployment", "StatefulSet"):
        for item in given.live.get(kind, ()):
            here, own = namespace(item), name(item)
            ours = here in given.installed.namespaces - USERS and (kind, here, own) not in expected
            if ours and at(item, "spec.replicas", 1) == 0:
                yield Absence(Part(kind, here, own), "scaled-down", "spec.replicas: 0", f"spec of the {kind}")


def plural(kind: str) -> str:
    """Plural of a kind, in the spelling of kubectl's users."""
    return f"{kind[:-1]}ies" if kind.endswith("Policy") else f"{kind}{'es' if kind.endswith('s') else 's'}"
