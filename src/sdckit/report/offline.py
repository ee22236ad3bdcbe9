"""Altair charts that need no network: an SVG in a notebook, and HTML files that contain their scripts.

Altair's own charts load scripts from a server when they are shown or saved as HTML, and have a menu that sends their
data to an editor on the web.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

from sdckit.data.files.whole_files import write_whole
from sdckit.errors import FileFormatError

ENDINGS = (".html", ".json", ".png", ".svg")
NO_MENU = {"embedOptions": {"actions": False}}
PNG_SCALE = 2.0


class Offline:
    """Mixin of an Altair chart that is shown and saved without a network."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        return {"image/svg+xml": _svg(self), "text/plain": repr(self)}

    def to_html(self, *args: Any, inline: bool = True, **options: Any) -> str:
        """HTML page that contains its scripts."""
        return str(super().to_html(*args, inline=inline, **options))  # type: ignore[misc]

    def save(self, fp: Any, format: Any = None, **options: Any) -> None:
        """Save as Altair does; HTML contains its scripts."""
        ending = format or (Path(fp).suffix.removeprefix(".") if isinstance(fp, str | os.PathLike) else "")
        if str(ending).lower() == "html":
            options.setdefault("inline", True)
        super().save(fp, format, **options)  # type: ignore[misc]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle by the class of Altair, since that with the mixin is in no module."""
        return _empty, (type(self).__bases__[1],), *super().__reduce_ex__(protocol)[2:]


@cache
def _kind(own: Any) -> type:
    """The class of a chart with the mixin; made when one is drawn, since Altair is slow to load."""
    return type(f"Offline{own.__name__}", (Offline, own), {"__doc__": f"{own.__name__} that needs no network."})


def _empty(own: Any) -> Any:
    return object.__new__(_kind(own))


def offline(chart: Any) -> Any:
    """The same chart, which now needs no network."""
    chart.usermeta = NO_MENU
    object.__setattr__(chart, "__class__", _kind(chart.__class__))  # its own setting of attributes is for the spec
    return chart


def check_chart_name(path: str | os.PathLike[str]) -> None:
    """Check that a file name ends in a format that charts are written in."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise FileFormatError(f"{target.name}: a chart ends in one of {', '.join(ENDINGS)}")


def write_chart(chart: Any, path: str | os.PathLike[str], *, what: str = "chart", private: bool = False) -> None:
    """Write a chart, whole or not at all, in the format of the name's ending; HTML has its scripts in it."""
    check_chart_name(path)
    write: dict[str, Any] = {".html": _html, ".json": _json, ".png": _png, ".svg": _svg}
    write_whole(write[Path(path).suffix.lower()](chart), path, what=what, private=private)


def _svg(chart: Any) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False), allowed_base_urls=[]))


def _html(chart: Any) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_html(chart.to_dict(validate=False), bundle=True))


def _png(chart: Any) -> bytes:
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(chart.to_dict(validate=False), scale=PNG_SCALE, allowed_base_urls=[]))


def _json(chart: Any) -> str:
    return str(chart.to_json(validate=False))
