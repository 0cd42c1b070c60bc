"""Every bench, one after the other: `python -m bench`."""

import sys

from bench import plays

if __name__ == "__main__":
    sys.exit(plays.main())
