#!/bin/sh
# Makes sure that browser tests have a Chromium: the one that is there, else Debian's, else Playwright's own.
# Usage: tools/chromium.sh PYTHON
python=$1
"$python" -m tests.support.chromium 2>/dev/null && exit 0
[ -z "${CHROMIUM:-}" ] || exec "$python" -m tests.support.chromium

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo 'Installing Chromium with apt-get …'
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update
        for browser in chromium-headless-shell chromium; do # the first is not in every release
            apt-get install -y --no-install-recommends $browser fonts-dejavu-core libatomic1 && break
        done # libatomic1 is Playwright's own need
    } >/dev/null 2>&1 </dev/null
    "$python" -m tests.support.chromium 2>/dev/null && exit 0
fi

echo 'Installing Chromium with Playwright …'
"$python" -m playwright install chromium >/dev/null 2>&1 </dev/null
exec "$python" -m tests.support.chromium
