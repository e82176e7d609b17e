"""The provider protocol: what goes over the wire comes back the same, and diffs name the right paths."""

from __future__ import annotations

from typing import Any, ClassVar

import grpc
import pytest
from google.rpc import status_pb2
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime import rpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from physical_ai.catalog.engine_values import OUTPUT, SECRET, SIGNATURE
from simulator.wire import (
    UNKNOWN,
    Diff,
    Failure,
    NotReady,
    Provider,
    Refused,
    Request,
    Secret,
)
from simulator.wire.encoding import decode, encode
from simulator.wire.host import ProviderHost
from simulator.wire.values import changes, has_unknown, under

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_values_survive_the_wire(values: dict[str, Any]) -> None:
    assert decode(encode(values)) == values


@given(JSON, JSON)
def test_changes_are_empty_exactly_when_nothing_differs(old: Any, new: Any) -> None:
    assert (changes(old, new) == {}) == (old == new)


def test_unknowns_keep_their_path_and_secrets_arrive_unwrapped() -> None:
    back = decode(encode({"id": UNKNOWN, "key": Secret({"a": 1}), "list": [UNKNOWN, 2]}))
    assert back["id"] is UNKNOWN
    assert back["list"] == [UNKNOWN, 2]
    assert back["key"] == {"a": 1}
    assert has_unknown(back)


def test_a_secret_is_marked_on_the_wire_and_hidden_from_print() -> None:
    fields = encode({"key": Secret("hunter2")}).fields["key"].struct_value.fields
    assert fields[SIGNATURE].string_value == SECRET
    assert "hunter2" not in repr(Secret("hunter2"))


def test_changes_name_each_path_and_how_it_differs() -> None:
    old = {"count": 1, "labels": {"a/b": "1", "gone": "x"}, "taints": ["t1", "t2"]}
    new = {"count": 3, "labels": {"a/b": "2"}, "taints": ["t1"], "zones": ["1"]}
    assert changes(old, new) == {
        "count": "update",
        'labels["a/b"]': "update",
        "labels.gone": "delete",
        "taints[1]": "delete",
        "zones": "add",
    }


def test_an_unknown_counts_as_a_change() -> None:
    assert changes({"id": "x"}, {"id": UNKNOWN}) == {"id": "update"}


@pytest.mark.parametrize(
    ("path", "prefix", "inside"),
    [
        ("vmSize", "vmSize", True),
        ("vmSizeX", "vmSize", False),
        ("networkProfile.podCidr", "networkProfile", True),
        ("agentPoolProfiles[0].count", "agentPoolProfiles[*].count", True),
        ("agentPoolProfiles[0].count", "agentPoolProfiles[1]", False),
    ],
)
def test_under_follows_property_paths(path: str, prefix: str, inside: bool) -> None:
    assert under(path, prefix) is inside


class Toy(Provider):
    """Creates resources named `thing`, except those it is configured to refuse."""

    package = "toy"
    version = "1.0.0"
    configured: ClassVar[list[dict[str, Any]]] = []

    def configure(self, config: dict[str, Any]) -> None:
        self.configured.append(config)

    def check(
        self, request: Request, old_inputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Failure]]:
        return inputs, [Failure("size", "must be small")] if inputs.get("size") == "huge" else []

    def diff(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> Diff:
        return Diff(changes(old_inputs, inputs), ["size"], delete_before_replace=True)

    def create(self, request: Request, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        match inputs.get("mood"):
            case "refuse":
                raise Refused('Code="InvalidParameter" Message="no"')
            case "break":
                raise KeyError("oops")
            case "slow":
                raise NotReady("thing-1", inputs, ["0 of 1 ready"], inputs)
            case _:
                return "thing-1", {**inputs, "urn": request.type, "preview": request.preview}

    def read(
        self, request: Request, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        return request.id, outputs, inputs

    def update(
        self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]:
        return inputs

    def delete(self, request: Request, old_inputs: dict[str, Any], old_outputs: dict[str, Any]) -> None:
        return None


URN = "urn:pulumi:s::p::physical-ai:x:Y$toy:index:Thing::one"


@pytest.fixture
def stub() -> Any:
    with ProviderHost(Toy) as host:
        package, port = host.attach_env().split(":")
        assert package == "toy"
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield provider_pb2_grpc.ResourceProviderStub(channel)


def test_create_sees_the_resource_type_without_its_parents(stub: Any) -> None:
    answer = stub.Create(provider_pb2.CreateRequest(urn=URN, properties=encode({"a": 1})))
    assert answer.id == "thing-1"
    assert decode(answer.properties)["urn"] == "toy:index:Thing"


def test_a_preview_returns_no_id(stub: Any) -> None:
    assert stub.Create(provider_pb2.CreateRequest(urn=URN, properties=encode({}), preview=True)).id == ""


def test_a_refusal_is_the_complete_message(stub: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        stub.Create(provider_pb2.CreateRequest(urn=URN, properties=encode({"mood": "refuse"})))
    assert caught.value.details() == 'Code="InvalidParameter" Message="no"'


def test_a_fault_of_the_stand_in_reports_it(stub: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        stub.Create(provider_pb2.CreateRequest(urn=URN, properties=encode({"mood": "break"})))
    assert "a fault in the simulator itself" in str(caught.value.details())


def test_an_object_that_is_not_ready_remains_known_to_the_engine(stub: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        stub.Create(provider_pb2.CreateRequest(urn=URN, properties=encode({"mood": "slow"})))
    failure: Any = caught.value
    status = status_pb2.Status.FromString(dict(failure.trailing_metadata())["grpc-status-details-bin"])
    failed = provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(failed)
    assert (failed.id, list(failed.reasons)) == ("thing-1", ["0 of 1 ready"])


def test_a_diff_leaves_out_what_is_ignored_and_marks_what_replaces(stub: Any) -> None:
    def diff(*ignored: str) -> Any:
        old, new = encode({"size": "S", "count": 1}), encode({"size": "L", "count": 2})
        return stub.Diff(
            provider_pb2.DiffRequest(urn=URN, id="x", old_inputs=old, olds=old, news=new, ignoreChanges=ignored)
        )

    whole = diff()
    assert list(whole.replaces) == ["size"]
    assert whole.deleteBeforeReplace
    assert set(whole.detailedDiff) == {"size", "count"}
    less = diff("size")
    assert not less.replaces
    assert set(less.detailedDiff) == {"count"}


def test_check_failures_name_the_property(stub: Any) -> None:
    answer = stub.Check(provider_pb2.CheckRequest(urn=URN, olds=encode({}), news=encode({"size": "huge"})))
    assert [(f.property, f.reason) for f in answer.failures] == [("size", "must be small")]


def test_each_connection_is_its_own_provider() -> None:
    Toy.configured.clear()
    with ProviderHost(Toy) as host:
        port = host.attach_env().split(":")[1]
        for name in ("first", "second"):
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                stub.Configure(provider_pb2.ConfigureRequest(args=encode({"name": name})))
    assert [config["name"] for config in Toy.configured] == ["first", "second"]


def test_values_are_marked_as_the_sdk_marks_them() -> None:
    own = (rpc._special_sig_key, rpc._special_secret_sig, rpc._special_output_value_sig)  # pyright: ignore[reportPrivateUsage]
    assert own == (SIGNATURE, SECRET, OUTPUT)
