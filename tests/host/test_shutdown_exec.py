"""`python -m simulation_shutdown exec`: scripts that can't be edited, run to the end, and ended when they hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.host.shutdown_runs import ROOT, Run, finish, script, start, supervised
from tests.support.waiting import LIMIT

DEEP = pytest.mark.deep
ISAAC_SIM = """\
import os
from helpers import hang

class SimulationApp:
    def __init__(self, how): self.how = how
    def close(self, wait_for_replicator=True):
        if self.how == "hangs": hang()
        if self.how == "fast": os._exit(0)
        if self.how == "crashes": os.kill(os.getpid(), 11)
"""
ISAAC_LAB = """\
from helpers import hang

class DirectRLEnv:
    def __init__(self, hangs): self.hangs = hangs
    def close(self):
        if self.hangs: hang()
"""
TRAINING = """\
import atexit, sys, time
from isaaclab.envs.direct_rl_env import DirectRLEnv
from isaacsim import SimulationApp
app_closes, environment_hangs, upload_seconds, failure = sys.argv[1:]
app, env = SimulationApp(app_closes), DirectRLEnv(environment_hangs == "hangs")
atexit.register(app.close)
exec(failure)
env.close()
time.sleep(float(upload_seconds))
print("uploaded", flush=True)
app.close()
"""


def run(folder: Path, body: str, *arguments: str, options: tuple[str, ...] = ("--timeout", "0.3")) -> Run:
    """Runs a script as `exec -- python train.py`, in its folder."""
    name = script(folder, "from helpers import *\n" + body)
    return finish(supervised([*options, "--", "python", name, *arguments], cwd=folder))


def train(folder: Path, app: str, env: str = "closes", upload: str = "0", failure: str = "pass") -> Run:
    """Runs a training on stand-ins for Isaac Sim and Isaac Harness that close on request."""
    for module, text in (("isaacsim", ISAAC_SIM), ("isaaclab/envs/direct_rl_env", ISAAC_LAB)):
        path = folder / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    name = script(folder, TRAINING)
    # What closes has all the time that a busy machine may need.
    timeout = "1" if "hangs" in (app, env) else "60"
    return finish(supervised(["--timeout", timeout, "--", "python", name, app, env, upload, failure], cwd=folder))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("pass", 0),
        ("sys.exit(3)", 3),
        pytest.param("sys.exit('no data')", 1, marks=DEEP),
        ("raise ValueError('no data')", 1),
        pytest.param("os._exit(4)", 4, marks=DEEP),
        ("exit_now(5)", 5),
        ("os.kill(os.getpid(), 9)", 137),
        ("raise KeyboardInterrupt", 130),
    ],
)
def test_exit_code_is_passed_on(tmp_path: Path, body: str, code: int) -> None:
    assert run(tmp_path, body).code == code


def test_traceback_is_the_scripts_own(tmp_path: Path) -> None:
    done = run(tmp_path, "def main(): raise ValueError('no data')\nmain()", options=())
    plain = finish(start([sys.executable, "train.py"], cwd=tmp_path))
    assert done.err == plain.err != ""


@pytest.mark.parametrize(
    ("last", "code"), [("pass", 0), ("sys.exit(3)", 3), pytest.param("raise ValueError", 1, marks=DEEP)]
)
def test_hang_after_the_end_is_cut_off_with_the_scripts_code(tmp_path: Path, last: str, code: int) -> None:
    done = run(tmp_path, f"atexit.register(hang)\n{last}")
    assert done.code == code
    assert f"ending with exit code {code}" in done.err


def test_process_that_cannot_end_itself_is_killed_and_the_code_is_still_the_scripts(tmp_path: Path) -> None:
    done = run(tmp_path, "dud(); atexit.register(hang); sys.exit(3)")
    assert done.code == 3
    assert "killed while closing" in done.err


def test_work_of_threads_does_not_run_against_the_clock(tmp_path: Path) -> None:
    body = "threading.Thread(target=lambda: (time.sleep(0.7), print('saved', flush=True))).start()"
    assert run(tmp_path, body).out == "saved\n"


def test_idle_pool_of_threads_holds_nothing_up(tmp_path: Path) -> None:
    body = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1); pool.submit(int).result()"
    assert run(tmp_path, body).code == 0


@pytest.mark.parametrize("app", ["hangs", "crashes", *(pytest.param(each, marks=DEEP) for each in ("fast", "returns"))])
@pytest.mark.parametrize(("failure", "code"), [("pass", 0), pytest.param("raise ValueError", 1, marks=DEEP)])
def test_code_of_the_training_survives_the_end_of_the_app(tmp_path: Path, app: str, failure: str, code: int) -> None:
    """Where closing hangs, crashes, or ends the process with 0 whatever came before."""
    done = train(tmp_path, app, failure=failure)
    assert done.code == code, done.err
    assert done.out == ("" if code else "uploaded\n")


def test_environment_that_hangs_leaves_the_script_unfinished(tmp_path: Path) -> None:
    done = train(tmp_path, "returns", env="hangs")
    assert (done.code, done.out) == (124, "")


def test_uploads_after_the_environment_have_all_the_time(tmp_path: Path) -> None:
    done = train(tmp_path, "fast", upload="0.8")
    assert (done.code, done.out) == (0, "uploaded\n")


def test_script_with_a_clock_of_its_own_is_killed_by_exec(tmp_path: Path) -> None:
    assert run(tmp_path, "dud(); prepare_for_shutdown(0.2, exit_code=6); hang()").code == 6


@pytest.mark.deep  # in `make test`: the script with a clock of its own above
def test_clock_that_the_script_keeps_for_later_outlasts_the_environments(tmp_path: Path) -> None:
    failure = (
        "import simulation_shutdown; kept = simulation_shutdown.prepare_for_shutdown(60, exit_code=6, arm=False)\n"
        "atexit.register(lambda: print(kept.exit_code, kept is simulation_shutdown.prepare_for_shutdown(arm=False)))"
    )
    done = train(tmp_path, "returns", failure=failure)
    assert (done.code, done.out) == (0, "uploaded\n0 True\n"), done.err


def test_end_of_a_forked_child_is_not_the_scripts(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
if not os.fork():
    atexit.register(lambda: (time.sleep(0.6), print("child", flush=True)))
    sys.exit(0)
os.wait(); sys.exit(4)
""",
    )
    assert (done.code, done.out) == (4, "child\n")


