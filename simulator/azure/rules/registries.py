"""Rules on container registries and their cache rules."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch

from simulator.azure import ids
from simulator.azure.bodies import get
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

PREMIUM = {
    "zoneRedundancy": "Enabled",
    "publicNetworkAccess": "Disabled",
    "dataEndpointEnabled": True,
    "networkRuleBypassOptions": "None",
}
"""Settings that only a Premium registry accepts."""
DOCKER = ("docker.io/", "registry-1.docker.io/")
KNOWN = (
    "docker.io, mcr.microsoft.com, quay.io, public.ecr.aws, ghcr.io, nvcr.io, registry.k8s.io, gcr.io, eu.gcr.io,"
    " *.pkg.dev"
)
"""Registries that the service supports, as its refusal of another registry lists them (Azure/acr#862, 2025-12-18; the
list in the older #783 lacks the last registry).
"""


@on_put("Registry", "acr-premium", "acr-export", "acr-classic")
def registry(put: Put) -> Iterator[Refusal]:
    sku, export = get(put.body, "sku.name"), get(put.properties, "policies.exportPolicy.status")
    if sku == "Classic":
        yield refuse(put, "acr-classic", "The SKU Classic is retired.", "sku.name")
    asked = [name for name, value in PREMIUM.items() if put.properties.get(name) == value]
    asked += ["networkRuleSet"] if put.properties.get("networkRuleSet") is not None else []
    asked += ["policies.exportPolicy"] if export == "disabled" else []
    if sku != "Premium" and asked:
        message = f"{', '.join(asked)}: not supported for the SKU {sku}; it needs Premium."
        yield refuse(put, "acr-premium", message, f"properties.{asked[0]}")
    if export == "disabled" and put.properties.get("publicNetworkAccess") != "Disabled":
        message = "Exports can be disabled only where public network access is disabled."
        yield refuse(put, "acr-export", message, "properties.policies.exportPolicy")


@on_put("CacheRule", "acr-cache-wildcard", "acr-cache-overlap", "acr-cache-login", "acr-cache-upstream")
def cache_rule(put: Put) -> Iterator[Refusal]:
    source, target = (str(put.properties.get(f"{end}Repository", "")) for end in ("source", "target"))
    here = "properties.sourceRepository"
    stars = [("*" in text, text.endswith("/*") and text.count("*") == 1) for text in (source, target)]
    if stars[0][0] != stars[1][0] or any(has and not ends for has, ends in stars):
        message = "A wildcard is the last segment of source and target repository."
        yield refuse(put, "acr-cache-wildcard", message, here)
    for other in put.azure.children(ids.parent(put.id), put.kind):
        if not ids.same(other.id, put.id) and other.inputs.get("targetRepository") == target:
            message = f"The rule '{ids.name(other.id)}' has the target '{target}'."
            yield refuse(put, "acr-cache-overlap", message, "properties.targetRepository")
    if source.startswith(DOCKER) and put.properties.get("credentialSetResourceId") is None:
        message = "Cannot create cache rule pointing to Docker Hub without credentials. Please add a credential set to"
        yield refuse(put, "acr-cache-login", f"{message} cache rule.", here)
    host = source.partition("/")[0]
    known = any(fnmatch(host, each) for each in KNOWN.split(", ")) or source.startswith(DOCKER)
    if source and not known:
        message = f"Unsupported upstream or login server '{host}' provided."
        message += f" Supported upstreams or login servers are: {KNOWN}."
        yield refuse(put, "acr-cache-upstream", message, here)
