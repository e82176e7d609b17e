"""Simulated control plane of OSMO: its users and tokens, and its gateway on loopback.

Answers to `/api/auth/…` are those of the service of OSMO 6.3 (NVIDIA/OSMO src/service/core/auth/auth_service.py,
objects.py). Permissions follow from the roles and policies of the configuration, as in OSMO's authorization service.
"""
