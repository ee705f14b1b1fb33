#!/usr/bin/env bash
# Guess: npm publish says and sends one and the same: the tag of publishConfig, and the version of package.json.
# Seen: npm 11.19.1 prints "with tag latest" and sends the tag `next` of publishConfig. It sends version 1.0.0 for
#   1.0.0+build.5 without a warning, while the package.json in the tarball keeps the longer one.
# For a forge: what a user reports from the output is not what arrived, and a check that compares the document with the
#   tarball refuses a good package.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts npm@11.19.1
mkdir package
cat >server.mjs <<'EOF'
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    response.writeHead(request.method === 'PUT' ? 201 : 404, { 'Content-Type': 'application/json' }).end('{}');
    if (request.method !== 'PUT') return;
    const { 'dist-tags': tags, versions, _attachments } = JSON.parse(Buffer.concat(chunks).toString());
    const [{ data }] = Object.values(_attachments);
    writeFileSync('sent.tgz', Buffer.from(data, 'base64'));
    const own = execFileSync('tar', ['-xzOf', 'sent.tgz', 'package/package.json']).toString();
    console.log('sent', tags, Object.keys(versions), 'packed', JSON.parse(own).version);
  });
});
server.listen(0, '127.0.0.1', () => {
  const registry = `http://127.0.0.1:${server.address().port}/`;
  writeFileSync('package/package.json', JSON.stringify({ name: 'probe', version: '1.0.0+build.5', publishConfig: { registry, tag: 'next' } }));
  writeFileSync('package/.npmrc', `${registry.slice(5)}:_authToken=x\n`);
  const npm = spawn('node', ['../node_modules/npm/bin/npm-cli.js', 'publish', '--cache', '../cache'], { cwd: 'package' });
  npm.stderr.on('data', (text) => /with tag \S+/.test(text) && console.log('said', /with tag \S+/.exec(text)[0]));
  npm.on('close', () => server.close());
});
EOF
{
  node server.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
said with tag latest
sent { next: '1.0.0' } [ '1.0.0' ] packed 1.0.0+build.5
EOF
