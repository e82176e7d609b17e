"""Values that the functions of optional parts return for a stack, checked before they are used: a value of another
kind, and a path that is no setting, are errors with the function's file and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from parts.part import Part
from physical_ai.input_errors import PartError
from physical_ai.settings.layers.merge import unknown_key
from physical_ai.settings.layers.paths import Path, show
from physical_ai.settings.layers.shape import unknown_beginning
from physical_ai.settings.models.tree import Settings

Answer = TypeVar("Answer")


def answers(part: Part, field: str, settings: Settings, kind: type[Answer], named: str) -> list[Answer]:
    """Values that the function in a field of a part returns for a stack, all of the type `kind`, in words `named`.

    Raises:
        PartError: The part's function has returned something else.
    """
    place, fix = place_of(part, field), f"Return a list, each of it {named}, or yield them."
    found: list[Answer] = []
    for each in _each(place, getattr(part, field)(settings), fix):
        if not isinstance(each, kind):
            raise _of_another_kind(place, each, named, fix)
        found.append(each)
    return found


def chosen_images(part: Part, settings: Settings) -> Mapping[str, Path]:
    """Images that the program itself chooses for a part, each with the setting that it depends on.

    Raises:
        PartError: The part's function has returned no mapping, an image that is no text, or a path that is no setting.
    """
    place, answer = place_of(part, "images"), cast("object", part.images(settings))
    if not isinstance(answer, Mapping):
        raise _of_another_kind(place, answer, "a mapping", "Return {image: the path of a setting}.")
    images = cast("Mapping[str, Path]", answer)
    for image, path in images.items():
        if not isinstance(cast("object", image), str):
            raise _of_another_kind(place, image, "a text", "Return {image: the path of a setting}.", "an image")
        check_path(place, path)
    return images


def needed_secrets(part: Part, settings: Settings) -> list[tuple[Path, str]]:
    """Settings of a part that need a secret of the stack, each with the secret's name.

    Raises:
        PartError: The part's function has returned something else than pairs, a path that is no setting, or a name that
            is no text.
    """
    place = place_of(part, "secrets")
    found: list[tuple[Path, str]] = []
    fix = "Yield the path of a setting and the name of a secret."
    for pair in _each(place, part.secrets(settings), "Return a list of pairs, or yield them."):
        if len(steps := _steps(pair)) != 2:
            raise _of_another_kind(place, pair, "a pair", fix)
        path, name = steps
        check_path(place, path)
        if not isinstance(name, str):
            raise _of_another_kind(place, name, "a text", fix, "the name of a secret")
        found.append((path, name))
    return found


def _steps(pair: object) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", pair) if isinstance(pair, tuple) else ()


def _each(place: str, answer: object, fix: str) -> Iterable[object]:
    if not isinstance(answer, Iterable):
        raise _of_another_kind(place, answer, "a list", fix)
    return cast("Iterable[object]", answer)


def _of_another_kind(place: str, value: object, kind: str, fix: str, part_of_it: str = "a value") -> PartError:
    returned = f"The function returns {part_of_it} of the type {type(value).__name__}, not {kind}."
    return PartError(f"{place}\n  {returned}\n  {fix}")


def place_of(part: Part, field: str) -> str:
    """File and name of the function in a field of a part; a function without a name has the field's."""
    return place_of_function(part, field, getattr(part, field))


def place_of_function(part: Part, field: str, function: Callable[..., object]) -> str:
    """File and name of a function that a field of a part has; a function without a name has the field's."""
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        return f"parts/{part.name}/part.py: {field}"
    return f"{function.__module__.replace('.', '/')}.py: {name}"


def check_path(place: str, path: Path) -> None:
    """Checks that a path is one of a setting. Raises PartError, with the most similar setting."""
    if wrong := path_problem(path):
        raise PartError("\n  ".join((place, *wrong)))


def path_problem(path: Path) -> tuple[str, str] | None:
    """Problem of a path that is not one of a setting, and what to write; None for the path of a setting."""
    written = cast("object", path)
    if not isinstance(written, tuple):
        return (
            f"The path is a value of the type {type(written).__name__}, not a tuple.",
            'Write it like ("monitoring", "traces").',
        )
    beginning = unknown_beginning(path)
    if beginning is None:
        return None
    _, fix = unknown_key(beginning)
    return f"There is no setting '{show(path)}'.", fix or "Write the path of a setting, in the spelling of stack files."
