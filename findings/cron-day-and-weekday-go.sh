#!/usr/bin/env bash
# Guess: where a schedule restricts the day and the weekday, libraries for Go agree, and those named after one another
#   more so: either is enough, unless one of them begins with a star.
# Seen: for `0 0 13 * 5` netresearch/go-cron v0.9.1, made of robfig/cron, wants a Friday the 13th; robfig/cron v3.0.1,
#   adhocore/gronx v1.20.4 and hashicorp/cronexpr v1.1.3 take either. For `0 0 */2 * 1` robfig/cron and cronexpr take
#   either, the other two want both, and `*/1` is a star for robfig/cron, but not for cronexpr.
# For a forge: a workflow with such a schedule starts on other days elsewhere. One restricted field is the same
#   everywhere.
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

func list(name string, next func(time.Time) time.Time) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var days []string
	for range 3 {
		at = next(at)
		days = append(days, at.Format("Mon 2006-01-02"))
	}
	fmt.Printf("  %-12s%s\n", name, strings.Join(days, ", "))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	for _, text := range []string{"0 0 13 * 5", "0 0 */2 * 1", "0 0 */1 * 1"} {
		fmt.Println(text)
		list("robfig", must(robfig.ParseStandard(text)).Next)
		list("netresearch", must(netresearch.ParseStandard(text)).Next)
		list("gronx", func(after time.Time) time.Time { return must(gronx.NextTickAfter(text, after, false)) })
		list("cronexpr", cronexpr.MustParse(text).Next)
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
0 0 13 * 5
  robfig      Fri 2026-01-02, Fri 2026-01-09, Tue 2026-01-13
  netresearch Fri 2026-02-13, Fri 2026-03-13, Fri 2026-11-13
  gronx       Fri 2026-01-02, Fri 2026-01-09, Tue 2026-01-13
  cronexpr    Fri 2026-01-02, Fri 2026-01-09, Tue 2026-01-13
0 0 */2 * 1
  robfig      Sat 2026-01-03, Mon 2026-01-05, Wed 2026-01-07
  netresearch Mon 2026-01-05, Mon 2026-01-19, Mon 2026-02-09
  gronx       Mon 2026-01-05, Mon 2026-01-19, Mon 2026-02-09
  cronexpr    Sat 2026-01-03, Mon 2026-01-05, Wed 2026-01-07
0 0 */1 * 1
  robfig      Mon 2026-01-05, Mon 2026-01-12, Mon 2026-01-19
  netresearch Mon 2026-01-05, Mon 2026-01-12, Mon 2026-01-19
  gronx       Mon 2026-01-05, Mon 2026-01-12, Mon 2026-01-19
  cronexpr    Fri 2026-01-02, Sat 2026-01-03, Sun 2026-01-04
SEEN
