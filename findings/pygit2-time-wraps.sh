#!/usr/bin/env bash
# Guess: libgit2 writes the times that it reads.
# Seen: pygit2 1.21.0 (libgit2 1.9.7) reads a time after 7 February 2106 whole and writes it modulo 2^32; the time -1
#   of a Signature is the current time.
# For a forge: a cherry-pick or a rebase by libgit2 dates such a commit to 1982. Clocks that are wrong by a century do
#   occur in histories.
# Needs: git and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pygit2==1.21.0
git init -q repository
tree=$(git -C repository mktree </dev/null)
who='Alice <alice@example.org> 4702444800 +0000'
printf "tree $tree\nauthor $who\ncommitter $who\n\none\n" | git -C repository hash-object -t commit -w --stdin >id
cat >probe.py <<'EOF'
import time

import pygit2

repository = pygit2.Repository('repository')
commit = repository[open('id').read().strip()]
author = commit.author
print('read', author.time)
copy = repository.create_commit(None, author, commit.committer, commit.message, commit.tree_id, [])
print('written', repository[copy].author.time, copy == commit.id)
minus_one = pygit2.Signature('Alice', 'alice@example.org', -1, 0)
print('minus one is now', abs(minus_one.time - time.time()) < 60)
EOF
{
  venv/bin/python probe.py
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
read 4702444800
written 407477504 False
minus one is now True
EOF
