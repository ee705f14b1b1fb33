#!/usr/bin/env bash
# Guess: hosted-git-info, with which npm reads addresses of repositories, gives the branch that an address of a tree
#   names, or none where it cannot know it.
# Seen: hosted-git-info 9.0.3 takes the first part: /alice/app/tree/feature/x is the branch `feature`, and so is its
#   address for git.
# For a forge: links and installations go to a branch that is not there. Give out addresses with #feature/x, which it
#   reads whole.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts hosted-git-info@9.0.3
cat >probe.cjs <<'JS'
const read = require('hosted-git-info').fromUrl;
for (const address of ['https://github.com/alice/app/tree/feature/x', 'https://github.com/alice/app#feature/x']) {
  const found = read(address);
  console.log(address, found.committish, found.https());
}
JS
{
  node probe.cjs
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
https://github.com/alice/app/tree/feature/x feature git+https://github.com/alice/app.git#feature
https://github.com/alice/app#feature/x feature/x git+https://github.com/alice/app.git#feature/x
SEEN
