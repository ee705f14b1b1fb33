#!/usr/bin/env bash
# Guess: isomorphic-git reads .gitignore as git does.
# Seen: isomorphic-git 1.44.19 ignores the case of names, takes `[!a]` for the characters ! and a, and knows no
#   `[[:alpha:]]` nor `[]a]`.
# For a forge: an editor in the browser that is built on it commits other files than git would.
# Needs: git, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts isomorphic-git@1.44.19
cat >probe.mjs <<'EOF'
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import git from 'isomorphic-git';
execFileSync('git', ['init', '-q', '.']);
for (const [pattern, file] of [
  ['Build', 'build'],
  ['[!a].o', 'a.o'],
  ['[!a].o', 'b.o'],
  ['[[:alpha:]].o', 'a.o'],
  ['[]a].o', 'a.o'],
  ['*.o', 'a.o'],
]) {
  fs.writeFileSync('.gitignore', `${pattern}\n`);
  const real = spawnSync('git', ['-c', 'core.ignoreCase=false', 'check-ignore', '-q', '--no-index', file]).status === 0;
  console.log(pattern, file, 'git:', real, 'isomorphic-git:', await git.isIgnored({ fs, dir: '.', filepath: file }));
}
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
Build build git: false isomorphic-git: true
[!a].o a.o git: false isomorphic-git: true
[!a].o b.o git: true isomorphic-git: false
[[:alpha:]].o a.o git: true isomorphic-git: false
[]a].o a.o git: true isomorphic-git: false
*.o a.o git: true isomorphic-git: true
EOF
