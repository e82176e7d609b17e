"""A command that reads for long says on a terminal what it reads, and nothing elsewhere."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from workbench.cli import console
from workbench.cli.console import doing


class Terminal(io.StringIO):
    """A stream that says whether it is a terminal, and tells when a line is there."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str, /) -> int:
        self.written.set()
        return super().write(text)


def opened(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Terminal:
    """A terminal as the standard error, on which a block speaks after so many seconds."""
    made = Terminal(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(console, "SILENT_SECONDS", seconds)
    return made


def test_a_block_that_takes_long_says_what_it_does_and_what_runs_inside_of_it_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = opened(monkeypatch, 0.0)
    with doing("reading the cluster"), doing("reading a Pod"):
        assert terminal.written.wait(60)
        time.sleep(0)  # the other thread ends its line
    assert terminal.getvalue().count("reading") == 1
    assert "reading the cluster …" in terminal.getvalue()


def test_a_fast_block_and_a_stream_that_is_no_terminal_get_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = opened(monkeypatch, 3600.0)
    with doing("reading"):
        pass
    for each in (each for each in threading.enumerate() if isinstance(each, threading.Timer)):
        each.join(60)
        assert not each.is_alive(), "it would speak when the command has ended"
    terminal.is_terminal = False
    monkeypatch.setattr(console, "SILENT_SECONDS", 0.0)
    with doing("reading"):
        assert not any(isinstance(each, threading.Timer) and each.interval == 0 for each in threading.enumerate())
    assert not terminal.getvalue()


def test_a_control_character_in_a_name_is_made_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = opened(monkeypatch, 0.0)
    with doing("reading a\x1b[2Jb"):
        assert terminal.written.wait(60)
    assert "\x1b[2J" not in terminal.getvalue()
