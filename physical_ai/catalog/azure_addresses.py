"""Addresses that every virtual machine of Azure reaches, and nothing outside of it."""

from __future__ import annotations

AZURE_DNS = "168.63.129.16"
"""Resolver of every virtual network, which also gives a machine its configuration (Azure docs,
what-is-ip-address-168-63-129-16)."""
INSTANCE_METADATA = "169.254.169.254"
"""Gives every process tokens of the machine's identity (Azure docs, virtual-machines/instance-metadata-service)."""
LINK_LOCAL = "169.254.0.0/16"
"""RFC 3927; the instance metadata service is in it."""
