#!/usr/bin/env bash
# Guess: a test that GoogleTest reports as not run (status="notrun", its form for DISABLED_ tests) is skipped for a
#   reader of JUnit reports.
# Seen: github.com/joshdk/go-junit v1.0.0 looks at elements alone, and counts it as passed.
# For a forge: reports of C++ projects look better than they are. The status counts where no element says more.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/joshdk/go-junit"
)

const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="0" disabled="1" errors="0" time="0." name="AllTests">
  <testsuite name="Sum" tests="2" failures="0" disabled="1" skipped="0" errors="0" time="0.">
    <testcase name="Adds" status="run" result="completed" time="0." classname="Sum" />
    <testcase name="DISABLED_Later" status="notrun" result="suppressed" time="0." classname="Sum" />
  </testsuite>
</testsuites>`

func main() {
	suites, err := junit.Ingest([]byte(report))
	if err != nil {
		panic(err)
	}
	for _, suite := range suites {
		for _, test := range suite.Tests {
			fmt.Println(test.Name, test.Status)
		}
		fmt.Println("passed", suite.Totals.Passed, "skipped", suite.Totals.Skipped)
	}
}
GO
{ go mod init probe && go get github.com/joshdk/go-junit@v1.0.0; } 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
Adds passed
DISABLED_Later passed
passed 2 skipped 0
SEEN
