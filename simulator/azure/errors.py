"""Azure's error responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.azure.registry import models
from simulator.wire import Refused


@dataclass(frozen=True)
class Refusal:
    """One reason why ARM or a resource provider refuses a request."""

    rule: str
    """Id of the rule in data/rules.json."""
    status: int
    code: str
    message: str
    target: str = ""
    flat: bool = False
    """True if the error body has no envelope `error`, as with AKS."""
    information: tuple[Mapping[str, Any], ...] = ()
    """Entries of `additionalInfo`, such as the policies that deny a resource."""

    @models("arm-error-shape")
    def body(self) -> dict[str, Any]:
        """The JSON body of the error response.

        AKS: `{code, details, message, subcode, target?}`; every other service: `{error: {code, message, target?,
        details}}`.
        """
        target = {"target": self.target} if self.target else {}
        if self.flat:
            return {"code": self.code, "details": None, "message": self.message, "subcode": "", **target}
        more = {"additionalInfo": list(self.information)} if self.information else {}
        return {"error": {"code": self.code, "message": self.message, **target, "details": [], **more}}

    def __str__(self) -> str:
        """The refusal in the format in which azure-native prints it."""
        target = f' Target="{self.target}"' if self.target else ""
        return f'Status={self.status} Code="{self.code}" Message="{self.message}"{target}'


class ArmError(Refused):
    """Error for a rejected request; `refusal` has the rule and ARM's message."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
