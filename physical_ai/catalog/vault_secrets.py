"""Names of AKS's provider of secrets from key vaults (AKS docs, csi-secrets-store-driver)."""

from __future__ import annotations

ADDON = "azureKeyvaultSecretsProvider"
"""Key of the add-on in a cluster's `addonProfiles`."""
ADDON_CONFIG = {"enableSecretRotation": "true", "rotationPollInterval": "2m"}
"""Configuration of the add-on. Without rotation, the add-on would never read a renewed certificate from the vault."""
DRIVER = "secrets-store.csi.k8s.io"
API_VERSION, KIND = "secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"
PLURAL = "secretproviderclasses"
