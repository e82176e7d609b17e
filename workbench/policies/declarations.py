"""Rules on declarations of resources of all types, such as their Pulumi options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, leaves

_SECRET_PROPERTY = re.compile(
    r"(password|clientsecret|connectionstring|accountkey|primarykey|secondarykey|privatekey|sastoken|accesstoken"
    r"|client-key-data)$",
    re.IGNORECASE,
)
VAULT_SECRET = "azure-native:keyvault:Secret"  # noqa: S105 - a type token
_CREDENTIAL_IN_TEXT = re.compile(r"client-key-data:|-----BEGIN [A-Z ]*PRIVATE KEY-----")
_SNAKE_CASE = re.compile(r"[a-z]_[a-z]")


def _explicit_provider(resource: Resource, _: Stack) -> Iterable[Violation]:
    provider = resource.options.provider
    if resource.type.startswith("kubernetes:") and (not provider or "::default" in provider):
        yield Violation("", "pass provider=, the one created from this cluster's kubeconfig")


def _component_parent(resource: Resource, _: Stack) -> Iterable[Violation]:
    if not resource.options.parent or "::pulumi:pulumi:Stack::" in resource.options.parent:
        yield Violation("", "pass parent=, the component that declares it")


def _no_plaintext_secret(resource: Resource, stack: Stack) -> Iterable[Violation]:
    for path, value in leaves(resource.inputs):
        if not isinstance(value, str) or not value:
            continue
        named_secret = _SECRET_PROPERTY.search(path) is not None
        in_secret = resource.type == "kubernetes:core/v1:Secret" and path.split(".")[0] in ("data", "stringData")
        in_secret = in_secret or (resource.type == VAULT_SECRET and path == "properties.value")
        leaked = any(secret in value for secret in stack.secrets) or _CREDENTIAL_IN_TEXT.search(value) is not None
        if named_secret or in_secret or leaked:
            yield Violation(path, "wrap the value in pulumi.Output.secret, or read it with Config.require_secret")


def _camel_case_paths(resource: Resource, _: Stack) -> Iterable[Violation]:
    options = {
        "ignoreChanges": resource.options.ignore_changes,
        "replaceOnChanges": resource.options.replace_on_changes,
    }
    for option, paths in options.items():
        for path in paths:
            if _SNAKE_CASE.search(path):
                yield Violation(option, f"write {path!r} in camelCase")


def _replaced_together(resource: Resource, _: Stack) -> Iterable[Violation]:
    gone_with = resource.options.deleted_with
    if gone_with and gone_with not in resource.options.replace_with:
        yield Violation("", "name the same resource in replace_with")


def _protected_together(resource: Resource, stack: Stack) -> Iterable[Violation]:
    gone_with = resource.options.deleted_with
    # A retained resource is not deleted in any case.
    if not gone_with or resource.options.protect or resource.options.retain_on_delete:
        return
    if any(each.urn == gone_with and each.options.protect for each in stack.resources):
        yield Violation("", "protect it too, or remove deleted_with")


RULES = (
    Rule(
        "explicit-provider",
        Severity.ERROR,
        "A Kubernetes object without a provider is created in the cluster of the current kubeconfig.",
        _explicit_provider,
        topic=Topic.SECURITY,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/provider/",
    ),
    Rule(
        "component-parent",
        Severity.ERROR,
        "Protection, providers and the resource tree are inherited from the parent.",
        _component_parent,
        topic=Topic.DECLARATION,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/parent/",
    ),
    Rule(
        "no-plaintext-secret",
        Severity.ERROR,
        "A value that is not marked secret appears as plaintext in state, previews and logs.",
        _no_plaintext_secret,
        topic=Topic.SECURITY,
        link="https://www.pulumi.com/docs/iac/concepts/secrets/",
    ),
    Rule(
        "camel-case-paths",
        Severity.ERROR,
        "The SDK does not translate nested paths, and a snake_case path matches nothing, without an error.",
        _camel_case_paths,
        topic=Topic.DECLARATION,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/ignorechanges/",
    ),
    Rule(
        "replaced-together",
        Severity.ERROR,
        "With deleted_with alone, a resource that was deleted with a replaced one remains in the state.",
        _replaced_together,
        topic=Topic.DECLARATION,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/deletedwith/",
        needs=("deleted_with", "replace_with"),
    ),
    Rule(
        "protected-together",
        Severity.ERROR,
        "A destroy that stops at a protected resource drops the resources deleted with it from the state, undeleted.",
        _protected_together,
        topic=Topic.RELIABILITY,
        link="https://www.pulumi.com/docs/iac/concepts/resources/options/protect/",
        needs=("deleted_with",),
        needs_whole_stack=True,
    ),
)
