#!/usr/bin/env bash
# Guess: Sunday is 0 and 7 for libraries of Go, and `fri-sun` or `5-7` is refused or has three days.
# Seen: robfig/cron v3.0.1 refuses 7. hashicorp/cronexpr v1.1.3 takes 7, but
#   loses the Sunday of `5-7` and of `fri-sun` without an error. netresearch/go-cron v0.9.1 has the three days for both,
#   adhocore/gronx v1.20.4 for `5-7` and refuses `fri-sun`.
# For a forge: `0 6 * * 7` of a server that takes it is an error elsewhere, and weekends lose a day. `sat,sun` and 0 are
#   the same everywhere.
# Needs: Go. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/adhocore/gronx"
	"github.com/hashicorp/cronexpr"
	netresearch "github.com/netresearch/go-cron"
	robfig "github.com/robfig/cron/v3"
)

func list(name string, next func(time.Time) time.Time, err error) {
	fmt.Printf("  %-12s", name)
	if err != nil {
		fmt.Println("refused")
		return
	}
	// From a Monday on, for a week.
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	var days []string
	for at = next(at); at.Day() < 12; at = next(at) {
		days = append(days, at.Format("Mon"))
	}
	fmt.Println(strings.Join(days, ", "))
}

func main() {
	for _, text := range []string{"0 0 * * 7", "0 0 * * 5-7", "0 0 * * fri-sun", "0 0 * * sat,sun"} {
		fmt.Println(text)
		one, err := robfig.ParseStandard(text)
		list("robfig", func(after time.Time) time.Time { return one.Next(after) }, err)
		two, err := netresearch.ParseStandard(text)
		list("netresearch", func(after time.Time) time.Time { return two.Next(after) }, err)
		_, err = gronx.NextTickAfter(text, time.Now(), false)
		list("gronx", func(after time.Time) time.Time {
			at, _ := gronx.NextTickAfter(text, after, false)
			return at
		}, err)
		three, err := cronexpr.Parse(text)
		list("cronexpr", func(after time.Time) time.Time { return three.Next(after) }, err)
	}
}
GO
{
  go mod init probe
  go get github.com/robfig/cron/v3@v3.0.1 github.com/netresearch/go-cron@v0.9.1 github.com/adhocore/gronx@v1.20.4 \
    github.com/hashicorp/cronexpr@v1.1.3
} 2>/dev/null
{
  go run .
} | tee seen
diff - seen <<'SEEN' || { echo 'The behaviour has changed.' >&2; exit 1; }
0 0 * * 7
  robfig      refused
  netresearch Sun
  gronx       Sun
  cronexpr    Sun
0 0 * * 5-7
  robfig      refused
  netresearch Fri, Sat, Sun
  gronx       Fri, Sat, Sun
  cronexpr    Fri, Sat
0 0 * * fri-sun
  robfig      refused
  netresearch Fri, Sat, Sun
  gronx       refused
  cronexpr    Fri, Sat
0 0 * * sat,sun
  robfig      Sat, Sun
  netresearch Sat, Sun
  gronx       Sat, Sun
  cronexpr    Sat, Sun
SEEN
