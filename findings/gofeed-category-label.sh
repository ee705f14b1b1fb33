#!/usr/bin/env bash
# Guess: gofeed's Categories of an Atom entry are the terms, which identify a category; the label is for people.
# Seen: gofeed v1.4.2 gives the label where there is one, and the term elsewhere.
# For a forge: a feed whose term is the name of a label and whose label attribute is a translated or decorated text is
#   filtered by the decorated text. Leave the attribute out.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'EOF'
package main

import (
	"fmt"

	"github.com/mmcdole/gofeed"
)

func main() {
	feed, err := gofeed.NewParser().ParseString(`<feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:forge.example.org,2026:app</id><title>Issues</title><updated>2026-01-02T03:04:05Z</updated>
<entry><id>tag:forge.example.org,2026:1</id><title>One</title><updated>2026-01-02T03:04:05Z</updated>
<category term="kind/bug" label="Bug"/><category term="help wanted"/></entry></feed>`)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", feed.Items[0].Categories)
}
EOF
{ go mod init probe && go get github.com/mmcdole/gofeed@v1.4.2; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
["Bug" "help wanted"]
EOF
