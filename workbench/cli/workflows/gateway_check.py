"""Check of the simulated OSMO's gateway before workflows use it: the gateway must refuse a user without a role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.workflows.runner import user_at
from workbench.cli.workflows.simulated import deployed_context

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from simulator.simulation import Simulation

FORBIDDEN = 403


def check_refusal(simulation: Simulation, settings: Settings, file: Path) -> dict[str, Any] | None:
    """Submits a workflow as a user without a role, and returns the gateway's refusal as data.

    Returns None if the stack's OSMO treats every caller as an administrator.

    Raises:
        SimulationError: the workflow is accepted, or fails for another reason than the missing role.
    """
    from simulator.entra import BYSTANDER
    from simulator.errors import SimulationError
    from simulator.osmo.control.user import Refused
    from workbench.osmo.workflow.rendering import Variables

    if settings.osmo.installs_service and settings.osmo.access.login == "dev":
        return None
    pool, user = deployed_context(simulation, None, Variables()).pool, user_at(simulation, BYSTANDER)
    try:
        roles = user.submit(pool, file.read_text(encoding="utf-8"))
    except Refused as refusal:
        if refusal.code != FORBIDDEN:
            raise
        return {"address": user.address, "user": BYSTANDER.name, "code": refusal.code, "message": str(refusal)}
    problem = f"{BYSTANDER.name}, who is in no group with a role, may submit workflows as {', '.join(roles)}"
    raise SimulationError(f"{problem}. See osmo.access.roles")


def described(workflows: Sequence[Mapping[str, Any]], refused: Mapping[str, Any] | None) -> list[str]:
    """Lines of text about the users that the gateway has accepted and refused."""
    if refused is None:
        return ["gateway: login dev, every caller is an administrator"]
    accepted = [(each["id"], each["submitted"]) for each in workflows]
    return [
        f"gateway: {refused['address']}, login with Entra ID",
        *(f"  {name}, submitted by {by['user']} ({', '.join(by['roles'])}): accepted" for name, by in accepted),
        f"  the same, submitted by {refused['user']} (no role): refused, {refused['code']}",
    ]
