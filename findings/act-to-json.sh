#!/usr/bin/env bash
# Guess: toJSON() of act prints a value as GitHub does: keys in their order, characters as they are.
# Seen: github.com/nektos/act v0.2.89 sorts the keys, and writes `<`, `>` and `&` as \u003c, \u003e and \u0026.
# For a forge: a hash or a comparison of toJSON(...) differs between runners, and so does a commit message or a title
#   that a step prints from it. The server should not compare such texts with its own.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'EOF'
package main

import (
	"fmt"

	"github.com/nektos/act/pkg/exprparser"
)

func main() {
	interpreter := exprparser.NewInterpeter(&exprparser.EvaluationEnvironment{}, exprparser.Config{})
	for _, text := range []string{`toJSON('a <b> & c')`, `toJSON(fromJSON('{"b": 1, "a": 2}'))`} {
		value, err := interpreter.Evaluate(text, exprparser.DefaultStatusCheckNone)
		fmt.Println(value, err)
	}
}
EOF
{ go mod init probe && go get github.com/nektos/act@v0.2.89; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
"a \u003cb\u003e \u0026 c" <nil>
{
  "a": 2,
  "b": 1
} <nil>
EOF
