"""Judges that do not give way, so that tests do not wait for them on a machine that is busy.

`python -m tests.support.eager` is such a process; with `serve` it is a server that has them.
"""

from __future__ import annotations

import sys

from app.engines import analyst
from app.engines.judging import answer_to
from app.engines.processes import answer_lines

PROGRAM = "tests.support.eager"


def main() -> int:
    if sys.argv[1:] == ["serve"]:
        from app import cli

        analyst.PROGRAM = PROGRAM
        return cli.main()
    answer_lines(answer_to, lambda: None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
