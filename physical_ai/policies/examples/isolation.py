"""Examples of the rules on what Pods may reach, and on what the API server refuses of them."""

from __future__ import annotations

from typing import Any

from physical_ai.policies.examples.model import Example
from physical_ai.policies.isolation import ENFORCE, NAMESPACE, NETWORK_POLICY
from physical_ai.policies.model import UNKNOWN


def _egress(cidr: str, *excluded: str) -> dict[str, Any]:
    block = {"cidr": cidr, "except": list(excluded)}
    return {"spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [{"ipBlock": block}]}]}}


_BOTH = ("169.254.169.254/32", "168.63.129.16/32")

EXAMPLES: dict[str, list[Example]] = {
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
