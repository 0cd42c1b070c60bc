#!/bin/sh
# Prints a Python of at least 3.11 that can make a virtual environment; PYTHON= is the user's choice.
for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$candidate"
        exit 0
    fi
    incapable=$candidate
done
if [ -n "${incapable:-}" ]; then
    echo "$incapable has no venv module: install it (Debian, Ubuntu: apt-get install python3-venv)." >&2
else
    echo "${PYTHON:-This machine} has no Python of at least 3.11: install one, or name it: make PYTHON=/path/to/python3" >&2
fi
exit 1
