#!/usr/bin/env bash
# Guess: Maven sorts a snapshot below its release, also in the form with time and build number under which it is
#   stored.
# Seen: ComparableVersion of maven-artifact 3.10.0 sorts 1.0-SNAPSHOT below 1.0, and 1.0-20260101.000000-1 above it.
#   deps.dev/util/semver agrees on these, but not on 1.0.RC1, which Maven takes for 1.0-rc1.
# For a forge: a list of versions that is made of file names has snapshots as the newest. Map them to -SNAPSHOT before
#   sorting.
# Needs: Go, Java 17 and Maven. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'EOF'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>probe</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.maven</groupId><artifactId>maven-artifact</artifactId><version>3.10.0</version></dependency>
  </dependencies>
</project>
EOF
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib >/dev/null 2>&1
cat >Probe.java <<'EOF'
import org.apache.maven.artifact.versioning.ComparableVersion;

public class Probe {
  public static void main(String[] pairs) {
    for (String pair : pairs) {
      String[] sides = pair.split(":");
      int order = new ComparableVersion(sides[0]).compareTo(new ComparableVersion(sides[1]));
      System.out.println("Maven " + sides[0] + " " + "<=>".charAt(Integer.signum(order) + 1) + " " + sides[1]);
    }
  }
}
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"strings"

	"deps.dev/util/semver"
)

func main() {
	for _, pair := range os.Args[1:] {
		one, other, _ := strings.Cut(pair, ":")
		fmt.Printf("deps.dev %s %c %s\n", one, "<=>"[semver.Maven.Compare(one, other)+1], other)
	}
}
EOF
{ go mod init probe && go get deps.dev/util/semver@v0.0.0-20260727054525-2946ae4a6141; } 2>/dev/null
{
  set -- 1.0-SNAPSHOT:1.0 1.0-20260101.000000-1:1.0 1.0-20260101.000000-1:1.0.0.1 1.0.RC1:1.0-rc1
  java -cp 'lib/*' Probe.java "$@"
  go run . "$@"
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
Maven 1.0-SNAPSHOT < 1.0
Maven 1.0-20260101.000000-1 > 1.0
Maven 1.0-20260101.000000-1 < 1.0.0.1
Maven 1.0.RC1 = 1.0-rc1
deps.dev 1.0-SNAPSHOT < 1.0
deps.dev 1.0-20260101.000000-1 > 1.0
deps.dev 1.0-20260101.000000-1 < 1.0.0.1
deps.dev 1.0.RC1 > 1.0-rc1
EOF
