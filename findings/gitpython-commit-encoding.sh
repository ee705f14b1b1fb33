#!/usr/bin/env bash
# Guess: GitPython decodes a commit by its encoding header.
# Seen: GitPython 3.2.1 says UTF-8 of a commit with `encoding ISO-8859-1` and gives U+FFFD for its bytes; dulwich,
#   libgit2 and JGit give the letters.
# For a forge: old repositories (converted from Subversion or CVS) have such commits; statistics and importers built on
#   it show broken names, which do not match the people of the forge.
# Needs: git and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check GitPython==3.2.1 pygit2==1.21.0
git init -q repository
who='J\xf6rg <joerg@example.org> 1700000000 +0000'
tree=$(git -C repository mktree </dev/null)
printf "tree $tree\nauthor $who\ncommitter $who\nencoding ISO-8859-1\n\ngr\xfcn\n" |
  git -C repository hash-object -t commit -w --stdin >id
cat >probe.py <<'EOF'
import git
import pygit2

oid = open('id').read().strip()
commit = git.Repo('repository').commit(oid)
print('GitPython', commit.encoding, ascii(commit.author.name), ascii(commit.message))
commit = pygit2.Repository('repository')[oid]
print('pygit2', commit.message_encoding, ascii(commit.author.name), ascii(commit.message))
EOF
{
  venv/bin/python probe.py
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
GitPython UTF-8 'J\ufffdrg' 'gr\ufffdn\n'
pygit2 ISO-8859-1 'J\xf6rg' 'gr\xfcn\n'
EOF
