#!/usr/bin/env bash
# Guess: writing a commit that isomorphic-git has read gives the same id, unless a field was changed.
# Seen: isomorphic-git 1.44.19 drops carriage returns and blank lines around a message, adds a line end, replaces bytes
#   that are no UTF-8 whatever the commit's encoding says, and leaves out headers that it does not know (change-id of
#   Jujutsu). The text that it hands to a verifier of signatures has lost the carriage returns, too.
# For a forge: a commit that such a client re-creates is another one, so its signature and its reviews do not carry
#   over.
# Needs: git, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts isomorphic-git@1.44.19
git init -q
tree=$(git mktree </dev/null)
commit() { # commit NAME HEADERS MESSAGE
  local who='Alice <alice@example.org> 1700000000 +0000'
  printf "tree $tree\nauthor $who\ncommitter $who\n$2\n$3" | git hash-object -t commit -w --stdin | sed "s/^/$1 /"
}
{
  commit plain '' 'one\n'
  commit carriage-returns '' 'one\r\ntwo\r\n'
  commit no-line-end '' 'one'
  commit latin-1 'encoding ISO-8859-1\n' 'gr\xfcn\n'
  commit change-id 'change-id kkmpptxzrspxrzommnulwmwkkqwworpl\n' 'one\n'
} >commits
cat >probe.mjs <<'EOF'
import fs from 'node:fs';
import git from 'isomorphic-git';
for (const line of fs.readFileSync('commits', 'utf8').trim().split('\n')) {
  const [name, oid] = line.split(' ');
  const { commit, payload } = await git.readCommit({ fs, dir: '.', oid });
  const written = await git.writeCommit({ fs, dir: '.', commit });
  console.log(name, written === oid ? 'same' : 'other', JSON.stringify(commit.message), payload.includes('\r'));
}
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
plain same "one\n" false
carriage-returns other "one\ntwo\n" false
no-line-end other "one\n" false
latin-1 other "gr�n\n" false
change-id other "one\n" false
EOF
