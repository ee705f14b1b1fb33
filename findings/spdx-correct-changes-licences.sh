#!/usr/bin/env bash
# Guess: spdx-correct mends the spelling of a licence, and gives up where it is not sure.
# Seen: spdx-correct 3.2.0 makes `Unlicense` (public domain) of `UNLICENSED`, npm's word for a package that nobody may
#   use, `Apache-2.0` of `MIT/Apache-2.0`, GPL-2.0-only of `gpl-2.0-or-later`, leaves out a `with` in small letters with
#   its exception, and takes `EUPL` for UPL-1.0.
# For a forge: a licence that a page or a bill of materials shows after such a correction is another one than the
#   author's. Show what is no SPDX expression as it is written.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts spdx-correct@3.2.0
cat >probe.cjs <<'JS'
const correct = require('spdx-correct');
for (const text of [
  'Apache 2', 'UNLICENSED', 'MIT/Apache-2.0', 'gpl-2.0-or-later', 'Apache-2.0 with LLVM-exception', 'EUPL',
])
  console.log(`${text}: ${correct(text)}`);
JS
{
  node probe.cjs
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
Apache 2: Apache-2.0
UNLICENSED: Unlicense
MIT/Apache-2.0: Apache-2.0
gpl-2.0-or-later: GPL-2.0-only
Apache-2.0 with LLVM-exception: Apache-2.0
EUPL: UPL-1.0
SEEN
