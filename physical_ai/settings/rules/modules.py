"""Rule about kernel-module parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from physical_ai.catalog.lookup import nearest
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, error

MODULES = ("nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-peermem")
"""Kernel modules whose parameters can be set (NVIDIA GPU Operator docs, custom-driver-params)."""
_PARAMETER = re.compile(r"[A-Za-z0-9_]+")


def check_modules(path: Path, parameters: Mapping[str, Mapping[str, str]]) -> Iterator[SettingFinding]:
    """Errors of kernel-module parameters. `path` is the path of the setting with parameters by module."""
    for module in parameters:
        if module not in MODULES:
            near = nearest(module, MODULES) or MODULES[0]
            problem = f"'{module}' is not a module of the NVIDIA driver."
            yield error((*path, module), problem, f"Did you mean '{near}'?", rule=rules.DRIVER_MODULE)
    for module, own in parameters.items():
        for name, value in own.items():
            setting: Path = (*path, module, name)
            if not _PARAMETER.fullmatch(name):
                problem = f"'{name}' is not a name of a kernel-module parameter."
                yield error(
                    setting, problem, "Letters, digits and '_', such as uvm_disable_hmm.", rule=rules.DRIVER_MODULE
                )
            elif not value or not value.isprintable():
                problem = "A parameter's value is one line of text."
                yield error(setting, problem, f'{name}: "1"', rule=rules.DRIVER_MODULE)
