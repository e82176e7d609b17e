"""How OSMO says no: the class of its error, what it was about, and what stood behind it."""

from __future__ import annotations

from typing import Literal

CRASHES = (TypeError, AttributeError, KeyError, ValueError, IndexError)
"""What Python raises for data of a shape that nobody expects."""

Kind = str
"""Class of the error that OSMO 6.3.1 ends with. Those without OSMO in their name are crashes: the user sees a 500."""

Stage = Literal["pool", "template", "yaml", "model", "datasets", "parse", "limits", "validate", "pod"]
"""Where a submission ends, in the order in which the service goes through them."""


class Refusal(Exception):
    """OSMO would not take this. `kind` is its error's class, `cause` that of the library below, where there is one.

    `paths` are the places that a model found wrong, as (dotted path, error type) like pydantic tells them.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        cause: str | None = None,
        stage: Stage | None = None,
        paths: tuple[tuple[str, str], ...] = (),
        details: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.cause = cause
        self.stage: Stage | None = stage
        self.paths = paths
        self.line: int | None = None
        """Line of the template it is about, from 1, where Jinja told one."""
        self.details = details
        """A sentence for each of `paths`."""

    @property
    def is_crash(self) -> bool:
        """Whether OSMO meets this unprepared and answers with an internal error."""
        return not self.kind.startswith("OSMO") and self.kind != "AssertionError"

    @classmethod
    def of(cls, error: Exception, what: str) -> Refusal:
        """A crash of OSMO's that happens here alike: data of a shape that nobody expects."""
        return error if isinstance(error, cls) else cls(type(error).__name__, f"{what}: {error}")

    def at(self, stage: Stage) -> Refusal:
        """The same refusal, met at `stage` unless it knows better."""
        self.stage = self.stage or stage
        return self
