"""NVIDIADriver resources."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes

from physical_ai.planning.gpu_operator import DriverResource

API_VERSION = "nvidia.com/v1alpha1"
IMMUTABLE = ("spec.driverType", "spec.usePrecompiled")
"""Fields of an NVIDIADriver that the API server refuses to change (NVIDIADriver CRD)."""
BACKGROUND_DELETION = {"pulumi.com/deletionPropagationPolicy": "background"}
"""Annotation that makes the API server delete an NVIDIADriver at once, and its DaemonSet afterwards. Otherwise the
removal of a pool would wait for Pods on nodes that no longer exist.
"""


def nvidia_driver(
    resource: str, driver: DriverResource, release: kubernetes.helm.v3.Release, opts: pulumi.ResourceOptions
) -> kubernetes.apiextensions.CustomResource:
    """Declares the NVIDIADriver of one pool. The engine does not wait for the driver, which takes minutes to build.

    The field `repository` is made an output that is known only after the release. If all fields were known, a preview
    would check the object against the CRD in the cluster. During an upgrade, the cluster still has the old release's
    CRD, which refuses fields of the new release (`field not declared in schema`).
    """
    repository = driver.spec["repository"]
    return kubernetes.apiextensions.CustomResource(
        resource,
        api_version=API_VERSION,
        kind="NVIDIADriver",
        metadata={"name": driver.name, "annotations": BACKGROUND_DELETION},
        spec={**driver.spec, "repository": release.status.apply(lambda _: repository)},
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(replace_on_changes=list(IMMUTABLE), delete_before_replace=True),
        ),
    )
