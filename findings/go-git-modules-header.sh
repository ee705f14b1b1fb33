#!/usr/bin/env bash
# Guess: go-git reads each .gitmodules that git reads.
# Seen: github.com/go-git/go-git/v5 v5.19.3 refuses the whole file when a setting stands behind the header of its
#   section, `[submodule "a"] path = a`, which git has always read.
# For a forge: tools on go-git cannot update any submodule of such a repository.
# Needs: git and Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '[submodule "a"] path = lib/a\n\turl = https://example.org/alice/a.git\n' >.gitmodules
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/go-git/go-git/v5/config"
)

func main() {
	text, err := os.ReadFile(".gitmodules")
	if err != nil {
		panic(err)
	}
	modules := config.NewModules()
	fmt.Println(modules.Unmarshal(text), len(modules.Submodules))
}
GO
{ go mod init probe && go get github.com/go-git/go-git/v5/config@v5.19.3; } 2>/dev/null
{
  git config --file .gitmodules --list
  go run .
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
submodule.a.path=lib/a
submodule.a.url=https://example.org/alice/a.git
1:17: expected EOL, EOF, or comment 0
SEEN
