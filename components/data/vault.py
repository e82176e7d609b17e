"""The vault for the platform's secrets, which are written through ARM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import keyvault

from components.azure.random_values import RandomPassword
from components.data.common import Place

SUFFIX_LENGTH = 8


@dataclass(frozen=True)
class VaultArgs:
    place: Place
    tenant_id: str


class Vault(pulumi.ComponentResource):
    """Key vault whose secrets can be read by identities with a role of Azure RBAC. The component itself assigns no
    role.

    Azure keeps a deleted vault for days, and with it the vault's name, and azure-native never purges a vault. So a
    vault gets a fresh name each time it is created, and a destroyed stack can be deployed again at once.
    """

    vault: keyvault.Vault
    id: pulumi.Output[str]
    uri: pulumi.Output[str]
    name: pulumi.Output[str]

    def __init__(self, name: str, args: VaultArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:Vault", name, {}, opts)
        self._prefix, self._place = name, args.place
        place, plan = args.place, args.place.plan
        suffix = RandomPassword(f"{name}-suffix", length=SUFFIX_LENGTH, opts=place.kept(self)).result
        self.vault = keyvault.Vault(
            f"{name}-vault",
            # The suffix is not secret. It is in lower case, as a vault's name is in its address.
            vault_name=pulumi.Output.unsecret(suffix).apply(lambda text: place.names.vault(text.lower())),
            resource_group_name=place.resource_group_name,
            location=place.location,
            tags=place.tags,
            properties=keyvault.VaultPropertiesArgs(
                tenant_id=args.tenant_id,
                sku=keyvault.SkuArgs(family="A", name=keyvault.SkuName.STANDARD),
                enable_rbac_authorization=True,
                enable_soft_delete=True,
                soft_delete_retention_in_days=plan.vault_retention_days,
                # ARM refuses the value false.
                enable_purge_protection=True if plan.purge_protection else None,
                public_network_access=place.public_access,
                network_acls=keyvault.NetworkRuleSetArgs(
                    # ARM, which writes the secrets, counts as a trusted Azure service.
                    bypass="AzureServices",
                    default_action="Allow" if plan.public else "Deny",
                ),
            ),
            opts=place.kept(self),
        )
        self.id, self.name = self.vault.id, self.vault.name
        self.uri = self.vault.properties.apply(lambda properties: properties.vault_uri or "")
        self.register_outputs({"vaultName": self.name})

    def keep(
        self, secret_name: str, value: pulumi.Input[str], before_update: Sequence[pulumi.ResourceHook] = ()
    ) -> keyvault.Secret:
        """Writes a secret through ARM, so that the deployer needs neither a right inside the vault nor a network path
        to it.
        """
        return keyvault.Secret(
            f"{self._prefix}-{secret_name}",
            secret_name=secret_name,
            vault_name=self.name,
            resource_group_name=self._place.resource_group_name,
            tags=self._place.tags,
            properties=keyvault.SecretPropertiesArgs(value=pulumi.Output.secret(value)),
            opts=pulumi.ResourceOptions(
                parent=self,
                # ARM deletes no secret, so azure-native asks the vault itself, which refuses the deployer
                # (pulumi-azure-native, custom_keyvault.go). Secrets go with their vault.
                retain_on_delete=True,
                hooks=pulumi.ResourceHookBinding(before_update=list(before_update)) if before_update else None,
            ),
        )
