"""A model of cert-manager: it has certificates issued by an authority of its own, if Azure lets it write the record."""

from __future__ import annotations

from simulator.cert_manager.live import CertManager

__all__ = ["CertManager"]
