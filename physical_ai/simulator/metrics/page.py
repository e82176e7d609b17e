"""What an exporter prints: families of series, in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Page:
    """One answer of one exporter."""

    def __init__(self) -> None:
        self._families: dict[str, list[str]] = {}

    def family(self, name: str, kind: str, help: str) -> None:
        """Begins a family; does nothing if it has begun."""
        if name not in self._families:
            self._families[name] = [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]

    def sample(self, name: str, labels: Mapping[str, str], value: float) -> None:
        """Adds a sample to a family that has begun."""
        inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        self._families[name].append(f"{name}{{{inner}}} {value:.15g}" if inner else f"{name} {value:.15g}")

    def text(self) -> str:
        return "".join(f"{line}\n" for lines in self._families.values() for line in lines)


def _escaped(text: str) -> str:
    if '"' in text or "\\" in text or "\n" in text:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text
