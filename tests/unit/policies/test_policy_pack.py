"""The policy pack's service, asked as Pulumi's engine asks it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from physical_ai.catalog.engine_values import SECRET, SIGNATURE
from physical_ai.findings import Severity
from tests.support.waiting import LIMIT
from workbench.cli.policy_pack import PACK
from workbench.policies import RULES
from workbench.policies.examples import EXAMPLES, Example
from workbench.policies.model import UNKNOWN, Resource, Secret
from workbench.policies.node_pools import AGENT_POOL
from workbench.policies.pack.analyzer import SHOWN, Analyzer, can_evaluate
from workbench.policies.wire import plain

LEVEL = analyzer_pb2.EnforcementLevel
PROVIDER = "urn:pulumi:s::p::pulumi:providers:azure-native::default_3_29_0"
JUDGED = [rule for rule in RULES if can_evaluate(rule)]


def wire(value: Any) -> Any:
    """A value as the engine sends it."""
    if value is UNKNOWN:
        return "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    if isinstance(value, Secret):
        return {SIGNATURE: SECRET, "value": wire(value.value)}
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [wire(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def request(resource: Resource) -> Any:
    """What the engine asks about a resource; the options that it does not show are left out."""
    options, properties = resource.options, struct_pb2.Struct()
    properties.update(wire(dict(resource.inputs)))
    return analyzer_pb2.AnalyzeRequest(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        properties=properties,
        options=analyzer_pb2.AnalyzerResourceOptions(
            protect=options.protect,
            ignoreChanges=options.ignore_changes,
            deleteBeforeReplace=options.delete_before_replace,
            parent=options.parent,
        ),
        provider=analyzer_pb2.AnalyzerProviderResource(urn=options.provider or PROVIDER) if resource.custom else None,
    )


def judged(example: Example, *, broken: bool, **levels: int) -> list[Any]:
    """All diagnostics of the pack on an example's stack: by resource, then for the complete stack."""
    stack = example.stack(broken=broken)
    pack = Analyzer()
    config = {name: analyzer_pb2.PolicyConfig(enforcementLevel=level) for name, level in levels.items()}  # pyright: ignore[reportArgumentType]
    pack.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig=config), None)
    named = f"organization/physical-ai/{stack.environment}-{stack.region}"
    pack.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack=named), None)
    said = [found for each in stack.resources for found in pack.Analyze(request(each), None).diagnostics]
    return [*said, *pack.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(), None).diagnostics]


CASES = {
    f"{rule.id}-{index}": (rule.id, example)
    for rule in JUDGED
    for index, example in enumerate(EXAMPLES[rule.id])
    # The pack knows no plaintexts of secrets, and an option that is not sent has no value that breaks a rule.
    if not example.secrets and not {*example.options, *example.bad_options} - SHOWN and rule.id != "explicit-provider"
}


def test_the_pack_finds_in_each_example_what_the_rules_find() -> None:
    def found(rule: str, example: Example) -> list[bool]:
        return [rule in {each.policyName for each in judged(example, broken=broken)} for broken in (True, False)]

    assert CASES
    assert [name for name, case in CASES.items() if found(*case) != [True, False]] == []


def test_an_error_stops_a_deployment_and_a_warning_does_not() -> None:
    levels = {Severity.ERROR: LEVEL.MANDATORY, Severity.WARNING: LEVEL.ADVISORY}
    info = Analyzer().GetAnalyzerInfo(empty_pb2.Empty(), None)
    assert {each.name: each.enforcementLevel for each in info.policies} == {
        rule.id: levels[rule.severity] for rule in JUDGED
    }
    assert all(each.url and each.description for each in info.policies)


def test_a_finding_names_its_resource_path_and_fix() -> None:
    (found,) = [each for each in judged(EXAMPLES["spot-in-dev"][0], broken=True) if each.policyName == "spot-in-dev"]
    assert found.urn == "urn"
    assert found.message == "scaleSetPriority: set priority: Spot in the pool's settings"
    assert found.enforcementLevel == LEVEL.ADVISORY


@pytest.mark.parametrize("level", [LEVEL.MANDATORY, LEVEL.DISABLED])
def test_a_configuration_raises_a_rule_or_turns_it_off(level: int) -> None:
    said = judged(EXAMPLES["spot-in-dev"][0], broken=True, **{"spot-in-dev": level})
    levels = [each.enforcementLevel for each in said if each.policyName == "spot-in-dev"]
    assert levels == ([] if level == LEVEL.DISABLED else [level])


def test_rules_whose_options_the_engine_hides_are_left_to_the_command() -> None:
    names = {each.name for each in Analyzer().GetAnalyzerInfo(empty_pb2.Empty(), None).policies}
    assert {rule.id for rule in RULES} - names == {
        "immutable-pool-properties",
        "protected-together",
        "replaced-together",
        "vault-secret-retained",
        "role-principal-type",
        "zone-role-before-cluster",
        "needed-flows-open",
        "forbidden-flows-closed",
    }


def test_components_and_the_stack_itself_are_not_judged_as_resources() -> None:
    pack = Analyzer()
    component = Resource("physical-ai:index:Platform", "it", urn="urn", custom=False)
    stack = Resource("pulumi:pulumi:Stack", "it", urn="urn", custom=False)
    assert [pack.Analyze(request(each), None).diagnostics for each in (component, stack)] == [[], []]


def test_what_is_unknown_or_secret_on_the_wire_is_to_the_rules_too() -> None:
    struct = struct_pb2.Struct()
    output = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
    struct.update(
        {
            "unknown": wire(UNKNOWN),
            "secret": wire(Secret("x")),
            "count": 2.0,
            "half": 0.5,
            "none": None,
            "output": {SIGNATURE: output, "value": "v", "secret": True},
            "pending": {SIGNATURE: output},
        }
    )
    read = {key: plain(value) for key, value in struct.fields.items()}
    assert read["unknown"] is UNKNOWN
    assert read["pending"] is UNKNOWN
    assert (read["secret"], read["output"]) == (Secret("x"), Secret("v"))
    assert (read["count"], read["half"], read["none"]) == (2, 0.5, None)
    assert isinstance(read["count"], int)


@pytest.mark.parametrize("how", [pytest.param("as a file", marks=pytest.mark.deep), "as the language host starts it"])
def test_started_it_prints_its_port_and_answers(how: str) -> None:
    pack = (
        [str(PACK), "127.0.0.1:1"] if how == "as a file" else ["-m", "pulumi.policy", "127.0.0.1:1", str(PACK.parent)]
    )
    environment = {**os.environ, "PYTHONPATH": ""}
    with subprocess.Popen([sys.executable, *pack], stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert re.fullmatch(r"\d+", port)
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = analyzer_pb2_grpc.AnalyzerStub(channel)
                info = stub.GetAnalyzerInfo(empty_pb2.Empty(), timeout=LIMIT, wait_for_ready=True)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            assert info.name == "physical-ai"  # pyright: ignore[reportUnknownMemberType]
        finally:
            process.terminate()


def test_the_pack_can_be_started_as_a_file() -> None:
    assert os.access(PACK, os.X_OK)


def test_a_pool_that_an_engine_previews_with_nothing_known_breaks_no_rule() -> None:
    names = ("nodeLabels", "nodeTaints", "vmSize", "gpuProfile", "upgradeSettings", "availabilityZones", "type")
    pool = Resource(AGENT_POOL, "it", {**dict.fromkeys(names, UNKNOWN), "scaleDownMode": "Delete"}, urn="urn")
    said = Analyzer().Analyze(request(pool), None).diagnostics
    assert {each.policyName for each in said} == {"component-parent"}
