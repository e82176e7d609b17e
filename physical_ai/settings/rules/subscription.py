"""Rule that an identity in the settings is in the stack's own subscription, which is known only after a login."""

from __future__ import annotations

from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.loaded import Loaded

_IDENTITY: Path = ("osmo", "tokenFrom", "identity")


def elsewhere(loaded: Loaded, subscription: str) -> list[Fault]:
    """Fault if the identity that reads the agents' token is in another subscription than the stack. The stack would
    have to add a federated credential to the identity, but changes resources only in its own subscription.
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
