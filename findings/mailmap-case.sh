#!/usr/bin/env bash
# Guess: libraries compare the addresses of a .mailmap without regard to case, as git does.
# Seen: dulwich 1.2.21 and libgit2 (pygit2 1.21.0) take case into account, for addresses and for names.
# For a forge: counts of commits by person, made with a library, split people whom `git shortlog` unites.
# Needs: git and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dulwich==1.2.21 pygit2==1.21.0
git init -q .
printf '%s\n' 'Alice <alice@example.org> <alice@old.example.org>' 'Bob <bob@example.org> robert <shared@example.org>' >.mailmap
cat >probe.py <<'EOF'
import subprocess

import pygit2
from dulwich.mailmap import Mailmap

dulwich = Mailmap.from_path('.mailmap')
libgit2 = pygit2.Mailmap.from_buffer(open('.mailmap').read())
for name, address in [('x', 'alice@old.example.org'), ('x', 'Alice@OLD.example.org'), ('Robert', 'shared@example.org')]:
    person = f'{name} <{address}>'
    print(person)
    print('  git', subprocess.run(['git', 'check-mailmap', person], capture_output=True, text=True).stdout.strip())
    print('  dulwich', dulwich.lookup(person.encode()).decode())
    print('  pygit2', '%s <%s>' % libgit2.resolve(name, address))
EOF
{
  venv/bin/python probe.py
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
x <alice@old.example.org>
  git Alice <alice@example.org>
  dulwich Alice <alice@example.org>
  pygit2 Alice <alice@example.org>
x <Alice@OLD.example.org>
  git Alice <alice@example.org>
  dulwich x <Alice@OLD.example.org>
  pygit2 x <Alice@OLD.example.org>
Robert <shared@example.org>
  git Bob <bob@example.org>
  dulwich Robert <shared@example.org>
  pygit2 Robert <shared@example.org>
EOF
