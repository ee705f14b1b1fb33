#!/usr/bin/env bash
# Guess: dulwich and git-lfs agree which file is a pointer.
# Seen: dulwich 1.2.21 also takes one with keys in another order, with a key that nobody knows, or with an id in
#   capital letters, all of which git-lfs 3.8.1 refuses; it refuses the version of 2014 with hawser in its name, which
#   git-lfs reads.
# For a forge: such a file is content for one client and a missing object for the other. Count as a pointer what
#   git-lfs takes.
# Needs: Go and Python 3. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dulwich==1.2.21
mkdir pointers
id=$(printf 'a%.0s' {1..64})
version='version https://git-lfs.github.com/spec/v1'
printf '%s\noid sha256:%s\nsize 12\n' "$version" "$id" >pointers/plain
printf '%s\r\noid sha256:%s\r\nsize 12\r\n' "$version" "$id" >pointers/carriage-returns
printf '%s\nsize 12\noid sha256:%s\n' "$version" "$id" >pointers/other-order
printf '%s\nnote x\noid sha256:%s\nsize 12\n' "$version" "$id" >pointers/unknown-key
printf '%s\noid sha256:%s\nsize 12\n' "$version" "${id^^}" >pointers/capital-letters
printf 'version https://hawser.github.com/spec/v1\noid sha256:%s\nsize 12\n' "$id" >pointers/hawser
cat >probe.py <<'EOF'
import os
from dulwich.lfs import LFSPointer

for name in sorted(os.listdir('pointers')):
    with open(f'pointers/{name}', 'rb') as file:
        print('dulwich', name, LFSPointer.from_bytes(file.read()) is not None)
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-lfs/git-lfs/v3/lfs"
)

func main() {
	names, _ := filepath.Glob("pointers/*")
	for _, name := range names {
		file, _ := os.Open(name)
		_, err := lfs.DecodePointer(file)
		fmt.Println("git-lfs", filepath.Base(name), err == nil)
	}
}
EOF
{ go mod init probe && go get github.com/git-lfs/git-lfs/v3@v3.8.1; } 2>/dev/null
{
  venv/bin/python probe.py
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
dulwich capital-letters True
dulwich carriage-returns True
dulwich hawser False
dulwich other-order True
dulwich plain True
dulwich unknown-key True
git-lfs capital-letters false
git-lfs carriage-returns true
git-lfs hawser true
git-lfs other-order false
git-lfs plain true
git-lfs unknown-key false
EOF
