"""Rules on OSMO's configuration in values of its chart."""

from __future__ import annotations

from workbench.osmo.lint.registry import TEMPLATES, TOOLKIT, rule

CONFIG_LOADS = rule(
    "config-loads",
    "error",
    "The service loads its configuration.",
    reason="A wrong key or type in service, workflow or dataset stops the service; after an upgrade it never starts.",
    fix="Correct or remove the key.",
)
CONFIG_NAME = rule(
    "config-name",
    "error",
    "Every template and validation that a pool or platform names exists.",
    reason="A misspelled name is skipped silently, and the guard or the GPUs that it names are missing.",
    fix="Correct the name.",
)
CONFIG_READS = rule(
    "config-reads",
    "error",
    "Every pool and backend can be read.",
    reason="Wrong values are found only when a workflow is submitted, and make the entire pool unreadable.",
    fix="Correct the value.",
)
CONFIG_SUBMITS = rule(
    "config-submits",
    "error",
    "OSMO creates a valid Pod for a small task on every platform.",
    reason="Templates and validations are evaluated only when a workflow is submitted: then each one is refused.",
    fix="Change the template, the validation or the variable in the message.",
)
CONFIG_GPU_DEFAULT = rule(
    "config-gpu-default",
    "error",
    "No default variable sets USER_GPU above 0.",
    reason="A workflow without `gpu` would request a GPU that OSMO hides from it, and could never request 0.",
    fix="USER_GPU: 0 in the pool, and a validation USER_GPU GE 1 on the platform.",
)
CONFIG_NODE_CHECK = rule(
    "config-node-check",
    "error",
    "Validations compare with numbers, not with nodes (K8_…).",
    reason="With a pool at zero there are no nodes, and OSMO refuses every workflow for it.",
    fix="Compare with the amount of a node of the pool, as a number.",
    source="microsoft/physical-ai-toolchain#997",
)
CONFIG_TOLERATION = rule(
    "config-toleration",
    "error",
    "A platform's templates contain each toleration once.",
    reason="Lists without names are appended: an item of two templates is duplicated in the Pod.",
    fix="Keep tolerations in one template of a platform.",
    source=TEMPLATES,
)
CONFIG_CAPABILITIES = rule(
    "config-capabilities",
    "error",
    "A template that requests GPUs sets NVIDIA_DRIVER_CAPABILITIES to all.",
    reason="It overrides every workflow, so no workflow can omit it.",
    fix="env: [{name: NVIDIA_DRIVER_CAPABILITIES, value: all}] on the task's container.",
    source=TOOLKIT,
)
CONFIG_CHART_PLATFORM = rule(
    "config-chart-platform",
    "error",
    "Values set the chart's own platform `default` of pool `default` to null.",
    reason="Helm merges maps: it would remain as an extra platform without any of the guards.",
    fix="platforms: {default: null}",
    source="OSMO chart service 1.3.1",
)
CONFIG_DEFAULT_PLATFORM = rule(
    "config-default-platform",
    "error",
    "A pool's default_platform is one of its platforms.",
    reason="The service starts without it; each workflow that names no platform is refused.",
    fix="Name one of the pool's platforms.",
)
