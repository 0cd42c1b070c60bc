#!/bin/sh
# Fails if a file names the address of a package registry: what is installed is fixed by hashes, not by a place.
cd "$(dirname "$0")/.." || exit 1
if git grep -nIE --untracked \
    'pypi\.(org|python\.org)|pythonhosted\.org|npmjs\.(org|com)|yarnpkg\.com|(deb|security)\.debian\.org|crates\.io|index-url[ =]+https?:'; then
    echo 'These lines name a package registry: take the address out.' >&2
    exit 1
fi
