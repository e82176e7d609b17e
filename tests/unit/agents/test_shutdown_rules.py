"""The shutdown helper's decisions: what the environment says, how a command is started, which exit code counts."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from simulation_shutdown import watchdog
from simulation_shutdown.environment import EXIT_CODE, SWITCH, TIMEOUT, UNFINISHED, Overrides, overrides
from simulation_shutdown.handle import code_of, prepare_for_shutdown
from simulation_shutdown.isaac import FLAG, SUBSCRIPTION, quiet_stop_callbacks
from simulation_shutdown.launch import RUNNER, plan
from simulation_shutdown.supervise import Progress
from tests.support.cases import in_one_test

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "workbench/osmo/samples/isaac-lab-training.yaml"
PAGE = ROOT / "docs/simulation-shutdown.md"


class Subscription:
    def __init__(self, fault: Exception | None = None) -> None:
        self.ended, self.fault = 0, fault

    def unsubscribe(self) -> None:
        if self.fault:
            raise self.fault
        self.ended += 1


class Plain:
    """An object with the attributes given. stop() and detach_stage() fail."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    def stop(self) -> None:
        raise AssertionError("stop() was called")

    detach_stage = stop


def lab(context: Any, module: str = "isaaclab.sim.simulation_context") -> dict[str, Any]:
    """Loaded modules with a SimulationContext whose instance is `context`, or raises it."""

    class SimulationContext:
        @classmethod
        def instance(cls) -> Any:
            if isinstance(context, Exception):
                raise context
            return context

    made = ModuleType(module)
    vars(made)["SimulationContext"] = SimulationContext
    return {module: made}


@pytest.mark.parametrize("module", ["isaaclab.sim.simulation_context", "isaaclab.sim", "omni.isaac.lab.sim"])
def test_stop_callback_of_isaac_lab_2_is_removed(module: str) -> None:
    subscription = Subscription()
    context = Plain(**{FLAG: False, SUBSCRIPTION: subscription})
    assert quiet_stop_callbacks(lab(context, module)) == 1
    assert vars(context) == {FLAG: True, SUBSCRIPTION: None}
    assert subscription.ended == 1


def test_second_time_ends_no_subscription_twice() -> None:
    subscription = Subscription()
    modules = lab(Plain(**{FLAG: False, SUBSCRIPTION: subscription}))
    quiet_stop_callbacks(modules)
    quiet_stop_callbacks(modules)
    assert subscription.ended == 1


@pytest.mark.parametrize("held", ["itself", "in a list"])
def test_stop_callback_that_moved_to_a_visualizer_is_found(held: str) -> None:
    subscription = Subscription()
    visualizer = Plain(**{FLAG: False, SUBSCRIPTION: subscription})
    context = Plain(_visualizer=visualizer) if held == "itself" else Plain(_visualizers=[Plain(), visualizer])
    assert quiet_stop_callbacks(lab(context)) == 1
    assert (vars(visualizer)[FLAG], subscription.ended) == (True, 1)


def test_isaac_lab_3_has_none_and_is_not_changed() -> None:
    context = Plain(_visualizers=[], cfg=Plain(dt=0.1))
    assert quiet_stop_callbacks(lab(context)) == 0
    assert set(vars(context)) == {"_visualizers", "cfg"}


def test_whatever_the_context_holds_it_is_inspected_without_harm() -> None:
    gone = weakref.proxy(Plain())
    context = Plain(**{FLAG: False, "_dead": gone, "_items": [gone, 1, None], "_kind": Plain})
    assert quiet_stop_callbacks(lab(context)) == 1
    assert vars(context)[FLAG] is True


@pytest.mark.parametrize("context", [None, RuntimeError("no stage")], ids=["none yet", "raises"])
def test_no_context_is_no_trouble(context: Any) -> None:
    assert quiet_stop_callbacks(lab(context)) == 0


def test_subscription_that_will_not_end_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    context = Plain(**{FLAG: False, SUBSCRIPTION: Subscription(RuntimeError("gone"))})
    assert quiet_stop_callbacks(lab(context)) == 1
    assert vars(context)[FLAG] is True
    assert "keeps its stop callback" in caplog.text


def test_nothing_is_imported() -> None:
    class Lazy(ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for, which would load it")

    before = set(sys.modules)
    assert quiet_stop_callbacks({"isaaclab.sim": Lazy("isaaclab.sim")}) == 0
    assert quiet_stop_callbacks({}) == 0
    assert set(sys.modules) == before


def test_overrides_of_the_environment() -> None:
    variables = {
        "SIMULATION_SHUTDOWN": "OFF",
        "SIMULATION_SHUTDOWN_TIMEOUT": "2.5",
        "SIMULATION_SHUTDOWN_EXIT_CODE": "7",
    }
    assert overrides(variables) == Overrides(2.5, 7, off=True)
    assert overrides(dict.fromkeys(variables, "")) == Overrides()


@in_one_test(
    ("name", "value"),
    [
        ("", "maybe"),
        *(("_TIMEOUT", value) for value in ("0", "-1", "nan", "inf", "30s")),
        *(("_EXIT_CODE", value) for value in ("-1", "256", "1.0", "²", "none")),
    ],
)
def test_unusable_variable_is_named_and_without_effect(name: str, value: str) -> None:
    found = overrides({f"SIMULATION_SHUTDOWN{name}": value})
    assert found == Overrides(faults=found.faults)
    assert found.faults[0].startswith(f"SIMULATION_SHUTDOWN{name}: {value!r}")


def test_environments_code_never_hides_a_failure() -> None:
    chosen = Overrides(exit_code=0)
    assert [chosen.code(code) for code in (0, UNFINISHED, 1, 130)] == [0, 0, 1, 130]
    assert Overrides(exit_code=9).code(0) == 9
    assert Overrides().code(UNFINISHED) == UNFINISHED


@pytest.mark.parametrize(("timeout", "code"), [(0, 0), (-1, 0), (float("nan"), 0), (1, -1), (1, 256)])
def test_impossible_arguments_are_refused_before_anything_happens(timeout: float, code: int) -> None:
    with pytest.raises(ValueError, match="is no"):
        prepare_for_shutdown(timeout, exit_code=code)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, 0),
        (SystemExit(), 0),
        (SystemExit(3), 3),
        (SystemExit(-1), 255),
        (SystemExit("no data"), 1),
        (KeyboardInterrupt(), 130),
        (ValueError(), 1),
    ],
)
def test_exit_code_that_python_gives_an_exception(error: BaseException | None, code: int) -> None:
    assert code_of(error) == code


