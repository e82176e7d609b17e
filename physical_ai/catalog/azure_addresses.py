"""Addresses that every virtual machine of Azure can reach and that cannot be reached from elsewhere."""

from __future__ import annotations

AZURE_DNS = "168.63.129.16"
"""Address of the resolver of every virtual network, which also gives a machine its configuration (Azure docs,
what-is-ip-address-168-63-129-16).
"""
INSTANCE_METADATA = "169.254.169.254"
"""Address that gives every process of a machine tokens of the machine's identity (Azure docs,
virtual-machines/instance-metadata-service).
"""
LINK_LOCAL = "169.254.0.0/16"
"""Link-local range (RFC 3927), which contains the instance metadata service."""
