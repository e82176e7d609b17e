"""Simulation of cert-manager: its own authority issues a certificate if Azure lets cert-manager write the
DNS record.
"""

from __future__ import annotations

from simulator.cert_manager.live import CertManager

__all__ = ["CertManager"]
