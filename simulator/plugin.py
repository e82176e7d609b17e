"""Plugin `python -m simulator.plugin`, through which the plain `pulumi` command uses a simulated provider.

The engine starts one such process for each provider, reads the port from the first line of the process's output, and
kills the process at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from physical_ai.repository import PROJECT, python_environment
from simulator import pulumi_command
from simulator.azure import AzureNative, Caller, Cloud
from simulator.azure.questions import Questions
from simulator.azure.web import ArmWeb, Login
from simulator.charts import chart_models, chart_source
from simulator.clusters import Clusters
from simulator.entra import DEPLOYER
from simulator.kubelogin import PRINCIPAL_VARIABLE
from simulator.kubernetes import KubernetesOptions, RenderedCharts
from simulator.kubernetes.provider import PACKAGE, VERSION, kubernetes_provider
from simulator.ports import LOOPBACK, kept_port, noted
from simulator.random_values import RandomValues
from simulator.subscription import open_cloud
from simulator.tools import toolbox
from simulator.wire.host import ProviderFactory, ProviderHost

ARM_VARIABLE = "PHYSICAL_AI_ARM"
"""Environment variable with the address of the simulated Azure Resource Manager, which the program sends its requests
to.
"""
ARM_FILE = "arm-port.json"
LOOK_SECONDS = 1.0
"""Seconds between two checks in which a plugin finds out if its engine is still running."""


def install(folder: Path, tools: Path, pulumi: Path, stack: str) -> None:
    """Writes the simulation's plugins into the folder where its engine looks for plugins, and a `pulumi` command for
    PATH.

    The `pulumi` command works in the simulation's own copy of the project, because the real `pulumi` would otherwise
    add an encryption salt to the user's stack file.
    """
    wrapper = folder / "bin" / "pulumi"
    given = (sys.executable, "-I", pulumi_command.__file__, stack, str(folder / "work"), str(pulumi))
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(given)} "$@"\n')
    wrapper.chmod(0o700)
    random = (RandomValues.package, RandomValues.version)
    for package, version in ((AzureNative.package, AzureNative.version), (PACKAGE, VERSION), random):
        command = folder / "home" / "plugins" / f"resource-{package}-v{version}" / f"pulumi-resource-{package}"
        command.parent.mkdir(parents=True, exist_ok=True)
        command.unlink(missing_ok=True)  # a link to the official plugin, which must not be written through
        words = [sys.executable, "-m", "simulator.plugin", package, str(folder), str(tools)]
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in python_environment().items())
        command.write_text(f"#!/bin/sh\n{variables} exec {shlex.join(words)}\n")
        command.chmod(0o700)


def arm_address(folder: Path) -> str:
    """Address at which the plugin of azure-native serves the simulated Azure Resource Manager while an engine runs."""
    file = folder / ARM_FILE
    port = kept_port(noted(file))
    file.write_text(json.dumps(port))
    return f"http://{LOOPBACK}:{port}"


@contextmanager
def serving_arm(cloud: Cloud, caller: str, address: str) -> Generator[None]:
    """Serves the simulated Azure Resource Manager for one caller at an address of `arm_address`; nothing without an
    address, or if another plugin of the same simulation serves it.
    """
    port = urlsplit(address).port
    with ExitStack() as served:
        if port is not None:
            with suppress(OSError):
                served.enter_context(ArmWeb(Questions(cloud), {caller: Login(caller)}).served(port))
        yield


def serve(factory: ProviderFactory) -> None:
    """Serves a provider until the engine ends."""
    engine = os.getppid()
    with ProviderHost(factory) as host:
        print(host.attach_env().rpartition(":")[2], flush=True)
        while os.getppid() == engine:
            time.sleep(LOOK_SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="simulator.plugin")
    parser.add_argument("package", choices=(AzureNative.package, PACKAGE, RandomValues.package))
    parser.add_argument("folder", type=Path)
    parser.add_argument("tools", type=Path)
    given, _ = parser.parse_known_args()
    if given.package == RandomValues.package:
        serve(RandomValues)
        return
    tools = toolbox(given.tools)
    clusters = Clusters(given.folder / "clusters", tools)
    clusters.prepare(spare=False)
    clusters.wait()
    if given.package == PACKAGE:
        helm = str(tools.path("helm"))
        path = os.pathsep.join((str(given.folder / "bin"), os.environ.get("PATH", "")))
        options = KubernetesOptions(
            helm,
            path,
            chart_source,
            working_directory=PROJECT,
            rendered=RenderedCharts(chart_models(), given.folder / "rendered"),
            refused=clusters.refusal,
        )
        serve(kubernetes_provider(options))
        return
    cloud = open_cloud(given.folder, clusters)
    cloud.settle()
    try:
        caller = Caller(os.environ.get(PRINCIPAL_VARIABLE) or DEPLOYER.object_id)
        with serving_arm(cloud, caller.object_id, os.environ.get(ARM_VARIABLE, "")):
            serve(AzureNative.serving(cloud, caller))
    finally:
        cloud.close()


if __name__ == "__main__":
    main()
