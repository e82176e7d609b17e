"""The `docs` command: the pages of the installed version, in the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from workbench.cli.console import out, print_text
from workbench.cli.pages import NoPage, page_text, pages, title

PageName = Annotated[
    str | None,
    typer.Argument(
        metavar="PAGE", help="Name of a page, such as osmo or osmo#a-control-plane; all are listed without."
    ),
]


def docs(page: PageName = None) -> None:
    """Print a page of the documentation of the installed version, or one section of it, as messages cite it. Without
    PAGE: list the pages.
    """
    if page is None:
        _list()
        return
    try:
        text = page_text(page)
    except NoPage as problem:
        raise typer.BadParameter(str(problem), param_hint="PAGE") from None
    if sys.stdout.isatty():
        from rich.markdown import Markdown

        out.print(Markdown(text))
    else:
        print_text(text)


def _list() -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("page", no_wrap=True)
    table.add_column("title")
    for name, file in pages().items():
        table.add_row(escape(name), escape(title(file)))
    out.print(table)
