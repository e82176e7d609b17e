"""Examples for the rules on connections of Pods, and on Pods that the API server refuses."""

from __future__ import annotations

from typing import Any

from workbench.policies.examples.model import Example
from workbench.policies.isolation import BINDING, ENFORCE, NAMESPACE, NETWORK_POLICY, RELEASE
from workbench.policies.model import UNKNOWN, Resource


def _egress(cidr: str, *excluded: str) -> dict[str, Any]:
    block = {"cidr": cidr, "except": list(excluded)}
    return {"spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [{"ipBlock": block}]}]}}


_BOTH = ("169.254.169.254/32", "168.63.129.16/32")

DENY: dict[str, Any] = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
_PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "168.63.129.16/32")


def _policy(namespace: str, spec: dict[str, Any]) -> Resource:
    return Resource(NETWORK_POLICY, "policy", {"metadata": {"name": "p", "namespace": namespace}, "spec": spec})


def _of_tasks(*excluded: str, cidr: str = "0.0.0.0/0") -> dict[str, Any]:
    return {"metadata": {"name": "tasks", "namespace": "osmo-workflows"}, **_egress(cidr, *excluded)}


def _requests_policy(*actions: str) -> Resource:
    spec = {"policyName": "gpu-requests", "validationActions": list(actions)}
    return Resource(BINDING, "gpu-requests", {"metadata": {"name": "gpu-requests-deny"}, "spec": spec})


EXAMPLES: dict[str, list[Example]] = {
    "namespace-default-deny": [
        Example(
            NAMESPACE,
            {"metadata": {"name": "osmo-workflows"}},
            others=(_policy("osmo-workflows", DENY),),
            bad_others=(_policy("osmo-workflows", {**DENY, "egress": [{}]}),),
        ),
        Example(
            NAMESPACE,
            {"metadata": {"name": "osmo-control-plane"}},
            bad_others=(Resource(RELEASE, "osmo", {"namespace": "osmo-control-plane"}),),
        ),
    ],
    "tasks-leave-private-ranges": [
        Example(NETWORK_POLICY, _of_tasks(*_PRIVATE), _of_tasks("169.254.169.254/32", "168.63.129.16/32")),
        Example(NETWORK_POLICY, _of_tasks(*_PRIVATE), _of_tasks(*_PRIVATE[1:])),
        Example(NETWORK_POLICY, _of_tasks(cidr="10.50.0.0/16"), _of_tasks(cidr="10.0.0.0/7")),
    ],
    "gpus-by-request": [
        Example(
            RELEASE,
            {"name": "gpu-operator"},
            others=(_requests_policy("Deny", "Audit"),),
            bad_others=(_requests_policy("Warn"),),
        ),
    ],
    "pod-security-privileged": [
        Example(
            NAMESPACE,
            {"metadata": {"name": "gpu-operator", "labels": {ENFORCE: "privileged"}}},
            {"metadata": {"name": "team", "labels": {ENFORCE: "privileged"}}},
        ),
    ],
    "no-metadata-service": [
        Example(NETWORK_POLICY, _egress("0.0.0.0/0", *_BOTH), _egress("0.0.0.0/0")),
        Example(NETWORK_POLICY, _egress("0.0.0.0/0", "169.254.0.0/16", _BOTH[1]), _egress("0.0.0.0/0", *_BOTH[:1])),
        Example(NETWORK_POLICY, _egress("10.0.0.0/8"), _egress("169.254.0.0/16")),
    ],
    "pod-security-level": [
        Example(
            NAMESPACE,
            {"metadata": {"name": "team", "labels": {ENFORCE: "baseline"}}},
            {"metadata": {"name": "team", "labels": {"team": "vision"}}},
        ),
        Example(NAMESPACE, {"metadata": {"labels": {ENFORCE: UNKNOWN}}}, {"metadata": {"name": "team"}}),
    ],
}
