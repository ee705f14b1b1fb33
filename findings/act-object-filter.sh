#!/usr/bin/env bash
# Guess: `.*.name` gives the names of a mapping's values, as of a list's, and leaves out what has none.
# Seen: github.com/nektos/act v0.2.89 gives a null for each value of a mapping, and a null for each item of a list that
#   lacks the key. @actions/expressions 0.3.61 gives the names, and nothing for what has none.
# For a forge: `needs.*.result` reads a mapping: `contains(needs.*.result, 'failure')`, the usual guard of a last job,
#   has to be decided by the server, where `if` of a job is evaluated.
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @actions/expressions@0.3.61
cat >expressions <<'EOF'
toJSON(fromJSON('{"a": {"name": "A"}, "b": {"name": "B"}}').*.name)
toJSON(fromJSON('[{"name": "A"}, {}]').*.name)
contains(fromJSON('{"a": {"result": "failure"}}').*.result, 'failure')
contains(fromJSON('[{"result": "failure"}]').*.result, 'failure')
EOF
cat >main.go <<'EOF'
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/nektos/act/pkg/exprparser"
)

func main() {
	interpreter := exprparser.NewInterpeter(&exprparser.EvaluationEnvironment{}, exprparser.Config{})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		value, err := interpreter.Evaluate(lines.Text(), exprparser.DefaultStatusCheckNone)
		if err != nil {
			value = err
		}
		fmt.Println("act:", strings.Join(strings.Fields(fmt.Sprint(value)), " "))
	}
}
EOF
{ go mod init probe && go get github.com/nektos/act@v0.2.89; } 2>/dev/null
cat >probe.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
for (const line of readFileSync('expressions', 'utf8').trim().split('\n')) {
  const tree = new Parser(new Lexer(line).lex().tokens, [], []).parse();
  const text = new Evaluator(tree, new data.Dictionary()).evaluate().coerceString();
  console.log('GitHub:', text.replace(/\s+/g, ' '));
}
EOF
{
  paste expressions <(go run . <expressions) <(node probe.mjs)
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
toJSON(fromJSON('{"a": {"name": "A"}, "b": {"name": "B"}}').*.name)	act: [ null, null ]	GitHub: [ "A", "B" ]
toJSON(fromJSON('[{"name": "A"}, {}]').*.name)	act: [ "A", null ]	GitHub: [ "A" ]
contains(fromJSON('{"a": {"result": "failure"}}').*.result, 'failure')	act: false	GitHub: true
contains(fromJSON('[{"result": "failure"}]').*.result, 'failure')	act: true	GitHub: true
EOF
