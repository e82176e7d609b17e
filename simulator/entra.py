"""The simulated Entra ID: one tenant, one subscription, a few principals, and their tokens.

A principal has rights only through role assignments: those that the program declares, and those that exist before the
program runs (`Principal.roles`), as `physai bootstrap` creates them for the pipelines.
"""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from physical_ai.catalog.aks import ASSIGNED

TENANT_ID = "5a1e0000-0000-4000-8000-000000000001"
SUBSCRIPTION_ID = "5a1e0000-0000-4000-8000-000000000002"
AKS_CLIENT_ID = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
"""Application id of "Azure Kubernetes Service AAD Client", the same in every tenant."""

Kind = Literal["User", "Group", "ServicePrincipal"]


@dataclass(frozen=True)
class Principal:
    """Principal in the simulated Entra tenant. `roles`: names of roles on the subscription that the principal has
    before the program first runs.
    """

    name: str
    object_id: str
    client_id: str = ""
    kind: Kind = "User"
    roles: tuple[str, ...] = ()
    assigns: frozenset[str] = frozenset()
    """GUIDs of the roles to which a condition limits the principal's right to assign roles; empty if there is no such
    condition.
    """
    groups: tuple[str, ...] = ()
    """Object ids of the groups that the principal is a member of."""


DEPLOYERS = Principal("deployers", "5a1e0000-0000-4000-8000-0000000000f0", kind="Group")
"""The group of all deployers; no command can run as a group."""
DEPLOYER = Principal(
    "deployer",
    "5a1e0000-0000-4000-8000-00000000000d",
    "5a1e0000-0000-4000-8000-0000000000dd",
    roles=("Owner",),
    groups=(DEPLOYERS.object_id,),
)
"""The person who runs the program. This principal owns the subscription, but has no rights in a cluster until a role
assignment or membership in a group gives them.
"""
SECOND_DEPLOYER = Principal(
    "second-deployer",
    "5a1e0000-0000-4000-8000-00000000002d",
    "5a1e0000-0000-4000-8000-0000000002dd",
    kind="ServicePrincipal",
    roles=("Contributor", "Role Based Access Control Administrator"),
    assigns=frozenset(ASSIGNED),
    groups=(DEPLOYERS.object_id,),
)
"""The service principal with which a pipeline deploys."""
READER = Principal(
    "reader",
    "5a1e0000-0000-4000-8000-00000000000e",
    "5a1e0000-0000-4000-8000-0000000000ee",
    kind="ServicePrincipal",
    roles=(
        "Reader",
        "Azure Kubernetes Service Cluster User Role",
        "Azure Kubernetes Service RBAC Reader",
        "Physical AI Preview",
    ),
)
"""The service principal with which a pipeline only reads: for previews and for the detection of drift."""
BYSTANDER = Principal("bystander", "5a1e0000-0000-4000-8000-00000000000b")
"""A user of the same tenant without any role."""
PRINCIPALS = (DEPLOYER, SECOND_DEPLOYER, READER, BYSTANDER)
"""Principals that can log in. DEPLOYER, the first of them, is logged in unless the user chooses another principal."""


class UnknownPrincipal(ValueError):
    """Error if the tenant has no principal of this name; the text lists those that it has."""


def principal(name: str) -> Principal:
    """The principal with this name. Raises UnknownPrincipal."""
    found = next((each for each in PRINCIPALS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in PRINCIPALS)
        raise UnknownPrincipal(f"the simulated tenant has no principal '{name}'; it has {known}")
    return found


def tokens_file(folder: Path) -> Path:
    """The API server's token file with a token for every principal, created once in `folder`.

    The user name is the principal's object id, as on AKS.
    """
    path = folder / "tokens.csv"
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", newline="") as file:
            csv.writer(file).writerows(_rows(PRINCIPALS))
        unfinished.rename(path)
    return path


def _rows(principals: Sequence[Principal]) -> list[list[str]]:
    """Lines of the token file: token, user name, user id and, in one field, the groups (Kubernetes docs, static token
    file).
    """
    return [[secrets.token_urlsafe(32), each.object_id, each.object_id, ",".join(each.groups)] for each in principals]
