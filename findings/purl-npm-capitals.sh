#!/usr/bin/env bash
# Guess: a package URL of npm keeps the case of the name, since packages of old such as JSONStream have capital letters
#   and npm tells them from those in small ones.
# Seen: packageurl-js 2.0.1 and packageurl-python 0.17.6 write pkg:npm/jsonstream, which names another package. Names of
#   cargo, maven and golang keep their case in both.
# For a forge: a bill of materials, or an advisory that is looked up by it, is about a package that is not in use.
#   Compare with the name of the lock file.
# Needs: npm, Node.js and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check packageurl-python==0.17.6
npm install --silent --no-audit --no-fund --ignore-scripts packageurl-js@2.0.1
cat >probe.mjs <<'JS'
import { PackageURL } from 'packageurl-js';
for (const text of process.argv.slice(2)) console.log(PackageURL.fromString(text).toString());
JS
cat >probe.py <<'PY'
import sys

from packageurl import PackageURL

for text in sys.argv[1:]:
    print(PackageURL.from_string(text).to_string())
PY
names=(pkg:npm/JSONStream@1.3.5 pkg:cargo/Inflector@0.11.4 pkg:maven/org.example/App@1.0 pkg:golang/example.org/App@v1.0.0)
{
  node probe.mjs "${names[@]}"
  venv/bin/python probe.py "${names[@]}"
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
pkg:npm/jsonstream@1.3.5
pkg:cargo/Inflector@0.11.4
pkg:maven/org.example/App@1.0
pkg:golang/example.org/App@v1.0.0
pkg:npm/jsonstream@1.3.5
pkg:cargo/Inflector@0.11.4
pkg:maven/org.example/App@1.0
pkg:golang/example.org/App@v1.0.0
SEEN
