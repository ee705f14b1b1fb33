#!/usr/bin/env bash
# Guess: @actions/expressions, GitHub's own library, writes a number as GitHub's runner does: 15 significant digits,
#   which .NET calls G15.
# Seen: @actions/expressions 0.3.61 rounds behind the point only and writes no exponent below 1e21;
#   github.com/nektos/act v0.2.89 writes G15 (1E-05).
# For a forge: a name, a concurrency group or a cache key with such a number differs between a server that uses the
#   library and the runner.
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @actions/expressions@0.3.61
cat >expressions <<'EOF'
format('{0}', 1234567890.123456789)
format('{0}', 0.00001)
format('{0}', 1e15)
format('{0}', 3.10)
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
  console.log('library:', new Evaluator(tree, new data.Dictionary()).evaluate().coerceString());
}
EOF
{
  paste expressions <(go run . <expressions) <(node probe.mjs)
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
format('{0}', 1234567890.123456789)	act: 1234567890.12346	library: 1234567890.1234567
format('{0}', 0.00001)	act: 1E-05	library: 0.00001
format('{0}', 1e15)	act: 1E+15	library: 1000000000000000
format('{0}', 3.10)	act: 3.1	library: 3.1
EOF
