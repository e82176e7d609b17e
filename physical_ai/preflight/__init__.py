"""Before a stack is deployed: would Azure take it? Quota, sizes, versions, registrations, rights, and tools.

`check(settings, azure)` gives the findings; without an `azure` to ask, what the catalogue and this machine can say.
"""

from __future__ import annotations

from physical_ai.preflight.answers import Azure, Permission, SizeOffer, Subscription, Unanswered, Usage, Version
from physical_ai.preflight.judging import check
from physical_ai.preflight.rest import AzureRest

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
