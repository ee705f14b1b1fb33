#!/usr/bin/env bash
# Guess: go-git writes a commit that it has read, and nobody has changed, with the id that it had.
# Seen: github.com/go-git/go-git/v5 v5.19.3 makes +0000 of an offset of -0000, which git keeps and which means an
#   unknown time zone, and puts headers behind gpgsig before it. EncodeWithoutSignature keeps the bytes, so signatures
#   stay good.
# For a forge: a tool that copies commits by decoding and encoding changes the ids of such commits and of all their
#   descendants. Copy the objects.
# Needs: git and Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git init -q repository
tree=$(git -C repository mktree </dev/null)
commit() { # commit OFFSET HEADERS
  local who="Alice <alice@example.org> 1700000000 $1"
  printf "tree $tree\nauthor $who\ncommitter $who\n$2\none\n" | git -C repository hash-object -t commit -w --stdin
}
{
  commit +0000 ''
  commit -0000 ''
  commit +0000 'encoding ISO-8859-1\ngpgsig one\n two\n'
  commit +0000 'gpgsig one\n two\nencoding ISO-8859-1\n'
} >commits
cat >main.go <<'EOF'
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

func main() {
	repository, err := git.PlainOpen("repository")
	if err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		commit, err := repository.CommitObject(plumbing.NewHash(lines.Text()))
		if err != nil {
			panic(err)
		}
		object := &plumbing.MemoryObject{}
		if err := commit.Encode(object); err != nil {
			panic(err)
		}
		reader, _ := object.Reader()
		text, _ := io.ReadAll(reader)
		fmt.Printf("%v %q\n", object.Hash().String() == lines.Text(), strings.Split(string(text), "\n")[2:])
	}
}
EOF
{ go mod init probe && go get github.com/go-git/go-git/v5@v5.19.3; } 2>/dev/null
{
  go run . <commits
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
true ["committer Alice <alice@example.org> 1700000000 +0000" "" "one" ""]
false ["committer Alice <alice@example.org> 1700000000 +0000" "" "one" ""]
true ["committer Alice <alice@example.org> 1700000000 +0000" "encoding ISO-8859-1" "gpgsig one" " two" "" "one" ""]
false ["committer Alice <alice@example.org> 1700000000 +0000" "encoding ISO-8859-1" "gpgsig one" " two" "" "one" ""]
EOF
