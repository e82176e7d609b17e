"""prepare_for_shutdown in real processes: native code that never comes back, pipes, forks, threads."""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

import pytest

from tests.host.shutdown_runs import (
    command,
    finish,
    gone,
    nothing_left,  # noqa: F401 - a fixture for every test
    run,
    spinning_library,
    start,
    watchdogs_of,
)
from tests.support.waiting import until


@pytest.mark.parametrize("code", [pytest.param(0, marks=pytest.mark.deep), 7])
def test_native_code_that_never_returns_is_cut_off_with_the_chosen_code(code: int) -> None:
    done = run(f"prepare_for_shutdown(0.3, exit_code={code}); hang()")
    assert done.code == code
    assert f"not closed after 0.3 s, ending with exit code {code}" in done.err


@pytest.mark.skipif(not spinning_library(), reason="no C compiler")
def test_loop_in_c_that_holds_the_interpreter_is_cut_off() -> None:
    assert run(f"prepare_for_shutdown(0.2, exit_code=7); spin({spinning_library()!r})").code == 7


def test_no_thread_of_python_could_have_ended_it() -> None:
    done = run("prepare_for_shutdown(0.6, exit_code=7); threading.Timer(0.1, os._exit, [9]).start(); hang()")
    assert done.code == 7


def test_where_the_process_cannot_end_itself_the_watchdog_kills_it() -> None:
    done = run("dud(); prepare_for_shutdown(0.2); hang()")
    assert done.code == -9


def test_without_timers_a_kill_comes_in_time_and_the_log_says_so() -> None:
    done = run("no_timers(); prepare_for_shutdown(0.2); hang()")
    assert done.code == -9
    assert "exit code 137 (no timers here)" in done.err


def test_without_a_process_descriptor_the_start_time_identifies_the_process() -> None:
    done = run(
        "def none(pid): raise OSError\nos.pidfd_open = none\ndud(); prepare_for_shutdown(0.2); hang()",
    )
    assert done.code == -9


def test_hang_after_the_last_line_is_cut_off_too() -> None:
    assert run("atexit.register(hang); prepare_for_shutdown(0.3, exit_code=7)").code == 7


def test_hang_in_a_thread_that_the_process_waits_for() -> None:
    assert run("prepare_for_shutdown(0.3, exit_code=7); threading.Thread(target=hang).start()").code == 7


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        ("raise ValueError", 1),
        ("pass", 0),
        pytest.param("sys.exit(5)", 5, marks=pytest.mark.deep),
        pytest.param("raise KeyboardInterrupt", 130, marks=pytest.mark.deep),
    ],
)
def test_code_is_that_of_the_exception_on_its_way(failure: str, code: int) -> None:
    assert run(f"try: {failure}\nfinally:\n  prepare_for_shutdown(0.2); hang()").code == code


def test_a_process_that_ends_in_time_keeps_its_own_code() -> None:
    done = run("prepare_for_shutdown(600, exit_code=7); sys.exit(3)")
    assert (done.code, done.err) == (3, "")


def test_pipes_close_with_the_process() -> None:
    """A log collector reads to the end of the pipe. The watchdog must not hold it open for its own time."""
    done = run("prepare_for_shutdown(600); print('done'); exit_now(4)")
    assert (done.code, done.out) == (4, "done\n")


