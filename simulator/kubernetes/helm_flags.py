"""Conversion of a Release's properties into flags of `helm`."""

from __future__ import annotations

from simulator.kubernetes.objects import Object

CHART_FLAGS = {
    "dependencyUpdate": "--dependency-update",
    "devel": "--devel",
    "disableOpenapiValidation": "--disable-openapi-validation",
    "renderSubchartNotes": "--render-subchart-notes",
    "verify": "--verify",
}
INSTALL_FLAGS = {
    "atomic": "--atomic",
    "createNamespace": "--create-namespace",
    "replace": "--replace",
    "skipCrds": "--skip-crds",
    "takeOwnership": "--take-ownership",
}
UPGRADE_FLAGS = {
    "atomic": "--atomic",
    "cleanupOnFail": "--cleanup-on-fail",
    "forceUpdate": "--force",
    "resetValues": "--reset-values",
    "reuseValues": "--reuse-values",
    "skipCrds": "--skip-crds",
    "takeOwnership": "--take-ownership",
}
REPOSITORY_OPTIONS = {
    "caFile": "--ca-file",
    "certFile": "--cert-file",
    "keyFile": "--key-file",
    "password": "--password",
    "repo": "--repo",
    "username": "--username",
}


def operation_arguments(release: Object, seconds: int, fresh: bool) -> list[str]:
    """Arguments of `helm` for an install (`fresh`) or an upgrade.

    Different properties of a Release turn hooks off: `disableWebhooks` for an install, `disableCRDHooks` for an
    upgrade.
    """
    arguments = [flag for key, flag in (INSTALL_FLAGS if fresh else UPGRADE_FLAGS).items() if release.get(key)]
    arguments += ["--no-hooks"] if release.get("disableWebhooks" if fresh else "disableCRDHooks") else []
    arguments += ["--timeout", f"{seconds}s"]
    if release.get("maxHistory") and not fresh:
        arguments += ["--history-max", str(release["maxHistory"])]
    if not release.get("skipAwait"):
        arguments += ["--wait", *(["--wait-for-jobs"] if release.get("waitForJobs") else [])]
    return arguments
