"""Rules of record sets in DNS zones."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

KINDS = ("PrivateRecordSet", "RecordSet")
APEX = "@"
_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
NAME = re.compile(rf"^(\*|{_LABEL})(\.{_LABEL})*$")
LONGEST_TTL = 2**31 - 1


@on_put(KINDS, "dns-record-name", "dns-cname-apex")
def name(put: Put) -> Iterator[Refusal]:
    own = ids.name(put.id)
    if own != APEX and not NAME.match(own):
        yield refuse(put, "dns-record-name", f"'{own}' is not a name of a record set.", "name")
    if own == APEX and _kind(put) == "CNAME":
        message = "A CNAME record set cannot have the name '@': the zone's own name has other records."
        yield refuse(put, "dns-cname-apex", message, "name")


@on_put(KINDS, "dns-record-type", "dns-record-ttl", "dns-record-address")
def records(put: Put) -> Iterator[Refusal]:
    body = {key.lower(): value for key, value in put.properties.items()}
    given = {"A": items(body, "arecords"), "CNAME": get(body, "cnamerecord.cname")}
    kind = _kind(put)
    if not given.get(kind) or any(value for other, value in given.items() if other != kind):
        yield refuse(
            put, "dns-record-type", f"A record set of type {kind} has records of that type only.", "properties"
        )
    ttl = body.get("ttl")
    if not isinstance(ttl, int | float) or not 1 <= ttl <= LONGEST_TTL:
        yield refuse(put, "dns-record-ttl", f"The TTL {ttl} is not from 1 to {LONGEST_TTL} s.", "properties.ttl")
    for record in items(body, "arecords"):
        try:
            ipaddress.IPv4Address(str(record.get("ipv4Address")))
        except ValueError:
            message = f"'{record.get('ipv4Address')}' is not an IPv4 address."
            yield refuse(put, "dns-record-address", message, "properties.aRecords")


def _kind(put: Put) -> str:
    return str(put.inputs.get("recordType", "")).upper()
