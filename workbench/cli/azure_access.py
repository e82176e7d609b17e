"""Access to Azure for commands that repair or report nodes: the real Azure with the caller's login, or a stack's
simulated one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from workbench.cli.console import err
from workbench.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from simulator.entra import Principal
    from workbench.health.arm import Answer, Arm

IMPACTS_FILE = "impacts.json"
"""File in the simulation's folder with the reports that were sent to the simulated Azure."""


def azure_arm(stack: str, *, real: bool, principal: Principal | None = None) -> Arm:
    """Client for requests to Azure. Ends the command if there is no login.

    Args:
        real: True for the real Azure, False for the stack's simulated one.
        principal: Principal that is logged in to the simulated Azure; the deployer if None.
    """
    return _real() if real else _simulated(stack, principal)


def _real() -> Arm:
    from physical_ai.subscription.answers import Unanswered
    from workbench.health.arm import Answer, NoAnswer
    from workbench.preflight.login import NoLogin, logged_in_to_change

    try:
        exchange = logged_in_to_change()
    except NoLogin as problem:
        err.print(f"no login to Azure was found: {problem}", markup=False, style="red")
        raise typer.Exit(FAILED) from None

    def arm(method: str, path: str, parameters: Mapping[str, str], body: Any) -> Answer:
        try:
            return Answer(*exchange(method, path, parameters, body))
        except Unanswered as problem:
            raise NoAnswer(str(problem)) from None

    return arm


def _simulated(stack: str, principal: Principal | None) -> Arm:
    from simulator.azure import ArmEndpoint
    from simulator.entra import DEPLOYER
    from simulator.simulation import Simulation
    from workbench.health.arm import Answer

    simulation, who = Simulation(stack), principal or DEPLOYER

    def arm(method: str, path: str, parameters: Mapping[str, str], body: Any) -> Answer:
        with simulation.azure() as cloud:
            endpoint = ArmEndpoint(cloud, who.object_id, simulation.folder / IMPACTS_FILE)
            return Answer(*endpoint(method, path, parameters, body))

    return arm
