#!/usr/bin/env bash
# Guess: the newest version of the definitions of Gitea's runner protocol that is listed for
#   code.gitea.io/actions-proto-go can be required by that path, as those before can.
# Seen: v0.4.1 can. v0.6.0 is listed there and names itself gitea.dev/actions-proto-go, so Go 1.26 refuses it. Its
#   service is that of the same protobuf package, `runner.v1`.
# For a forge: a program that stays at the old path never sees the fields of later definitions, and its update says
#   only that a path differs. What a runner sends is found by its bytes, not by the module that it was built with.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
go mod init probe 2>/dev/null
for version in v0.4.1 v0.6.0; do
  if go get "code.gitea.io/actions-proto-go@$version" 2>said; then
    echo "$version: taken"
  else
    echo "$version: $(grep -o 'module declares its path as: [^ ]*' said | head -n 1)"
  fi
done | tee seen
sources=$(go mod download -json code.gitea.io/actions-proto-go@v0.6.0 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
grep -rho 'runner\.v1\.[A-Za-z]*Service' "$sources" | sort -u | tee -a seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
v0.4.1: taken
v0.6.0: module declares its path as: gitea.dev/actions-proto-go
runner.v1.RunnerService
EOF
