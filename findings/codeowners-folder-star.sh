#!/usr/bin/env bash
# Guess: libraries agree about `docs/*`: the files of the folder at the root, not those below.
# Seen: github.com/hmarr/codeowners v1.2.1 does it so. github.com/hairyhenderson/go-codeowners v0.7.1 also takes
#   `x/docs/a.md`, and codeowners-utils 1.0.2 (npm) also takes `docs/deep/a.md`.
# For a forge: owners of a forge's file are asked by other rules in local tools than on the forge. `/docs/` means the
#   same everywhere.
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts codeowners-utils@1.0.2
cat >probe.mjs <<'EOF'
import { matchFile, parse } from 'codeowners-utils';
for (const file of ['docs/a.md', 'docs/deep/a.md', 'x/docs/a.md'])
  console.log('codeowners-utils', file, matchFile(file, parse('docs/* @alice')) !== null);
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"strings"

	hairy "github.com/hairyhenderson/go-codeowners"
	hmarr "github.com/hmarr/codeowners"
)

func main() {
	rules, err := hmarr.ParseFile(strings.NewReader("docs/* @alice\n"))
	if err != nil {
		panic(err)
	}
	others, err := hairy.FromReader(strings.NewReader("docs/* @alice\n"), "/")
	if err != nil {
		panic(err)
	}
	for _, file := range []string{"docs/a.md", "docs/deep/a.md", "x/docs/a.md"} {
		rule, _ := rules.Match(file)
		fmt.Println("hmarr", file, rule != nil)
		fmt.Println("hairyhenderson", file, len(others.Owners(file)) > 0)
	}
}
EOF
{ go mod init probe && go get github.com/hmarr/codeowners@v1.2.1 github.com/hairyhenderson/go-codeowners@v0.7.1; } 2>/dev/null
{
  node probe.mjs
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
codeowners-utils docs/a.md true
codeowners-utils docs/deep/a.md true
codeowners-utils x/docs/a.md false
hmarr docs/a.md true
hairyhenderson docs/a.md true
hmarr docs/deep/a.md false
hairyhenderson docs/deep/a.md false
hmarr x/docs/a.md false
hairyhenderson x/docs/a.md true
EOF
