"""One sign on a node with the cause that it indicates, before signs are merged. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from physical_ai.catalog.acceptance import LEVELS, AcceptanceLevel
from physical_ai.catalog.node_causes import Remedy, node_causes

OVERDUE = "gpus-not-offered"
"""Id of the cause of a gate that should have opened by now. The alerts for this cause fire only after a gate has been
closed for too long.
"""


@dataclass(frozen=True)
class Raw:
    """A sign on a node, and the cause that it indicates."""

    cause: str
    rank: float
    """Rank in the order of causes; more specific causes have lower ranks."""
    groups: frozenset[str]
    reason: str
    shown: tuple[str, ...]
    """Original texts of the sign, each with the source from which it was read."""
    yields: frozenset[str] = frozenset()
    """Groups of causes that explain this sign: if the node has a cause of one of the groups, the sign is reported as
    evidence of that cause.
    """
    gpus: frozenset[str] = frozenset()
    """Number and UUID of the GPU that the sign is about, or one of them if the other is unknown; empty for a sign
    without a GPU.
    """
    fix: str = ""
    remedy: Remedy | None = None
    proof: AcceptanceLevel | None = None
    """Acceptance level that the node has to pass to show that the remedy helped; None where no remedy needs a proof."""
    waits: bool = False
    code: int = 0
    """Code of the Xid; 0 for other signs."""
    alerts: tuple[str, ...] = ()
    gate: bool = False
    past: bool = False
    """True for a sign of a fault that may be over. It is reported only if it explains a present sign."""
    row: str = ""
    """Id of the row in the table of node causes; empty for a sign without a row."""

    def is_of_gpu(self, other: Raw) -> bool:
        """True if this sign and `other` may be about the same GPU."""
        return not self.gpus or not other.gpus or bool(self.gpus & other.gpus)

    def is_same(self, other: Raw) -> bool:
        """True if this sign and `other` have the same cause and may be about the same GPU."""
        of_row = bool(self.row) and self.row == other.row
        same = self.cause == other.cause and (self.reason == other.reason or bool(self.code))
        return (of_row or same) and self.is_of_gpu(other)

    def explains(self, other: Raw) -> bool:
        return bool(self.groups & other.yields) and self.is_of_gpu(other)

    def joined(self, other: Raw) -> Raw:
        return replace(
            self,
            rank=min(self.rank, other.rank),
            groups=self.groups | other.groups,
            gpus=self.gpus | other.gpus,
            reason=self.reason if self.gpus or not other.gpus else other.reason,
            shown=tuple(dict.fromkeys((*self.shown, *other.shown))),
            alerts=tuple(dict.fromkeys((*self.alerts, *other.alerts))),
            gate=self.gate or other.gate,
            past=self.past and other.past,
        )

    def in_group(self, group: str) -> Raw:
        return replace(self, groups=self.groups | {group})

    def of_alert(self, alert: str) -> Raw:
        return replace(self, alerts=(*self.alerts, alert))

    def overdue(self, alerts: list[str]) -> bool:
        """True where one of the alerts shows that the gate should have opened by now."""
        return self.gate and any(alert in node_causes()[OVERDUE].alerts for alert in alerts)


def most(proofs: Iterable[AcceptanceLevel | None]) -> AcceptanceLevel | None:
    """Highest acceptance level in `proofs`; None if `proofs` contains no level."""
    given = [LEVELS.index(each) for each in proofs if each is not None]
    return LEVELS[max(given)] if given else None
