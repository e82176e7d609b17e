"""Commands of the README's short way, for a shell that has a simulation in place of Azure.

`python -m tests.simulator.quickstart_commands NAME ARGUMENTS`. Real are `physai`, the engine in which it deploys, the
cluster, and `pulumi` where it reads and writes the stack file. Replaced are the checkout, the downloads, the login, and
what needs a node that runs programs: the forwarded port, and OSMO's own client.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

STACK = "quickstart-westus2"
CHECKOUT, OUTPUT = "physical-ai", ".submitted"
"""Folder that `git clone` makes, and the file in it with what a submission printed."""
PERSON = "11111111-1111-4111-8111-111111111111"
NAMES = ("git", "make", "az", "physai", "pulumi", "kubectl", "osmo", "kubelogin")
PASSPHRASE = "of the test"


def git(words: list[str]) -> int:
    """The files that the commands write to, and a way to those that they read."""
    from physical_ai.repository import ROOT

    assert words[0] == "clone"
    folder = Path(CHECKOUT)
    folder.mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    shutil.copytree(ROOT / "stacks", folder / "stacks")
    for package in ("physical_ai", "workbench"):
        (folder / package).symlink_to(ROOT / package)
    return 0


def make(words: list[str]) -> int:
    assert words == ["azure-tools"]
    return 0


def az(words: list[str]) -> int:
    if words == ["login"]:
        return 0
    assert words == ["ad", "signed-in-user", "show", "--query", "id", "-o", "tsv"], words
    print(PERSON)
    return 0


def physai(words: list[str]) -> int:
    """As a job runs it: `check` asks a subscription that has what the stack needs."""
    from tests.simulator import pipeline_commands
    from tests.support.azure_subscription import SUBSCRIPTION
    from workbench.cli.azure_login import SUBSCRIPTION_VARIABLE

    os.environ[SUBSCRIPTION_VARIABLE] = SUBSCRIPTION
    answers: Any = pipeline_commands.azure()
    answers.change("skus", _with_small_size)
    pipeline_commands.azure = lambda: answers
    return pipeline_commands.physai(words)


def _with_small_size(document: dict[str, Any]) -> None:
    """The recorded answer has the whole GPU of its kind only."""
    for row in [each for each in document["value"] if each["name"].startswith("Standard_NC144ds_xl_RTXPRO6000")]:
        own = copy.deepcopy(row)
        own["name"] = "Standard_NC24lds_xl_RTXPRO6000BSE_v6"
        for each in own["capabilities"]:
            each["value"] = "24" if each["name"] == "vCPUs" else each["value"]
        document["value"].append(own)


def pulumi(words: list[str]) -> int:
    if words == ["up"]:
        return _up()
    environment = dict(os.environ)
    if words[:2] == ["stack", "output"]:
        from simulator.simulation import Simulation

        environment |= Simulation(STACK).environment()
    else:
        assert words[0] in {"login", "config"} or words[:2] == ["stack", "init"], words
        home = Path(".pulumi-home").resolve()
        home.mkdir(exist_ok=True)
        environment |= {"PULUMI_CONFIG_PASSPHRASE": PASSPHRASE, "PULUMI_HOME": str(home)}
        # Pulumi takes the person's folder from the system, and not from $HOME.
        words = ["login", f"file://{home}"] if words == ["login", "--local"] else words
    return subprocess.run([_engine(), *words], env=environment, check=False).returncode


def _engine() -> str:
    from simulator.home import Home
    from simulator.tools import toolbox

    return str(toolbox(Home.of_user().tools).path("pulumi"))


def _up() -> int:
    """The stack as its file now has it: who deploys was written into it."""
    from physical_ai import safe_yaml
    from workbench.cli.main import run

    own = safe_yaml.load(Path(f"stacks/Pulumi.{STACK}.yaml").read_text())["config"]
    access = own["physical-ai:access"]
    assert access == {"deployers": [{"principalId": PERSON, "principalType": "User"}]}
    overlay = Path("overlay.json")
    overlay.write_text(json.dumps({"access": access}))
    return run(["up", STACK, "-f", str(overlay)])


def kubectl(words: list[str]) -> int:
    """A port can be forwarded to a Service that has it; no simulated node forwards any."""
    from simulator.simulation import Simulation

    assert words[-3:] == ["port-forward", "service/osmo-gateway", "9000:80"]
    assert Path(words[words.index("--kubeconfig") + 1]).read_text().startswith("apiVersion")
    namespace = words[words.index("-n") + 1]
    question = ["get", words[-2], "-n", namespace, "-o", "jsonpath={.spec.ports[*].port}"]
    environment = Simulation(STACK).environment()
    found = shutil.which("kubectl", path=environment["PATH"])
    assert found is not None
    shown = subprocess.run([found, *question], env=environment, check=True, capture_output=True, text=True)
    assert words[-1].partition(":")[2] in shown.stdout.split()
    return 0


def osmo(words: list[str]) -> int:
    from contextlib import redirect_stdout

    from workbench.cli.main import run

    if words[0] == "login":
        assert words == ["login", "http://localhost:9000", "--method=dev", "--username=admin"]
        return 0
    if words[:2] == ["workflow", "query"]:
        print(Path(OUTPUT).read_text())
        return 0
    assert words[:2] == ["workflow", "submit"]
    with Path(OUTPUT).open("w") as file, redirect_stdout(file):
        return run(["run", *words[2:], "--stack", STACK])


def kubelogin(words: list[str]) -> int:
    raise AssertionError(f"only its presence is looked at: {words}")


def main(words: list[str]) -> int:
    name, *rest = words
    commands = (git, make, az, physai, pulumi, kubectl, osmo, kubelogin)
    return {each.__name__: each for each in commands}[name](rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
