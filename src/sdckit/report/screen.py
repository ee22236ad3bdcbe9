"""What a terminal shows: the blocks of the exact documents, for the analyst's own session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sdckit.report.blocks import Block, Page
from sdckit.report.chapters.document import build_document
from sdckit.report.chapters.recipe_chapter import plain_recipe, recipe_section
from sdckit.report.chapters.release_document import RELEASE_SCHEMA, plain_release
from sdckit.report.chapters.release_page import page_of
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

if TYPE_CHECKING:
    from sdckit.workflow.assessed import Assessed
    from sdckit.workflow.recipes.recipe_applied import WhatWasDone


def recipe_blocks(done: WhatWasDone) -> list[Block]:
    """What a recipe did to a file, step by step, exact."""
    return list(recipe_section(plain_recipe(done, internal=True)).blocks)


def screen_page(assessment: Assessed) -> Page:
    """The document of an assessment, exact, without the list of records at risk."""
    shown: Any = assessment
    release = shown.schema == RELEASE_SCHEMA
    return page_of(
        plain_release(shown, internal=True) if release else protect(build_document(shown), internal=True)
    )


def screen_blocks(*results: Any) -> list[Block]:
    """The documents of single results, exact."""
    plains = [protect(result_document(result), internal=True) for result in results]
    together = {place: tree for plain in plains for place, tree in plain.items()}
    return [block for plain in plains for block in result_blocks(plain, beside=together)]
