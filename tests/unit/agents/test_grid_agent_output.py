"""Output of the host's programs: bounded in time and size, without control characters, read as acceptance reads it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from grid_agent.facts import ClusterError, Condition, NodeFacts, Pod, Smi
from grid_agent.faults import faults, serving
from grid_agent.inspection import gpu_processes
from grid_agent.machine import failed
from grid_agent.main import OneLine
from grid_agent.memory import Memory
from grid_agent.report import bounded
from grid_agent.report.plain import plain
from grid_agent.shell import TOO_MUCH, Result, Shell
from grid_agent.smi import smi_from
from physical_ai.catalog.acceptance import checks
from physical_ai.settings.facts.acceptance import Promise
from tests.support.cases import in_one_test
from tests.support.grid_agent_fake import NEW, installed, wanted
from tests.support.smi_reports import Lines, Printed, mig_gpu, older_gpu, vgpu, whole_gpu
from workbench.health.acceptance.judging import JobOutcome, NodeBaseline, judge

LISTING = Result(0, "GPU 0: NVIDIA RTX Pro 6000 Blackwell DC-4-96Q (UUID: GPU-1)\n")
XML = Path("tests/fixtures/acceptance/h100/smi.xml")


def read(*gpus: Lines, driver: str = NEW, **head: str) -> Smi:
    return smi_from(Result(0, Printed(gpus, driver, head).text), LISTING)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_prints_without_end_is_ended(stream: str) -> None:
    endless = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"
    result = Shell("/", seconds=60).run(sys.executable, "-c", endless)
    assert result.code == TOO_MUCH
    assert len(result.out) + len(result.err) == 0
    assert result.complaint == "printed more than 4 MiB and was ended"
    assert smi_from(result, result).error == "printed more than 4 MiB and was ended"


def test_a_program_that_ignores_signals_and_prints_slowly_is_ended() -> None:
    deaf = "import signal, time\nsignal.signal(15, signal.SIG_IGN)\n"
    slow = f"{deaf}while True: print('x', flush=True); time.sleep(.01)"
    assert bounded.run([sys.executable, "-c", slow], 0.3).code == bounded.TIMED_OUT


def test_a_program_within_its_bounds_keeps_its_output_and_its_code() -> None:
    script = "import sys; sys.stdout.buffer.write(b'a\\xff' * 9); sys.stderr.write('b'); sys.exit(3)"
    assert bounded.run([sys.executable, "-c", script], 60) == bounded.Ended(3, "a\ufffd" * 9, "b")
    assert bounded.run(["/no/such/program"], 1).code == bounded.NOT_FOUND
    assert bounded.run([sys.executable, "-c", "print('x' * 9)"], 60, most=9).code == bounded.TOO_MUCH


@pytest.mark.parametrize(
    "said", ["\x1b[31mGPU is lost\x07", "GPU is lost\r\x1b]0;owned\x07", "\u202eGPU is lost\x9b31m"]
)
def test_no_control_character_of_nvidia_smi_reaches_condition_event_or_log(said: str) -> None:
    smi = smi_from(Result(15, "", f"{said}\n"), Result(15))
    assert "GPU is lost" in smi.error
    assert smi.error.isprintable()
    assert Result(1, "", said).complaint.isprintable()
    (fault,) = (
        each for each in faults(installed(smi=smi), wanted().target, wanted()) if each.reason == "NvidiaSmiFails"
    )
    cluster = Cluster()
    failed(Memory(), cluster, "HostFault", f"{said}\n{fault.sentence}", 0.0)
    assert len(cluster.said) == 2
    assert all(each.isprintable() for each in cluster.said)
    record = logging.LogRecord("x", logging.INFO, "", 0, "%s", (said,), None)
    assert OneLine("%(message)s").format(record).isprintable()


class Cluster:
    """Notes what is reported of a node."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def report(self, condition: Condition) -> None:
        self.said.append(condition.message)

    def event(self, kind: str, reason: str, message: str) -> None:
        self.said.append(message)

    def observe(self) -> NodeFacts:
        raise ClusterError("unreachable", "")

    def label(self, labels: object) -> None: ...

    def delete(self, pod: Pod) -> None: ...

    def evict(self, pod: Pod) -> None: ...


