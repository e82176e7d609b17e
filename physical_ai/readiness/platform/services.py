"""Services that select no Pod, and webhooks whose Service does not answer. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from physical_ai.kubernetes.objects import Json, at, is_ready, labels, matches, name, namespace
from physical_ai.readiness.platform.parts import WEBHOOKS

MAKERS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
OF_AKS = ("kubernetes.azure.com/managedby", "addonmanager.kubernetes.io/mode")
"""Labels of objects that AKS manages. A Service of AKS may lead to AKS's own control plane, so it needs no Pods in the
cluster.
"""


def selector_of(service: Mapping[str, Any]) -> dict[str, str]:
    """Labels by which a Service selects Pods; empty where somebody else writes its endpoints, or for an external
    name.
    """
    if at(service, "spec.type") == "ExternalName":
        return {}
    return dict(at(service, "spec.selector", {}))


def written(selector: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(selector.items())) or "none"


@dataclass(frozen=True)
class Targets:
    """Pods that Services can select, and the controllers that create Pods."""

    live: Mapping[str, Sequence[Json]]
    pods: Sequence[Json] = field(default=())

    @cached_property
    def _pods(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for pod in self.pods:
            found[namespace(pod)].append(pod)
        return found

    def of(self, service: Mapping[str, Any]) -> list[Json]:
        """Pods that a Service selects, whatever their state."""
        selector = selector_of(service)
        return [each for each in self._pods.get(namespace(service), ()) if selector and matches(selector, labels(each))]

    def is_made(self, service: Mapping[str, Any]) -> bool:
        """True if a controller in the Service's namespace creates Pods that the Service selects. The report about the
        controller then explains why Pods are missing.
        """
        return bool(self.makers(service))

    def makers(self, service: Mapping[str, Any]) -> list[str]:
        """Kind and name of the controllers that create the Pods of a Service."""
        selector, where = selector_of(service), namespace(service)
        return [
            f"{kind} {name(each)}"
            for kind in MAKERS
            for each in self.live.get(kind, ())
            if namespace(each) == where and matches(selector, at(each, "spec.template.metadata.labels", {}))
        ]


@dataclass(frozen=True)
class Unanswered:
    """A webhook that the API server has to call, and that does not answer."""

    kind: str
    configuration: str
    service: str
    """The webhook's Service as NAMESPACE/NAME."""
    evidence: str
    effect: str
    maker: str = ""
    """Kind and name of the controller that creates the Service's Pods."""


def unanswered(live: Mapping[str, Sequence[Json]], targets: Targets) -> Iterator[Unanswered]:
    """Webhooks with failurePolicy Fail whose Service does not exist, or has no ready Pod; webhooks of AKS are left
    out.
    """
    if "Service" not in live:
        return
    services = {f"{namespace(each)}/{name(each)}": each for each in live["Service"]}
    for kind in WEBHOOKS:
        for item in live.get(kind, ()):
            if labels(item).keys() & set(OF_AKS):
                continue
            yield from _of_configuration(kind, item, services, targets)


def _of_configuration(kind: str, item: Json, services: Mapping[str, Json], targets: Targets) -> Iterator[Unanswered]:
    """Unanswered webhooks of one webhook configuration. Webhooks with the same Service are reported together, since a
    configuration usually has a single Service.
    """
    asked: dict[str, list[Json]] = defaultdict(list)
    for hook in at(item, "webhooks", []):
        where, own = at(hook, "clientConfig.service.namespace", ""), at(hook, "clientConfig.service.name", "")
        if own and at(hook, "failurePolicy", "Fail") == "Fail":
            asked[f"{where}/{own}"].append(hook)
    for service, hooks in asked.items():
        found = services.get(service)
        if why := _silence(found, targets):
            made = targets.makers(found) if found is not None else []
            names = ", ".join(str(hook.get("name", "")) for hook in hooks)
            evidence = f"{names}: Service {service} {why}; failurePolicy: Fail"
            yield Unanswered(kind, name(item), service, evidence, _effect(hooks), next(iter(made), ""))


def _silence(service: Json | None, targets: Targets) -> str:
    """Reason why a Service does not answer; empty if the Service answers, or if this is not known."""
    if service is None:
        return "does not exist"
    if not selector_of(service):
        return ""
    pods = targets.of(service)
    if any(map(is_ready, pods)):
        return ""
    return f"has {len(pods)} Pods, none of them ready{'' if targets.is_made(service) else ', and nothing makes one'}"


def _effect(hooks: Sequence[Json]) -> str:
    asked = dict.fromkeys(
        f"{'/'.join(str(each).lower() for each in rule.get('operations') or ['*'])} of {resource}"
        for hook in hooks
        for rule in at(hook, "rules", [])
        for resource in rule.get("resources") or ["*"]
    )
    shown = list(asked)[:4]
    return f"the API server refuses {', '.join(shown) or 'requests'}{' and more' if len(asked) > len(shown) else ''}"
