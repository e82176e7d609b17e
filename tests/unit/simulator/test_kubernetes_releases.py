"""Helm releases: how a resource becomes a helm command, and what is compared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.kubernetes.helm import Helm, HelmFailed
from simulator.kubernetes.options import KubernetesOptions
from simulator.kubernetes.release_state import resource_names
from simulator.kubernetes.releases import Releases
from simulator.wire import UNKNOWN, NotReady, Refused, Request, Secret

REQUEST = Request(
    urn="urn:pulumi:dev::demo::kubernetes:helm.sh/v3:Release::op", type="kubernetes:helm.sh/v3:Release", name="op"
)
MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: x}
"""


def plain(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """A state as the engine gives it back."""
    return {key: value.value if isinstance(value, Secret) else value for key, value in outputs.items()}


class RecordedHelm(Helm):
    """Answers every command with a manifest, and keeps what it was asked."""

    def __init__(self, options: KubernetesOptions, answer: str = MANIFEST) -> None:
        super().__init__(options, None)
        self.answer = answer
        self.commands: list[Sequence[str]] = []
        self.values: list[Any] = []

    def run(self, *arguments: str, stdin: str | None = None, seconds: float = 300) -> str:
        self.commands.append(arguments)
        self.values.append(yaml.safe_load(stdin or ""))
        if self.answer.startswith("Error"):
            raise HelmFailed(self.answer)
        return self.answer


def releases(answer: str = MANIFEST, **options: Any) -> tuple[Releases, RecordedHelm]:
    settings = KubernetesOptions(**options)
    helm = RecordedHelm(settings, answer)
    return Releases(helm, settings, "team"), helm


def test_check_fills_in_defaults_and_what_the_chart_renders_to() -> None:
    checked, failures = releases()[0].check(REQUEST, {}, {"chart": "gpu-operator", "atomic": False, "values": {}})
    assert failures == []
    assert checked["namespace"] == "team"
    assert checked["timeout"] == 300
    assert checked["name"].startswith("op-")
    assert checked["resourceNames"] == {"ConfigMap/v1": ["b"], "Deployment.apps/v1": ["x/a"]}
    assert "atomic" not in checked
    again, _ = releases()[0].check(REQUEST, checked, {"chart": "gpu-operator"})
    assert again == checked


def test_a_chart_that_does_not_render_fails_the_check() -> None:
    _, failures = releases("Error: chart not found")[0].check(REQUEST, {}, {"chart": "nope", "name": "a"})
    assert failures[0].property == "chart"
    assert "chart not found; check the chart name" in failures[0].reason
    assert "is required" in releases()[0].check(REQUEST, {}, {"name": "a"})[1][0].reason


def test_with_unknown_values_nothing_is_rendered() -> None:
    made, helm = releases()
    checked, failures = made.check(REQUEST, {}, {"chart": "a", "name": "a", "values": {"id": UNKNOWN}})
    assert (failures, helm.commands) == ([], [])
    assert "checksum" not in checked


def test_values_files_come_first_and_inline_values_over_them(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("driver: {enabled: true, version: a}\nlist: [1, 2]\n")
    made, helm = releases(working_directory=tmp_path)
    wanted = {
        "chart": "a",
        "name": "a",
        "valueYamlFiles": [{"path": "base.yaml"}, {"text": "list: [3]\n"}],
        "values": {"driver": {"version": "b"}},
    }
    checked, _ = made.check(REQUEST, {}, wanted)
    assert helm.values == [{"driver": {"enabled": True, "version": "b"}, "list": [3]}]
    assert checked["values"] == helm.values[0]
    assert "valueYamlFiles" not in checked


def test_repository_and_version_reach_helm_unless_the_chart_comes_from_elsewhere() -> None:
    wanted = {
        "chart": "gpu-operator",
        "name": "gpu",
        "version": "v26.7.1",
        "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
        "skipCrds": True,
    }
    made, helm = releases()
    made.check(REQUEST, {}, wanted)
    line = " ".join(helm.commands[0])
    assert line.startswith("template gpu gpu-operator --namespace team")
    assert "--version v26.7.1 --repo https://helm.ngc.nvidia.com/nvidia" in line
    assert "--include-crds" not in line

    model = Path("/models/gpu-operator")
    made, helm = releases(chart_source=lambda chart, version, repository: model)
    made.check(REQUEST, {}, wanted)
    assert helm.commands[0][1:3] == ("gpu", "/models/gpu-operator")
    assert "--repo" not in helm.commands[0]
    assert "--version" not in helm.commands[0]


def test_diff_is_over_inputs_and_only_name_and_namespace_replace() -> None:
    made, _ = releases()
    old, _ = made.check(REQUEST, {}, {"chart": "a", "name": "a", "values": {"b": 1}})
    new, _ = made.check(REQUEST, old, {"chart": "a", "name": "a", "values": {"b": 2}})
    assert made.diff(old, old, new).changes == {"values.b": "update"}
    assert "name" in made.diff(old, old, {**new, "name": "b"}).replaces
    unknown, _ = made.check(REQUEST, old, {"chart": "a", "name": "a", "values": {"b": UNKNOWN}})
    assert made.diff(old, old, unknown).changes == {"values.b": "update"}


def test_resource_names_leave_out_what_is_no_object() -> None:
    assert resource_names("---\n# empty\n---\nfoo: 1\n") == {}


def test_a_null_among_the_values_reaches_helm_which_unsets_the_charts_default() -> None:
    made, helm = releases()
    checked, _ = made.check(REQUEST, {}, {"chart": "a", "name": "a", "values": {"affinity": None}})
    assert helm.values == [{"affinity": None}]
    assert checked["values"] == {"affinity": None}


class ScriptedHelm(RecordedHelm):
    """Answers by command; what has no answer fails as helm does for a release that is not there."""

    def __init__(self, options: KubernetesOptions, answers: dict[str, str]) -> None:
        super().__init__(options)
        self.answers = answers

    def run(self, *arguments: str, stdin: str | None = None, seconds: float = 300) -> str:
        self.commands.append(arguments)
        if arguments[0] not in self.answers:
            raise HelmFailed("release: not found")
        return self.answers[arguments[0]]


def release(status: str) -> str:
    return json.dumps({"name": "a", "namespace": "team", "version": 1, "info": {"status": status}, "manifest": ""})


WANTED = {"chart": "c", "name": "a", "namespace": "team"}


def installed(answers: dict[str, str], *, upgrade: bool = False, **inputs: Any) -> list[str]:
    options, verb = KubernetesOptions(), "upgrade" if upgrade else "install"
    helm = ScriptedHelm(options, {verb: release("deployed"), **answers})
    made = Releases(helm, options, "team")
    if upgrade:
        made.update(REQUEST, {}, {**WANTED, **inputs})
    else:
        made.create(REQUEST, {**WANTED, **inputs})
    return [" ".join(command) for command in helm.commands]


def test_a_create_installs_and_an_update_upgrades() -> None:
    assert [line.split()[:2] for line in installed({})] == [["install", "a"]]
    assert [line.split()[:2] for line in installed({}, upgrade=True)] == [["upgrade", "a"]]


@pytest.mark.parametrize(
    "message",
    [
        "INSTALLATION FAILED: cannot re-use a name that is still in use",
        "UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
    ],
)
def test_a_release_that_helm_refuses_to_touch_is_no_failed_release_of_this_run(message: str) -> None:
    class Refusing(ScriptedHelm):
        def run(self, *arguments: str, stdin: str | None = None, seconds: float = 300) -> str:
            if arguments[0] in ("install", "upgrade"):
                raise HelmFailed(message)
            return super().run(*arguments, stdin=stdin, seconds=seconds)

    options = KubernetesOptions()
    made = Releases(Refusing(options, {"status": release("failed")}), options, "team")
    with pytest.raises(Refused, match="^" + re.escape(message.partition(": ")[2])):
        made.create(REQUEST, dict(WANTED)) if "INSTALL" in message else made.update(REQUEST, {}, dict(WANTED))


class Failing(ScriptedHelm):
    """An upgrade fails; the newest revision is that of `answers["status"]`."""

    def run(self, *arguments: str, stdin: str | None = None, seconds: float = 300) -> str:
        if arguments[0] == "upgrade":
            raise HelmFailed("UPGRADE FAILED: context deadline exceeded")
        return super().run(*arguments, stdin=stdin, seconds=seconds)


def failed(version: int, chart: str = "1.2.0") -> dict[str, str]:
    status = {"name": "a", "namespace": "team", "version": version, "info": {"status": "failed"}, "manifest": ""}
    return {"status": json.dumps(status), "get": json.dumps({"chart": "c", "version": chart})}


def test_after_a_failed_upgrade_and_a_refresh_nothing_is_left_to_change() -> None:
    """The plugin compares with the inputs of the failed upgrade, which it keeps, not with those the engine keeps."""
    options = KubernetesOptions()
    made = Releases(Failing(options, failed(2)), options, "team")
    old = {**WANTED, "version": "1.1.0", "values": {"word": "two"}}
    new = {**old, "version": "1.2.0", "values": {"word": "two", "added": True}}
    before = {**old, "status": {"revision": 1, "status": "deployed", "version": "1.1.0"}}
    with pytest.raises(NotReady, match=r"failed to initialize completely\. Use Helm CLI to investigate: ") as problem:
        made.update(REQUEST, before, new)
    assert problem.value.inputs is None, "the engine keeps the old inputs"
    state = plain(problem.value.outputs)
    assert made.diff(old, state, new).changes == {}, "an update without properties, as the failure is remembered"
    _, refreshed, kept = made.read(replace(REQUEST, id="team/a"), state, old)
    assert kept == new, "a refresh gives the engine the new inputs"
    assert made.diff(kept, plain(refreshed), new).changes == {}
    assert made.diff(kept, plain(refreshed), old).changes == {"version": "update", "values.added": "delete"}


def test_an_upgrade_that_made_no_revision_changes_nothing_in_the_state() -> None:
    options = KubernetesOptions()
    made = Releases(Failing(options, failed(2)), options, "team")
    with pytest.raises(Refused, match=r"^context deadline exceeded$"):
        made.update(REQUEST, {**WANTED, "status": {"revision": 2, "status": "failed"}}, dict(WANTED))


def test_a_declared_value_that_was_changed_elsewhere_is_a_difference_and_an_added_one_is_not() -> None:
    made, _ = releases()
    old = {**WANTED, "values": {"b": 1}}
    assert made.diff(old, {**old, "values": {"b": 1, "added": 2}}, old).changes == {}
    assert made.diff(old, {**old, "values": {"b": 3}}, old).changes == {"values.b": "update"}


def test_waiting_and_its_bound_reach_helm() -> None:
    line = installed({}, timeout=900, waitForJobs=True, atomic=True, createNamespace=True)[-1]
    assert "--wait --wait-for-jobs" in line
    assert "--timeout 900s" in line
    assert "--atomic --create-namespace" in line
    assert "--wait" not in installed({}, skipAwait=True, waitForJobs=True)[-1]


def test_hooks_are_switched_off_by_one_property_at_first_and_by_another_later() -> None:
    assert "--no-hooks" in installed({}, disableWebhooks=True)[-1]
    assert "--no-hooks" not in installed({}, disableCRDHooks=True)[-1]
    assert "--no-hooks" in installed({}, upgrade=True, disableCRDHooks=True)[-1]
