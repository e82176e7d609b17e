"""Settings in a recording: they load as those of the stack, also where names and keys in them were replaced."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from parts.slurm.names import TAINT
from physical_ai.settings import Loaded, Overlay, load, load_config
from physical_ai.settings.loaded import dump
from tests.support.amd_settings import OPERATOR, POOL
from tests.support.amd_settings import STACK as WITH_AMD
from tests.support.stacks import STACKS
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.names import Replacer

KEYS = [f"{kind} AAAAC3NzaC1lZDI1NTE5AAAAI{'b' * 40} ada@laptop" for kind in ("ssh-ed25519", "ecdsa-sha2-nistp256")]
SLURM = (
    f"slurm={{pools: [h100gpu], login: {{sshKeys: {json.dumps(KEYS)}}}}}",
    "pools.h100gpu.scale={count: 1, min: null, max: null, initial: null}",
    f"pools.h100gpu.taints=['{TAINT}']",
)
CASES: Sequence[tuple[str, Sequence[str]]] = (
    *((stack, ()) for stack in STACKS),
    ("dev-westus2", SLURM),
    (WITH_AMD, (f"pools.mi300x={json.dumps(POOL)}", OPERATOR)),
    ("dev-westus2", ("pools.rtxprogpu=null",)),
    ("dev-southeastasia", ("osmo.access.host=osmo.lab.contoso.com",)),
)


def entries(given: Loaded) -> list[Entry]:
    own = head(str(given.settings.stack), "2026-11-28T04:00:00Z", "a test", simulated=True)
    return made([own, {"kind": "settings", "settings": given.raw}])


@pytest.mark.parametrize(("stack", "assignments"), CASES)
def test_recorded_settings_load_as_those_of_the_stack(stack: str, assignments: Sequence[str]) -> None:
    given = load(stack, [Overlay.assign(assignments)])
    recorded = entries(given)[-1]["settings"]
    again = load_config(stack, recorded)
    assert list(again.plan.parts) == list(given.plan.parts)
    replaced = Replacer([{"kind": "settings", "settings": given.raw}])
    before, after = flat(replaced(dump(given.settings))), flat(dump(again.settings))
    keys = {path for path in before if path.startswith("slurm.login.sshKeys")}
    assert {path: value for path, value in before.items() if path not in keys} == {
        path: value for path, value in after.items() if path not in keys
    }
    assert {after[path].partition(" ")[2] for path in keys} <= {"(removed)"}
    assert made(entries(given)[:1] + entries(given)[2:])[2]["settings"] == recorded


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Values by path."""
    if isinstance(value, dict):
        return {at: it for key, each in value.items() for at, it in flat(each, f"{path}.{key}".lstrip(".")).items()}
    if isinstance(value, list):
        return {at: it for number, each in enumerate(value) for at, it in flat(each, f"{path}[{number}]").items()}
    return {path: value}
