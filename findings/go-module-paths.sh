#!/usr/bin/env bash
# Guess: a repository whose name a forge takes can be a Go module at its address, if the host has a dot and the default
#   port.
# Seen: golang.org/x/mod v0.43.0 refuses the module paths of `c++`, `.github`, `aux`, `con` and `app~1`, while `c++` is
#   good in an import path; capital letters are asked for as `!` and the small letter.
# For a forge: `?go-get=1` of such a repository answers a client that will never accept it, and a proxy of modules has
#   to undo `!a`.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'EOF'
package main

import (
	"fmt"

	"golang.org/x/mod/module"
)

func main() {
	for _, name := range []string{"app", "App", "app.git", "c++", ".github", "aux", "con.txt", "app~1", "app~x", "_app"} {
		path := "forge.example.org/alice/" + name
		escaped, _ := module.EscapePath(path)
		fmt.Printf("%s module=%v import=%v %s\n", name, module.CheckPath(path) == nil, module.CheckImportPath(path) == nil, escaped)
	}
}
EOF
{ go mod init probe && go get golang.org/x/mod@v0.43.0; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
app module=true import=true forge.example.org/alice/app
App module=true import=true forge.example.org/alice/!app
app.git module=true import=true forge.example.org/alice/app.git
c++ module=false import=true 
.github module=false import=true 
aux module=false import=false 
con.txt module=false import=false 
app~1 module=false import=false 
app~x module=true import=true forge.example.org/alice/app~x
_app module=true import=true forge.example.org/alice/_app
EOF
