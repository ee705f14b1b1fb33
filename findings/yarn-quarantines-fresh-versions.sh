#!/usr/bin/env bash
# Guess: a version that was just published to a private registry can be installed by every client.
# Seen: Yarn 4.18.1 refuses it for a day ("quarantined"), whatever the registry is, by the field `time` of the package's
#   document. A document without `time` is refused in the same way for ever. pnpm 12.21.0 and npm 11.19.1 install both.
# For a forge: a job that publishes a package and one that installs it next fail with Yarn alone. Documents should name
#   `npmPreapprovedPackages`, and a registry that leaves out `time` from its documents serves no Yarn.
# Needs: npm and Node.js. Exits 1 when the behaviour changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts npm@11.19.1 pnpm@12.21.0 @yarnpkg/cli-dist@4.18.1
mkdir package
echo '{"name":"probe","version":"1.0.0"}' >package/package.json
tar -czf probe.tgz package
cat >server.mjs <<'EOT'
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
const tarball = readFileSync('probe.tgz');
const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
let time = null;
const server = http.createServer(({ url }, response) => {
  if (url.endsWith('.tgz')) return response.end(tarball);
  if (url !== '/probe') return response.writeHead(404).end('{}');
  const dist = { tarball: `${origin}/probe.tgz`, integrity };
  const version = { name: 'probe', version: '1.0.0', dist };
  const times = time === null ? {} : { time: { created: time, modified: time, '1.0.0': time } };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ name: 'probe', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version }, ...times }));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const clients = {
  npm: ['npm/bin/npm-cli.js', 'install', 'probe'],
  pnpm: ['.bin/pnpm', 'add', 'probe'],
  yarn: ['@yarnpkg/cli-dist/bin/yarn.js', 'add', 'probe'],
};
const hour = 3_600_000;
const ages = { 'a minute': hour / 60, '23 hours': 23 * hour, '25 hours': 25 * hour, 'no time': null };
let count = 0;
for (const [age, ms] of Object.entries(ages))
  for (const [client, [program, ...words]] of Object.entries(clients)) {
    time = ms === null ? null : new Date(Date.now() - ms).toISOString();
    const cwd = `use${++count}`;
    mkdirSync(cwd);
    writeFileSync(`${cwd}/package.json`, '{"name":"use","version":"1.0.0","private":true}');
    writeFileSync(`${cwd}/.npmrc`, `registry=${origin}/\ncache=../cache${count}\nstore-dir=../store${count}\n`);
    writeFileSync(`${cwd}/yarn.lock`, '');
    writeFileSync(`${cwd}/.yarnrc.yml`, `npmRegistryServer: ${origin}\nunsafeHttpWhitelist: [127.0.0.1]\nglobalFolder: ../yarn${count}\nenableTelemetry: false\n`);
    const file = `../node_modules/${program}`;
    const [command, args] = program.startsWith('.bin') ? [file, words] : [process.execPath, [file, ...words]];
    const child = spawn(command, args, { cwd, stdio: 'pipe' });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
    const code = await new Promise((resolve) => child.on('close', resolve));
    console.log(age, client, code === 0 ? 'installs' : /quarantined/.test(said) ? 'quarantined' : said.slice(-300));
  }
server.close();
EOT
result=$(node server.mjs 2>&1) || true
echo "$result"
[ "$result" = "$(
  cat <<'EOT'
a minute npm installs
a minute pnpm installs
a minute yarn quarantined
23 hours npm installs
23 hours pnpm installs
23 hours yarn quarantined
25 hours npm installs
25 hours pnpm installs
25 hours yarn installs
no time npm installs
no time pnpm installs
no time yarn quarantined
EOT
)" ]
