"""`pulumi` and `physai` for a workflow that is run against a simulation: `python -m tests.simulator.pipeline_commands`.

The identity is that of the job's Azure login. What only the networks outside have is replaced: the state backend of
`pulumi login`, Azure's answers to `physai check`, and the download of charts. Unknown subcommands are errors.


Each command imports what it needs itself: a workflow runs dozens of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from physical_ai.catalog.charts import Chart
    from physical_ai.subscription.rest import Get
    from simulator.entra import Principal
    from workbench.cli.chart_download import Pulled

PHYSAI = ("check", "charts", "compat", "policy", "preview", "tools")
WITH_PROGRAM = ("preview", "up")
WITHOUT = ("cancel", "destroy", "import", "refresh", "stack", "state", "whoami")


def identity() -> Principal:
    """Whose client id the job has logged in with."""
    from simulator.entra import PRINCIPALS

    client = os.environ["ARM_CLIENT_ID"]
    assert os.environ["AZURE_CLIENT_ID"] == client, "state and resources are reached as different identities"
    (found,) = (each for each in PRINCIPALS if each.client_id == client)
    return found


def login(words: list[str]) -> int:
    (address,) = words
    assert address.startswith("azblob://"), f"the state of {address} is on the runner, and lost with it"
    assert Path(os.environ["AZURE_FEDERATED_TOKEN_FILE"]).read_text(), "the backend has no login"
    return 0


def pulumi(words: list[str]) -> int:
    """The real command on the simulated stack; the program runs in a process of its own, as for `physai`."""
    verb, *rest = words
    if verb == "login":
        return login(rest)
    from simulator import program_process
    from simulator.session import SIMULATED
    from simulator.simulation import Simulation

    assert verb in (*WITH_PROGRAM, *WITHOUT), f"`pulumi {verb}` is not known here"
    stack = rest[rest.index("--stack") + 1] if "--stack" in rest else os.environ["PULUMI_STACK"]
    os.environ |= {**SIMULATED, **Simulation(stack).environment(identity())}
    program: list[str] = []
    if verb in WITH_PROGRAM:
        program_process.start()
        program = [f"--client={program_process.address()}", "--exec-kind=auto.inline"]
    return subprocess.run(["pulumi", verb, *program, *rest], check=False).returncode


def azure() -> Get:
    """A subscription that has what the stack needs."""
    from tests.support.azure_subscription import Answers

    answers = Answers(permissions="permissions-contributor-and-user-access-administrator.json")

    def offered(document: dict[str, Any]) -> None:
        for size in document["value"]:
            size["restrictions"] = []
            for capability in size.get("capabilities", []):
                if capability["name"] == "LowPriorityCapable":
                    capability["value"] = "True"

    def registered(document: dict[str, Any]) -> None:
        for provider in document["value"]:
            provider["registrationState"] = "Registered"

    return answers.change("skus", offered).change("providers", registered)


def verified(chart: Chart, helm: Path, *, locked: bool) -> Pulled:
    """A chart as if it had been downloaded: `test_charts_pull.py` tests the download."""
    from workbench.cli.chart_download import Pulled

    assert locked, "a pipeline trusts a chart whose checksum is not known"
    return Pulled(chart, helm, "0" * 64, "present")


def physai(words: list[str]) -> int:
    assert words[0] in PHYSAI, f"`physai {words[0]}` is not known here"
    if words == ["tools", "--delivery"]:
        print(Path(os.environ["RUNNER_TEMP"]) / "bin")  # where this runner has its kubelogin and helm
        return 0
    from workbench.cli import azure_login, chart_download
    from workbench.cli.main import run

    azure_login._login = azure  # pyright: ignore[reportPrivateUsage]
    azure_login._exchange = lambda: None  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    chart_download.pull = verified
    return run(words)


if __name__ == "__main__":
    commands = {"pulumi": pulumi, "physai": physai}
    sys.exit(commands[sys.argv[1]](sys.argv[2:]))
