"""Examples for the rules on the registries that images come from."""

from __future__ import annotations

from typing import Any

from workbench.policies.examples.model import Example
from workbench.policies.images import CACHE_RULE, CRON_JOB, POLICY, POLICY_NAME, REGISTRY
from workbench.policies.model import Resource

CLOSED = Resource(POLICY, "images", {"metadata": {"name": POLICY_NAME}}, urn="policy")
CACHE = Resource(CACHE_RULE, "nvcr", {"sourceRepository": "nvcr.io/*"}, urn="cache")


def pod(*images: str) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [{"name": "main", "image": image} for image in images]}}}


EXAMPLES: dict[str, list[Example]] = {
    "image-from-elsewhere": [
        Example(
            "kubernetes:batch/v1:Job",
            {"spec": pod("nvcr.io/nvidia/osmo/service:6.3.1")},
            {"spec": pod("quay.io/acme/tool:1")},
            others=(CLOSED, CACHE),
        ),
        Example(
            CRON_JOB,
            {"spec": {"jobTemplate": {"spec": pod("contoso.azurecr.io/tool:1")}}},
            {"spec": {"jobTemplate": {"spec": pod("ubuntu:22.04")}}},
            others=(CLOSED, CACHE),
        ),
        Example(
            "kubernetes:apps/v1:DaemonSet",
            {"spec": pod("quay.io/acme/tool:1")},
            others=(CACHE,),
            bad_others=(CLOSED, CACHE),
        ),
    ],
    "registry-only": [Example(REGISTRY, others=(CLOSED,), bad_others=(), environment="prod")],
}
