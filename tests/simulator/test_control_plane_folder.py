"""What other users of the machine can reach of a control plane: nothing of its etcd."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from simulator.control_plane.plane import ControlPlane
from simulator.tools.install import Toolbox
from tests.simulator.conftest import ApiServer


def test_etcd_listens_in_a_folder_of_its_users_only(api_server: ApiServer) -> None:
    folder = api_server.path.parent / "plane"
    assert stat.S_ISSOCK((folder / "etcd.sock").stat().st_mode)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_was_open_to_others_is_closed_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 40) / "plane"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    seen: list[int] = []
    monkeypatch.setattr(
        ControlPlane, "_start_what_is_stopped", lambda plane: seen.append(stat.S_IMODE(plane.folder.stat().st_mode))
    )
    ControlPlane(folder, Toolbox(()), tmp_path / "tokens").start()
    assert seen == [0o700]
