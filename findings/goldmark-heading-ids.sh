#!/usr/bin/env bash
# Guess: goldmark's automatic ids of headings are GitHub's: letters of every script stay, and so do underscores.
# Seen: goldmark 1.8.7 keeps ASCII alone and turns an underscore into a hyphen: `中文` is `heading`, `Übersicht` is
#   `bersicht`, `a_b` is `a-b`.
# For a forge: links into documents that were written for a site on goldmark (Hugo of old, wikis) do not match the
#   forge's anchors, and the other way round.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'EOF'
package main

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
)

func main() {
	var html bytes.Buffer
	engine := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	engine.Convert([]byte("# 中文\n\n# Übersicht\n\n# a_b\n\n# A & B\n\n# 中文"), &html)
	fmt.Print(html.String())
}
EOF
{ go mod init probe && go get github.com/yuin/goldmark@v1.8.7; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
<h1 id="heading">中文</h1>
<h1 id="bersicht">Übersicht</h1>
<h1 id="a-b">a_b</h1>
<h1 id="a--b">A &amp; B</h1>
<h1 id="heading-1">中文</h1>
EOF
