#!/usr/bin/env bash
# Guess: npm runs the install scripts that a package has, and keeps to its npm-shrinkwrap.json, whatever the registry
#   says of them.
# Seen: npm 11.19.1 does neither unless the abbreviated document says `hasInstallScript` and `_hasShrinkwrap`. Its own
#   publish sends neither: the registry has to find them out, the second one in the tarball.
# For a forge: a registry that hands on what was published installs native packages without building them, in silence.
# Needs: npm, Node.js and tar. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts npm@11.19.1
pack() { # pack NAME VERSION PACKAGE.JSON [SHRINKWRAP]
  rm -rf package && mkdir package
  printf '%s' "$3" >package/package.json
  [ -z "${4-}" ] || printf '%s' "$4" >package/npm-shrinkwrap.json
  tar -czf "$1-$2.tgz" package
}
pack below 1.0.0 '{"name":"below","version":"1.0.0"}'
pack below 1.1.0 '{"name":"below","version":"1.1.0"}'
pack probe 1.0.0 \
  '{"name":"probe","version":"1.0.0","dependencies":{"below":"^1.0.0"},"scripts":{"postinstall":"touch ran"}}' \
  '{"name":"probe","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"probe","version":"1.0.0","dependencies":{"below":"^1.0.0"}},"node_modules/below":{"version":"1.0.0"}}}'
cat >server.mjs <<'EOF'
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
const npmClient = '../node_modules/npm/bin/npm-cli.js';
for (const flags of [{}, { hasInstallScript: true, _hasShrinkwrap: true }]) {
  const server = http.createServer(({ url }, response) => {
    if (url.endsWith('.tgz')) return response.end(readFileSync(`.${url}`));
    const name = url.slice(1);
    const fields = name === 'probe' ? { dependencies: { below: '^1.0.0' }, ...flags } : {};
    const version = (number) => [
      number,
      { name, version: number, ...fields, dist: { tarball: `http://127.0.0.1:${server.address().port}/${name}-${number}.tgz` } },
    ];
    const numbers = name === 'probe' ? ['1.0.0'] : ['1.0.0', '1.1.0'];
    response.setHeader('Content-Type', 'application/vnd.npm.install-v1+json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: numbers.at(-1) }, versions: Object.fromEntries(numbers.map(version)) }));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const folder = `with-${Object.keys(flags).length}-flags`;
  mkdirSync(folder);
  writeFileSync(`${folder}/package.json`, '{"name":"top","version":"1.0.0"}');
  const args = [npmClient, 'install', 'probe', '--no-audit', '--no-fund', '--cache', `../cache-${folder}`];
  const registry = `--registry=http://127.0.0.1:${server.address().port}/`;
  await new Promise((done) => spawn('node', [...args, registry], { cwd: folder, stdio: 'ignore' }).on('close', done));
  server.close();
  const below = [`${folder}/node_modules/probe/node_modules/below`, `${folder}/node_modules/below`].find((place) => existsSync(place));
  const { version } = JSON.parse(readFileSync(`${below}/package.json`, 'utf8'));
  console.log(folder, 'script ran:', existsSync(`${folder}/node_modules/probe/ran`), 'below:', version);
}
EOF
{
  node server.mjs
} | tee seen
diff - seen <<'EOF' || { echo 'The behaviour has changed.' >&2; exit 1; }
with-0-flags script ran: false below: 1.1.0
with-2-flags script ran: true below: 1.0.0
EOF
