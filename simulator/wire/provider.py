"""Interface of a stand-in provider: Pulumi's provider verbs on plain dictionaries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from simulator.wire.values import Change, changes


@dataclass(frozen=True)
class Request:
    """The resource a verb is about."""

    urn: str
    type: str
    """Type token, as `azure-native:containerservice:AgentPool`."""
    name: str
    """Logical name."""
    id: str = ""
    preview: bool = False
    timeout: float = 0
    """Seconds from the resource's custom timeouts; 0 for the provider's default."""
    proposed_name: str = ""
    """The engine's autonaming proposal, empty when it makes none."""
    random_seed: bytes = b""


@dataclass(frozen=True)
class Failure:
    """One reason why inputs do not pass Check."""

    property: str
    reason: str


@dataclass(frozen=True)
class Diff:
    """Changes of a resource; a changed path under one of `replaces` (which may use `[*]`) makes it a replacement."""

    changes: Mapping[str, Change]
    replaces: Sequence[str] = ()
    delete_before_replace: bool = False
    of_inputs: bool = True
    """True for changes between inputs, and not between state and inputs: `pulumi preview --diff` draws the former."""


class Refused(Exception):
    """Raised where the operation was refused; the text is shown to the user below the resource."""


class NotReady(Exception):
    """Raised where the object exists but did not become ready: the engine keeps it in state, with these reasons.

    Without `inputs` the engine keeps those that it had: after a failed update, the old ones.
    """

    def __init__(
        self, id: str, outputs: Mapping[str, Any], reasons: Sequence[str], inputs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__("; ".join(reasons))
        self.id, self.outputs, self.reasons, self.inputs = id, outputs, reasons, inputs


class Provider(ABC):
    """One configured provider, of which the engine may hold several. Methods are called from many threads at once."""

    package: ClassVar[str]
    version: ClassVar[str]

    def check_config(self, old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], list[Failure]]:
        return new, []

    def diff_config(self, old_inputs: dict[str, Any], old_outputs: dict[str, Any], new: dict[str, Any]) -> Diff:
        return Diff(changes(old_inputs or old_outputs, new))

    def configure(self, config: dict[str, Any]) -> None:
        """Called once with the checked configuration; never called while part of it is unknown."""

    def cancel(self) -> None:
        """The user wants the engine to stop: end every wait."""

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
        """The new id and outputs. In a preview nothing is made, and the id is ignored."""

    @abstractmethod
    def read(
        self, request: Request, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Present id, outputs and inputs; an empty id means that the object does not exist."""

    @abstractmethod
    def update(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]: ...

    @abstractmethod
    def delete(self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any]) -> None: ...

    def invoke(self, token: str, args: dict[str, Any]) -> dict[str, Any]:
        raise Refused(f"the simulator has no model of the function {token}")
