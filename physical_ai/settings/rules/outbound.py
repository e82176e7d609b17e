"""Rules about the NAT gateways: what the region has, and zones whose loss would cut off the nodes of others."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import regions
from physical_ai.settings.facts.outbound import NONZONAL, outbound_form, outbound_plan, subnet_zones
from physical_ai.settings.facts.private_network import uses_firewall
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_FORM: Path = ("network", "outbound", "form")
_NEXT: Path = ("network", "outbound", "next")
_REGION = Rule("nat-region", "Azure docs, nat-gateway/nat-overview, 2026-04-14")
_ONE_ZONE = Rule("nat-one-zone", "Azure docs, nat-gateway/nat-overview, availability zones")


def check_outbound(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """All rules about NAT gateways."""
    own = regions().get(settings.region)
    if own is None or not trust(_FORM, _NEXT) or uses_firewall(settings):
        return
    wanted = settings.network.outbound
    for path, form in ((_FORM, wanted.form), (_NEXT, wanted.next)):
        if form == "zone-redundant" and not own.nat_standard_v2:
            problem = f"{own.name} has no NAT gateways of the SKU StandardV2."
            yield error(path, problem, "Write zonal, or leave it out.", rule=_REGION)
        elif form == "zonal" and not own.zones:
            yield error(
                path, f"{own.name} has no availability zones.", "Write nonzonal, or leave it out.", rule=_REGION
            )
    zones = {("systemPool", "zones"), ("cpuPool", "zones"), *(("pools", name, "zones") for name in settings.pools)}
    if not trust(*zones):
        return
    if wanted.next == outbound_form(settings):
        problem = f"The stack has the form {wanted.next} already."
        yield error(_NEXT, problem, "Remove network.outbound.next.", others=(_FORM,))
    if wanted.next is None:
        yield from _one_zone(settings)


def _one_zone(settings: Settings) -> Iterator[SettingFinding]:
    gateways = outbound_plan(settings).by_subnet
    several = [name for name, zones in subnet_zones(settings).items() if len(zones) > 1 and gateways[name] == NONZONAL]
    if several:
        problem = f"The nodes in subnet {', '.join(several)} are in several zones, and their NAT gateway is in one."
        yield warning(_FORM, problem, "Change to zone-redundant where the region has it.", rule=_ONE_ZONE)