@pytest.mark.deep  # in `make test`: the end of a forked child above
def test_clock_of_a_forked_child_is_not_the_scripts(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        """
dud()
child = os.fork()
if not child: prepare_for_shutdown(0.1, exit_code=9); hang()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True); time.sleep(0.3); sys.exit(4)
""",
    )
    assert (done.code, done.out) == (4, "-9\n")


def test_script_sees_what_python_would_show_it(tmp_path: Path) -> None:
    body = """
import json, multiprocessing
class Kept: pass
def double(number): return 2 * number
if __name__ == "__main__":
    import pickle; pickle.loads(pickle.dumps(Kept()))
    with multiprocessing.get_context("spawn").Pool(1) as pool: doubled = pool.map(double, [21])
    print(json.dumps([sys.argv, sys.path[0], __file__, __name__, __spec__, doubled, sorted(
        name for name in os.environ if name.startswith("SIMULATION_SHUTDOWN"))]))
"""
    done = run(tmp_path, body, "a", "-b", options=())
    plain = finish(start([sys.executable, "train.py", "a", "-b"], cwd=tmp_path))
    assert done.out == plain.out != "", done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "package.train", "x"],
        pytest.param(["-c", "import sys; print(sys.argv, sys.path[0], __name__)", "x"], marks=DEEP),
        pytest.param(["folder", "x"], marks=DEEP),
    ],
    ids=["module", "code", "folder"],
)
def test_modules_code_and_folders_run_as_python_runs_them(tmp_path: Path, arguments: list[str]) -> None:
    for name in ("package/train.py", "folder/__main__.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("import sys; print(sys.argv[1:], sys.path[0], __name__, __file__)")
    done = finish(supervised(["--", "python", "-u", *arguments], cwd=tmp_path))
    assert done.out == finish(start([sys.executable, "-u", *arguments], cwd=tmp_path)).out != "", done.err


def test_any_command_runs_under_it() -> None:
    assert finish(supervised(["--", "sh", "-c", "exit 9"])).code == 9


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--", "no-such-command"], 127, "no-such-command: No such file or directory"),
        (["--", "/"], 126, "/: Permission denied"),
        (["--", "python", "no-such.py"], 2, "can't open file"),
        (["--timeout", "0", "--", "true"], 2, "'0' is not a number of seconds above 0"),
        (["--exit-code", "256", "--", "true"], 2, "'256' is not an exit code from 0 to 255"),
        (["--"], 2, "no command"),
    ],
)
def test_what_cannot_be_run_is_said(arguments: list[str], code: int, words: str) -> None:
    done = finish(supervised(arguments))
    assert done.code == code
    assert words in done.err


def test_switched_off_it_becomes_the_command() -> None:
    process = supervised(["--", "sh", "-c", "echo $$"], {"SIMULATION_SHUTDOWN": "off"})
    assert finish(process).out == f"{process.pid}\n"


def test_environment_overrides_options(tmp_path: Path) -> None:
    name = script(tmp_path, "from helpers import *\natexit.register(hang)")
    variables = {"SIMULATION_SHUTDOWN_TIMEOUT": "0.2", "SIMULATION_SHUTDOWN_EXIT_CODE": "8"}
    done = finish(supervised(["--timeout", "60", "--exit-code", "9", "--", "python", name], variables, tmp_path))
    assert done.code == 8


@pytest.mark.deep  # in `make test`: the same code from its folder, in all tests above
def test_wheel_alone_does_it_all(tmp_path: Path) -> None:
    """Built and installed apart from this repository, as into Isaac's container."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    project, target = str(ROOT / "agents" / "simulation_shutdown"), str(tmp_path / "site")
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), project]
    subprocess.run(build, check=True, timeout=LIMIT)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", target, str(wheel)], check=True, timeout=LIMIT)
    name = script(tmp_path, "from helpers import *\natexit.register(hang)\nprint(simulation_shutdown.__file__)")
    done = finish(supervised(["--timeout", "0.3", "--", "python", name], {"PYTHONPATH": target}, tmp_path))
    assert (done.code, done.out) == (0, f"{target}/simulation_shutdown/__init__.py\n"), done.err
