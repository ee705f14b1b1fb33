#!/usr/bin/env bash
# Guess: in `1 < 2 == true` act compares from the left, or the smaller first, as GitHub does, where `<` binds closer
#   than `==`.
# Seen: github.com/nektos/act v0.2.89 gives `<`, `>` and `==` one precedence and compares from the right: `1 < (2 ==
#   true)`, which is false. @actions/expressions 0.3.61 says true. `3 > 2 > 1` comes out differently the other way
#   round.
# For a forge: such a condition skips a job on one side only. A linter can ask for parentheses.
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @actions/expressions@0.3.61
cat >expressions <<'EOF'
1 < 2 == true
'b' > 'a' == true
3 > 2 > 1
(1 < 2) == true
EOF
cat >main.go <<'EOF'
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/nektos/act/pkg/exprparser"
)

func main() {
	interpreter := exprparser.NewInterpeter(&exprparser.EvaluationEnvironment{}, exprparser.Config{})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		value, err := interpreter.Evaluate(lines.Text(), exprparser.DefaultStatusCheckNone)
		if err != nil {
			value = err
		}
		fmt.Println("act:", value)
	}
}
EOF
{ go mod init probe && go get github.com/nektos/act@v0.2.89; } 2>/dev/null
cat >probe.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
for (const line of readFileSync('expressions', 'utf8').trim().split('\n')) {
  const tree = new Parser(new Lexer(line).lex().tokens, [], []).parse();
  console.log('GitHub:', new Evaluator(tree, new data.Dictionary()).evaluate().coerceString());
}
EOF
{
  paste expressions <(go run . <expressions) <(node probe.mjs)
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
1 < 2 == true	act: false	GitHub: true
'b' > 'a' == true	act: false	GitHub: true
3 > 2 > 1	act: true	GitHub: false
(1 < 2) == true	act: true	GitHub: true
EOF