INSIDE = str(RUNNER)


@in_one_test(
    ("command", "started"),
    [
        ("python train.py --a -m", f"/py {INSIDE} script train.py --a -m"),
        ("python3 -u -Bm pkg.train -c", f"/py -u -B {INSIDE} module pkg.train -c"),
        ("python -mpkg x", f"/py {INSIDE} module pkg x"),
        ("python -X dev -W error -c pass -u", f"/py -X dev -W error {INSIDE} code pass -u"),
        ("python -Xdev -uWerror train.py", f"/py -Xdev -uWerror {INSIDE} script train.py"),
        (
            "python --check-hash-based-pycs always train.py",
            f"/py --check-hash-based-pycs always {INSIDE} script train.py",
        ),
        ("python -- -odd.py", f"/py {INSIDE} script -odd.py"),
        ("/opt/bin/python3.12 train.py", f"/opt/bin/python3.12 {INSIDE} script train.py"),
        ("/isaac-sim/python.sh train.py", f"/isaac-sim/python.sh {INSIDE} script train.py"),
        ("python3.10 train.py", f"python3.10 {INSIDE} script train.py"),
    ],
)
def test_python_script_runs_inside_the_runner(command: str, started: str) -> None:
    launch = plan(command.split(), "/py")
    assert (" ".join(launch.command), launch.reports) == (started, True)


@pytest.mark.parametrize("command", ["python", "python -V", "python -i train.py", "python -", "python -m", "python -X"])
def test_python_without_a_script_runs_as_it_is(command: str) -> None:
    launch = plan(command.split(), "/py")
    assert (" ".join(launch.command), launch.reports) == (command.replace("python", "/py", 1), False)


@pytest.mark.parametrize("command", ["bash train.sh", "./python3-config x", "pythonic train.py", "torchrun train.py"])
def test_other_commands_run_as_they_are(command: str) -> None:
    assert plan(command.split(), "/py").command == tuple(command.split())


def exited(code: int) -> int:
    return code << 8


@in_one_test(
    ("heard", "status", "code"),
    [
        ([], exited(0), 0),
        ([], exited(3), 3),
        ([], signal.SIGKILL, 137),
        (["ended 0"], exited(0), 0),
        (["ended 3"], exited(3), 3),
        (["ended 1"], exited(0), 1),  # fast shutdown
        (["ended 0"], exited(120), 120),  # output could not be written
        (["ended 0"], signal.SIGSEGV, 0),
        (["ended 3"], signal.SIGSEGV, 3),
        (["ended 0", "cancel"], signal.SIGSEGV, 139),
        (["arm 1.0 7"], exited(0), 0),
        (["arm 1.0 7"], signal.SIGSEGV, 139),
        (["ended 0"], signal.SIGTERM, 143),  # passed on
    ],
)
def test_exit_code_of_a_supervised_script(heard: list[str], status: int, code: int) -> None:
    progress = Progress(forwarded={signal.SIGTERM})
    for words in heard:
        progress.receive(words)
    assert progress.verdict(status) == code


def test_script_that_is_killed_has_the_code_it_requested() -> None:
    progress = Progress()
    progress.receive("arm 1.0 7")
    progress.cut = True
    assert progress.verdict(signal.SIGKILL) == 7


@pytest.mark.parametrize("left", [0.05, 0.0], ids=["in time", "overdue"])
@pytest.mark.parametrize("start", ["right", "wrong"])
def test_watchdog_kills_only_the_process_that_was_born_then(start: str, left: float) -> None:
    bystander = subprocess.Popen(["sleep", "600"])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        born = watchdog.born(bystander.pid) if start == "right" else "1"
        with ours, theirs:
            killed = watchdog.watch(theirs, -1, bystander.pid, born, time.monotonic() + left)
        assert killed == (start == "right")
        assert (bystander.poll() is None) == (start == "wrong") or bystander.wait(60) == -signal.SIGKILL
    finally:
        bystander.kill()
        bystander.wait()


def test_a_dead_process_was_never_born() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert watchdog.born(child) == ""
    os.waitpid(child, 0)
    assert watchdog.born(os.getpid()) != ""


def test_sample_workflow_runs_its_script_inside_the_runner() -> None:
    (line,) = re.findall(r"\./isaaclab\.sh -p (-m simulation_shutdown .*)", SAMPLE.read_text())
    words = shlex.split(line)
    assert words[:4] == ["-m", "simulation_shutdown", "exec", "--"]
    assert plan(words[4:], "/py").command[:3] == ("/py", INSIDE, "script")


def test_page_and_package_list_the_same_variables() -> None:
    for text in (PAGE.read_text(), (ROOT / "agents/simulation_shutdown/README.md").read_text()):
        assert set(re.findall(r"SIMULATION_SHUTDOWN\w*", text)) == {SWITCH, TIMEOUT, EXIT_CODE}
    assert f"cut off in an environment's `close()` | {UNFINISHED} |" in PAGE.read_text()
