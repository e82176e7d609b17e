"""Where simulations and installed tools are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.home import HOME_VARIABLE, Home


@pytest.mark.parametrize("given", ["", None], ids=["empty", "not set"])
def test_the_users_cache_folder_is_the_home_unless_one_is_named(
    given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(HOME_VARIABLE, given or "")
    if given is None:
        monkeypatch.delenv(HOME_VARIABLE)
    assert Home.of_user().folder == tmp_path / "physical-ai"


def test_a_named_home_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    assert Home.of_user().folder == tmp_path / "home"
