#!/usr/bin/env bash
# Guess: the mentions of a parsed commit are the handles that its text names.
# Seen: conventional-commits-parser 6.4.0 takes what follows any at sign: `Co-authored-by: Bob <bob@forge.example.org>`
#   mentions "forge".
# For a forge: release notes made from these notify whoever has the first word of a mail host as a handle. Read
#   mentions outside of trailers and addresses only.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts conventional-commits-parser@6.4.0
cat >probe.mjs <<'EOF'
import { CommitParser } from 'conventional-commits-parser';
const trailers = 'Signed-off-by: Alice <alice@example.org>\nCo-authored-by: Bob <bob@forge.example.org>';
console.log(new CommitParser().parse(`feat: one\n\nThanks to @carol.\n\n${trailers}`).mentions);
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
[ 'carol', 'example', 'forge' ]
EOF
