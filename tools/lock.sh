#!/bin/sh
# Writes requirements/*.txt from pyproject.toml: every version and hash, no registry's address.
# Keeps the versions it finds there; UPGRADE=1 takes the newest.
set -eu
cd "$(dirname "$0")/.."
command -v uv >/dev/null || { echo "tools/lock.sh needs uv: pip install uv" >&2; exit 1; }

lock() { # output file, then what goes into it
    out=$1; shift
    uv pip compile --quiet --no-config --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" \
        ${UPGRADE:+--upgrade} --output-file "requirements/$out" "$@"
}

lock build.txt --group build
lock runtime.txt pyproject.toml
lock engines.txt --constraints requirements/runtime.txt pyproject.toml --extra engines
lock dev.txt --constraints requirements/engines.txt pyproject.toml --extra engines --group dev
