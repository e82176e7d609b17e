"""The age of a recording, which is printed before what is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli.recorded import Recorded
from workbench.recordings.making import head
from workbench.recordings.reading import Recording


@pytest.mark.parametrize(
    ("at", "said"), [("2020-01-01T00:00:00Z", "days)"), ("2999-01-01T00:00:00Z", "(later than this machine's clock)")]
)
def test_a_time_to_come_is_not_called_new(at: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Recorded(Recording(Path("it.gz"), [head("dev", at, "p", simulated=False)])).print_age()
    assert said in capsys.readouterr().err
