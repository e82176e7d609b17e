"""What a stack installs of OSMO: values of the KAI scheduler's chart and of the agents', from files and settings."""

from __future__ import annotations

import base64
import datetime
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import osmo
from physical_ai.catalog.charts import newest_chart
from physical_ai.catalog.compat import check_chart, key_table
from physical_ai.planning.osmo import (
    AGENT_FILES,
    AGENT_FOLDER,
    CREDENTIAL,
    KUBECONFIG,
    agent_kubeconfig,
)
from physical_ai.planning.plan import make_plan
from physical_ai.repository import AGENTS
from physical_ai.settings import Overlay, SettingsError, existing, load
from tests.support.chart_facts import keys_set, rendered_facts
from tests.support.gpu_settings import given_settings
from tests.support.stacks import azure_stacks, sweep

BACKEND = ("osmo.mode=backend", "osmo.serviceUrl=https://osmo.example.com")
CPU = {"kubernetes.azure.com/agentpool": "cpu"}
CREDENTIAL_PROGRAM = AGENTS / "osmo_login" / CREDENTIAL
Write = Callable[..., Path]


def kai(*assignments: str) -> Mapping[str, Any]:
    return make_plan(given_settings(*BACKEND, *assignments).settings).osmo[0].values


def backend(*assignments: str) -> Mapping[str, Any]:
    return make_plan(given_settings(*BACKEND, *assignments).settings).osmo[1].values


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Writes one of the two files, and returns the folder of values."""

    def write(file: str, text: str) -> Path:
        path = tmp_path / "values" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path / "values"

    return write


def faults(root: Path) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        make_plan(given_settings(*BACKEND).settings, root)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize("stack", sweep(azure_stacks()))
def test_a_stack_with_namespaces_only_installs_neither_release(stack: str) -> None:
    settings = load(stack, [Overlay.assign(["osmo.mode=namespaces"])]).settings
    assert make_plan(settings).osmo == ()
    assert [chart.name for chart in make_plan(settings).charts] == ["gpu-operator"]


def test_a_backend_is_the_scheduler_and_then_the_agents_each_in_its_namespace() -> None:
    settings = given_settings(*BACKEND).settings
    found = [(item.name, item.namespace, item.chart.name, item.chart.version) for item in make_plan(settings).osmo]
    assert found == [
        ("kai-scheduler", "kai-scheduler", "kai-scheduler", newest_chart("kai-scheduler").version),
        ("osmo-operator", "osmo-operator", "backend-operator", newest_chart("backend-operator").version),
    ]
    assert [chart.name for chart in make_plan(settings).charts] == ["gpu-operator", "kai-scheduler", "backend-operator"]


@pytest.mark.parametrize("login", ["token", "dev"])
def test_the_charts_know_every_key_that_is_sent(login: str) -> None:
    for release in make_plan(given_settings(*BACKEND, f"osmo.login={login}").settings).osmo:
        assert check_chart(release.chart.name, release.chart.version, release.values) == []


def test_scheduler_and_agents_run_on_the_cpu_pool() -> None:
    for values in (kai(), backend()):
        assert (values["global"]["nodeSelector"], values["global"]["tolerations"]) == (CPU, [])


def test_no_runtime_class_is_injected_and_no_gpu_is_shared() -> None:
    assert kai()["admission"] == {"gpuFractionRuntimeClassName": ""}
    assert kai()["global"]["gpuSharing"] is False


def test_every_value_of_the_scheduler_has_an_effect_in_the_genuine_chart() -> None:
    effects = rendered_facts(osmo.KAI_CHART, osmo.KAI_VERSION)["effects"]
    plans = [load(stack).plan.osmo for stack in existing()]
    passed = [each.values for plan in plans for each in plan if each.name == osmo.KAI_RELEASE]
    assert passed
    for values in (*passed, kai()):
        assert set(keys_set(values, effects)) <= set(effects)


def test_the_scheduler_gets_the_flags_osmo_needs_as_texts() -> None:
    # The SchedulingShard has a map of texts, and refuses true.
    args = {"default-staleness-grace-period": "-1s", "update-pod-eviction-condition": "true"}
    assert kai()["scheduler"]["args"] == args


def test_no_queue_but_osmos_own() -> None:
    assert kai()["defaultQueue"] == {"createDefaultQueue": False}


def test_agents_get_their_backend_service_and_namespace() -> None:
    given = backend("osmo.backendName=aks-west")["global"]
    assert (given["osmoImageTag"], given["serviceUrl"]) == ("6.3.1", "https://osmo.example.com")
    assert (given["backendName"], given["agentNamespace"]) == ("aks-west", "osmo-operator")
    assert (given["backendNamespace"], given["includeNamespaceUsage"]) == ("osmo-workflows", "osmo-workflows")


def test_agents_log_in_with_a_token_out_of_a_secret() -> None:
    values = backend()
    given = values["global"]
    assert (given["loginMethod"], given["accountTokenSecret"], given["accountTokenSecretKey"]) == (
        "token",
        "agent-token",
        "token",
    )
    assert "extraArgs" not in values["services"]["backendWorker"]


def test_the_nightly_tests_are_off_and_the_priority_classes_on() -> None:
    values = backend()
    assert values["backendTestRunner"]["enabled"] is False
    assert values["global"]["priorityClasses"]["enabled"] is True


@pytest.mark.parametrize("agent", ["backendListener", "backendWorker"])
def test_a_development_login_is_an_argument_with_a_kubeconfig_besides(agent: str) -> None:
    values = backend("osmo.login=dev")
    assert values["global"]["loginMethod"] == "token"
    found = values["services"][agent]
    assert found["extraArgs"] == ["--method", "dev", "--username", "admin"]
    assert found["extraEnvs"] == [{"name": "KUBECONFIG", "value": f"{AGENT_FOLDER}/{KUBECONFIG}"}]
    # A list in values replaces the chart's, whose one entry holds what the probes look at.
    assert [item["name"] for item in found["volumes"]] == ["progress-files", AGENT_FILES]
    mounts = {item["name"]: item["mountPath"] for item in found["volumeMounts"]}
    assert mounts == {"progress-files": "/var/run/osmo", AGENT_FILES: AGENT_FOLDER}


def test_the_kubeconfig_of_the_development_login_asks_a_program_for_the_token() -> None:
    config = json.loads(agent_kubeconfig())
    (user,) = config["users"]
    assert user["user"]["exec"]["args"] == [f"{AGENT_FOLDER}/{CREDENTIAL}"]
    assert "token" not in user["user"]
    (context,) = config["contexts"]
    assert config["current-context"] == context["name"]
    assert context["context"] == {"cluster": config["clusters"][0]["name"], "user": user["name"]}


def test_the_program_returns_the_token_of_now_and_asks_to_be_called_again_before_it_ends(tmp_path: Path) -> None:
    ends = datetime.datetime(2026, 11, 21, 20, 30, tzinfo=datetime.UTC)
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int(ends.timestamp())}).encode()).decode().rstrip("=")
    file = tmp_path / "token"
    file.write_text(f"head.{claims}.signature\n")
    done = subprocess.run(
        [sys.executable, str(CREDENTIAL_PROGRAM), str(file)], capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert (answer["apiVersion"], answer["kind"]) == ("client.authentication.k8s.io/v1", "ExecCredential")
    assert answer["status"] == {"token": file.read_text().strip(), "expirationTimestamp": "2026-11-21T20:25:00Z"}


def test_every_key_of_the_toolchain_file_for_the_scheduler_is_reported_as_without_effect(written: Write) -> None:
    text = "tolerations: []\nresources: {}\nreplicaCount: 1\npriorityClassName: high\n"
    found = faults(written("kai-scheduler/values.yaml", text))
    assert [line.partition("\n")[0] for line in found] == [
        f"values/kai-scheduler/values.yaml:{line}: {key}"
        for line, key in enumerate(("tolerations", "resources", "replicaCount", "priorityClassName"), start=1)
    ]
    assert "global.tolerations.  Set cpuPool instead." in found[0]


def test_the_key_for_arguments_in_osmos_own_documentation_is_removed(written: Write) -> None:
    text = 'scheduler:\n  additionalArgs: ["--update-pod-eviction-condition=true"]\n'
    (found,) = faults(written("kai-scheduler/values.yaml", text))
    assert "Write scheduler.args instead." in found


def test_an_unknown_key_of_the_agents_is_an_error_with_the_nearest_one(written: Write) -> None:
    (found,) = faults(written("osmo/backend-operator.yaml", "services:\n  backendWorker:\n    extraArg: []\n"))
    assert found.startswith("values/osmo/backend-operator.yaml:3: services.backendWorker.extraArg")
    assert "Did you mean services.backendWorker.extraArgs?" in found


@pytest.mark.parametrize(
    ("file", "text", "instead"),
    [
        ("osmo/backend-operator.yaml", "global: {serviceUrl: https://other}", "osmo.serviceUrl"),
        ("osmo/backend-operator.yaml", "global: {osmoImageTag: latest}", "physical_ai/catalog/osmo.py"),
        ("kai-scheduler/values.yaml", "global: {nodeSelector: {agentpool: system}}", "cpuPool"),
    ],
)
def test_what_follows_from_settings_is_not_for_the_files(written: Write, file: str, text: str, instead: str) -> None:
    (found,) = faults(written(file, text))
    assert instead in found


def test_a_file_may_be_missing(tmp_path: Path) -> None:
    settings = given_settings(*BACKEND).settings
    assert make_plan(settings, tmp_path).osmo[0].values == {"global": {"nodeSelector": CPU, "tolerations": []}}


def test_a_login_method_that_the_agents_do_not_know_is_refused() -> None:
    (found,) = check_chart(osmo.BACKEND_CHART, osmo.CHART_VERSION, {"global": {"loginMethod": "dev"}})
    assert (found.rule, found.fix) == ("chart-value", "One of: password, token.")


@pytest.mark.parametrize("name", ["kai-scheduler", "backend-operator"])
def test_no_known_key_has_a_note_that_it_is_dead(name: str) -> None:
    table = key_table(name, newest_chart(name).version)
    assert table.known.keys() & table.notes.keys() == set()
