"""The settings section `parts`: settings of optional parts whose model is in the part's own folder.

A part whose `model.py` has a model in the constant `SETTINGS` gets a setting in this section, named after the part's
folder in camelCase; no core code mentions the setting. Parts without this constant have their settings as fields of
`Settings`.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field, GetJsonSchemaHandler, PydanticUndefinedAnnotation, create_model
from pydantic_core import CoreSchema, PydanticOmit

from physical_ai.input_errors import PartError
from physical_ai.repository import part_files
from physical_ai.settings.models.base import Model

SETTINGS = "SETTINGS"
"""Name of the constant with the model in a part's `model.py`."""
_Own = TypeVar("_Own", bound=Model)


class OpenParts(Model):
    """Optional parts of the platform whose settings are in this section; an absent part is not installed."""

    def of(self, kind: type[_Own]) -> _Own | None:
        """Settings of the part whose settings model is `kind`; None if the stack does not have the part."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return next((each for each in values if isinstance(each, kind)), None)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """JSON schema of the section `parts`. The section is omitted if no part has a setting in it."""
        if not cls.model_fields:
            raise PydanticOmit
        return handler(core_schema)


def part_models() -> dict[str, type[Model]]:
    """Settings models of parts, by the name of the part's folder.

    Raises:
        PartError: The constant `SETTINGS` of a part's `model.py` is not a model.
    """
    modules = {file.parent.name: import_module(f"parts.{file.parent.name}.model") for file in part_files("model.py")}
    for name, module in modules.items():
        _refuse_open_annotations(name, module)
        if not hasattr(module, SETTINGS) and (near := get_close_matches(SETTINGS, vars(module), n=1, cutoff=0.8)):
            text = f"Nothing reads the constant.\n  Did you mean {SETTINGS}?"
            raise PartError(f"parts/{name}/model.py: {near[0]}\n  {text}")
    return {name: _model(name, module) for name, module in modules.items() if hasattr(module, SETTINGS)}


def _refuse_open_annotations(name: str, module: ModuleType) -> None:
    """Raises PartError, with the part's file, for a field annotation whose name is not defined."""
    for model in vars(module).values():
        if isinstance(model, type) and issubclass(model, Model) and model.__module__ == module.__name__:
            try:
                model.model_rebuild(_types_namespace=vars(module))
            except PydanticUndefinedAnnotation as error:
                raise PartError(
                    f"parts/{name}/model.py: {model.__name__}\n  The annotation '{error.name}' is not defined.\n"
                    "  Import it, or write a type such as int, str or bool."
                ) from None


def _model(name: str, module: ModuleType) -> type[Model]:
    found = getattr(module, SETTINGS)
    if isinstance(found, type) and issubclass(found, Model):
        return found
    raise PartError(
        f"parts/{name}/model.py: {SETTINGS}\n  The constant is no class of settings.\n"
        f"  Write {SETTINGS} = and the name of the part's subclass of Model."
    )


def _section() -> type[OpenParts]:
    fields: dict[str, Any] = {
        name: (model | None, Field(default=None, description=f"{_about(model)} Absent: not installed."))
        for name, model in part_models().items()
    }
    return create_model("Parts", __base__=OpenParts, __doc__=OpenParts.__doc__, **fields)


def _about(model: type[Model]) -> str:
    return (model.__doc__ or model.__name__).partition("\n")[0]


if TYPE_CHECKING:
    Parts = OpenParts
else:
    # The fields follow from the folders, so a type checker does not know them; `OpenParts.of` returns each with its
    # type.
    Parts = _section()
