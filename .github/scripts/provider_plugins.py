"""Installs the provider plugins of the program, and compares them and Pulumi itself with .github/checksums.toml.

They are releases that no module proxy has, and Pulumi verifies none. A program that differs from its checksum is an
error, one without a checksum a warning that names what was found, to compare with another source and to commit.
Everything else that a deployment downloads is verified where it is pinned: Python packages by requirements-deploy.txt,
charts by the catalogue and stacks/charts.lock, kubelogin and helm by physical_ai/simulator/tools.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

CHECKSUMS = Path(__file__).parents[1] / "checksums.toml"
PROVIDERS = ("azure-native", "kubernetes", "random")
LANGUAGE_HOST = "pulumi-language-python"


def this_platform() -> str:
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{platform.system().lower()}-{machine}"


def programs(pulumi: Path, home: Path, versions: Mapping[str, str]) -> dict[str, Path]:
    """Each program by name and version."""
    found = {f"pulumi {versions['pulumi']}": pulumi}
    found[f"{LANGUAGE_HOST} {versions['pulumi']}"] = pulumi.with_name(LANGUAGE_HOST)
    for name in PROVIDERS:
        plugin = f"pulumi-resource-{name}"
        own = versions[name]
        found[f"{plugin} {own}"] = home / "plugins" / f"resource-{name}-v{own}" / plugin
    return found


def compare(files: Mapping[str, Path], known: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Errors and warnings."""
    errors: list[str] = []
    warnings: list[str] = []
    for name, path in files.items():
        with path.open("rb") as program:
            found = hashlib.file_digest(program, "sha256").hexdigest()
        if name not in known:
            line = f'"{name}" = "{found}"'
            warnings.append(f"no checksum is known of {name}; after a comparison with another source: {line}")
        elif known[name] != found:
            errors.append(f"{name} has the sha256 {found} and should have {known[name]}")
    return errors, warnings


def failed(files: Mapping[str, Path], known: Mapping[str, str]) -> bool:
    """Whether a program is another one than is known. Reports what was found as GitHub shows it."""
    errors, warnings = compare(files, known)
    for kind, lines in (("warning", warnings), ("error", errors)):
        for line in lines:
            print(f"::{kind}::{line}", flush=True)
    return bool(errors)


def main() -> int:
    versions = {name: version(f"pulumi-{name}") for name in PROVIDERS} | {"pulumi": version("pulumi")}
    pulumi = shutil.which("pulumi")
    if pulumi is None:
        print("::error::pulumi is not on PATH")
        return 1
    home = Path(os.environ.get("PULUMI_HOME", Path.home() / ".pulumi"))
    known = tomllib.loads(CHECKSUMS.read_text(encoding="utf-8")).get(this_platform(), {})
    files = programs(Path(pulumi), home, versions)
    plugins = {name: path for name, path in files.items() if home in path.parents}
    # Pulumi before it runs, the plugins before anything runs them.
    if failed({name: path for name, path in files.items() if name not in plugins}, known):
        return 1
    for name in PROVIDERS:
        subprocess.run([pulumi, "plugin", "install", "resource", name, versions[name]], check=True)
    return 1 if failed(plugins, known) else 0


if __name__ == "__main__":
    sys.exit(main())
