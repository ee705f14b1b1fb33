#!/usr/bin/env bash
# Guess: goldmark's task lists follow GitHub's: `[x]` needs a blank and a text behind it.
# Seen: goldmark 1.8.7 makes a task of `- [x]done` and of `- [ ]` alone. marked 18.2.1, remark-gfm 4.0.1 and
#   markdown-it-task-lists 2.1.1 leave both as text; of `[ ]` and a tab the last one makes no task, the others do.
# For a forge: the counts of open and done tasks in lists of issues change when an issue comes from a forge on goldmark
#   (Gitea, Forgejo).
# Needs: Go, npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts marked@18.2.1 remark@15.0.1 remark-gfm@4.0.1 remark-html@16.0.1 markdown-it@15.0.3 markdown-it-task-lists@2.1.1
cat >probe.mjs <<'EOF'
import MarkdownIt from 'markdown-it';
import taskLists from 'markdown-it-task-lists';
import { marked } from 'marked';
import { remark } from 'remark';
import gfm from 'remark-gfm';
import html from 'remark-html';
const engines = {
  marked: (text) => marked(text),
  remark: async (text) => String(await remark().use(gfm).use(html, { sanitize: false }).process(text)),
  'markdown-it': (text) => new MarkdownIt().use(taskLists).render(text),
};
for (const [name, render] of Object.entries(engines))
  for (const text of ['- [x] done', '- [x]done', '- [ ]', '- [ ]\ttab'])
    console.log(name, JSON.stringify(text), (await render(text)).includes('checkbox'));
EOF
cat >main.go <<'EOF'
package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func main() {
	for _, text := range []string{"- [x] done", "- [x]done", "- [ ]", "- [ ]\ttab"} {
		var html bytes.Buffer
		goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(text), &html)
		fmt.Printf("goldmark %q %v\n", text, strings.Contains(html.String(), "checkbox"))
	}
}
EOF
{ go mod init probe && go get github.com/yuin/goldmark@v1.8.7; } 2>/dev/null
{
  go run .
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
goldmark "- [x] done" true
goldmark "- [x]done" true
goldmark "- [ ]" true
goldmark "- [ ]\ttab" true
marked "- [x] done" true
marked "- [x]done" false
marked "- [ ]" false
marked "- [ ]\ttab" true
remark "- [x] done" true
remark "- [x]done" false
remark "- [ ]" false
remark "- [ ]\ttab" true
markdown-it "- [x] done" true
markdown-it "- [x]done" false
markdown-it "- [ ]" false
markdown-it "- [ ]\ttab" false
EOF
