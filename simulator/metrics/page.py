"""Output of an exporter: families of series, in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Mapping

HEADER = 2
"""Number of lines before the samples of a family: `# HELP` and `# TYPE`."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Page:
    """The output of one exporter for one request."""

    def __init__(self) -> None:
        self._families: dict[str, list[str]] = {}

    def family(self, name: str, kind: str, help: str) -> None:
        """Begins a family of series; does nothing if the family has begun."""
        if name not in self._families:
            self._families[name] = [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]

    def sample(self, name: str, labels: Mapping[str, str], value: float) -> None:
        """Adds a sample to a family that was begun before."""
        self.line(name, label_text(labels), value)

    def line(self, name: str, inner: str, value: float, family: str = "") -> None:
        """Adds a sample whose labels are already in the form of `label_text`.

        Args:
            family: Name of the sample's family if it differs from the sample's name, as for parts of a histogram.
        """
        self._families[family or name].append(f"{name}{{{inner}}} {value:.15g}" if inner else f"{name} {value:.15g}")

    def add(self, other: Page) -> None:
        """Adds the samples of another page."""
        for name, lines in other._families.items():
            if name in self._families:
                self._families[name].extend(lines[HEADER:])
            else:
                self._families[name] = list(lines)

    def text(self) -> str:
        return "".join(f"{line}\n" for lines in self._families.values() for line in lines)


def label_text(labels: Mapping[str, str]) -> str:
    """Labels as they appear between the braces of a sample."""
    return ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())


def _escaped(text: str) -> str:
    if '"' in text or "\\" in text or "\n" in text:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return text
