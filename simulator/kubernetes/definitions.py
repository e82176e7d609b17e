"""Creation of the CustomResourceDefinitions in a chart's `crds/` folders just before helm installs the chart, which
makes the install faster.

helm would create the definitions, check once if they are in effect, and check again only two seconds later, although
they are in effect after a fraction of a second. If a definition exists already, helm leaves it as it is and does not
wait (helm 3, pkg/action/install.go).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import cast

from physical_ai import safe_yaml
from simulator.kubernetes.client import ApiError, Client, Unreachable
from simulator.kubernetes.objects import Object

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KIND = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
SECONDS = 60
"""Seconds that helm waits for new definitions."""
_POLL_SECONDS = 0.05
_SOURCE = re.compile(r"^# Source: \S*/crds/\S+$", re.MULTILINE)


def create_definitions(client: Client, manifest: str, name: str, namespace: str) -> None:
    """Creates the definitions that helm would create first for a release, and waits until helm can see their kinds.

    Args:
        manifest: Output of `helm template --include-crds`.
        name: Name of the release. Nothing is created if the release exists, because helm then refuses the install.

    Errors of the API server are ignored: helm meets the same error next and reports it.
    """
    try:
        if not _is_free(client, name, namespace):
            return
        created = [each for each in definitions(manifest) if _create(client, each)]
        missing = {kind for each in created for kind in _kinds(each)}
        end = time.monotonic() + SECONDS
        while missing and time.monotonic() < end:
            missing -= client.discovered()
            time.sleep(_POLL_SECONDS if missing else 0)
    except (ApiError, Unreachable):
        return


def definitions(manifest: str) -> Iterator[Object]:
    """The definitions from `crds/` folders in a rendered manifest, without definitions from templates: Helm manages
    definitions from templates as part of the release.

    >>> text = "---\\n# Source: a/crds/b.yaml\\napiVersion: apiextensions.k8s.io/v1\\nkind: CustomResourceDefinition\\n"
    >>> [each["kind"] for each in definitions(text)]
    ['CustomResourceDefinition']
    """
    for part in re.split(r"^---[ \t]*$", manifest, flags=re.MULTILINE):
        if not _SOURCE.search(part):
            continue
        document = safe_yaml.load(part)
        if isinstance(document, dict):
            found = cast("Object", document)
            if (found.get("apiVersion"), found.get("kind")) == KIND:
                yield found


def _is_free(client: Client, name: str, namespace: str) -> bool:
    selector = {"labelSelector": f"owner=helm,name={name}", "limit": "1"}
    return not client.get(f"/api/v1/namespaces/{namespace}/secrets", selector).get("items")


def _create(client: Client, definition: Object) -> bool:
    try:
        client.request("POST", DEFINITIONS, definition, {"fieldManager": "helm"})
    except ApiError as refusal:
        if refusal.reason == "AlreadyExists":
            return False
        raise
    return True


def _kinds(definition: Object) -> Iterator[tuple[str, str, str]]:
    """Group, version and kind for each served version of a definition."""
    spec = definition["spec"]
    for version in spec["versions"]:
        if version["served"]:
            yield spec["group"], version["name"], spec["names"]["kind"]
