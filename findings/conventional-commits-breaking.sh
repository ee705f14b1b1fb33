#!/usr/bin/env bash
# Guess: tools for Conventional Commits agree which commits break something, and so on the next major version.
# Seen: conventional-commits-parser 6.4.0 without a preset does not read `feat!:` at all, and takes a footer `breaking
#   change:` in small letters for a break; git-cliff 2.14.2 does the opposite in both.
# For a forge: notes made by the forge, by a bot and by a release tool of the project disagree. The specification wants
#   capital letters in the footer.
# Needs: git, npm, Node.js and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts conventional-commits-parser@6.4.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check git-cliff==2.14.2
cat >probe.mjs <<'EOF'
import { CommitParser } from 'conventional-commits-parser';
for (const message of ['feat!: one', 'feat: two\n\nBREAKING CHANGE: gone', 'feat: three\n\nbreaking change: gone']) {
  const { type, notes } = new CommitParser().parse(message);
  console.log('conventional-commits-parser', JSON.stringify(message), type, notes.length > 0);
}
EOF
cat >cliff.toml <<'EOF'
[changelog]
body = "{% for commit in commits %}git-cliff {{ commit.message }} {{ commit.breaking }}\n{% endfor %}"
[git]
conventional_commits = true
EOF
git init -q repository
for message in 'feat!: one' $'feat: two\n\nBREAKING CHANGE: gone' $'feat: three\n\nbreaking change: gone'; do
  git -C repository -c user.name=alice -c user.email=alice@example.org commit -q --allow-empty -m "$message"
done
{
  node probe.mjs
  venv/bin/git-cliff --config cliff.toml --repository repository 2>/dev/null | grep git-cliff
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
conventional-commits-parser "feat!: one" undefined false
conventional-commits-parser "feat: two\n\nBREAKING CHANGE: gone" feat true
conventional-commits-parser "feat: three\n\nbreaking change: gone" feat true
git-cliff one true
git-cliff two true
git-cliff three false
EOF
