"""Conversion of a stack's declared resources to the templates that are sent to ARM for its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from workbench.verdict.model import Hidden, Plan, Recorded

if TYPE_CHECKING:
    from workbench.cli.requested_stack import RequestedStack
    from workbench.policies import Resource
    from workbench.policies import Stack as Declared

_KNOWN_BEFORE = ("fullyQualifiedDomainName", "hostName", "loginServer", "primaryEndpoints", "name", "vaultUri")
"""Names of outputs that Azure derives from resource names. The values that a run without Azure records for these
outputs are therefore the real values.
"""


def plan_of(requested: RequestedStack, declared: Declared, subscription: str) -> Plan:
    """Templates with the resources that the program declares for a stack, for a deployment to the subscription."""
    from physical_ai.settings.facts.created import region_of
    from workbench.mocks.azure_answers import DEPLOYER, guid
    from workbench.verdict.template import plan

    settings = requested.loaded.settings
    fixed = {guid("tenant"): "subscription().tenantId", DEPLOYER: "deployer().objectId"}
    found = recorded(declared.resources, subscription)
    return plan(found, subscription, region_of(settings) or "", settings.stack, fixed)


def recorded(resources: tuple[Resource, ...], subscription: str) -> Iterator[Recorded]:
    """The declared Azure resources, without the role assignments for deployers who exist only in the
    simulated tenant.
    """
    from simulator.entra import DEPLOYER, SECOND_DEPLOYER
    from workbench.mocks.azure_answers import created

    simulated = {DEPLOYER.object_id, SECOND_DEPLOYER.object_id}
    for each in resources:
        if not each.type.startswith("azure-native:") or each.inputs.get("principalId") in simulated:
            continue
        inputs: dict[str, Any] = hidden(each.inputs)
        id_, outputs = created(each.type, each.name, dict(each.inputs), subscription)
        new = {name: value for name, value in outputs.items() if name not in each.inputs and name != "tenantId"}
        profile = outputs.get("oidcIssuerProfile")
        if each.type.endswith(":ManagedCluster") and isinstance(profile, Mapping):
            new["oidcIssuerProfile"] = cast("Mapping[str, Any]", profile)
        yield Recorded(each.type, each.name, inputs, id_, dict(_computed(new)))


def hidden(value: Any) -> Any:
    """A value with a placeholder in place of each secret."""
    from workbench.policies.model import Secret

    if isinstance(value, Secret):
        return Hidden()
    if isinstance(value, Mapping):
        return {name: hidden(item) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [hidden(each) for each in cast("list[Any]", value)]
    return value


def _computed(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Any]", value).items():
            if name not in _KNOWN_BEFORE:
                yield from _computed(item, f"{path}.{name}" if path else name)
    elif isinstance(value, str) and value:
        yield value, path
