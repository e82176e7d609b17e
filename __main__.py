"""The physical-AI GPU platform: a stack's settings in, its Azure and Kubernetes resources out."""

from __future__ import annotations

import pulumi

from physical_ai.input_errors import without_traceback

# A mistake in a file is shown without a traceback, which RunError suppresses.
with without_traceback(pulumi.RunError):
    from components.config import configured
    from components.platform.platform import Platform

    loaded, secrets = configured()
    for warning in loaded.warnings:
        pulumi.log.warn(str(warning))
    platform = Platform("physical-ai", loaded, secrets)

for name, value in platform.outputs.items():
    pulumi.export(name, value)
