"""The physical-AI GPU platform: a stack's settings in, its Azure and Kubernetes resources out."""

from __future__ import annotations

import pulumi

from physical_ai.catalog.load import CatalogError

try:
    from components.config import configured
    from components.platform.platform import Platform
    from physical_ai.settings import SettingsError
except CatalogError as error:  # a module of an optional part cannot be imported
    raise pulumi.RunError(str(error)) from None

try:
    loaded, secrets = configured()
except (SettingsError, CatalogError) as error:
    # A mistake in a file is shown without a traceback, which RunError suppresses.
    raise pulumi.RunError(str(error)) from None

for warning in loaded.warnings:
    pulumi.log.warn(str(warning))

platform = Platform("physical-ai", loaded, secrets)
for name, value in platform.outputs.items():
    pulumi.export(name, value)
