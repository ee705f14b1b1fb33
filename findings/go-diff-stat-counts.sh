#!/usr/bin/env bash
# Guess: Added and Deleted of sourcegraph/go-diff's Stat are the numbers of git diff --numstat.
# Seen: with sourcegraph/go-diff v0.10.0 the last removed and the first added line of a block count as one Changed and
#   are in neither of the others: four lines replaced by four are Added 3, Changed 1, Deleted 3.
# For a forge: numbers from this library differ from git's by the number of replaced blocks. Add Changed to both.
# Needs: git and Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >old <<'EOF'
one
two
three
four
EOF
cat >new <<'EOF'
1
2
3
4
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sourcegraph/go-diff/diff"
)

func main() {
	text, _ := io.ReadAll(os.Stdin)
	file, err := diff.ParseFileDiff(text)
	if err != nil {
		panic(err)
	}
	stat := file.Stat()
	fmt.Printf("go-diff: added %d, changed %d, deleted %d\n", stat.Added, stat.Changed, stat.Deleted)
}
EOF
{ go mod init probe && go get github.com/sourcegraph/go-diff@v0.10.0; } 2>/dev/null
{
  git diff --no-index --numstat old new || true
  { git diff --no-index old new || true; } | go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
4	4	old => new
go-diff: added 3, changed 1, deleted 3
EOF
