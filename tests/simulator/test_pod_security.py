"""The policy `pod-security` beside the Pod Security admission of the same API server: each control, and combinations.

One namespace has the standard's label and is exempt from the policy, the other has no level, so that only the policy
speaks. Both have to say the same of every Pod.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from physical_ai.planning.pod_security import pod_security_policies
from physical_ai.settings import Overlay, load
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import APPLY_PATCH
from tests.simulator.conftest import ApiServer
from tests.support.examples import examples
from tests.support.in_force import wait_until_in_force
from tests.support.waiting import until

STANDARD, OURS = "standard-baseline", "team-without-a-level"
Json = dict[str, Any]
STRATEGIC = "application/strategic-merge-patch+json"


class Invalid(Exception):
    """The API server refuses the Pod whatever its rights, so that neither says anything."""


class Twin:
    """Asks both namespaces for the same Pod, and keeps nothing."""

    def __init__(self, kubeconfig: str) -> None:
        self.client = Client(kubeconfig)

    def put(self, item: Json) -> None:
        path = self.client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
        self.client.patch(path, item, APPLY_PATCH, {"fieldManager": "test", "force": "true"})

    def says(self, namespace: str, words: str, made: Json) -> bool:
        """Whether the Pod is refused with these words. Raises Invalid for any other refusal."""
        try:
            if temporary := made["spec"].get("ephemeralContainers"):
                path = f"/api/v1/namespaces/{namespace}/pods/plain/ephemeralcontainers"
                change: Json = {"spec": {"ephemeralContainers": temporary}}
                self.client.request("PATCH", path, change, {"dryRun": "All"}, content_type=STRATEGIC)
            else:
                self.client.request("POST", f"/api/v1/namespaces/{namespace}/pods", made, {"dryRun": "All"})
        except ApiError as refusal:
            if words not in str(refusal):
                raise Invalid(f"{refusal} of {made}") from None
            return True
        return False

    def verdicts(self, made: Json) -> tuple[bool, bool]:
        """Of the standard, and of the policy."""
        standard = self.says(STANDARD, "violates PodSecurity", copy.deepcopy(made))
        return standard, self.says(OURS, "ValidatingAdmissionPolicy 'pod-security'", copy.deepcopy(made))


def namespace(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def plain(name: str = "it") -> Json:
    spec = {"containers": [{"name": "main", "image": "registry.example/a:1"}], "automountServiceAccountToken": False}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def twin(api_server: ApiServer) -> Iterator[Twin]:
    made = Twin(api_server.kubeconfig)
    made.put(namespace(STANDARD, **{"pod-security.kubernetes.io/enforce": "baseline"}))
    made.put(namespace(OURS))
    given = ["admission.podSecurity=deny", f"admission.podSecurityExempt=[{STANDARD}]"]
    found = pod_security_policies(load("dev-westus2", [Overlay.assign(given)]).settings)
    for item in found:
        made.put(item)
    for name in (STANDARD, OURS):
        account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
        until(lambda path=account: made.client.find(path) is not None, "no default account")
        made.client.request("POST", f"/api/v1/namespaces/{name}/pods", {**plain("plain")})
    wait_until_in_force(made.client)
    yield made
    for item in reversed(found):
        made.client.request(
            "DELETE", made.client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
        )
    for name in (STANDARD, OURS):
        made.client.request("DELETE", f"/api/v1/namespaces/{name}/pods/plain", None, {"gracePeriodSeconds": "0"})
    wait_until_in_force(made.client)  # for the tests of other modules


HTTP, TCP = {"httpGet": {"host": "169.254.169.254", "port": 80}}, {"tcpSocket": {"host": "10.0.0.4", "port": 22}}
NEAR, GRPC = {"httpGet": {"port": 80, "path": "/"}}, {"grpc": {"port": 9000}}
SET = {"securityContext": {}}


def security(**values: Any) -> Json:
    return {"securityContext": values}


OF_CONTAINERS: list[Json] = [
    security(privileged=True),
    security(privileged=False),
    security(capabilities={"add": ["SYS_ADMIN"]}),
    security(capabilities={"add": ["CHOWN", "NET_RAW"]}),
    security(capabilities={"add": ["CHOWN", "NET_BIND_SERVICE"], "drop": ["ALL"]}),
    security(procMount="Default"),
    security(seccompProfile={"type": "Unconfined"}),
    security(seccompProfile={"type": "Localhost", "localhostProfile": "a.json"}),
    security(seccompProfile={"type": "RuntimeDefault"}),
    security(appArmorProfile={"type": "Unconfined"}),
    security(appArmorProfile={"type": "Localhost", "localhostProfile": "a"}),
    security(appArmorProfile={"type": "RuntimeDefault"}),
    security(seLinuxOptions={"type": "spc_t"}),
    security(seLinuxOptions={"type": "container_engine_t"}),
    security(seLinuxOptions={"user": "system_u"}),
    security(seLinuxOptions={"role": "sysadm_r"}),
    security(seLinuxOptions={"level": "s0:c1"}),
    security(windowsOptions={"hostProcess": False}),
    security(runAsUser=0, allowPrivilegeEscalation=True),
]
NOT_FOR_ALL: list[Json] = [
    *(
        {place: handler}
        for place in ("livenessProbe", "readinessProbe", "startupProbe")
        for handler in (HTTP, TCP, NEAR)
    ),
    *({"lifecycle": {place: handler}} for place in ("postStart", "preStop") for handler in (HTTP, TCP, NEAR)),
    {"livenessProbe": GRPC},
    {"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}},
    {"ports": [{"containerPort": 80, "hostPort": 8080}]},
    {"ports": [{"containerPort": 80, "hostPort": 0}]},
    {"ports": [{"containerPort": 80}]},
]
"""What temporary containers may not have, and of init containers only those that stay."""
APPARMOR = "container.apparmor.security.beta.kubernetes.io/main"
OF_PODS: list[Json] = [
    {"hostNetwork": True},
    {"hostNetwork": False},
    {"hostPID": True},
    {"hostIPC": True},
    {"hostUsers": False},
    {"volumes": [{"name": "v", "hostPath": {"path": "/dev"}}]},
    {"volumes": [{"name": "v", "hostPath": {"path": "/var/./log//x"}}]},
    {"volumes": [{"name": "v", "emptyDir": {}}]},
    *(
        {"securityContext": each["securityContext"]}
        for each in OF_CONTAINERS
        if set(each["securityContext"]) <= {"seccompProfile", "appArmorProfile", "seLinuxOptions"}
    ),
    {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
    {"securityContext": {"sysctls": [{"name": "net.ipv4.tcp_rmem", "value": "1"}]}},
    {"securityContext": {"sysctls": [{"name": "kernel/shm_rmid_forced", "value": "1"}]}},
    *({"annotations": {APPARMOR: value}} for value in ("unconfined", "runtime/default", "localhost/a", "")),
]
"""`annotations` are those of the Pod, everything else is of its `spec`."""


def with_pod(made: Json, change: Json) -> Json:
    change = copy.deepcopy(change)
    if annotations := change.pop("annotations", None):
        made["metadata"]["annotations"] = annotations
    _merge(made["spec"], change)
    return made


def _merge(into: Json, change: Json) -> None:
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)


def with_container(made: Json, change: Json, kind: str) -> Json:
    if kind == "containers":
        _merge(made["spec"]["containers"][0], change)
        return made
    stays = {"restartPolicy": "Always"} if kind == "initContainers" else {}
    made["spec"][kind] = [{"name": "other", "image": "registry.example/b:1", **stays, **copy.deepcopy(change)}]
    return made


KINDS: tuple[str, ...] = ("containers", "initContainers", "ephemeralContainers")
UNMASKED = security(procMount="Unmasked")
"""Valid in a user namespace only, where the standard has allowed it since 1.35."""
OF_WINDOWS: Json = {"hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": True}}}
"""Valid with the node's network only."""
CASES = [
    with_pod(plain(), OF_WINDOWS),
    *(with_container(with_pod(plain(), {"hostUsers": False}), UNMASKED, kind) for kind in KINDS[:2]),
    *(with_container(plain(), change, kind) for kind in KINDS for change in OF_CONTAINERS),
    *(with_container(plain(), change, kind) for kind in KINDS[:2] for change in NOT_FOR_ALL),
    *(with_pod(plain(), change) for change in OF_PODS),
]


def test_the_policy_says_of_each_control_what_the_standard_says(twin: Twin) -> None:
    verdicts = [(made, *twin.verdicts(made)) for made in CASES]
    assert [made for made, standard, ours in verdicts if standard is not ours] == []
    refused = sum(standard for _, standard, _ in verdicts)
    assert 40 < refused < len(CASES) - 30


def _drawn(draw: Callable[[Any], Any]) -> Json:
    made = plain()
    for change in draw(st.lists(st.sampled_from(OF_PODS), max_size=2)):
        with_pod(made, change)
    for change in draw(st.lists(st.sampled_from([*OF_CONTAINERS, *NOT_FOR_ALL, UNMASKED]), max_size=3)):
        with_container(made, change, "containers")
    for change in draw(st.lists(st.sampled_from([*OF_CONTAINERS, *NOT_FOR_ALL]), max_size=1)):
        with_container(made, change, "initContainers")
    return made


@settings(examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_and_of_combinations(twin: Twin, data: st.DataObject) -> None:
    made = _drawn(data.draw)
    try:
        standard, ours = twin.verdicts(made)
    except Invalid:  # such as a handler of two forms
        assume(False)
    else:
        assert standard is ours, made
