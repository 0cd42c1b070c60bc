"""Finds the browser for tests: CHROMIUM, else the system's, else Playwright's own.

Of the system's the one without windows comes first: it draws the same pages with half the work.

Run as a program, this module says which one tests will use.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

MISSING = (
    "Browser tests need Chromium: install it (Debian: apt-get install chromium; elsewhere: "
    "playwright install chromium), or set CHROMIUM to the path of a Chromium or Chrome."
)
FLAGS = [
    "--no-sandbox",  # works as root too; tests show their own pages only
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
_APPLICATIONS = ["Chromium", "Google Chrome"]
_ASK_PLAYWRIGHT = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def find_chromium() -> Path:
    """The browser's program. Raises RuntimeError with what to do if there is none."""
    given = os.environ.get("CHROMIUM")
    if given:
        found = shutil.which(given)
        if found:
            return Path(found)
        raise RuntimeError(f"CHROMIUM is set to {given}, which is no program.")
    for name in _NAMES:
        found = shutil.which(name)
        if found and _runs(found):
            return Path(found)
    for name in _APPLICATIONS:
        application = Path(f"/Applications/{name}.app/Contents/MacOS/{name}")
        if application.exists():
            return application
    asked = subprocess.run([sys.executable, "-c", _ASK_PLAYWRIGHT], capture_output=True, text=True)
    own = asked.stdout.strip()
    if own and Path(own).exists():
        return Path(own)
    raise RuntimeError(MISSING)


def _runs(program: str) -> bool:
    """Ubuntu's chromium-browser may be a stub that only speaks of snap."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> int:
    """Prints which browser tests will use, or what to do."""
    driver = subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True, text=True)
    if driver.returncode:
        print("Playwright does not start:", driver.stderr.strip().splitlines()[-1], file=sys.stderr)
        return 1
    try:
        print("Browser for tests:", find_chromium())
    except RuntimeError as missing:
        print(missing, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
