"""The rules as a service of Pulumi's Analyzer protocol, which the engine calls for each resource and for the complete
stack.

It uses the protocol's classes from the Pulumi SDK. The package `pulumi_policy` is not used, because it needs an older
protobuf than the one that the SDK pins.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc, plugin_pb2

from physical_ai.findings import Severity
from workbench.policies import RULES, Options, Resource, ResourceFinding, Rule, Stack
from workbench.policies.model import judge
from workbench.policies.wire import plain

NAME = "physical-ai"
SHOWN = frozenset({"parent", "provider", "protect", "ignore_changes", "delete_before_replace"})
"""Fields of `Options` that the engine passes to an analyzer."""
STACK_TYPE = "pulumi:pulumi:Stack"

_Level = analyzer_pb2.EnforcementLevel
_LEVELS = {Severity.ERROR: _Level.MANDATORY, Severity.WARNING: _Level.ADVISORY}
_SEVERITIES = {
    Severity.ERROR: analyzer_pb2.PolicySeverity.POLICY_SEVERITY_HIGH,
    Severity.WARNING: analyzer_pb2.PolicySeverity.POLICY_SEVERITY_LOW,
}


def can_evaluate(rule: Rule) -> bool:
    """True if the engine passes all options in `rule.needs` to an analyzer."""
    return set(rule.needs) <= SHOWN


class Analyzer(analyzer_pb2_grpc.AnalyzerServicer):
    """Analyzer service for one operation on one stack.

    Resources arrive in the order of their registration, several at a time.
    """

    def __init__(self) -> None:
        self._stack = ""
        self._levels: dict[str, int] = {}
        self._seen: list[Resource] = []
        self._lock = threading.Lock()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=version())

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:
        policies = [
            analyzer_pb2.PolicyInfo(
                name=rule.id,
                displayName=rule.id,
                description=rule.reason,
                enforcementLevel=_LEVELS[rule.severity],
                policy_type=_type(rule),
                severity=_SEVERITIES[rule.severity],
                tags=[rule.topic.value],
                url=rule.link,
            )
            for rule in RULES
            if can_evaluate(rule)
        ]
        return analyzer_pb2.AnalyzerInfo(
            name=NAME, displayName=NAME, policies=policies, version=version(), supportsConfig=True
        )

    def Configure(self, request: Any, context: Any) -> Any:
        """Reads the rules' enforcement levels from a `--policy-pack-config` such as `{"spot-in-dev": "mandatory"}`."""
        self._levels = {name: config.enforcementLevel for name, config in request.policyConfig.items()}
        return empty_pb2.Empty()

    def Handshake(self, request: Any, context: Any) -> Any:
        return analyzer_pb2.AnalyzerHandshakeResponse()

    def ConfigureStack(self, request: Any, context: Any) -> Any:
        self._stack = request.stack.rpartition("/")[2]
        return analyzer_pb2.AnalyzerStackConfigureResponse()

    def Analyze(self, request: Any, context: Any) -> Any:
        resource = declared(request)
        if resource.type == STACK_TYPE:
            return analyzer_pb2.AnalyzeResponse()
        with self._lock:
            self._seen.append(resource)
        return analyzer_pb2.AnalyzeResponse(diagnostics=self._diagnostics(resource, [resource], complete=False))

    def AnalyzeStack(self, request: Any, context: Any) -> Any:
        # The declared inputs, not the engine's outputs, in which providers have filled in defaults.
        with self._lock:
            seen = list(self._seen)
        diagnostics = [each for resource in seen for each in self._diagnostics(resource, seen, complete=True)]
        return analyzer_pb2.AnalyzeResponse(diagnostics=diagnostics)

    def Remediate(self, request: Any, context: Any) -> Any:
        return analyzer_pb2.RemediateResponse()

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def _diagnostics(self, resource: Resource, seen: Sequence[Resource], *, complete: bool) -> list[Any]:
        """Findings about one resource, as messages of the protocol: by the rules on single resources, or, with
        `complete`, by the rules that need the whole stack.
        """
        environment, _, region = self._stack.partition("-")
        stack = Stack(environment, tuple(seen), region=region)
        rules = [rule for rule in RULES if rule.needs_whole_stack == complete and can_evaluate(rule)]
        findings = [found for rule in rules for found in judge(rule, resource, stack)]
        return [
            analyzer_pb2.AnalyzeDiagnostic(
                policyName=each.rule,
                policyPackName=NAME,
                policyPackVersion=version(),
                description=each.reason,
                message=f"{each.where}: {each.problem}" if each.where else each.problem,
                enforcementLevel=self._level(each),
                urn=resource.urn,
                severity=_SEVERITIES[each.severity],
            )
            for each in findings
            if self._level(each) != _Level.DISABLED
        ]

    def _level(self, finding: ResourceFinding) -> Any:
        # A configured level has precedence, unless it is zero, which is ADVISORY, but also stands for no level.
        return self._levels.get(finding.rule, _LEVELS[finding.severity])


def declared(request: Any) -> Resource:
    """The resource in a request of the engine, in the form that rules read."""
    options, provider = request.options, request.provider.urn
    return Resource(
        request.type,
        request.name,
        {key: plain(value) for key, value in request.properties.fields.items()},
        Options(
            parent=options.parent,
            provider=provider,
            protect=options.protect,
            ignore_changes=tuple(options.ignoreChanges),
            delete_before_replace=options.deleteBeforeReplace,
        ),
        request.urn,
        # The engine sends no provider for components and for providers.
        custom=bool(provider),
    )


def version() -> str:
    """The version of the pack, from PulumiPolicy.yaml."""
    return str(yaml.safe_load((Path(__file__).parent / "PulumiPolicy.yaml").read_text())["version"])


def serve() -> None:
    """Listens on a free port, prints the port, and serves until the engine ends the process."""
    server = grpc.server(ThreadPoolExecutor(max_workers=8))
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    try:
        server.wait_for_termination()
    except KeyboardInterrupt:  # the engine ends its plugins by an interrupt
        server.stop(None)


def _type(rule: Rule) -> Any:
    kind = analyzer_pb2.PolicyType
    return kind.POLICY_TYPE_STACK if rule.needs_whole_stack else kind.POLICY_TYPE_RESOURCE
