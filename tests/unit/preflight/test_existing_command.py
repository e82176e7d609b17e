"""`physai check` of a stack on a cluster that exists already: whom it asks, and what it makes of no answer."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.findings import Finding, Severity
from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.settings import Loaded, load
from physical_ai.settings.models.target import Target
from tests.support import existing_cluster as world
from workbench.cli import existing_check
from workbench.cli.existing_check import check_existing, reader
from workbench.preflight.existing.reading import NODES

TODAY = datetime.date(2026, 11, 23)


def config(folder: Path, *contexts: str) -> Path:
    file = folder / "config"
    entries = [{"name": name, "context": {"cluster": name, "user": name}} for name in contexts]
    clusters = [{"name": name, "cluster": {"server": "https://lab"}} for name in contexts]
    users = [{"name": name, "user": {"token": "x"}} for name in contexts]
    parts = {"contexts": entries, "clusters": clusters, "users": users}
    file.write_text(yaml.safe_dump({"current-context": "other", **parts}))
    return file


def on(target: Target) -> Loaded:
    loaded = load("dev-westus2")
    return replace(loaded, settings=loaded.settings.model_copy(update={"target": target}))


def checked(settings: Loaded) -> tuple[list[Finding], str | None]:
    found = check_existing(settings, TODAY, offline=False)
    assert found is not None
    return found


def test_a_stack_that_creates_its_cluster_has_none_to_read() -> None:
    assert check_existing(load("dev-westus2"), TODAY, offline=False) is None


def test_what_is_missing_or_forbidden_is_left_open_and_silence_is_not() -> None:
    answers: dict[str, Any] = {
        "/a": {"items": [{"x": 1}]},
        "/b": Missing(""),
        "/c": Unreachable("403 no"),
        "/d": Unreachable("5"),
    }

    def get(path: str, _: Mapping[str, str]) -> Any:
        if isinstance(answers[path], Exception):
            raise answers[path]
        return answers[path]

    read = reader(get)
    assert (read("/a"), read("/b"), read("/c")) == ([{"x": 1}], None, None)
    with pytest.raises(Unreachable):
        read("/d")


def test_the_cluster_is_judged_by_what_it_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def connect(text: str) -> Any:
        assert yaml.safe_load(text)["current-context"] == "lab"

        def get(path: str, _: Mapping[str, str]) -> Any:
            asked.append(path)
            if path == NODES:
                return {"items": world.reference()["nodes"]}
            raise Missing(path)

        return get

    monkeypatch.setattr(existing_check, "connect", connect)
    target = Target(kind="existing", context="lab", kubeconfig=str(config(tmp_path, "lab")))
    settings = on(target)
    findings, why_not = checked(settings)
    assert why_not is None
    assert len(set(asked)) == 15
    assert {each.rule for each in findings if each.severity is Severity.ERROR} >= {"operator", "nodes"}
    assert "owners" in {each.rule for each in findings if each.severity is Severity.OK}
    assert check_existing(settings, TODAY, offline=True) == ([], "--offline")


def test_no_answer_is_a_reason_and_no_finding(tmp_path: Path) -> None:
    target = Target(kind="existing", context="gone", kubeconfig=str(config(tmp_path, "lab")))
    findings, why_not = checked(on(target))
    assert findings == []
    assert why_not is not None
    assert "no context 'gone'" in why_not


def test_a_cluster_that_refuses_the_login_is_a_reason_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(_: str) -> Any:
        def get(path: str, _: Mapping[str, str]) -> Any:
            raise Unreachable("401 Unauthorized")

        return get

    monkeypatch.setattr(existing_check, "connect", connect)
    target = Target(kind="existing", context="lab", kubeconfig=str(config(tmp_path, "lab")))
    findings, why_not = checked(on(target))
    assert findings == []
    assert why_not is not None
    assert "The token has expired" in why_not
