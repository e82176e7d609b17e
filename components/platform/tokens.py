"""Tokens of OSMO's agents that cross stacks: those a control plane creates for others, and the one a stack takes."""

from __future__ import annotations

from collections.abc import Sequence

from components.azure.account import azure_tenant
from components.osmo.backend_tokens import BackendTokens, BackendTokensArgs, fetching_login
from components.osmo.osmo_token import VaultLogin
from components.platform.azure_resources import AzureResources
from components.platform.common import Common
from physical_ai.settings import Settings
from physical_ai.settings.facts.osmo_token import served_backends


def declare_backend_tokens(
    common: Common, azure: AzureResources | None, served: Sequence[Settings]
) -> BackendTokens | None:
    """Declares the secrets and identities of served backends; None in a stack that creates no tokens for others."""
    backends = served_backends(served)
    if azure is None or azure.data is None or not backends or not common.settings.osmo.creates_token:
        return None
    args = BackendTokensArgs(
        vault=azure.data.vault,
        backends=backends,
        names=common.names,
        resource_group_name=azure.foundation.group.name,
        location=common.settings.region,
        tags=common.settings.tags,
        issuer_url=azure.cluster.oidc_issuer_url,
        subscription_id=common.subscription,
        tenant_id=azure_tenant(),
    )
    # Not protected: a backend that is no longer served loses its token.
    return BackendTokens(f"{common.name}-backend-tokens", args, common.unprotected)


def token_login(common: Common, azure: AzureResources | None, tokens: BackendTokens | None) -> VaultLogin | None:
    """Access of the stack's Job to a vault; None where it needs none."""
    if tokens is not None:
        return tokens.login
    source = common.settings.osmo.token_from
    if azure is None or source is None or not common.settings.osmo.fetches_token:
        return None
    return fetching_login(
        f"{common.name}-token-reader",
        source,
        stack=common.settings.stack,
        issuer_url=azure.cluster.oidc_issuer_url,
        tenant_id=azure_tenant(),
        opts=common.unprotected,
    )
