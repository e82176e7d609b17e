"""prepare_for_shutdown in processes with threads, and in forked children."""

from __future__ import annotations

import pytest

from tests.host.shutdown_runs import (
    command,
    finish,
    nothing_left,  # noqa: F401 - a fixture for every test
    run,
    start,
    watchdogs_of,
)


def test_threads_share_one_clock_and_one_watchdog() -> None:
    process = start(
        command(
            """
handles = []
threads = [threading.Thread(target=lambda: handles.append(prepare_for_shutdown(60))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(set(map(id, handles))), flush=True); sys.stdin.read()
"""
        )
    )
    assert process.stdout
    try:
        assert process.stdout.readline() == "1\n"
        assert len(watchdogs_of(process.pid)) == 1
    finally:
        assert finish(process).code == 0


def test_forked_child_has_no_part_in_the_clock() -> None:
    """Neither does the clock end it, nor can it stop the clock, nor does it keep the watchdog."""
    done = run(
        """
handle, parent = prepare_for_shutdown(2, exit_code=7), os.getpid()
if not os.fork():
    handle.cancel()
    while os.getppid() == parent:
        time.sleep(0.05)
    time.sleep(0.3)
    print("child", handle.armed, prepare_for_shutdown(60) is handle, flush=True)
    os._exit(0)
hang()
"""
    )
    assert (done.code, done.out) == (7, "child False False\n")


@pytest.mark.deep  # in `make test`: the forked child above
def test_forked_child_cannot_stop_the_watchdog() -> None:
    done = run("dud(); handle = prepare_for_shutdown(0.4)\nif not os.fork(): handle.cancel(); os._exit(0)\nhang()")
    assert done.code == -9


@pytest.mark.deep  # in `make test`: the forked child above
def test_forked_child_may_have_a_clock_of_its_own() -> None:
    done = run(
        """
prepare_for_shutdown(60)
child = os.fork()
if not child:
    prepare_for_shutdown(0.2, exit_code=9); hang()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])); exit_now()
"""
    )
    assert done.out == "9\n"
