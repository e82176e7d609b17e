"""Check of the version that deployed the stack last: a program that cannot deploy the stack again ends here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from physical_ai.nested import is_mapping
from physical_ai.releases.takeover import problem

READ = "pulumi:pulumi:readStackOutputs"
"""Function of the engine's own provider that returns the outputs of a stack. Unlike a StackReference, it leaves no
resource in the state.
"""


def refuse_foreign_state() -> None:
    """Ends the program if the outputs of the stack's last deployment say that this version cannot deploy it again.

    A stack whose outputs cannot be read, such as a new one, is deployed.

    Raises:
        pulumi.RunError: The version is too old for the stack, or too new for one step.
    """
    if (found := problem(_outputs())) is not None:
        raise pulumi.RunError(f"The stack {pulumi.get_stack()} is not deployed: {found}")


def _outputs() -> Mapping[str, Any]:
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    try:
        answer: Any = pulumi.runtime.invoke(READ, {"name": name}).value
    except Exception as refused:  # the SDK raises plain Exception for whatever the engine answers
        reason = str(refused).strip().partition("\n")[0]
        pulumi.log.debug(f"The outputs of {name} could not be read, so its version is not compared: {reason}")
        return {}
    outputs: Any = answer.get("outputs") if is_mapping(answer) else None
    return outputs if is_mapping(outputs) else {}
