"""Rules on flows: each flow of `declared.yaml` must be open or closed in the stack, as the file says."""

from __future__ import annotations

from collections.abc import Iterable

from physical_ai.findings import Severity
from workbench.policies.flows.api_server import CLUSTER
from workbench.policies.flows.azure_services import ENDPOINT, FIREWALL_RULE, KINDS
from workbench.policies.flows.balancers import SERVICE
from workbench.policies.flows.declared import Required
from workbench.policies.flows.firewall_rules import FIREWALL, RULE_GROUP
from workbench.policies.flows.judging import Judgement, judge
from workbench.policies.flows.leaving import NAT_GATEWAY
from workbench.policies.flows.monitors import TYPES as MONITORS
from workbench.policies.flows.names import INBOUND_ENDPOINT, LINK, RECORD, ZONE, ZONE_GROUP
from workbench.policies.flows.route_tables import PEERING, ROUTE, ROUTE_TABLE, VIRTUAL_NETWORK, VPN_GATEWAY
from workbench.policies.flows.security_groups import GROUP, RULE
from workbench.policies.flows.world import NAMESPACE, NETWORK_POLICY, SUBNET
from workbench.policies.gateway import RELEASE
from workbench.policies.images import CACHE_RULE
from workbench.policies.images import POLICY as IMAGES_ONLY
from workbench.policies.model import Check, Resource, Rule, Stack, Topic, Violation

DECIDING = (
    *(GROUP, RULE, SUBNET, VIRTUAL_NETWORK, ROUTE_TABLE, ROUTE, PEERING, VPN_GATEWAY, NAT_GATEWAY, CLUSTER),
    *(NETWORK_POLICY, NAMESPACE, SERVICE, RELEASE, FIREWALL_RULE, *KINDS, *MONITORS.values()),
    *(CACHE_RULE, IMAGES_ONLY),
    *(FIREWALL, RULE_GROUP),
    *(ENDPOINT, ZONE_GROUP, ZONE, LINK, RECORD, INBOUND_ENDPOINT),
)
"""Types of resources that can decide about a connection, or be the target of one."""


class _Last:
    """Cache of the judgements that do not hold in the last judged stack. It avoids judging a stack again for each
    resource.
    """

    def __init__(self) -> None:
        self._stack: Stack | None = None
        self._found: list[Judgement] = []

    def of(self, stack: Stack) -> list[Judgement]:
        if self._stack is not stack:
            self._stack, self._found = stack, [each for each in judge(stack) if not each.holds]
        return self._found


_LAST = _Last()


def _broken(must: Required) -> Check:
    def check(resource: Resource, stack: Stack) -> Iterable[Violation]:
        for each in _LAST.of(stack):
            if each.flow.must is must and each.resource is resource:
                yield Violation("", f"{each}. It must be {must.value}: {each.flow.why}")

    return check


RULES = (
    Rule(
        "needed-flows-open",
        Severity.ERROR,
        "A part of the platform waits for another until it times out, while each resource is valid for itself.",
        _broken(Required.OPEN),
        DECIDING,
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview",
        needs=("depends_on",),
        needs_whole_stack=True,
    ),
    Rule(
        "forbidden-flows-closed",
        Severity.ERROR,
        "What runs the code of others, or the internet, reaches what trusts its own network.",
        _broken(Required.CLOSED),
        DECIDING,
        topic=Topic.SECURITY,
        link="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
        needs=("depends_on",),
        needs_whole_stack=True,
    ),
)
