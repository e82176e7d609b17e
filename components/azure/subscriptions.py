"""Providers for subscriptions other than the stack's, in which a hub or its zones may be."""

from __future__ import annotations

import pulumi
import pulumi_azure_native as azure_native


class Subscriptions:
    """Azure providers for subscriptions other than the stack's own, each created when it is first requested."""

    def __init__(self, name: str, own: str, opts: pulumi.ResourceOptions) -> None:
        self.own, self._name, self._opts = own, name, opts
        self._made: dict[str, azure_native.Provider] = {}

    def provider(self, resource_id: str) -> azure_native.Provider | None:
        """Provider for the subscription of the resource `resource_id`; None if that is the stack's own subscription,
        for which the default provider is used.
        """
        subscription = subscription_of(resource_id)
        if subscription == self.own.lower():
            return None
        if subscription not in self._made:
            name = f"{self._name}-subscription-{subscription}"
            self._made[subscription] = azure_native.Provider(name, subscription_id=subscription, opts=self._opts)
        return self._made[subscription]


def subscription_of(resource_id: str) -> str:
    """Id of the subscription in a resource's id, in lower case."""
    return resource_id.split("/")[2].lower()
