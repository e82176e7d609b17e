"""The simulated Entra ID: one tenant, one subscription, a few principals, and their tokens.

A principal has no rights by itself, only through role assignments.
"""

from __future__ import annotations

import csv
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

TENANT_ID = "5a1e0000-0000-4000-8000-000000000001"
SUBSCRIPTION_ID = "5a1e0000-0000-4000-8000-000000000002"
AKS_CLIENT_ID = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
"""Application id of "Azure Kubernetes Service AAD Client", the same in every tenant."""


@dataclass(frozen=True)
class Principal:
    name: str
    object_id: str
    client_id: str = ""


DEPLOYER = Principal("deployer", "5a1e0000-0000-4000-8000-00000000000d", "5a1e0000-0000-4000-8000-0000000000dd")
"""Runs the program; owner of the subscription, without rights in a cluster until a role assignment takes effect."""
BYSTANDER = Principal("bystander", "5a1e0000-0000-4000-8000-00000000000b")
"""A user of the same tenant without any role."""
PRINCIPALS = (DEPLOYER, BYSTANDER)


def tokens_file(folder: Path) -> Path:
    """The API server's token file for every principal, made once in `folder`. On AKS too a user is an object id."""
    path = folder / "tokens.csv"
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerows((secrets.token_urlsafe(32), p.object_id, p.object_id) for p in PRINCIPALS)
        unfinished.rename(path)
    return path
