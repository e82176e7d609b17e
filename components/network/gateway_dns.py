"""DNS record that resolves the name of OSMO's gateway."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import dns, privatedns

from components.network.private_zones import ZoneArgs, linked_zone
from physical_ai.settings.facts.gateway_dns import TTL_SECONDS, GatewayRecord


@dataclass(frozen=True)
class GatewayDnsArgs:
    """Inputs of `GatewayDns`.

    `record`: the DNS record to create.
    `own_zone`: arguments for the DNS zone, used only if the stack creates the zone.
    """

    record: GatewayRecord
    own_zone: ZoneArgs


class GatewayDns(pulumi.ComponentResource):
    """DNS record of OSMO's gateway: an A record with the address of an internal load balancer, or a CNAME record with
    Azure's name of a public address. Both are known before the cluster exists, so the record is created without waiting
    for the cluster.
    """

    def __init__(self, name: str, args: GatewayDnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:GatewayDns", name, {}, opts)
        record, child = args.record, pulumi.ResourceOptions(parent=self)
        if record.alias is not None:
            dns.RecordSet(
                f"{name}-record",
                relative_record_set_name=record.name,
                record_type="CNAME",
                zone_name=record.zone,
                resource_group_name=record.resource_group or "",
                ttl=TTL_SECONDS,
                cname_record=dns.CnameRecordArgs(cname=record.alias),
                opts=child,
            )
        else:
            zone: pulumi.Input[str] = record.zone
            group: pulumi.Input[str] | None = record.resource_group
            if group is None:
                zone = linked_zone(f"{name}-zone", record.zone, args.own_zone, self).zone.name
                group = args.own_zone.resource_group_name
            privatedns.PrivateRecordSet(
                f"{name}-record",
                relative_record_set_name=record.name,
                record_type="A",
                private_zone_name=zone,
                resource_group_name=group,
                ttl=TTL_SECONDS,
                a_records=[privatedns.ARecordArgs(ipv4_address=str(record.address))],
                opts=child,
            )
        self.register_outputs({})
