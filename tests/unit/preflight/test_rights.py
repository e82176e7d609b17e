"""Rights of the caller for declared resources, on the subscription or on their resource group."""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.findings import Severity
from physical_ai.subscription.answers import NotThere, Permission
from workbench.preflight.rights import Wanted, rights_findings

GROUP = "/subscriptions/1/resourceGroups/rg"
PROVIDER = f"{GROUP}/providers/Microsoft.Network"
NETWORK = Wanted("azure-native:network:VirtualNetwork", "vnet", f"{PROVIDER}/virtualNetworks/v")
ZONE = Wanted("azure-native:privatedns:PrivateZone", "zone", f"{PROVIDER}/privateDnsZones/z")
ALL = Permission(("*",), ())
NOTHING = Permission(("*/read",), ())


def test_a_role_on_the_group_of_a_resource_counts() -> None:
    def permissions(scope: str) -> Sequence[Permission]:
        return [Permission(("Microsoft.Network/virtualNetworks/*",), ())] if scope == GROUP else [NOTHING]

    (lacking,) = rights_findings([NETWORK, ZONE], permissions)
    assert lacking.severity is Severity.ERROR
    assert lacking.problem == "may not: Microsoft.Network/privateDnsZones/write, which PrivateZone zone need."


def test_a_group_that_does_not_exist_yet_gives_no_right() -> None:
    asked: list[str] = []

    def permissions(scope: str) -> Sequence[Permission]:
        asked.append(scope)
        if scope:
            raise NotThere("404")
        return [NOTHING]

    assert len(list(rights_findings([NETWORK, ZONE], permissions))) == 2
    assert asked == ["", GROUP]


def test_who_may_everything_is_told_for_how_many_resources() -> None:
    (found,) = rights_findings([NETWORK, ZONE], lambda scope: [ALL])
    assert found.severity is Severity.OK
    assert "2 resources" in found.problem


def test_a_type_that_the_platform_does_not_declare_is_named_and_the_others_are_judged() -> None:
    own = Wanted("azure-native:batch:Pool", "render", f"{GROUP}/providers/Microsoft.Batch/x")
    unknown, granted = rights_findings([NETWORK, own], lambda scope: [ALL])
    assert unknown.severity is Severity.UNKNOWN
    assert unknown.problem.startswith("not judged: what the creation of azure-native:batch:Pool render needs")
    assert "1 resources" in granted.problem
