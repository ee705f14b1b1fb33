#!/usr/bin/env bash
# Guess: parse-git-config, made for git's settings, reads each .gitmodules that git reads.
# Seen: parse-git-config 3.0.0 makes a key of a header with a setting behind it, keeps the quotes of a value, and cuts a
#   line that goes on after a backslash, whose rest becomes a key of its own.
# For a forge: tools that look up or update submodules miss such addresses, or ask for one in quotes. Ask git:
#   `git config --file .gitmodules --list`.
# Needs: git, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts parse-git-config@3.0.0
cat >.gitmodules <<'MODULES'
[submodule "a"] path = lib/a
	url = https://example.org/alice/a.git
[submodule "b"]
	path = lib/\
b
	url = "https://example.org/alice/b.git"
MODULES
cat >probe.cjs <<'JS'
const read = require('parse-git-config').sync({ cwd: __dirname, path: '.gitmodules' });
console.log(JSON.stringify(read, null, 2));
JS
{
  git config --file .gitmodules --list
  node probe.cjs
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
submodule.a.path=lib/a
submodule.a.url=https://example.org/alice/a.git
submodule.b.path=lib/b
submodule.b.url=https://example.org/alice/b.git
{
  "[submodule \"a\"] path": "lib/a",
  "url": "https://example.org/alice/a.git",
  "submodule \"b\"": {
    "path": "lib/\\",
    "b": true,
    "url": "https://example.org/alice/b.git"
  }
}
SEEN
