#!/usr/bin/env bash
# Guess: the short message of a commit is its first line with text, as `git log --format=%s` has it.
# Seen: JGit 7.8.1 gives an empty short message for a commit whose message begins with a blank line, which `git commit
#   --cleanup=verbatim` and other tools write.
# For a forge: lists of commits in Gerrit and in tools on JGit have an empty line for such a commit; one that skips
#   blank lines agrees with git.
# Needs: git, Java 17 and Maven. Exits 1 when the behaviour changes.
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
    <dependency><groupId>org.eclipse.jgit</groupId><artifactId>org.eclipse.jgit</artifactId><version>7.8.1.202611041320-r</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>2.0.17</version></dependency>
  </dependencies>
</project>
EOF
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib >/dev/null 2>&1
cat >Probe.java <<'EOF'
import java.io.File;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;

public class Probe {
  public static void main(String[] ids) throws Exception {
    var repository = new FileRepositoryBuilder().setGitDir(new File("repository/.git")).build();
    RevCommit commit = new RevWalk(repository).parseCommit(ObjectId.fromString(ids[0]));
    System.out.println("JGit: [" + commit.getShortMessage() + "]");
  }
}
EOF
git init -q repository
cd repository
printf '\nA subject\n\nA body\n' | git -c user.name=alice -c user.email=alice@example.org \
  commit -q --allow-empty --cleanup=verbatim -F -
cd ..
{
  git -C repository log --format='git: [%s]'
  java -cp 'lib/*' Probe.java "$(git -C repository rev-parse HEAD)"
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
git: [A subject]
JGit: []
EOF
