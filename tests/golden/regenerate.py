"""Writes the golden files anew: `python -m tests.golden.regenerate`. What changed is then for `git diff` to show."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

from physical_ai.settings import SettingsError, dump, load
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import driver_facts, node_taints
from tests.golden import declared_resources
from tests.support import health_table
from workbench.cli.preview import markdown

FOLDER = Path(__file__).parent
PREVIEWS = FOLDER / "preview"
"""Previews as documents, each with the Markdown that is made of it."""
COMMAND = "python -m tests.golden.regenerate"
STACKS = {"seed-2026-02": "seed-westus2"}
"""The stack that each golden file is about, by the file's name."""
PLATFORMS = ("dev-southeastasia", "prod-westeurope")
"""Stacks with a control plane of their own, with what their first preview lists."""


def document(stack: str) -> dict[str, Any]:
    """Every effective setting of a stack, and what follows from them about its GPU pools."""
    settings = load(stack).settings
    pools = {
        name: {
            "gpuProfileDriver": driver_facts(pool).gpu_profile_driver,
            "labels": pool_labels(name, pool),
            "taints": node_taints(pool),
            "driver": gpu_facts.driver_version(settings, pool),
            "modules": gpu_facts.module_type(settings, pool),
            "offers": gpu_facts.gpu_resources(pool),
        }
        for name, pool in settings.pools.items()
    }
    derived = {
        "migStrategy": gpu_facts.mig_strategy(settings),
        "migManager": gpu_facts.runs_mig_manager(settings),
        "tolerations": gpu_facts.all_tolerations(settings),
        "devicePlugin": gpu_facts.device_plugin_configs(settings),
        "pools": pools,
    }
    return {"settings": dump(settings), "derived": derived}


def declared(stack: str) -> list[str]:
    """What the first preview of a stack lists: type, name, and what a destroy leaves."""
    from tests.support.recording import record

    found = record(stack, preview=True).resources
    return [f"{each.type} {each.name}{' (protected)' if each.options.protect else ''}" for each in found]


def previews() -> dict[str, str]:
    """The Markdown of each preview's document, by the file's name."""
    return {each.stem: markdown.stack(json.loads(each.read_text())) for each in PREVIEWS.glob("*.json")}


def path(name: str) -> Path:
    return FOLDER / f"{name}.yaml"


def main() -> None:
    for name, stack in STACKS.items():
        text = yaml.dump(document(stack), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)
        path(name).write_text(f"# Effective settings of the stack {stack}. Made by: {COMMAND}\n{text}")
    for stack in PLATFORMS:
        lines = "".join(f"- {line}\n" for line in declared(stack))
        path(stack).write_text(
            f"# Resources that a first preview of the stack {stack} lists. Made by: {COMMAND}\n{lines}"
        )
    for name, text in previews().items():
        (PREVIEWS / f"{name}.md").write_text(text)
    health_table.write()
    declared_resources.write()


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


if __name__ == "__main__":
    try:
        main()
    except SettingsError as error:
        sys.exit(f"{error}\nnothing of the declared resources was written")
