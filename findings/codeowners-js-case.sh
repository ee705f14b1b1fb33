#!/usr/bin/env bash
# Guess: a pattern of CODEOWNERS has the case of the file, as in git and on the forges.
# Seen: codeowners-utils 1.0.2 and codeowners 5.1.1 (npm) match without regard to case, since the library `ignore`
#   below them does so by default; a name with an escaped blank matches nothing in either.
# For a forge: on a tree with `Makefile` and `makefile` local tools name other owners than the forge.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts codeowners-utils@1.0.2 codeowners@5.1.1
mkdir .git
printf '%s\n' 'Makefile @alice' 'with\ blank.txt @bob' >CODEOWNERS
cat >probe.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import Codeowners from 'codeowners';
import { matchFile, parse } from 'codeowners-utils';
const rules = parse(readFileSync('CODEOWNERS', 'utf8'));
const other = new Codeowners(process.cwd());
for (const file of ['Makefile', 'makefile', 'with blank.txt'])
  console.log(file, matchFile(file, rules)?.owners ?? [], other.getOwner(file));
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
Makefile [ '@alice' ] [ '@alice' ]
makefile [ '@alice' ] [ '@alice' ]
with blank.txt [] []
EOF
