"""Versions of `physai`, of the tools that it runs, and of the software that a stack installs by default."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from physical_ai.repository import INSTALLED_STACKS
from workbench.cli.simulator_extra import has_simulator

BASE = "layers/base.yaml"
"""Name of the layer that every stack begins with, within the folder of the installed stacks."""


def lines() -> Iterator[str]:
    """Lines of the text that `physai --version` prints."""
    from physical_ai import safe_yaml
    from physical_ai.catalog import osmo

    yield f"physai {metadata.version('physical-ai-workbench')}, Python {platform.python_version()}"
    providers = ", ".join(f"{name} {metadata.version(f'pulumi-{name}')}" for name in ("azure-native", "kubernetes"))
    yield f"Pulumi {metadata.version('pulumi')}; providers: {providers}"
    yield f"simulator {_simulator()}"
    base: Any = safe_yaml.load((INSTALLED_STACKS / BASE).read_text(encoding="utf-8"))
    yield (
        f"installed by default: GPU Operator {base['gpuOperator']['version']}, OSMO {osmo.IMAGE_TAG} "
        f"(charts {osmo.CHART_VERSION}), KAI Scheduler {osmo.KAI_VERSION}"
    )


def _simulator() -> str:
    try:
        installed = metadata.version("physical-ai-simulator")
    except metadata.PackageNotFoundError:
        return "not installed"
    if not has_simulator():
        return "not installed"
    from simulator.tools.families import FAMILIES

    return f"{installed}: " + ", ".join(f"{family.name} {family.version()}" for family in FAMILIES)
