#!/usr/bin/env bash
# Guess: `?` and `[!a]` in a pattern of git stand for one character.
# Seen: git (2.39 and newer ones) matches bytes: `?.o` and `[!a].o` do not match `ü.o`, `??.o` does. pathspec 1.1.1
#   (Python) and ignore 7.0.17 (npm) match characters, and pathspec knows no `[[:alpha:]]`.
# For a forge: patterns of .gitattributes, which decide about LFS and languages, and of ignored paths differ for names
#   outside of ASCII between git and tools. Ask git (check-attr, check-ignore).
# Needs: git, npm, Node.js and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pathspec==1.1.1
npm install --silent --no-audit --no-fund --ignore-scripts ignore@7.0.17
cat >cases <<'EOF'
?.o ü.o
??.o ü.o
[!a].o ü.o
[[:alpha:]].o b.o
*.o ü.o
EOF
cat >probe.py <<'EOF'
import pathspec

for line in open('cases', encoding='utf-8'):
    pattern, file = line.split()
    print('pathspec', pattern, file, pathspec.GitIgnoreSpec.from_lines([pattern]).match_file(file))
EOF
cat >probe.mjs <<'EOF'
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import ignore from 'ignore';
execFileSync('git', ['init', '-q', '.']);
for (const line of readFileSync('cases', 'utf8').trim().split('\n')) {
  const [pattern, file] = line.split(' ');
  writeFileSync('.gitignore', `${pattern}\n`);
  const real = spawnSync('git', ['check-ignore', '-q', '--no-index', file]).status === 0;
  console.log('git', real, 'ignore', ignore().add(pattern).ignores(file), pattern, file);
}
EOF
{
  node probe.mjs
  venv/bin/python probe.py
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
git false ignore true ?.o ü.o
git true ignore false ??.o ü.o
git false ignore true [!a].o ü.o
git true ignore true [[:alpha:]].o b.o
git true ignore true *.o ü.o
pathspec ?.o ü.o True
pathspec ??.o ü.o False
pathspec [!a].o ü.o True
pathspec [[:alpha:]].o b.o False
pathspec *.o ü.o True
EOF
