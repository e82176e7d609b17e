"""What people write freely: environment, command lines, annotations, ConfigMaps, texts; and the time it takes."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tests.support.cases import in_one_test
from tests.support.recorded_cluster import World
from tests.support.recorded_cluster import recorded as recorded_lists
from workbench.recordings.credentials import Remover
from workbench.recordings.making import head, made
from workbench.recordings.questions import Limits

BAD = "Zx9hunter2"


def recorded(path: str, item: Any) -> str:
    """The text of a recording of one object."""
    entry = {"kind": "list", "path": path, "items": [{"metadata": {"name": "a", "namespace": "ns"}, **item}]}
    return json.dumps(made([head("s", "2026-01-01T00:00:00Z", "p", simulated=False), entry])[2:])


def container(**fields: Any) -> Any:
    """A Pod with one container."""
    return {"spec": {"containers": [{"name": "c", **fields}]}}


@in_one_test("name", ["DB_PASSWORD", "PGPASS", "DB_PWD", "AZDO_PAT", "TOKEN_2", "GREETING", "URL",
                                  "PASSWORDFILE", "NVIDIA_API_KEY"])  # fmt: skip
def test_a_variable_keeps_its_name_and_not_its_value(name: str) -> None:
    text = recorded("/api/v1/pods", container(env=[{"name": name, "value": BAD}]))
    assert name in text
    assert BAD not in text
    numbers = recorded("/api/v1/pods", container(env=[{"name": name, "value": 48273199}]))
    assert "48273199" not in numbers


def test_variables_that_a_diagnosis_reads_keep_their_values() -> None:
    env = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}, {"name": "NCCL_IB_HCA", "value": "mlx5"},
           {"name": "WORLD_SIZE", "value": "16"}, {"name": "DEBUG", "value": "true"},
           {"name": "X", "valueFrom": {"secretKeyRef": {"name": "a", "key": "password"}}}]  # fmt: skip
    assert Remover()(container(env=env)) == container(env=env)


@in_one_test(
    "words",
    [
        ["--password", BAD],
        ["x", "--token", BAD],
        [f"--admin-password={BAD}"],
        [f"--tokenId={BAD}"],
        [f"-p{BAD}"],
        ["sh", "-c", f"osmo login --password {BAD} --x"],
        ["curl", "-u", f"admin:{BAD}", "https://x"],
        ["curl", "-H", f"X-Api-Key: {BAD}"],
        [f"https://h/x?code={BAD}"],
        ["login", BAD],
    ],
)
@in_one_test("field", ["args", "command"])
def test_a_command_line_keeps_its_flags_only(words: list[str], field: str) -> None:
    text = recorded("/api/v1/pods", container(**{field: words}))
    assert BAD not in text
    assert all(each.partition("=")[0] in text for each in words if each.startswith("--"))


@pytest.mark.parametrize(
    "key",
    [
        "kubectl.kubernetes.io/last-applied-configuration",
        "banzaicloud.com/last-applied",
        "objectset.rio.cattle.io/applied",
        "kubernetes.io/change-cause",
        "acme.org/note",
    ],
)
def test_an_annotation_of_somebody_else_has_no_value(key: str) -> None:
    text = recorded("/api/v1/pods", {"metadata": {"name": "a", "annotations": {key: BAD, "physical-ai/x": "kept"}}})
    assert BAD not in text
    assert "kept" in text


def test_a_config_map_has_keys_and_lengths() -> None:
    given = {"data": {"app.yaml": f"host: {BAD}"}, "binaryData": {"b": BAD}}
    text = recorded("/api/v1/configmaps", given)
    assert BAD not in text
    assert "(removed: 16 characters)" in text


def test_config_maps_that_readers_ask_for_are_kept() -> None:
    for namespace, name, labels in (
        ("kube-system", "cluster-autoscaler-status", {}),
        ("gpu-operator", "machine-1", {"physical-ai/evidence": "n"}),
    ):
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        assert "Healthy" in recorded(
            "/api/v1/configmaps", {"metadata": metadata, "data": {"status": "health: Healthy"}}
        )


@in_one_test(
    "spec",
    [
        {"credentials": {"user": "x", "value": BAD}},
        {"tokens": [BAD]},
        {"apiKeys": [BAD]},
        {"password": 48273199},
        {"template": {"stringData": {"pw": BAD}}},
        {"valuesContent": f"adminPassword: {BAD}"},
        {"valuesContent": f"db:\n  password: |\n    {BAD}\n  x: y\n"},
        {"values": {"grafana": {"adminPassword": BAD}}},
        {"parameters": [{"name": "password", "default": BAD}]},
        {"x": [{"key": "password", "value": BAD}]},
        {"x": [{"key": "password", "value": [BAD]}]},
        {"httpHeaders": [{"name": "X-Other", "value": BAD}]},
        {"csi": {"volumeAttributes": {"azurestorageaccountkey": BAD, "mountOptions": f"username=u,password={BAD}"}}},
        {"json": json.dumps({"a": "b", "list": [{"token": BAD}]})},
        {"user": {"client-certificate-data": BAD}},
    ],
)
def test_nothing_is_left_below_a_telling_name(spec: Any) -> None:
    text = recorded("/apis/x/v1/things", {"spec": spec})
    assert BAD not in text
    assert "48273199" not in text


@in_one_test(
    "text",
    [
        f"postgres://u:{BAD}@db:5432/x",
        f"postgres://u:p@{BAD}@db:5432/x",
        f"postgres://u:p/{BAD}@db/x",
        f"redis://:{BAD}@r:6379/0",
        f"git clone https://{BAD}@github.com/x",
        f"https://h/x?access_token={BAD}",
        f"https://s.blob.core.windows.net/c?sv=2022&sig={BAD}%2B&se=1",
        f"AUTHORIZATION: BASIC {BAD}",
        f"GET / Set-Cookie: connect.sid=s%3A{BAD}.x",
        f"failed to login: password={BAD} token: {BAD} for user bob",
        f"using password: {BAD}",
        f"api token is {BAD}",
        f"kubeadm join --token abc.{BAD}",
        f"machine h login u password {BAD}",
        f"Server=x;User Id=u;Pwd={BAD};",
        f"InstrumentationKey={BAD};x=https://x",
        f"export API_KEY='a b {BAD}'",
        f"[db]\npassword = {BAD}\n",
        f"passphrase: correct {BAD} battery",
        f"PASSWORD=ab&{BAD}",
        f"PASSWORD=null{BAD}",
        f"PASSWORD='ab;{BAD}'",
        f"npm_{BAD}abcdefgh pypi-{BAD}abcdefgh dckr_pat_{BAD}",
        f"secret LEA8Q~{BAD}abcdefghijklmnopqrst",
        f"https://hooks.slack.com/services/T0/B0/{BAD}",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{BAD}\n-----END PGP PRIVATE KEY BLOCK-----",
        f"-----BEGIN PRIVATE KEY-----\\n{BAD}\\n-----END PRIVATE KEY-----",
    ],
)
def test_messages_and_logs_lose_what_follows_a_telling_word(text: str) -> None:
    remover = Remover()
    found = remover({"message": text})
    assert BAD not in json.dumps(found)
    assert remover(found) == found


@in_one_test(
    "unit",
    ["a", "-", "a.", "a@", "1", "a:", "token=", "password ", "://", "eyJ", "-----BEGIN PRIVATE KEY-----", '"', "{"],
)
def test_the_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        start = time.process_time()
        Remover().text(text)
        return time.process_time() - start

    # Eight times as long: a quadratic expression takes 64 times as much. A machine may be slow for a moment.
    assert any(cost(1 << 16) < 24 * max(cost(1 << 13), 1e-3) for _ in range(4)), re.escape(unit)


def test_logs_are_read_only_if_they_are_wanted() -> None:
    without = recorded_lists(World(), limits=Limits())
    assert not [each for each in without if each["kind"] == "log"]
    assert "logs of containers (--logs was not given)" in without[1]["unread"]
    assert [each for each in recorded_lists(World(), limits=Limits(logs=True)) if each["kind"] == "log"]
