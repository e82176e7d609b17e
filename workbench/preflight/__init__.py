"""Check whether Azure would accept a stack: quota, sizes, versions, registrations, rights, and tools.

`check(settings, azure, …)` returns the findings; if `azure` is None, only those from the catalogue and this machine.
"""

from __future__ import annotations

from workbench.preflight.answers import Azure, Permission, SizeOffer, Subscription, Unanswered, Usage, Version
from workbench.preflight.judging import check
from workbench.preflight.rest import AzureRest

__all__ = [
    "Azure",
    "AzureRest",
    "Permission",
    "SizeOffer",
    "Subscription",
    "Unanswered",
    "Usage",
    "Version",
    "check",
]
