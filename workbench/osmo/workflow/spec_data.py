"""Pydantic models of a workflow's inputs, outputs, files and checkpoints. The models have the same names as OSMO's
classes, because OSMO's error messages show these names.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints

from workbench.osmo.names import NAME, STORAGE, dataset
from workbench.osmo.refusal import Refusal
from workbench.osmo.units import span

OUTPUT_FOLDER = "/osmo/data/output"
"""Folder in the container that a task writes its output to."""


def _regex(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"'{text}' is not a regular expression: {error}") from None
    return text


def _dataset_name(text: str) -> str:
    try:
        dataset(text)
    except Refusal as refusal:
        raise ValueError(refusal.message) from None
    return text


def _relative(path: str) -> str:
    # OSMO's own pattern needs exponential time; this one refuses the same paths.
    if not path or re.search(r'[,?"<>|\r\n]', path) or re.search(r"^[/\\]|[/\\]{2}", path):
        raise ValueError(f"'{path}' is not a path inside the dataset: no leading or double slash, none of , ? \" < > |")
    return path


def _file_path(path: str) -> str:
    if path.startswith(f"{OUTPUT_FOLDER}/"):
        return path
    steps = [step for step in path.split("/") if step]
    if not steps or steps[0] == "osmo":
        raise ValueError(f"'{path}': a file needs a path, which can't be below /osmo except in {OUTPUT_FOLDER}")
    return path


Regex = Annotated[str, AfterValidator(_regex)]
DatasetName = Annotated[str, AfterValidator(_dataset_name)]
RelativePath = Annotated[str, AfterValidator(_relative)]
OptionalPath = Annotated[str, AfterValidator(lambda path: _relative(path) if path else path)]
Span = Annotated[datetime.timedelta, BeforeValidator(span)]
NamePattern = Annotated[str, StringConstraints(pattern=NAME)]


class Strict(BaseModel):
    """Base of models in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")


class Texts(BaseModel):
    """Base of models in which an unknown key is an error, and numbers are converted to text."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class TaskInputOutput(Strict):
    """The output folder of an earlier task of this workflow (`task`), or of another workflow (`workflow-id:task`)."""

    task: Annotated[
        str,
        StringConstraints(pattern=rf"^{NAME[1:-1]}(:{NAME[1:-1]})?$"),
    ]
    regex: Regex = ""


class URLInputOutput(Strict):
    """Data at a URL, such as s3://bucket/path."""

    url: str
    regex: Regex = ""


class _Dataset(Strict):
    name: DatasetName
    path: OptionalPath = ""
    metadata: list[RelativePath] = []
    labels: list[RelativePath] = []
    regex: Regex = ""
    localpath: str | None = None


class DatasetInputOutput(Strict):
    """A dataset in one of the storage buckets that OSMO knows."""

    dataset: _Dataset


class _Update(Strict):
    name: DatasetName
    paths: list[RelativePath] = []
    metadata: list[RelativePath] = []
    labels: list[RelativePath] = []


class UpdateDatasetOutput(Strict):
    """Files that are added to an existing dataset."""

    update_dataset: _Update


Input = TaskInputOutput | DatasetInputOutput | URLInputOutput
Output = DatasetInputOutput | URLInputOutput | UpdateDatasetOutput


def dataset_name(item: Input | Output) -> str | None:
    """Name of the dataset in an input or output; None for an input or output of another kind."""
    if isinstance(item, DatasetInputOutput):
        return item.dataset.name
    return item.update_dataset.name if isinstance(item, UpdateDatasetOutput) else None


def name_dataset(item: Input | Output, name: str) -> None:
    """Changes the name of the dataset in an input or output."""
    if isinstance(item, DatasetInputOutput):
        item.dataset.name = name
    elif isinstance(item, UpdateDatasetOutput):
        item.update_dataset.name = name


class CheckpointSpec(Strict):
    """A folder that is copied to a URL while the task runs."""

    path: str
    url: Annotated[str, StringConstraints(pattern=STORAGE)]
    frequency: Span
    regex: Regex = ""


class TaskKPI(Texts):
    """File with a metric (KPI) in a task's output folder."""

    index: str
    path: str


class File(Texts):
    """A file in the task's container."""

    base64: bool = False
    path: Annotated[str, AfterValidator(_file_path)]
    contents: str
