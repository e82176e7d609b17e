"""Check whether Azure would accept a stack: quota, sizes, versions, registrations, rights, and tools.

`check(settings, azure, …)` returns the findings. If `azure` is None, it returns only findings from the catalogue and
this machine.
"""

from __future__ import annotations

from physical_ai.subscription.answers import Azure, Permission, SizeOffer, Subscription, Unanswered, Usage, Version
from physical_ai.subscription.rest import AzureRest
from workbench.preflight.judging import check

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
