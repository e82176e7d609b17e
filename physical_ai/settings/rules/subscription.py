"""Rule that the resources which a stack names are in its subscription, which is known only after a login."""

from __future__ import annotations

from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.loaded import Loaded

_IDENTITY: Path = ("osmo", "tokenFrom", "identity")


def elsewhere(loaded: Loaded, subscription: str) -> list[Fault]:
    """Fault of an identity that the stack would have to federate with its cluster, but that is in another subscription.
    The stack only changes resources in its own subscription.
    """
    osmo = loaded.settings.osmo
    if osmo.token_from is None or not osmo.fetches_token:
        return []
    other = osmo.token_from.identity.split("/")[2]
    if other.lower() == subscription.lower():
        return []
    problem = f"The identity is in the subscription {other}, and the stack in another one."
    fix = "Deploy both stacks into one subscription, or set the token as a secret: docs/osmo.md#several-clusters."
    return [loaded.merged.fault(_IDENTITY, problem, fix)]
