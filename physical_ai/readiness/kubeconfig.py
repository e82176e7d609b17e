"""The kubeconfig with which the program and its users log in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import yaml

from physical_ai import safe_yaml
from physical_ai.catalog.aks import SERVER_ID
from physical_ai.untrusted.syntax_errors import meaning

LOGIN_ARGUMENTS = (
    "get-token",
    "--login",
    "azurecli",
    "--server-id",
    SERVER_ID,
    "--environment",
    "AzurePublicCloud",
)
"""Arguments of kubelogin for a login with the Azure CLI.

The environment variable AAD_LOGIN_METHOD overrides `--login`, because kubelogin reads its variables after its flags. So
the same arguments work on a laptop (azurecli), in CI (workloadidentity) and in a simulation.
"""


def exec_kubeconfig(raw: str) -> str:
    """AKS's user kubeconfig, with its login replaced by a login that needs no terminal.

    AKS returns `kubelogin get-token --login devicecode`, which waits for a person to type a code. Clusters and contexts
    stay unchanged, including the API server's address and CA.

    Raises:
        ValueError: `raw` is not a kubeconfig, or a user has no exec login, because local accounts are enabled.
    """
    config = _mapping(_loaded(raw), "the kubeconfig")
    users = config.get("users")
    if not isinstance(users, list) or not users:
        raise ValueError("AKS returned a kubeconfig without users")
    for entry in cast("list[Any]", users):
        user = _mapping(entry, "a user of the kubeconfig")
        credentials = _mapping(user.get("user"), "the credentials of a kubeconfig user")
        if "exec" not in credentials:
            raise ValueError(
                f"user {user.get('name')!r} of AKS's kubeconfig has no exec login; the cluster's local accounts are on"
            )
        user["user"] = {"exec": _login(_mapping(credentials["exec"], "the exec login"))}
    return yaml.safe_dump(config, sort_keys=False)


def one_context(raw: str, context: str) -> str:
    """Kubeconfig with only this context of `raw`, as the current one.

    Raises:
        ValueError: `raw` is not a kubeconfig, or has no such context.
    """
    try:
        loaded: object = safe_yaml.load(raw)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not YAML: {meaning(error)}") from None
    config = _mapping(loaded, "the kubeconfig")
    contexts = _named(config, "contexts")
    if context not in contexts:
        known = ", ".join(sorted(contexts)) or "none"
        raise ValueError(f"it has no context '{context}'. Contexts: {known}")
    chosen = _mapping(contexts[context].get("context"), "the context")
    kept: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": context}
    kept["contexts"] = [contexts[context]]
    for key, part in (("clusters", "cluster"), ("users", "user")):
        entries, wanted = _named(config, key), str(chosen.get(part))
        if wanted not in entries:
            raise ValueError(f"its context '{context}' names the {part} '{wanted}', which it does not have")
        kept[key] = [entries[wanted]]
    return yaml.safe_dump(kept, sort_keys=False)


def _named(config: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    found: object = config.get(key) or []
    entries = [
        _mapping(each, f"an entry of {key}") for each in cast("list[Any]", found if isinstance(found, list) else [])
    ]
    return {str(entry.get("name")): entry for entry in entries}


def _login(handed_out: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": handed_out.get("apiVersion", "client.authentication.k8s.io/v1beta1"),
        "command": "kubelogin",
        "args": list(LOGIN_ARGUMENTS),
        "env": None,
        "installHint": "kubelogin is not on the PATH: https://azure.github.io/kubelogin/install.html",
        "provideClusterInfo": False,
        "interactiveMode": "Never",
    }


def _loaded(raw: str) -> object:
    try:
        return safe_yaml.load(raw)
    except yaml.YAMLError as error:
        raise ValueError(f"AKS returned a kubeconfig that is not YAML: {meaning(error)}") from None


def _mapping(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} is not a mapping")
    return cast("dict[str, Any]", value)
