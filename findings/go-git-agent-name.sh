#!/usr/bin/env bash
# Guess: go-git names its version to the server, as other clients do.
# Seen: github.com/go-git/go-git/v5 v5.19.3 says `go-git/5.x`, in the User-Agent header and in the agent capability,
#   and asks for no side band in a push without a progress writer.
# For a forge: its versions cannot be told apart in logs, and what the server says about a push (the address of a new
#   pull request) is not shown, so refusals must be in the report of each ref.
# Needs: git, Go and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'EOF'
package main

import (
	"os"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
)

func main() {
	repository, err := git.PlainOpen("repository")
	if err != nil {
		panic(err)
	}
	remote, _ := repository.CreateRemote(&config.RemoteConfig{Name: "origin", URLs: []string{os.Args[1]}})
	remote.Push(&git.PushOptions{RefSpecs: []config.RefSpec{"refs/heads/main:refs/heads/new"}})
}
EOF
{ go mod init probe && go get github.com/go-git/go-git/v5@v5.19.3; } 2>/dev/null
git init -q -b main repository
git -C repository -c user.name=alice -c user.email=alice@example.org commit -q --allow-empty -m one
cat >server.mjs <<'EOF'
import { spawn } from 'node:child_process';
import http from 'node:http';
const packet = (text) => (text.length + 4).toString(16).padStart(4, '0') + text;
const can = 'report-status delete-refs side-band-64k quiet ofs-delta agent=git/2.39.5';
const listed = `${packet('# service=git-receive-pack\n')}0000${packet(`${'0'.repeat(40)} capabilities^{}\0${can}\n`)}0000`;
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const isList = request.method === 'GET';
    if (!isList) console.log(request.headers['user-agent'], '|', Buffer.concat(chunks).toString('latin1').split(/\0|0000/).find((text) => text.includes('agent=')).trim());
    response.setHeader('Content-Type', `application/x-git-receive-pack-${isList ? 'advertisement' : 'result'}`);
    response.end(isList ? listed : '');
  });
});
server.listen(0, '127.0.0.1', () =>
  spawn('go', ['run', '.', `http://127.0.0.1:${server.address().port}/x`], { stdio: 'ignore' }).on('close', () => server.close()),
);
EOF
{
  node server.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
go-git/5.x | agent=go-git/5.x report-status
EOF
