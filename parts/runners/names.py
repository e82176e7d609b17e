"""The supported release of GitHub's Actions Runner Controller, and the names that depend on it."""

from __future__ import annotations

CONTROLLER_CHART = "gha-runner-scale-set-controller"
SCALE_SET_CHART = "gha-runner-scale-set"
CONTROLLER_NAMESPACE = "arc-systems"
"""Namespace of the controller and its listeners, named as in GitHub's documentation."""
NAMESPACE = "arc-runners"
"""Namespace of the Pods that run jobs, and the only one that the controller watches."""
CONTROLLER_RELEASE, SCALE_SET_RELEASE = "arc", "arc-runners"
CONTROLLER_ACCOUNT = "arc-controller"
RUNNER_ACCOUNT = "runner"
IMAGE = "actions/actions-runner"
REGISTRY = "ghcr.io"
RUNNER_USER = 1001
"""Id of the user `runner` in the image (actions/runner, images/Dockerfile)."""
APP_SECRET = "github-app"  # noqa: S105 - a name
PRIVATE_KEY = "githubAppPrivateKey"
"""Name of the stack's secret with the private key of the GitHub App, in PEM."""
LONGEST_NAME = 45
"""Most characters that a scale set's name may have; the chart refuses more (templates/autoscalingrunnerset.yaml)."""
PART_OF = {"app.kubernetes.io/part-of": "gha-rs-controller"}
"""Label of the controller's Deployment."""
SCALE_SET_LABEL = "actions.github.com/scale-set-name"
"""Label of every object that belongs to a scale set."""
POOL = "runners"
"""Name of the runners' node pool."""
TAINT_KEY = "physical-ai/runners"
TAINT = f"{TAINT_KEY}=present:NoSchedule"
"""Taint of the runners' nodes. It has a value because the cluster autoscaler ignores a taint without a value on a pool
without nodes.
"""