def test_a_process_with_control_characters_in_its_name_is_named_without_them(tmp_path: Path) -> None:
    process = tmp_path / "proc" / "7"
    (process / "fd").mkdir(parents=True)
    (process / "comm").write_text("e\x1b[2Jx\x07\n")
    (process / "fd" / "0").symlink_to("/dev/nvidia0")
    (found,) = gpu_processes(Shell(str(tmp_path)))
    assert str(found) == "e [2Jx (7)"


def test_plain_text_is_one_bounded_line() -> None:
    assert plain("a\nb\tc\x00d") == "a b c d"
    assert len(plain("x" * 10_000)) == 300


@in_one_test(
    ("action", "needs"),
    [("None", ""), ("N/A", ""), ("[N/A]", ""), ("Drain P2P", ""), ("DRAIN_P2P", "")]
    + [(each, each) for each in ("Reset", "Reboot", "Drain and Reset", "GPU_RESET", "Node Reboot", "Power Cycle")],
)
def test_a_gpu_whose_recovery_action_has_other_words_has_failed(action: str, needs: str) -> None:
    smi = read(vgpu(), vgpu(**{"GPU Recovery Action": action}))
    assert smi.recovery == needs
    host = installed(smi=smi)
    assert [each.reason for each in faults(host, wanted().target, wanted())].count("GpuFailed") == bool(needs)
    assert serving(host, wanted().target) is not bool(needs)


def test_of_several_gpus_the_one_that_needs_a_reboot_is_named() -> None:
    actions = ("None", "GPU_RESET", "Node Reboot", "Drain P2P")
    assert read(*(vgpu(**{"GPU Recovery Action": each}) for each in actions)).recovery == "Node Reboot"
    assert read(older_gpu(**{"GPU Reset Status": {"Reset Required": "Yes"}}), driver="535.216.01").recovery == "Reset"
    lost = read(whole_gpu(**{"ECC Errors": {"Volatile": {"DRAM Uncorrectable": "GPU is lost"}}}))
    assert "GPU is lost" in lost.recovery


def test_branch_610_is_installed_once() -> None:
    """The remark beside the version made it another version than the wanted one, so that it was installed for ever."""
    remark = "610.57.04 [Deprecated; will be removed. Use KMD Version instead]"
    smi = read(vgpu(), driver=remark, **{"KMD Version": "610.57.04"})
    assert (smi.ran, smi.version, smi.error) == (True, "610.57.04", "")


def test_every_gpu_of_a_node_counts() -> None:
    assert read(whole_gpu(), mig_gpu()).mig == "enabled"
    assert read(vgpu(), vgpu(**{"Persistence Mode": "Disabled"})).persistence is False
    assert read(vgpu(), vgpu("Unlicensed (Restricted)")).licence == "unlicensed"


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (
            Printed([vgpu()], NEW, {"Attached GPUs": "2"}).text,
            "the report has 1 GPUs, and line 6 is 'Attached GPUs : 2'",
        ),
        (Printed([vgpu()], "perhaps").text, "no driver version is known: line 4 is 'Driver Version : perhaps'"),
        (XML.read_text()[:9000], "no report can be read (the report ends at line "),
    ],
)
def test_a_report_that_is_not_whole_is_no_working_driver(out: str, error: str) -> None:
    smi = smi_from(Result(0, out), LISTING)
    assert (smi.ran, smi.error.startswith(error)) == (False, True), smi


def test_the_agent_asks_for_the_xml_of_a_real_driver() -> None:
    smi = smi_from(Result(0, XML.read_text()), Result(0, "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"))
    assert smi == Smi(found=True, ran=True, version="580.159.04", devices=1, mig="disabled")


@pytest.mark.parametrize(
    "action", ["None", "N/A", "Drain P2P", "Reset", "GPU_RESET", "Node Reboot", "Power Cycle", "ERR!"]
)
def test_agent_and_acceptance_agree_on_a_gpu(action: str) -> None:
    text = Printed([vgpu(**{"GPU Recovery Action": action})], NEW).text
    promised = Promise(None, None, "Disabled", licensed=True, persistence=True, resources={})
    verdict = judge(checks()["stack"], JobOutcome(text, 0), NodeBaseline(promised, 1, {}, None)).verdict
    assert (verdict == "failed") == bool(smi_from(Result(0, text), LISTING).recovery)
    assert verdict in ("failed", "passed")
