"""Copy the pictures of the app that its browser tests made into docs/, with 256 colours each.

Run the browser tests with SDCKIT_PICTURES=FOLDER, then: python .ci/app_pictures.py FOLDER.
"""

from __future__ import annotations

import base64
import shutil
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parents[1] / "docs"
MOST = 100_000  # bytes of a picture
COLOURS = 256
PIXELS = """async data => {
  const image = new Image();
  image.src = data;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const drawn = canvas.getContext('2d');
  drawn.drawImage(image, 0, 0);
  const bytes = drawn.getImageData(0, 0, image.width, image.height).data;
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def pixels(page: Any, path: Path) -> np.ndarray:
    """Red, green and blue of every pixel; the browser reads the file."""
    data = base64.b64encode(path.read_bytes()).decode()
    width, height, text = page.evaluate(PIXELS, f"data:image/png;base64,{data}")
    flat = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return flat.reshape(height, width, 4)[:, :, :3]


def indexed(image: np.ndarray) -> bytes:
    """The picture as a PNG of its most frequent colours."""
    rough = (image >> 2) << 2
    colours, index, count = np.unique(rough.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-count)[:COLOURS]].astype(int)
    nearest = np.array([np.square(kept - one).sum(1).argmin() for one in colours.astype(int)], dtype=np.uint8)
    rows = nearest[index.reshape(-1)].reshape(image.shape[:2])
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", kept.astype(np.uint8).tobytes()), (b"IDAT", zlib.compress(lines, 9))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in [*parts, (b"IEND", b"")])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main(folder: str) -> None:
    """Write each picture as ``docs/app-NAME.png``."""
    program = next(found for name in ("chromium", "chromium-browser") if (found := shutil.which(name)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        for path in sorted(Path(folder).glob("*.png")):
            made = indexed(pixels(page, path))
            if len(made) > MOST:
                raise SystemExit(f"{path.name}: {len(made):,} bytes; {MOST:,} are allowed")
            (DOCS / f"app-{path.stem}.png").write_bytes(made)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
