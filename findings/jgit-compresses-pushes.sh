#!/usr/bin/env bash
# Guess: a client compresses the request of a fetch when it is long, and never that of a push, whose pack is
#   compressed.
# Seen: JGit 7.8.1 sends `Content-Encoding: gzip` with every request, a push of one commit included.
# For a forge: receive-pack has to inflate requests and to bound what comes out, though git itself never asks for it.
# Needs: git, Java 17, Maven and Node.js. Exits 1 when the behaviour changes.
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
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.transport.RefSpec;

public class Probe {
  public static void main(String[] addresses) throws Exception {
    try (Git git = Git.open(new File("repository"))) {
      git.push().setRemote(addresses[0]).setRefSpecs(new RefSpec("HEAD:refs/heads/jgit")).call();
    } catch (Exception expected) {
      // The server below answers the push with nothing.
    }
  }
}
EOF
git init -q repository
git -C repository -c user.name=alice -c user.email=alice@example.org commit -q --allow-empty -m one
cat >server.mjs <<'EOF'
import { spawnSync } from 'node:child_process';
import http from 'node:http';
const packet = (text) => (text.length + 4).toString(16).padStart(4, '0') + text;
const listed = `${packet('# service=git-receive-pack\n')}0000${packet(`${'0'.repeat(40)} capabilities^{}\0report-status\n`)}0000`;
const clients = [];
const server = http.createServer((request, response) => {
  if (request.method === 'POST') clients.push(`${request.headers['user-agent'].split('/')[0]}: ${request.headers['content-encoding']}`);
  request.resume().on('end', () => {
    const isList = request.method === 'GET';
    response.setHeader('Content-Type', `application/x-git-receive-pack-${isList ? 'advertisement' : 'result'}`);
    response.end(isList ? listed : '');
  });
});
server.listen(0, '127.0.0.1', async () => {
  const { spawn } = await import('node:child_process');
  const url = `http://127.0.0.1:${server.address().port}/x`;
  const run = (...args) => new Promise((done) => spawn(args[0], args.slice(1), { stdio: 'ignore' }).on('close', done));
  await run('git', '-C', 'repository', 'push', url, 'HEAD:refs/heads/git');
  await run('java', '-cp', 'lib/*', 'Probe.java', url);
  server.close();
  console.log([...new Set(clients)].join('\n'));
});
EOF
{
  node server.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
git: undefined
JGit: gzip
EOF
