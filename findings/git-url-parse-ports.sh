#!/usr/bin/env bash
# Guess: an address of SSH that git-url-parse turns into one of HTTPS loses the port of SSH.
# Seen: git-url-parse 16.1.0 keeps it: ssh://git@forge.example.org:2222/alice/app.git becomes
#   https://forge.example.org:2222/alice/app.git, and port 3000 of HTTPS becomes the port of SSH.
# For a forge: tools (update bots, release tools) link to a port where SSH answers. The port 22 for SSH and 443 for
#   HTTPS avoid it.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts git-url-parse@16.1.0
cat >probe.mjs <<'EOF'
import parse from 'git-url-parse';
console.log(parse('ssh://git@forge.example.org:2222/alice/app.git').toString('https'));
console.log(parse('https://forge.example.org:3000/alice/app.git').toString('ssh'));
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
https://forge.example.org:2222/alice/app.git
ssh://git@forge.example.org:3000/alice/app.git
EOF