def test_watchdog_holds_nothing_of_the_process(tmp_path: Path) -> None:
    shared = tmp_path / "device"
    shared.write_bytes(bytes(mmap.PAGESIZE))
    process = start(
        command(
            f"""
import mmap
device = open({str(shared)!r}, "r+b"); os.set_inheritable(device.fileno(), True)
memory = mmap.mmap(device.fileno(), 0)
prepare_for_shutdown(60); print("on", flush=True); sys.stdin.read()
"""
        )
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "on\n"
        (watchdog,) = watchdogs_of(process.pid)
        held = {os.readlink(entry) for entry in (watchdog / "fd").iterdir()}
        assert {name.partition(":")[0] for name in held} <= {"/dev/null", "socket", "anon_inode"}
        assert str(shared) not in (watchdog / "maps").read_text()
        assert os.readlink(watchdog / "cwd") == "/"
        assert os.getpgid(int(watchdog.name)) != os.getpgid(process.pid)
    finally:
        assert finish(process).code == 0
    gone("the watchdog goes with the process", watchdog.exists)


def test_watchdog_is_not_a_child() -> None:
    """A script that waits for all its children would wait for the watchdog, which waits for the script."""
    done = run(
        "prepare_for_shutdown(60)\ntry: os.waitpid(-1, 0)\nexcept ChildProcessError: print('none')\nexit_now()",
    )
    assert (done.code, done.out) == (0, "none\n")


def test_cancel_stops_the_clock_and_the_watchdog() -> None:
    process = start(
        command(
            """
handle = prepare_for_shutdown(2, exit_code=7)
handle.cancel(); handle.cancel()
print(handle.armed, flush=True)
time.sleep(2.3); sys.stdin.read()
"""
        )
    )
    assert process.stdout
    try:
        assert process.stdout.readline() == "False\n"
        gone("the watchdog", lambda: watchdogs_of(process.pid))
    finally:
        assert finish(process).code == 0


@pytest.mark.deep  # in `make test`: the cancelled clock above
def test_cancelled_clock_can_be_started_anew() -> None:
    assert run("handle = prepare_for_shutdown(2, exit_code=7); handle.cancel(); handle.arm(); hang()").code == 7


def test_block_has_the_clock_and_what_follows_has_none() -> None:
    done = run("with prepare_for_shutdown(2, exit_code=7): pass\ntime.sleep(2.3); sys.exit(3)")
    assert done.code == 3
    assert run("with prepare_for_shutdown(0.3, exit_code=7): hang()").code == 7


def test_second_call_changes_nothing() -> None:
    done = run(
        """
first = prepare_for_shutdown(2, exit_code=7); due = first.deadline
second = prepare_for_shutdown(60)
print(first is second, first.deadline == due, flush=True)
hang()
"""
    )
    assert (done.code, done.out) == (7, "True True\n")


@pytest.mark.deep  # in `make test`: the second call above
def test_second_call_may_choose_the_code() -> None:
    assert run("prepare_for_shutdown(2); prepare_for_shutdown(60, exit_code=7); hang()").code == 7


def test_hang_while_a_callback_is_taken_off_is_cut_off_too() -> None:
    done = run(
        """
class Subscription:
    def unsubscribe(self): hang()
class SimulationContext:
    def __init__(self): self._app_control_on_stop_handle = Subscription()
    @classmethod
    def instance(cls): return cls()
sys.modules["isaaclab.sim"] = sys.modules["__main__"]
prepare_for_shutdown(0.2, exit_code=7)
"""
    )
    assert done.code == 7


def test_clock_starts_after_the_uploads() -> None:
    done = run(
        "handle = prepare_for_shutdown(0.2, exit_code=7, arm=False); time.sleep(0.5)\n"
        "print('uploaded', flush=True); handle.arm(); hang()"
    )
    assert (done.code, done.out) == (7, "uploaded\n")


@pytest.mark.parametrize(
    ("variables", "call", "code"),
    [
        ({"SIMULATION_SHUTDOWN_TIMEOUT": "0.2"}, "prepare_for_shutdown(60, exit_code=7)", 7),
        ({"SIMULATION_SHUTDOWN_EXIT_CODE": "5"}, "prepare_for_shutdown(0.2)", 5),
        pytest.param(
            {"SIMULATION_SHUTDOWN_EXIT_CODE": "0"}, "prepare_for_shutdown(0.2, exit_code=3)", 3, marks=pytest.mark.deep
        ),
        pytest.param({"SIMULATION_SHUTDOWN_TIMEOUT": "soon"}, "prepare_for_shutdown(0.2)", 0, marks=pytest.mark.deep),
    ],
    ids=["timeout", "code", "a failure stays one", "nonsense is ignored"],
)
def test_environment_overrides_arguments(variables: dict[str, str], call: str, code: int) -> None:
    done = run(f"{call}; hang()", variables=variables)
    assert done.code == code
    assert ("'soon' is not a number of seconds" in done.err) == ("soon" in variables.values())


def test_environment_switches_it_off() -> None:
    done = run(
        "prepare_for_shutdown(0.2, exit_code=7); time.sleep(0.5); sys.exit(3)", variables={"SIMULATION_SHUTDOWN": "off"}
    )
    assert done.code == 3


def test_exit_now_writes_what_streams_hold_and_runs_no_hooks() -> None:
    done = run(
        "atexit.register(print, 'hook'); ctypes.CDLL(None).printf(b'C'); sys.stdout.write('python'); exit_now(5)"
    )
    assert (done.code, done.out) == (5, "pythonC")


def test_exit_now_does_not_wait_for_a_reader_that_does_not_read() -> None:
    process = start(
        command(
            "simulation_shutdown.handle.FLUSH_SECONDS = 0.3\n"
            "sys.stdout = open(1, 'w', buffering=10**7); sys.stdout.write('x' * 10**6); exit_now(5)"
        )
    )
    until(lambda: process.poll() is not None, "the process does not end", every=0.01)
    assert process.returncode == 5


def test_clock_counts_from_its_start() -> None:
    began = time.monotonic()
    assert run("prepare_for_shutdown(1.0, exit_code=7); hang()").code == 7
    assert time.monotonic() - began >= 1.0
