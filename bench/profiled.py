"""`nardy serve` under cProfile: `python -m bench.profiled FILE` writes where the time went when it is told to stop."""

from __future__ import annotations

import cProfile
import signal
import sys

from app.cli import main

if __name__ == "__main__":
    profile = cProfile.Profile()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn hands the signal back when it has stopped
    file, sys.argv[1:] = sys.argv[1], ["serve"]
    profile.enable()
    try:
        main()
    finally:
        profile.disable()
        profile.dump_stats(file)
