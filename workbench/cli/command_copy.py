"""Code that runs in a copy of the resident process. The copy runs a command line in place of the process that the user
has started.

The resident process imports this module, and with it the modules of the commands that may run in a copy. So each copy
begins with these modules loaded.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from physical_ai.planning.part_files import part_faults
from physical_ai.repository import PART_FOLDERS, STACKS, VALUES
from physical_ai.settings import existing, load
from workbench.cli import console
from workbench.cli.command_line import run_here
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import DEFAULT_STACK

USED = (
    "simulator.faults",
    "simulator.simulation",
    "workbench.cli.alert_findings",
    "workbench.cli.cluster_gates",
    "workbench.cli.commands.why",
    "workbench.cli.deployed_settings",
    "workbench.cli.deployment_time",
    "workbench.cli.node_evidence",
    "workbench.cli.output.accept",
    "workbench.cli.output.alerts",
    "workbench.cli.output.compat",
    "workbench.cli.output.cost",
    "workbench.cli.output.gates",
    "workbench.cli.output.lint",
    "workbench.cli.output.policy",
    "workbench.cli.output.status",
    "workbench.cli.output.usage",
    "workbench.cli.output.workflows",
    "workbench.cli.policy_pack",
    "workbench.cli.preview.change_list",
    "workbench.cli.preview.markdown",
    "workbench.cli.preview.review",
    "workbench.cli.preview.sources",
    "workbench.cli.progress",
    "workbench.cli.prometheus_signs",
    "workbench.cli.requested_stack",
    "workbench.cli.simulated_telemetry",
    "workbench.cli.stack_status",
    "workbench.cli.unstick_repairs",
    "workbench.cli.workflows.gateway_check",
    "workbench.cli.workflows.runner",
    "workbench.cli.workflows.sbatch",
    "workbench.costs.document",
    "workbench.health.acceptance.running",
    "workbench.osmo.lint.report",
    "workbench.policies",
)
"""Modules that commands import only when they run. The resident process loads them in advance, too."""

for _module in USED:
    importlib.import_module(_module)


def _judge_a_stack() -> None:
    """Loads one stack, for what a process makes once and keeps: rows of the catalogue, schemas, faults of parts.

    The stack's own files and values are read from a copy, which another process makes: they are not kept, and a change
    of one must not be taken for a change of a loaded file, which would end the resident process.
    """
    if len(PART_FOLDERS) > 1:
        return  # a team's own parts come and go; each command looks for them
    part_faults()
    # A stack that does not load says so to the command that asks for it.
    with suppress(Exception), TemporaryDirectory() as folder:
        subprocess.run(["cp", "-R", STACKS, VALUES, folder], check=True)
        stacks, values = Path(folder, STACKS.name), Path(folder, VALUES.name)
        names = existing(stacks)
        load(DEFAULT_STACK if DEFAULT_STACK in names else names[0], (), stacks, values)


_judge_a_stack()

STDERR = 2


def serve(control: socket.socket) -> None:
    """Runs the command line that arrives over the socket `control`, and answers with the exit code.
    Ends the process.
    """
    with control.makefile("rb") as lines:
        request = json.loads(lines.readline())
    _take_over(request)
    control.sendall(b"\n")  # from here on the command runs, in this process only
    threading.Thread(target=_obey, args=(control,), daemon=True).start()
    code = _code_of(request["arguments"])
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    # `os._exit` does not call these, and a return would end in the resident process's code.
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nothing reads the stream any more
            stream.flush()
    control.sendall(f"{code}".encode())
    os._exit(code)


def _take_over(request: dict[str, Any]) -> None:
    """Gives this process the environment, arguments and streams of the process that the user has started."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # as in `workbench.cli.main`
    time.tzset()
    with suppress(PermissionError):
        os.nice(request["nice"] - os.nice(0))
    sys.argv = ["physai", *request["arguments"]]
    stdin, stdout, stderr = request["streams"]
    sys.stdin, sys.stdout, sys.stderr = _opened(0, "r", stdin), _opened(1, "w", stdout), _opened(2, "w", stderr)
    console.renew()


def _opened(number: int, mode: str, text: tuple[str, str]) -> TextIOWrapper:
    encoding, errors = text
    by_line = 1 if os.isatty(number) or number == STDERR else -1
    return cast("TextIOWrapper", open(number, mode, by_line, encoding=encoding, errors=errors, closefd=False))


def _obey(control: socket.socket) -> None:
    """Sends this process the signals that the user's process passes on. When the user's process has ended, kills this
    process and all processes that it has started.
    """
    with suppress(OSError):
        while numbers := control.recv(16):
            for number in numbers:
                os.kill(os.getpid(), number)
    os.killpg(0, signal.SIGKILL)


def _code_of(arguments: list[str]) -> int:
    try:
        return run_here(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except BaseException:
        traceback.print_exc()
        return FAILED
