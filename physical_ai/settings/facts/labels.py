"""Syntax of Kubernetes labels and taints, and labels that a node pool may not set. Pure functions."""

from __future__ import annotations

import re

from physical_ai.catalog.aks import SET_BY_AKS

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

RESERVED_DOMAINS = ("kubernetes.azure.com", "kubernetes.io", "k8s.io")
"""Domains that Kubernetes and AKS reserve, with every domain below them."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")


def is_reserved(key: str) -> bool:
    """True for a label that Kubernetes or AKS sets itself, or whose prefix it reserves.

    >>> is_reserved("topology.kubernetes.io/zone"), is_reserved("Accelerator"), is_reserved("nvidia.com/gpu")
    (True, True, False)
    """
    prefix, slash, name = key.rpartition("/")
    if not slash:
        return name.lower() in SET_BY_AKS
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in RESERVED_DOMAINS)


def key_problem(key: str) -> str | None:
    """Problem with the syntax of a label's or taint's key; None for a valid key."""
    prefix, slash, name = key.rpartition("/")
    if slash and not (_DOMAIN.fullmatch(prefix) and len(prefix) <= 253):
        return f"'{key}' has a prefix that is not a lowercase domain name."
    if not _NAME.fullmatch(name):
        return (
            f"'{key}' is not a key: at most 63 of letters, digits, '-', '_' and '.' after an optional prefix and '/'."
        )
    return None


def is_value(text: str) -> bool:
    """True where the text is a valid value of a taint; a label's value may also be empty."""
    return _NAME.fullmatch(text) is not None


def split_taint(taint: str) -> tuple[str, str, str]:
    """Key, value and effect of `key=value:Effect`; a missing part is empty."""
    spec, _, effect = taint.rpartition(":")
    key, _, value = spec.partition("=")
    return key, value, effect
