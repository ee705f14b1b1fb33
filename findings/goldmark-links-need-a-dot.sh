#!/usr/bin/env bash
# Guess: goldmark's GFM makes links of addresses as GitHub does, with http and any host, and of xmpp: and mailto:
#   addresses.
# Seen: goldmark 1.8.7 leaves `http://localhost:3000/x`, `http://forge/x`, `xmpp:` and `mailto:` addresses as text;
#   marked 18.2.1 links them all.
# For a forge: in a network with short host names (`http://ci/`) issues from Gitea or Forgejo had no links where they
#   have some now.
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts marked@18.2.1
cat >main.go <<'EOF'
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func main() {
	for _, text := range os.Args[1:] {
		var html bytes.Buffer
		goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &html)
		fmt.Println("goldmark", text, strings.Contains(html.String(), "<a "))
	}
}
EOF
{ go mod init probe && go get github.com/yuin/goldmark@v1.8.7; } 2>/dev/null
cat >probe.mjs <<'EOF'
import { marked } from 'marked';
for (const text of process.argv.slice(2)) console.log('marked', text, marked(text).includes('<a '));
EOF
{
  set -- http://localhost:3000/x http://forge/x http://forge.example.org/x mailto:alice@example.org xmpp:alice@example.org
  go run . "$@"
  node probe.mjs "$@"
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
goldmark http://localhost:3000/x false
goldmark http://forge/x false
goldmark http://forge.example.org/x true
goldmark mailto:alice@example.org false
goldmark xmpp:alice@example.org false
marked http://localhost:3000/x true
marked http://forge/x true
marked http://forge.example.org/x true
marked mailto:alice@example.org true
marked xmpp:alice@example.org true
EOF
