"""Errors that a person reads without a traceback: what is wrong in a file, where, and what to write instead.

Of this project's modules, this one imports only `physical_ai.repository`. It has to work even if a part's module cannot
be imported, and the settings import such modules.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import traceback
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from physical_ai.repository import PART_FOLDERS, ROOT, is_own_module, part_folder

PYTHONS = (SyntaxError, ImportError, NameError, AttributeError, TypeError, LookupError, ValueError, ArithmeticError)
"""Errors that Python raises for faulty code."""
_IMPORTED = re.compile(r"cannot import name '(\w+)' from '((?:parts|physical_ai|components)(?:\.\w+)*)'")
_ARGUMENT = re.compile(r"unexpected keyword argument '(\w+)'")
_Step = tuple[Path, int, str, dict[str, object]]
"""File and line of a step in a traceback, the name of its function, and the names that its code can use, with their
values.
"""


class InputError(Exception):
    """Raised if a file or setting cannot be used. The error's text names the file or setting, the problem, and what to
    write.
    """


class PartError(InputError):
    """Raised where a module of a part cannot be used. The text names the file, with the line or the constant, and what
    to write.
    """


@contextmanager
def without_traceback(kind: type[BaseException]) -> Generator[None]:
    """Context in which input errors, and Python's errors in modules of parts, become errors of the type `kind`."""
    try:
        yield
    except Exception as error:
        wrong = error if isinstance(error, InputError) else part_error(error)
        if wrong is None:
            raise
        raise kind(str(wrong)) from None


def part_error(error: Exception) -> PartError | None:
    """Readable form of a Python error in a module of a part, or in an import of such a module; None for any other
    error.
    """
    if not isinstance(error, PYTHONS):
        return None
    steps = _steps(error)
    own = [step for step in steps if _is_of_part(step[0])]
    if isinstance(error, ImportError) and (text := _import_problem(error, steps)):
        return PartError(text)
    if isinstance(error, SyntaxError) and error.filename and _is_of_part(Path(error.filename)):
        line = error.text or linecache.getline(error.filename, error.lineno or 1)
        place = f"{_label(Path(error.filename))}:{error.lineno}"
        return PartError(f"{place}: syntax\n  Python cannot read the line: {error.msg}.\n  Correct it: {line.strip()}")
    if not own:
        return None
    file, number, function, names = own[-1]
    is_deeper = steps[-1] is not own[-1] and _is_ours(steps[-1][0])
    key, advice = ("", "") if is_deeper else _advice(error, names)
    source = linecache.getline(str(file), number).strip()
    problem = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(".")
    inner = f" ({_place(steps[-1])})" if is_deeper else ""
    fix = advice or f"Correct the line: {source}"
    return PartError(f"{_place(own[-1])}: {key or function}\n  {problem}{inner}.\n  {fix}")


def _steps(error: Exception) -> list[_Step]:
    found: list[_Step] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, function = Path(frame.f_code.co_filename), frame.f_code.co_name
        named = "the module" if function == "<module>" else function
        found.append((file, line, named, {**frame.f_globals, **frame.f_locals}))
    return found


def _is_of_part(file: Path) -> bool:
    return any(file.is_relative_to(folder) and len(file.relative_to(folder).parts) > 1 for folder in PART_FOLDERS)


def _is_ours(file: Path) -> bool:
    """True for a module of the platform or of a part; False for a Python package of other authors."""
    return is_own_module(file) or _is_of_part(file)


def _label(file: Path) -> str:
    for folder in PART_FOLDERS:
        if file.is_relative_to(folder):
            return f"parts/{file.relative_to(folder)}"
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)


def _place(step: _Step) -> str:
    return f"{_label(step[0])}:{step[1]}"


def _import_problem(error: ImportError, steps: list[_Step]) -> str | None:
    """Message about an import that fails because a module or name is missing, if the importing module or the missing
    one belongs to a part; None for any other failed import.
    """
    ours = [step for step in steps if _is_ours(step[0])]
    of_part = bool(ours) and _is_of_part(ours[-1][0])
    importer = _place(ours[-1]) if ours else ""
    if found := _IMPORTED.match(error.msg):
        name, module = found.groups()
        if not of_part and not module.startswith("parts."):
            return None
        file = _file_of(module)
        known = [*_names(file), *(each.stem for each in file.parent.glob("*.py") if file.name == "__init__.py")]
        where = importer if of_part else _label(file)
        problem = f"There is no '{name}' in {module}, which {importer} imports."
        instead = (
            f"Write parts/{file.parent.name}/{name}.py." if file.name == "__init__.py" else f"Write {name} into it."
        )
        return f"{where}: {name}\n  {problem}\n  {_near(name, known) or instead}"
    package, _, name = (error.name or "").rpartition(".")
    if isinstance(error, ModuleNotFoundError) and package.partition(".")[0] in ("parts", "physical_ai", "components"):
        module = error.name or ""
        folder = _file_of(package).parent
        known = sorted(each.stem for each in folder.glob("*") if each.suffix == ".py" or each.is_dir())
        if not of_part and not module.startswith("parts."):
            return None
        where = importer if of_part else f"{module.replace('.', '/')}.py"
        fix = _near(name, known) or f"Write {module.replace('.', '/')}.py, or correct the import."
        return f"{where}: {module}\n  There is no such module, and {importer} imports it.\n  {fix}"
    return None


def _file_of(module: str) -> Path:
    first, *rest = module.split(".")
    folder = part_folder(rest[0]).parent if first == "parts" and rest else ROOT / first
    path = folder.joinpath(*rest)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _names(file: Path) -> list[str]:
    """Names that a module defines at its top level; empty where the file cannot be read."""
    try:
        body = ast.parse(file.read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError):
        return []
    stored = (
        node.id
        for each in body
        for node in ast.walk(each)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return [*(each.name for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)), *stored]


def _advice(error: Exception, names: dict[str, object]) -> tuple[str, str]:
    """Name that caused `error`, and the most similar known name; a name that is not known is an empty text."""
    if isinstance(error, NameError) and error.name:
        return error.name, _near(error.name, [*names, *dir(builtins)])
    if isinstance(error, AttributeError) and error.name:
        return error.name, _near(error.name, _attributes(error.obj))
    argument = _ARGUMENT.search(str(error)) if isinstance(error, TypeError) else None
    return (argument[1] if argument else ""), ""


def _attributes(holder: object) -> list[str]:
    fields: dict[str, object] = getattr(type(holder), "model_fields", {})
    return list(fields) or [each for each in dir(holder) if not each.startswith("_")]


def _near(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, sorted(set(known) - {name}), n=1)
    return f"Did you mean '{found[0]}'?" if found else ""
