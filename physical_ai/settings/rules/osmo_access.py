"""Rules about access to a control plane: it needs a login, and tokens need encryption."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings.facts.data_services import PRODUCTION
from physical_ai.settings.facts.gateway_dns import APEX, last_address, relative_name
from physical_ai.settings.facts.osmo_access import ACCESS, login_groups
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.osmo import Osmo
from physical_ai.settings.models.osmo_access import OsmoAccess
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning

_MODE: Path = ("osmo", "mode")
_BACKENDS: Path = ("osmo", "backends")


def check_osmo_access(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about access to a control plane, and about the stacks that it serves."""
    if not trust(("osmo",)):
        return
    if not settings.osmo.installs_service:
        yield from _unused(settings)
        return
    if settings.osmo.token_from is not None:
        problem = "The deployment creates the token of the stack's own agents."
        yield error(("osmo", "tokenFrom"), problem, "Remove it.", others=(_MODE,))
    if settings.data_services is None:
        problem = "The control plane needs a database, a cache and storage, and the stack has none."
        yield error(("dataServices",), problem, "dataServices: {source: azure}, or inCluster.", others=(_MODE,))
    yield from _address(settings)
    yield from _dns(settings)
    yield from _issuer(settings)
    yield from _login(settings)
    yield from _public(settings)
    yield from _backends(settings)


def _unused(settings: Settings) -> Iterator[SettingFinding]:
    if settings.osmo.access != OsmoAccess():
        problem = "The stack has no control plane to which this applies."
        yield warning(ACCESS, problem, "mode: platform.", others=(_MODE,))
    if settings.osmo.backends:
        problem = "The stack has no control plane to serve other stacks."
        yield warning(_BACKENDS, problem, "mode: platform.", others=(_MODE,))
    given, default = settings.osmo, Osmo()
    if given.token_from is not None and not given.fetches_token:
        problem = "No agents of this stack would use the token."
        yield warning(("osmo", "tokenFrom"), problem, "mode: backend and login: token, or remove it.", others=(_MODE,))
    for name, is_set in (
        ("tokenRotation", given.token_rotation != default.token_rotation and not given.fetches_token),
        ("tokenDays", given.token_days != default.token_days),
    ):
        if is_set:
            problem = "A control plane elsewhere creates the agents' token; this stack has it as a secret."
            yield warning(("osmo", name), problem, "mode: platform.", others=(_MODE,))


def _address(settings: Settings) -> Iterator[SettingFinding]:
    osmo = settings.osmo
    if osmo.service_url is not None:
        problem = "With mode platform the address of the control plane follows from access."
        yield error(("osmo", "serviceUrl"), problem, "Remove it; set access.host.", others=(_MODE,))
    if osmo.access.tls is not None and osmo.access.host is None:
        problem = "A certificate is for a DNS name, and access has none."
        yield error((*ACCESS, "host"), problem, "host: the name in the certificate.", others=((*ACCESS, "tls"),))


def _issuer(settings: Settings) -> Iterator[SettingFinding]:
    """Error if the control plane's host name is outside the DNS zone that cert-manager uses to prove ownership of the
    name.
    """
    access = settings.osmo.access
    issued = access.tls.cert_manager if access.tls is not None else None
    if issued is None or issued.acme is None or access.host is None:
        return
    zone, here = issued.acme.zone_id.rpartition("/")[2], (*ACCESS, "tls", "certManager", "acme", "zoneId")
    if relative_name(access.host, zone) is None:
        problem = f"{access.host} is not in the zone {zone}, so that no authority would find the record it asks for."
        yield error(here, problem, "The public zone that the name ends with.", others=((*ACCESS, "host"),))


def _dns(settings: Settings) -> Iterator[SettingFinding]:
    access, host = settings.osmo.access, (*ACCESS, "host")
    if (dns := access.dns) is None:
        return
    here, subnet = (*ACCESS, "dns"), settings.network.system_subnet
    if access.host is None:
        yield error(host, "A record is for a DNS name, and access has none.", f"host: osmo.{dns.zone}.", others=(here,))
        return
    name = relative_name(access.host, dns.zone)
    if name is None:
        problem = f"{access.host} is not in the zone {dns.zone}."
        yield error((*here, "zone"), problem, "Write the zone that the name ends with.", others=(host,))
    if access.scope == "public":
        if dns.resource_group is None:
            problem = "A public zone has to be delegated by the one above it, so the stack creates none."
            yield error((*here, "resourceGroup"), problem, "resourceGroup: that of the zone.", others=(here,))
        if name == APEX:
            problem = f"{dns.zone} is the zone's own name, which cannot be an alias of another name."
            yield error(host, problem, f"host: osmo.{dns.zone}.", others=((*here, "zone"),), rule=rules.DNS_APEX)
        if dns.address is not None:
            problem = "Azure chooses the address of a public load balancer."
            yield error((*here, "address"), problem, "Remove it.", others=((*ACCESS, "scope"),))
    elif dns.address is not None and not subnet[4] <= dns.address <= last_address(subnet):
        problem = f"{dns.address} is not a usable address of network.systemSubnet {subnet}."
        fix = f"{last_address(subnet)}, or leave it out."
        yield error((*here, "address"), problem, fix, others=(("network", "systemSubnet"),))


def _login(settings: Settings) -> Iterator[SettingFinding]:
    access, here = settings.osmo.access, (*ACCESS, "login")
    if access.login == "dev":
        severity = error if settings.environment == PRODUCTION else warning
        problem = "With login dev the gateway treats every caller as an administrator."
        yield severity(here, problem, "login: entra.", rule=rules.OSMO_LOGIN)
        return
    if access.entra is None:
        problem = "login: entra needs an app registration."
        fix = "entra: {tenantId: …, clientId: …}; see docs/osmo.md#a-control-plane."
        yield error((*ACCESS, "entra"), problem, fix, others=(here,))
    if access.host is None:
        problem = "login: entra sends browsers back to a DNS name, and access has none."
        yield error((*ACCESS, "host"), problem, "host: such as osmo.contoso.com.", others=(here,))
    if access.tls is None:
        problem = "Tokens would go over http: they could be read in transit."
        yield error((*ACCESS, "tls"), problem, "tls: {source: stack} or {source: existing}.", rule=rules.OSMO_TLS)
    if not login_groups(settings):
        problem = "No group has a role of OSMO, so no user could submit a workflow."
        yield error((*ACCESS, "roles"), problem, "roles: {osmo-user: [object id of a group]}.", others=(here,))
    if settings.osmo.login == "dev":
        problem = "The gateway refuses agents without a token, and with login: dev they have none."
        yield error(("osmo", "login"), problem, "login: token.", others=(here,))


def _public(settings: Settings) -> Iterator[SettingFinding]:
    """Error if a control plane with a public address does not require a login."""
    access, here = settings.osmo.access, (*ACCESS, "scope")
    if access.scope == "internal":
        return
    if access.login == "dev":
        problem = "The internet would reach a control plane that treats every caller as an administrator."
        yield error((*ACCESS, "login"), problem, "login: entra, or scope: internal.", others=(here,))


def _backends(settings: Settings) -> Iterator[SettingFinding]:
    served = settings.osmo.backends
    for place, stack in enumerate(served):
        if stack == settings.stack:
            problem = "The control plane's own cluster is always served."
            yield error((*_BACKENDS, place), problem, "Remove it.")
        elif stack in served[:place]:
            yield error((*_BACKENDS, place), f"The stack '{stack}' is in the list twice.", "Remove one.")
