"""The sentence in what pip says: the reason, and not the hint or the traceback after it."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from workbench.cli.new_project import pip as runs
from workbench.cli.new_project.pip import NO_PIP, PipFailed, pip, reason

NOTHING = """\
ERROR: Could not find a version that satisfies the requirement physical-ai-simulator==0.1.0 (from versions: none)
ERROR: No matching distribution found for physical-ai-simulator==0.1.0
"""
CHANGED = """\
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, \
please update the hashes. Otherwise, examine the package contents carefully; someone may have tampered with them.
    physical-ai==0.1.0 from http://127.0.0.1:1/files/x.whl#sha256=aa:
        Expected sha256 aa
             Got        bb

"""
CUT = """\
ERROR: Exception:
Traceback (most recent call last):
  File "x.py", line 561, in read
    raise IncompleteRead(self._fp_bytes_read, self.length_remaining)
pip._vendor.urllib3.exceptions.IncompleteRead: IncompleteRead(300 bytes read, 300 more expected)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "y.py", line 180, in exc_logging_wrapper
pip._vendor.urllib3.exceptions.ProtocolError: ('Connection broken: IncompleteRead(300 bytes read)', IncompleteRead())
"""
CUT_NEWER = """\
error: incomplete-download

× Download failed because not enough bytes were received (300 bytes/600 bytes)
╰─> URL: http://127.0.0.1:1/files/x.whl

note: This is an issue with network connectivity, not pip.
hint: Use --resume-retries to configure resume attempt limit.
"""


SILENT = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by \
'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7f1>: Failed to establish a new \
connection: [Errno 111] Connection refused')': /simple/physical-ai/
ERROR: Could not find a version that satisfies the requirement physical-ai (from versions: none)
ERROR: No matching distribution found for physical-ai
"""


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (NOTHING, "No matching distribution found for physical-ai-simulator==0.1.0"),
        (
            CHANGED,
            "physical-ai==0.1.0 from http://127.0.0.1:1/files/x.whl#sha256=aa has the sha256 bb, and aa is expected",
        ),
        (
            SILENT,
            "the package index does not answer: NewConnectionError('Failed to establish a new connection: "
            "[Errno 111] Connection refused')",
        ),
        (CUT, "Connection broken: IncompleteRead(300 bytes read)"),
        (CUT_NEWER, "Download failed because not enough bytes were received (300 bytes/600 bytes)"),
        ("/usr/bin/python3: No module named pip\n", NO_PIP),
        ("WARNING: a\nsomething\n", "something"),
        ("", "pip failed, and says nothing"),
    ],
)
def test_the_reason_is_one_sentence(said: str, sentence: str) -> None:
    assert sentence in reason(said)
    assert "\n" not in reason(said)
    assert "hint:" not in reason(said)


def test_a_pip_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: list[str], **given: Any) -> None:
        raise subprocess.TimeoutExpired(command, given["timeout"])

    monkeypatch.setattr(runs.subprocess, "run", hangs)
    with pytest.raises(PipFailed, match="pip has not ended within 5 s"):
        pip("download", "x", seconds=5)
