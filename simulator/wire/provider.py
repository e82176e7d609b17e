"""Interface of a simulated provider: the operations of Pulumi's provider protocol, on plain dictionaries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from simulator.wire.values import Change, changes


@dataclass(frozen=True)
class Request:
    """Resource on which the engine asks a provider to do an operation, with the operation's options."""

    urn: str
    type: str
    """Type token, such as `azure-native:containerservice:AgentPool`."""
    name: str
    """Logical name of the resource."""
    id: str = ""
    preview: bool = False
    timeout: float = 0
    """Timeout in seconds from the resource's custom timeouts; 0 to use the provider's default."""
    proposed_name: str = ""
    """Name that the engine proposes by its autonaming rules; empty if it proposes none."""
    random_seed: bytes = b""


@dataclass(frozen=True)
class Failure:
    """Reason why the Check of a resource refuses one of its input properties."""

    property: str
    reason: str


@dataclass(frozen=True)
class Diff:
    """Changes of a resource. The resource is replaced if the path of a change, or a path above it, is in `replaces`;
    there `[*]` stands for any element of a list.
    """

    changes: Mapping[str, Change]
    replaces: Sequence[str] = ()
    delete_before_replace: bool = False
    of_inputs: bool = True
    """True if `changes` compares the old inputs with the new inputs, False if it compares the state with the new
    inputs. `pulumi preview --diff` shows only a comparison of inputs.
    """


class Refused(Exception):
    """Error if the provider refuses an operation. The user sees the error's text below the resource."""


class NotReady(Exception):
    """Error if an object exists but did not become ready. The engine keeps the object in the state, and shows the
    reasons.

    If `inputs` is None, the engine keeps the inputs from before the operation.
    """

    def __init__(
        self, id: str, outputs: Mapping[str, Any], reasons: Sequence[str], inputs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("; ".join(reasons))
        self.id, self.outputs, self.reasons, self.inputs = id, outputs, reasons, inputs


class Provider(ABC):
    """Provider with the configuration of one provider resource. The engine may use several of them.

    Several threads call its methods at the same time.
    """

    package: ClassVar[str]
    version: ClassVar[str]

    def check_config(self, old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], list[Failure]]:
        return new, []

    def diff_config(self, old_inputs: dict[str, Any], old_outputs: dict[str, Any], new: dict[str, Any]) -> Diff:
        return Diff(changes(old_inputs or old_outputs, new))

    def configure(self, config: dict[str, Any]) -> None:
        """Configures the provider.

        Called once with the checked configuration, and never while part of it is unknown.
        """

    def cancel(self) -> None:
        """Ends every wait, because the user wants the engine to stop."""

    @abstractmethod
    def check(
        self, request: Request, old_inputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Failure]]: ...

    @abstractmethod
    def diff(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> Diff: ...

    @abstractmethod
    def create(self, request: Request, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Creates a resource; returns its id and outputs. In a preview it creates nothing, and the id is ignored."""

    @abstractmethod
    def read(
        self, request: Request, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Present id, outputs and inputs of a resource; an empty id means that it does not exist."""

    @abstractmethod
    def update(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]: ...

    @abstractmethod
    def delete(self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any]) -> None: ...

    def invoke(self, token: str, args: dict[str, Any]) -> dict[str, Any]:
        raise Refused(f"the simulator has no model of the function {token}")
