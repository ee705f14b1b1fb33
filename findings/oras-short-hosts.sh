#!/usr/bin/env bash
# Guess: oras reads `forge/alice/app` as Docker does: a first part without dot and port is no host, so the image is
#   Docker Hub's.
# Seen: oras-go v2.7.0 takes the first part for the registry, always. go-containerregistry v0.22.1, regclient v0.11.7
#   and distribution/reference v0.6.0 take the same text for docker.io/forge/alice/app.
# For a forge: on a network with short host names oras reaches it and every other client asks (and offers credentials
#   to) Docker Hub. Documents should show a host with a dot or a port.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'EOF'
package main

import (
	"fmt"

	docker "github.com/distribution/reference"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/regclient/regclient/types/ref"
	oras "oras.land/oras-go/v2/registry"
)

func main() {
	for _, text := range []string{"forge/alice/app", "forge:443/alice/app", "localhost/app"} {
		fmt.Println(text)
		if found, err := oras.ParseReference(text); err == nil {
			fmt.Println("  oras", found.Registry)
		}
		if found, err := name.ParseReference(text); err == nil {
			fmt.Println("  go-containerregistry", found.Context().RegistryStr())
		}
		if found, err := ref.New(text); err == nil {
			fmt.Println("  regclient", found.Registry)
		}
		if found, err := docker.ParseNormalizedNamed(text); err == nil {
			fmt.Println("  docker", docker.Domain(found))
		}
	}
}
EOF
{ go mod init probe && go get oras.land/oras-go/v2@v2.7.0 github.com/google/go-containerregistry@v0.22.1 github.com/regclient/regclient@v0.11.7 github.com/distribution/reference@v0.6.0; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
forge/alice/app
  oras forge
  go-containerregistry index.docker.io
  regclient docker.io
  docker docker.io
forge:443/alice/app
  oras forge:443
  go-containerregistry forge:443
  regclient forge:443
  docker forge:443
localhost/app
  oras localhost
  go-containerregistry localhost
  regclient localhost
  docker localhost
EOF
