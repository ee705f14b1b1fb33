#!/usr/bin/env bash
# Guess: a package URL has one canonical text, which is what it is for: libraries write the same for the same package.
# Seen: packageurl-js 2.0.1 writes the slashes of a qualifier as %2F and the plus of a version as it is,
#   packageurl-python 0.17.6 does the opposite in both.
# For a forge: images and packages of bills of materials from two tools do not match by their text. Compare what has been
#   parsed.
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
console.log(new PackageURL('oci', null, 'app', '1', { repository_url: 'forge.example.org/alice/app' }).toString());
console.log(new PackageURL('generic', null, 'app', '1.0+5').toString());
JS
cat >probe.py <<'PY'
from packageurl import PackageURL

print(PackageURL('oci', None, 'app', '1', {'repository_url': 'forge.example.org/alice/app'}).to_string())
print(PackageURL('generic', None, 'app', '1.0+5').to_string())
PY
{
  node probe.mjs
  venv/bin/python probe.py
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
pkg:oci/app@1?repository_url=forge.example.org%2Falice%2Fapp
pkg:generic/app@1.0+5
pkg:oci/app@1?repository_url=forge.example.org/alice/app
pkg:generic/app@1.0%2B5
SEEN
