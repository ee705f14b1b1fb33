#!/usr/bin/env bash
# Guess: a parser made for git's diffs gives the names of files as git has them.
# Seen: gitdiff-parser 0.3.1 keeps the tab that git writes behind a name with a blank, cuts a quoted name at the wrong
#   side and keeps its last quote and its octal digits, and takes an added empty file for a modified one.
# For a forge: whoever matches comments or owners by these names misses such files. A diff served with
#   core.quotePath=false avoids the quotes, not the tab.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts gitdiff-parser@0.3.1
cat >one.diff <<'EOF'
diff --git a/a b.txt b/a b.txt
index 45b983b..ab4a981 100644
--- a/a b.txt	
+++ b/a b.txt	
@@ -1 +1 @@
-hi
+ho
diff --git "a/gr\303\274n.txt" "b/gr\303\274n.txt"
index 45b983b..ab4a981 100644
--- "a/gr\303\274n.txt"
+++ "b/gr\303\274n.txt"
@@ -1 +1 @@
-hi
+ho
diff --git a/empty.txt b/empty.txt
new file mode 100644
index 0000000..e69de29
EOF
cat >probe.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import parser from 'gitdiff-parser';
for (const file of parser.parse(readFileSync('one.diff', 'utf8'))) console.log(JSON.stringify(file.newPath), file.type);
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
"a b.txt\t" modify
"/gr\\303\\274n.txt\"" modify
"empty.txt" modify
EOF
