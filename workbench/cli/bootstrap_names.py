"""Names and locations of the resources that the pipelines of an environment need."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

GROUP = "rg-physical-ai-delivery"
PREVIEW_ROLE = "Physical AI Preview"
"""Beginning of the name of the role with the rights that previews need besides reading."""


class InvalidValue(ValueError):
    """Error for a value that cannot be used; the text says which value, and what is expected."""


@dataclass(frozen=True)
class Delivery:
    """Names and locations of one environment's pipeline resources.

    Raises InvalidValue for names that Azure or GitHub rejects.
    """

    subscription: str
    """Id of the environment's subscription. No other environment may use it, because an identity that deploys to a
    subscription can change everything in it.
    """
    repository: str
    """Name of the GitHub repository, as `owner/name`."""
    location: str
    environment: str
    stacks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _must(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", self.subscription, "a subscription id, a GUID")
        _must(r"[\w.-]+/[\w.-]+", self.repository, "a repository, as owner/name")
        _must(r"[a-z]+[0-9]*", self.location, "a region, as westus2")
        _must(r"[a-z][a-z0-9]*", self.environment, "an environment, as dev")

    @property
    def suffix(self) -> str:
        """Suffix for names that must be globally unique in Azure. The same subscription and repository always give the
        same suffix.
        """
        return hashlib.sha256(f"{self.subscription}/{self.repository}".lower().encode()).hexdigest()[:8]

    @property
    def account(self) -> str:
        return f"stphysai{self.suffix}"

    @property
    def vault(self) -> str:
        return f"kv-physai-{self.suffix}"

    @property
    def scope(self) -> str:
        return f"/subscriptions/{self.subscription}"

    @property
    def preview_role(self) -> str:
        """Name of the role for previews. Names of roles must be unique in a tenant."""
        return f"{PREVIEW_ROLE} {self.environment} {self.suffix}"

    def state(self, environment: str) -> str:
        """URL of the environment's state backend, for `pulumi login`."""
        return f"azblob://state-{environment}?storage_account={self.account}"

    def secrets_provider(self, environment: str) -> str:
        return f"azurekeyvault://{self.vault}.vault.azure.net/keys/pulumi-{environment}"

    def container_scope(self, environment: str) -> str:
        account = f"{self.scope}/resourceGroups/{GROUP}/providers/Microsoft.Storage/storageAccounts/{self.account}"
        return f"{account}/blobServices/default/containers/state-{environment}"

    def key_scope(self, environment: str) -> str:
        vault = f"{self.scope}/resourceGroups/{GROUP}/providers/Microsoft.KeyVault/vaults/{self.vault}"
        return f"{vault}/keys/pulumi-{environment}"


def _must(pattern: str, value: str, what: str) -> None:
    if not re.fullmatch(pattern, value):
        raise InvalidValue(f"{value!r} is not {what}")
