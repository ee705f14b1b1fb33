#!/usr/bin/env bash
# Guess: where an expression compares a text with a number, act converts the text as GitHub's own evaluator does.
# Seen: github.com/nektos/act v0.2.89 and @actions/expressions 0.3.61 disagree about blanks, a plus sign, octal and
#   binary digits, a capital X, a point at either end, and a signed infinity.
# For a forge: a condition that the server evaluates comes out differently on the runner. Workflows should compare
#   texts with texts.
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @actions/expressions@0.3.61
cat >expressions <<'EOF'
' ' == 0
'+1' == 1
'0o17' == 15
'0b1' == 1
'0X10' == 16
'.5' == 0.5
'1.' == 1
'-Infinity' < 0
'0x10' == 16
'' == 0
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
' ' == 0	act: false	GitHub: true
'+1' == 1	act: false	GitHub: true
'0o17' == 15	act: false	GitHub: true
'0b1' == 1	act: false	GitHub: true
'0X10' == 16	act: false	GitHub: true
'.5' == 0.5	act: false	GitHub: true
'1.' == 1	act: false	GitHub: true
'-Infinity' < 0	act: false	GitHub: true
'0x10' == 16	act: true	GitHub: true
'' == 0	act: true	GitHub: true
EOF
