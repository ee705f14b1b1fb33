#!/usr/bin/env bash
# Guess: GetLanguageByExtension of go-enry gives the usual language of an extension that several have.
# Seen: github.com/go-enry/go-enry/v2 v2.9.6 gives the first one by alphabet: GCC Machine Description for .md,
#   RenderScript for .rs, PLSQL for .sql, Adblock Filter List for .txt. The second result, false, says that it is a
#   guess; GetLanguage decides .md by its content.
# For a forge: the colours and the bar of languages must not be made of names alone with it.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/go-enry/go-enry/v2"
)

func main() {
	for _, name := range []string{"README.md", "main.rs", "schema.sql", "notes.txt", "main.zig"} {
		language, isSafe := enry.GetLanguageByExtension(name)
		fmt.Println(name, language, isSafe)
	}
	fmt.Println(enry.GetLanguage("README.md", []byte("# Title\n\nText.\n")))
}
GO
{ go mod init probe && go get github.com/go-enry/go-enry/v2@v2.9.6; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
README.md GCC Machine Description false
main.rs RenderScript false
schema.sql PLSQL false
notes.txt Adblock Filter List false
main.zig Zig true
Markdown
SEEN
