#!/usr/bin/env bash
# Guess: a parser of patches splits lines at line feeds.
# Seen: whatthepatch 1.0.7 splits wherever Python's str.splitlines does. What follows a form feed, a vertical tab, a
#   carriage return inside a line or U+2028 is lost without an error, and both sides of the change become equal.
# For a forge: sources with form feeds (GNU projects have many) look unchanged in tools built on it. Count lines by
#   line feeds alone.
# Needs: Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check whatthepatch==1.0.7
cat >probe.py <<'EOF'
import whatthepatch

for name, mark in {'form feed': '\f', 'vertical tab': '\v', 'carriage return': '\r', 'U+2028': '\u2028'}.items():
    patch = f'--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one{mark}two\n+one{mark}three\n'
    for diff in whatthepatch.parse_patch(patch):
        print(name, [change.line for change in diff.changes])
EOF
{
  venv/bin/python probe.py
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
form feed ['one', 'one']
vertical tab ['one', 'one']
carriage return ['one', 'one']
U+2028 ['one', 'one']
EOF
