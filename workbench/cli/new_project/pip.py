"""Runs of pip in this environment, and the sentence with which one that failed says why."""

from __future__ import annotations

import re
import subprocess
import sys

NO_PIP = "this Python environment has no pip: python -m ensurepip, or install physai with pipx"
_MISSING = re.compile(r"No module named pip$", re.MULTILINE)
_PROBLEM = re.compile(r"^(?:ERROR: |× |error: )(?!Exception:)(.+)$", re.MULTILINE)
_OTHER_HASH = re.compile(r"^ +(\S+ from \S+):\n +Expected sha256 (\w+)\n +Got +(\w+)$", re.MULTILINE)
_BROKEN = re.compile(r"after connection broken by '(.+)': /")
_TRACE = re.compile(r"^\S*(?:Error|Exception): .+$", re.MULTILINE)


class PipFailed(Exception):
    """Error if pip could not do what it was asked for. The text is one sentence with the reason."""


def pip(*words: str, seconds: float) -> str:
    """Output of pip with these arguments. Raises PipFailed."""
    command = [sys.executable, "-m", "pip", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise PipFailed(f"pip has not ended within {seconds:.0f} s") from None
    except OSError as problem:
        raise PipFailed(f"{sys.executable}: {problem.strerror}") from None
    if done.returncode:
        raise PipFailed(reason(done.stderr))
    return done.stdout


def reason(said: str) -> str:
    """Sentence about the failure in what pip printed as errors. After it, pip may print hints, or a traceback.

    >>> reason("× Download failed because not enough bytes were received\\nhint: Use --resume-retries")
    'Download failed because not enough bytes were received'
    """
    if _MISSING.search(said):
        return NO_PIP
    if found := _OTHER_HASH.search(said):
        return f"{found[1]} has the sha256 {found[3]}, and {found[2]} is expected"
    if found := _BROKEN.search(said):  # it goes on to say that there is no such package
        return f"the package index does not answer: {re.sub(r'<[^>]*>: ', '', found[1])}"
    problems = [each.strip() for each in _PROBLEM.findall(said) if not re.fullmatch(r"[a-z-]+", each.strip())]
    if problems:
        return problems[-1]
    if traces := _TRACE.findall(said):
        return traces[-1]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "pip failed, and says nothing"
