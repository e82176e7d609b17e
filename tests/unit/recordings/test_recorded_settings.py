"""Settings in a recording: they load as those of the stack, also where names and keys in them were replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.settings import Loaded, Overlay, load, load_config
from physical_ai.settings.loaded import dump
from tests.golden.declared_resources import cases
from tests.support.cases import in_one_test
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.names import Replacer

CASES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **cases(),
    "receivers with secrets": (
        "dev-westus2",
        {
            "monitoring": {
                "receivers": {"pager": {"webhookSecret": "pagerUrl"}, "mail": {"email": "oncall@contoso.com"}},
                "traces": {"connectionSecret": "insightsConnection"},
            }
        },
    ),
    "a pool is removed": ("dev-westus2", {"pools": {"rtxprogpu": None}}),
    "a host with two labels in its zone": ("dev-southeastasia", {"osmo": {"access": {"host": "osmo.lab.contoso.com"}}}),
}
CREDENTIALS = ("slurm.login.sshKeys[0]",)
"""Values that are removed, which the settings load without."""


def entries(given: Loaded) -> list[Entry]:
    own = head(str(given.settings.stack), "2026-11-28T04:00:00Z", "a test", simulated=True)
    return made([own, {"kind": "settings", "settings": given.raw}])


@in_one_test("case", CASES)
def test_recorded_settings_load_as_those_of_the_stack(case: str) -> None:
    stack, overrides = CASES[case]
    given = load(stack, [Overlay("the test", {key: each for key, each in overrides.items() if key != "secrets"})])
    recorded = entries(given)[-1]["settings"]
    again = load_config(stack, recorded)
    assert list(again.plan.parts) == list(given.plan.parts)
    replaced = Replacer([{"kind": "settings", "settings": given.raw}])
    before, after = flat(replaced(dump(given.settings))), flat(dump(again.settings))
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} <= {*CREDENTIALS}
    assert made(entries(given)[:1] + entries(given)[2:])[2]["settings"] == recorded


@pytest.mark.parametrize("value", ["Qv7xP1m42Kt9eWq0Zr5b", "https://hooks.contoso.com/Qv7xP1m42Kt9", {"a": 1}, 3])
def test_a_credential_where_the_name_of_a_secret_belongs_is_removed(value: Any) -> None:
    own = head("dev-westus2", "2026-11-28T04:00:00Z", "a test", simulated=True)
    given = {"monitoring": {"traces": {"headerSecrets": {"api-key": value}, "connectionSecret": value}}}
    traces = made([own, {"kind": "settings", "settings": given}])[-1]["settings"]["monitoring"]["traces"]
    assert str(value) not in str(traces)


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Values by path."""
    if isinstance(value, dict):
        return {at: it for key, each in value.items() for at, it in flat(each, f"{path}.{key}".lstrip(".")).items()}
    if isinstance(value, list):
        return {at: it for number, each in enumerate(value) for at, it in flat(each, f"{path}[{number}]").items()}
    return {path: value}
