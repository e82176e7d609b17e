"""The Pulumi program of a stack as the simulator runs it: connected to the engine over loopback, and with its SDKs
loaded ahead of time.

It runs in the process of the command, or as `python -m simulator.program` in a process of its own (`program_process`).
"""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import json
import os
import runpy
import sys
import threading
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pulumi
from pulumi.automation import _server
from pulumi.runtime import resource
from pulumi.runtime import settings as runtime_settings
from pulumi.runtime._callbacks import _CallbackServicer  # pyright: ignore[reportPrivateUsage]  # see run_program
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS  # pyright: ignore[reportPrivateUsage]  # see LOOPBACK
from pulumi.runtime.proto import language_pb2_grpc, source_pb2

from physical_ai.repository import INSTALLED, PROJECT, import_from_project
from simulator.program_environment import OFFICIAL_VARIABLE
from simulator.sdk_packages import load_on_demand, load_used

PLATFORM = INSTALLED / "__main__.py"
"""Main module of the platform's Pulumi program. In a checkout it is the program itself; the program of a team's project
runs it.
"""
PROGRAM = PROJECT / "__main__.py"
AZURE_PACKAGES = (
    "resources",
    "network",
    "containerservice",
    "authorization",
    "managedidentity",
    "monitor",
    "operationalinsights",
)
"""The packages of azure-native that every stack on Azure uses."""
OTHER_AZURE_PACKAGES = (
    "alertsmanagement",
    "containerregistry",
    "dashboard",
    "dbforpostgresql",
    "dns",
    "dnsresolver",
    "keyvault",
    "privatedns",
    "redisenterprise",
    "storage",
)
"""Packages of azure-native that some stacks use."""
KUBERNETES_PACKAGES = ("pulumi_kubernetes.core.v1", "pulumi_kubernetes.helm.v3")
"""The largest packages of the Kubernetes SDK that the program uses. Importing one of these packages loads all its
modules.
"""
GATE_PACKAGES = ("kubernetes.client", "kubernetes.config")
"""Packages that gates use to read a cluster. Importing one of these packages loads all its modules."""

LOOPBACK: tuple[tuple[str, int], ...] = (
    ("grpc.enable_http_proxy", 0),  # a proxy has no route back to this machine, and is used unless no_proxy is set
    ("grpc.use_local_subchannel_pool", 1),  # an engine that ended must not answer for the next one on its port
    ("grpc.http2.bdp_probe", 0),  # pings that measure a network; the engine closes connections that ping too often
)
"""Options of the program's connections to the engine that differ from the SDK's own.

Source: grpc/grpc, include/grpc/impl/channel_arg_names.h.
"""

_sdk_exception = runtime_settings.grpc_error_to_exception
_ahead: list[threading.Thread] = []
_callbacks: list[Any] = _CallbackServicer._servicers  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]  # see run_program


def import_ahead() -> None:
    """Starts to load the modules that the program imports, in the background while the control plane and the engine
    start.
    """
    _ahead.append(threading.Thread(target=import_all, name="import-ahead", daemon=True))
    _ahead[-1].start()


def load_azure_on_demand() -> None:
    """Makes the modules of azure-native load on first use."""
    for name in (*AZURE_PACKAGES, *OTHER_AZURE_PACKAGES):
        load_on_demand(f"pulumi_azure_native.{name}")


def import_all() -> None:
    """Loads the modules that the program imports."""
    load_azure_on_demand()
    for package in (f"pulumi_azure_native.{name}" for name in AZURE_PACKAGES):
        for module in ("_inputs", "outputs"):
            if importlib.util.find_spec(f"{package}.{module}") is not None:
                importlib.import_module(f"{package}.{module}")
    import_from_project()
    for module in (*KUBERNETES_PACKAGES, *_imports(PLATFORM), *(_imports(PROGRAM) if PROGRAM != PLATFORM else ())):
        importlib.import_module(module)


def import_used() -> None:
    """Imports the modules that the program imports on first use. A process that forks a copy of itself for each run
    calls this before it forks, so that no copy imports them again.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("components."):
            load_used(module)
    for module in GATE_PACKAGES:
        importlib.import_module(module)


def _imports(file: Path) -> list[str]:
    """Names of the modules in the `from … import` statements of a file."""
    nodes = ast.walk(ast.parse(file.read_text()))
    return [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]


def connect_over_loopback() -> None:
    """Configures the SDK's connections for a local engine, and makes the SDK's errors include the reason why a
    connection was lost.
    """
    for option in LOOPBACK:
        if option not in _GRPC_CHANNEL_OPTIONS:
            _GRPC_CHANNEL_OPTIONS.append(option)
    runtime_settings.grpc_error_to_exception = _with_details
    # Looking up source lines, which nothing here shows, takes a tenth of the program's time.
    resource._get_stack_trace = source_pb2.StackTrace  # pyright: ignore[reportPrivateUsage]
    # Debug messages are some 270 blocking calls in a run, and the engine drops them unless it logs for debugging.
    pulumi.log.debug = _no_debug


def _no_debug(*_: object, **__: object) -> None:
    """Replacement for `pulumi.log.debug` that does nothing."""


def _with_details(error: grpc.RpcError) -> Exception:
    problem = _sdk_exception(error)
    return pulumi.RunError(f"{problem} ({error.details()})") if isinstance(problem, pulumi.RunError) else problem


def run_program() -> None:
    """Runs the program as `pulumi up` would, but without the aliases that the SDK adds to every azure-native resource.

    The aliases name the resource at each other API version; a node pool has 110 of them. They cost the engine 0.1
    seconds for each resource. Only a stack that was created with another API version needs the aliases, and no
    simulated stack was.
    """
    # The SDK keeps the callback servers of every earlier run in this process, and fails on stopping one that a failed
    # run has left behind on a closed event loop.
    _callbacks.clear()
    for thread in _ahead:
        thread.join()  # a lazy module that another thread is loading looks empty
    pulumi.runtime.register_stack_transformation(_without_aliases)
    if os.environ.get(OFFICIAL_VARIABLE):
        pulumi.runtime.register_stack_transformation(_with_local_chart)
    import_from_project()
    runpy.run_path(str(PROGRAM), run_name="__main__")


def _without_aliases(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    if not args.type_.startswith("azure-native:"):
        return None
    named = [each for each in args.opts.aliases or [] if isinstance(each, pulumi.Alias) and isinstance(each.name, str)]
    args.opts.aliases = named
    return pulumi.ResourceTransformationResult(args.props, args.opts)


def _with_local_chart(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    """The resource's arguments with a local chart in place of a Helm release's chart, which the official plugin would
    download. None for other resources. The simulated provider replaces charts by itself.
    """
    if args.type_ != "kubernetes:helm.sh/v3:Release":
        return None
    # Imported only here: these modules of the simulator take time to load, and the program's process needs them
    # nowhere else.
    from simulator.charts import chart_source
    from simulator.kubernetes_plugin import local_chart

    props: Any = args.props
    return pulumi.ResourceTransformationResult(local_chart(props, chart_source), args.opts)


def serve() -> None:
    """Runs the program for each engine that connects, until the command that started this process has ended.

    Each line of standard input is a JSON object of environment variables. The process answers each line with the port
    of its server.
    """
    gc.disable()
    connect_over_loopback()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=_GRPC_CHANNEL_OPTIONS)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(_server.LanguageServer(run_program), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the program prints is not an answer
    import_ahead()
    for line in sys.stdin:
        os.environ.clear()
        os.environ.update(json.loads(line))
        print(port, file=answers, flush=True)
    os._exit(0)


if __name__ == "__main__":
    serve()
