"""Rules about ids from examples, which are enough for a simulation, and an error on Azure."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings.facts.osmo_access import ACCESS, login_groups
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import SettingFinding, Trust, warning

EXAMPLE_ID = "00000000-0000-0000-0000-"
"""Prefix of the ids in the committed stacks; neither Entra nor Azure issues such ids."""


def check_placeholders(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Warnings about example ids, one for each group of ids. Other rules find example addresses and names."""
    for path, values in _ids(settings):
        found = [value for value in values if EXAMPLE_ID in value]
        if found and trust(path):
            problem = f"{', '.join(found)}: a placeholder, which no tenant has. It is sufficient for a simulation."
            yield warning(path, problem, "Write the id that your tenant has.", stand_in=True)


def _ids(settings: Settings) -> Iterator[tuple[Path, list[str]]]:
    access, private = settings.osmo.access, settings.private
    if access.entra is not None:
        yield (*ACCESS, "entra"), [access.entra.tenant_id, access.entra.client_id]
    if access.tls is not None and access.tls.key_vault is not None:
        yield (*ACCESS, "tls", "keyVault", "vaultId"), [access.tls.key_vault.vault_id]
    if access.tls is not None and access.tls.cert_manager is not None and access.tls.cert_manager.acme is not None:
        yield (*ACCESS, "tls", "certManager", "acme", "zoneId"), [access.tls.cert_manager.acme.zone_id]
    yield (*ACCESS, "roles"), sorted(login_groups(settings))
    if private is not None and private.vpn is not None:
        yield ("network", "private", "vpn", "tenantId"), [private.vpn.tenant_id]
