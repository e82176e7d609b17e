"""The shutdown helper as, and beside, the first process of a PID namespace, which nothing inside can kill."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.host.shutdown_runs import (
    finish,
    new_pid_namespace,
    nothing_left,  # noqa: F401 - a fixture forevery test
    run,
    script,
    start,
    why_no_pid_namespace,
)
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(why_no_pid_namespace() is not None, reason=f"{why_no_pid_namespace()}")


def test_first_process_of_a_container_ends_itself() -> None:
    done = run(
        """
if not os.fork():
    os.kill(1, signal.SIGKILL); os._exit(0)
os.wait(); print(os.getpid(), "survives a kill from within", flush=True)
prepare_for_shutdown(0.3, exit_code=7); hang()
""",
        inside=new_pid_namespace(),
    )
    assert (done.code, done.out) == (7, "1 survives a kill from within\n")


def test_first_process_without_timers_says_that_it_needs_an_init() -> None:
    done = run("no_timers(); prepare_for_shutdown(0.2); time.sleep(0.5)", inside=new_pid_namespace())
    assert done.code == 0
    assert "run it under an init" in done.err


@pytest.mark.parametrize("descriptors", [True, False], ids=["pidfd", "start time"])
def test_later_process_with_the_same_id_is_left_alone(descriptors: bool) -> None:
    done = run(
        f"""
without = "" if {descriptors} else "def none(pid): raise OSError\\nos.pidfd_open = none"
def fork_as(pid):
    with open("/proc/sys/kernel/ns_last_pid", "w") as last: last.write(str(pid - 1))
    return os.fork()
watched = fork_as(300)
if not watched:
    exec(without); dud(); prepare_for_shutdown(0.5); os._exit(0)
os.waitpid(watched, 0)
later = fork_as(300)
if not later:
    time.sleep(1.2); os._exit(3)
print(later, os.waitstatus_to_exitcode(os.waitpid(later, 0)[1]))
""",
        inside=new_pid_namespace(),
    )
    assert done.out == "300 3\n", done.err


def test_it_is_an_init_for_a_container(tmp_path: Path) -> None:
    """As first process it passes the stop signal on, which the kernel keeps from an ordinary one, and reaps orphans."""
    name = script(
        tmp_path,
        """
from helpers import *
if not os.fork():
    orphan = os.fork()
    if orphan: print(orphan, flush=True)
    os._exit(0)
os.wait()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(40))
print(os.getppid(), flush=True)
sleep_until_signalled()
""",
    )
    helper = [sys.executable, "-m", "simulation_shutdown", "exec", "--", "python", name]
    process = start([*new_pid_namespace(), *helper], cwd=tmp_path)
    assert process.stdout
    orphan, parent = process.stdout.readline().strip(), process.stdout.readline()
    assert parent == "1\n"
    (init,) = (child.pid for child in psutil.Process(process.pid).children())
    until(lambda: not Path(f"/proc/{init}/root/proc/{orphan}").exists(), "the orphan is not reaped", every=0.01)
    os.kill(init, signal.SIGTERM)
    assert finish(process).code == 40
