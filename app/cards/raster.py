"""SVG to PNG, in a process of its own for each picture.

The renderer holds the interpreter's lock for as long as it draws, some 70 ms, so a thread would stop the event loop;
a process can also be ended when it takes too long. Run as a program it reads SVG and writes PNG. Text is drawn with
the fonts beside this file alone, so that every machine draws the same picture.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

SECONDS = 10.0  # most that a picture may take; on a busy machine it takes its turn
MOST_BYTES = 100_000  # of SVG
_FONTS = Path(__file__).with_name("fonts")
_NICE = 10  # nobody's display waits for a picture


class CannotDraw(Exception):
    """The picture could not be made; says why."""


async def png_of(svg: str) -> bytes:
    """The picture as PNG, in its own size. Raises CannotDraw."""
    data = svg.encode()
    if len(data) > MOST_BYTES:
        raise CannotDraw("too long")
    pipe = asyncio.subprocess.PIPE
    program = (sys.executable, "-I", str(Path(__file__)))
    process = await asyncio.create_subprocess_exec(*program, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with asyncio.timeout(SECONDS):
            png, said = await process.communicate(data)
    except TimeoutError:
        raise CannotDraw(f"not drawn within {SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode or not png:
        raise CannotDraw(said.decode(errors="replace").strip().rpartition("\n")[2] or "no answer")
    return png


def _main() -> None:
    import resvg_py

    if hasattr(os, "nice"):
        os.nice(_NICE)
    fonts = [str(file) for file in sorted(_FONTS.iterdir()) if file.suffix in (".otf", ".ttf")]
    svg = sys.stdin.buffer.read().decode()
    png = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=fonts, font_family="Inter")
    sys.stdout.buffer.write(png)


if __name__ == "__main__":
    _main()
