#!/usr/bin/env bash
# Guess: a git client that follows the redirect of info/refs sends the next request to the new address, as git does.
# Seen: isomorphic-git 1.44.19 follows it, and then posts to the address that it was given; after a 301 or 302 there it
#   sends a GET, without the body. 307 and 308 work. It sends no User-Agent header; its name is only in the agent
#   capability.
# For a forge: a repository that has moved cannot be cloned by it behind a 301. Serve posts at the earlier address, or
#   redirect with 308.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts isomorphic-git@1.44.19
cat >probe.mjs <<'EOF'
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import git from 'isomorphic-git';
const client = createRequire(import.meta.url)('isomorphic-git/http/node');
const packet = (text) => (text.length + 4).toString(16).padStart(4, '0') + text;
const listed = `${packet('# service=git-upload-pack\n')}0000${packet(`${'1'.repeat(40)} HEAD\0 symref=HEAD:refs/heads/main\n`)}${packet(`${'1'.repeat(40)} refs/heads/main\n`)}0000`;
for (const status of [301, 302, 307, 308]) {
  const requests = [];
  const server = http.createServer((request, response) => {
    const { method, url, headers } = request;
    let bytes = 0;
    request.on('data', (chunk) => (bytes += chunk.length));
    request.on('end', () => {
      requests.push(`${method} ${url.replace(/\?.*/, '')} ${bytes > 0 ? 'with a body' : 'empty'} ${headers['user-agent']}`);
      if (url.startsWith('/old')) response.writeHead(status, { Location: url.replace('/old', '/new') });
      response.end(url.startsWith('/new') && method === 'GET' ? listed : '');
    });
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${server.address().port}/old`;
  await git.clone({ fs, http: client, dir: `clone-${status}`, url }).catch(() => undefined);
  server.close();
  console.log(status, requests);
}
EOF
{
  node probe.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
301 [
  'GET /old/info/refs empty undefined',
  'GET /new/info/refs empty undefined',
  'POST /old/git-upload-pack with a body undefined',
  'GET /new/git-upload-pack empty undefined'
]
302 [
  'GET /old/info/refs empty undefined',
  'GET /new/info/refs empty undefined',
  'POST /old/git-upload-pack with a body undefined',
  'GET /new/git-upload-pack empty undefined'
]
307 [
  'GET /old/info/refs empty undefined',
  'GET /new/info/refs empty undefined',
  'POST /old/git-upload-pack with a body undefined',
  'POST /new/git-upload-pack with a body undefined'
]
308 [
  'GET /old/info/refs empty undefined',
  'GET /new/info/refs empty undefined',
  'POST /old/git-upload-pack with a body undefined',
  'POST /new/git-upload-pack with a body undefined'
]
EOF
