"""The stand-in of OSMO's control plane: its users and tokens, and its gateway on loopback.

What it answers to `/api/auth/…` is what the service of OSMO 6.3 answers (NVIDIA/OSMO
src/service/core/auth/auth_service.py, objects.py). Who may do what is decided as its authorization service does, from
the roles and policies of the configuration.
"""
