"""The provider without a cluster: previews continue, changes fail with the reason, and options skip them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.kubernetes.objects import autoname
from simulator.kubernetes.provider import Kubernetes
from simulator.wire import UNKNOWN, Refused, Request


def request(kind: str = "core/v1:ConfigMap", **fields: Any) -> Request:
    token = f"kubernetes:{kind}"
    return Request(urn=f"urn:pulumi:dev::demo::{token}::Thing", type=token, name="Thing", **fields)


def kubeconfig(user: dict[str, Any]) -> str:
    return yaml.safe_dump(
        {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:9"}}],
            "users": [{"name": "u", "user": user}],
        }
    )


def provider(**config: Any) -> Kubernetes:
    made = Kubernetes()
    made.configure({"kubeconfig": kubeconfig({"token": "t"}), **config})
    return made


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "team"}}


def test_previews_show_the_inputs() -> None:
    inputs, failures = provider().check(request(), {}, {"metadata": {"name": "a"}})
    assert (inputs, failures) == (CONFIG_MAP, [])
    assert provider().create(request(preview=True), inputs) == ("", inputs)
    assert provider().update(request(preview=True, id="team/a"), inputs, inputs, inputs) == inputs


def test_cluster_scoped_kinds_get_no_namespace_without_a_server_to_ask() -> None:
    inputs, _ = provider().check(request("core/v1:Namespace"), {}, {"metadata": {"name": "a"}})
    assert inputs["metadata"] == {"name": "a"}


def test_changes_give_the_reason_why_they_cannot_be_made() -> None:
    with pytest.raises(Refused, match=r"configured Kubernetes cluster is unreachable: .*https://127\.0\.0\.1:9"):
        provider().create(request(), CONFIG_MAP)
    with pytest.raises(Refused, match="PULUMI_K8S_DELETE_UNREACHABLE"):
        provider().delete(request(id="team/a"), CONFIG_MAP, CONFIG_MAP)
    with pytest.raises(Refused, match="failed to read resource state due to unreachable cluster"):
        provider().read(request(id="team/a"), CONFIG_MAP, CONFIG_MAP)


def test_a_missing_login_command_is_the_reason_given() -> None:
    stanza = {"apiVersion": "client.authentication.k8s.io/v1", "command": "kubelogin-that-is-not-there"}
    made = Kubernetes()
    made.configure({"kubeconfig": kubeconfig({"exec": stanza})})
    with pytest.raises(Refused, match="kubelogin-that-is-not-there is not on PATH"):
        made.create(request(), CONFIG_MAP)


def test_the_kubeconfig_of_the_shell_is_never_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(kubeconfig({"token": "t"}))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    made = Kubernetes()
    made.configure({})
    with pytest.raises(Refused, match="no kubeconfig was given to the provider"):
        made.create(request(), CONFIG_MAP)


def test_options_drop_unreachable_objects_from_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    provider(deleteUnreachable="true").delete(request(id="team/a"), CONFIG_MAP, CONFIG_MAP)
    assert provider(deleteUnreachable=True).read(request(id="team/a"), CONFIG_MAP, CONFIG_MAP) == ("", {}, {})
    kept = provider(skipUpdateUnreachable="true")
    assert kept.read(request(id="team/a"), CONFIG_MAP, CONFIG_MAP) == ("team/a", CONFIG_MAP, CONFIG_MAP)
    assert kept.check(request(), CONFIG_MAP, {"metadata": {"name": "b"}}) == (CONFIG_MAP, [])
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    provider().delete(request(id="team/a"), CONFIG_MAP, CONFIG_MAP)


def test_names_come_from_the_engine_or_from_its_seed() -> None:
    assert autoname(request(proposed_name="thing-1234567")) == "thing-1234567"
    one, two = autoname(request(random_seed=b"1")), autoname(request(random_seed=b"2"))
    assert one != two
    assert one.startswith("thing-")
    assert one == one.lower()


def test_names_and_metadata_that_are_not_known_yet_pass() -> None:
    inputs, _ = provider().check(request(), {}, {"metadata": {"name": UNKNOWN}})
    assert inputs["metadata"] == {"name": UNKNOWN, "namespace": "team"}
    inputs, _ = provider().check(request(), {}, {"metadata": UNKNOWN})
    assert inputs["metadata"] is UNKNOWN


@pytest.mark.parametrize(
    ("kind", "metadata", "expected"),
    [
        ("core/v1:ConfigMapList", {}, "Use the underlying resource type instead"),
        ("core/v1:ConfigMapPatch", {}, "require the `.metadata.name` field"),
        ("core/v1:ConfigMap", {"generateName": "a-"}, "not supported in Server-Side Apply mode"),
    ],
)
def test_an_object_that_can_never_be_created_is_refused(kind: str, metadata: dict[str, str], expected: str) -> None:
    with pytest.raises(Refused, match=expected):
        provider().check(request(kind), {}, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


def test_yaml_rendering_is_refused_with_what_to_do() -> None:
    _, failures = Kubernetes().check_config({}, {"renderYamlToDirectory": "out"})
    assert failures[0].property == "renderYamlToDirectory"
    assert "leave this out" in failures[0].reason
