// Releases at an address and in a folder: two keys, two versions, two servers; what was not signed is refused.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { checkForUpdate, verifyProgram } from '../../src/updates/index.ts';
import { readSigners } from '../../src/updates/read-signers.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
const at = (...names: string[]) => path.join(folder, ...names);
const text = (file: string) => readFileSync(file, 'utf8');
const sumOf = (content: string) => createHash('sha256').update(content).digest('hex');
const own = { version: '0.2.0', arch: 'x64' };
const keyLine = (name: string) =>
  text(at(`${name}.pub`))
    .split(' ')
    .slice(0, 2)
    .join(' ');

/** Signs as `scripts/release` does. */
function sign(release: string, key = 'key', namespace = 'hearth-release'): void {
  rmSync(at(release, 'SHA256SUMS.sig'), { force: true });
  const words = ['-q', '-Y', 'sign', '-n', namespace, '-f', at(key), at(release, 'SHA256SUMS')];
  execFileSync('ssh-keygen', words, { stdio: 'ignore' });
}

function makeRelease(name: string, sums: string): void {
  mkdirSync(at(name), { recursive: true });
  writeFileSync(at(name, 'SHA256SUMS'), sums);
  sign(name);
}

const sumsFor = (version: string): string =>
  ['arm64', 'x64'].map((arch) => `${sumOf(`${version} ${arch}`)}  hearth-${version}-linux-${arch}\n`).join('');

let origin = '';
const asked: string[] = [];
const redirects = new Map<string, string>();

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  asked.push(url);
  const [, name = '', file = ''] = url.split('/');
  const to = redirects.get(name);
  if (to !== undefined) return void response.writeHead(302, { location: to.replace('FILE', file) }).end();
  if (name === 'broken') return void response.writeHead(503).end();
  if (name === 'endless') {
    response.writeHead(200);
    const more = (): boolean => !response.write('x'.repeat(4096)) || response.destroyed || more();
    return void (more(), response.on('drain', more));
  }
  try {
    response.end(readFileSync(at(name, file)));
  } catch {
    response.writeHead(404).end();
  }
}

t.before(async () => {
  for (const name of ['key', 'other', 'second'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
  writeFileSync(at('signers'), `hearth-release namespaces="hearth-release" ${keyLine('key')}\n`);
  for (const version of ['0.1.0', '0.2.0', '0.3.0']) makeRelease(version, sumsFor(version));
  const servers = [createServer(answer), createServer(answer)];
  for (const server of servers) await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });
  const [here, there] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  origin = here!;
  redirects.set('moved', '/0.3.0/FILE').set('elsewhere', `${there}/0.3.0/FILE`).set('circle', '/circle/FILE');
  redirects.set('tls', `${origin.replace('http:', 'https:')}/0.3.0/FILE`).set('nowhere', '');
});

const refusal = (reason: string, message: RegExp = /./) => ({ code: /./, reason, message });

const source = (from: string, signers = 'signers') => ({ from, signers: at(signers), caFile: null });

t.test('what a release offers, at an address and in a folder', async (t) => {
  const newer = { version: '0.3.0', isNewer: true, isOlder: false };
  for (const [name, expected] of [
    ['0.3.0', newer],
    ['0.2.0', { version: '0.2.0', isNewer: false, isOlder: false }],
    ['0.1.0', { version: '0.1.0', isNewer: false, isOlder: true }],
  ] as const)
    for (const from of [`${origin}/${name}`, `${origin}/${name}/`, at(name)])
      t.match(await checkForUpdate(source(from), own), expected, from);
  for (const arch of ['x64', 'arm64']) {
    const program = { place: `${origin}/0.3.0/hearth-0.3.0-linux-${arch}`, sha256: sumOf(`0.3.0 ${arch}`) };
    t.strictSame((await checkForUpdate(source(`${origin}/0.3.0`), { ...own, arch })).program, program);
  }
  t.equal((await checkForUpdate(source(at('0.3.0')), { ...own, arch: 'riscv64' })).program, null);
  t.match(await checkForUpdate(source(`${origin}/moved`), own), newer, 'a redirect at the same server');
});

t.test('what is not what was signed is refused', async (t) => {
  const flip = (name: string, file: string, position: number): void => {
    const bytes = readFileSync(at(name, file));
    bytes[position] = bytes[position]! ^ 1;
    writeFileSync(at(name, file), bytes);
  };
  const good = sumsFor('0.3.0');
  const cases: [name: string, change: (name: string) => void, reason: string][] = [
    ['first-byte', (name) => flip(name, 'SHA256SUMS', 0), 'release_signature_wrong'],
    ['last-byte', (name) => flip(name, 'SHA256SUMS', good.length - 1), 'release_signature_wrong'],
    ['signature-byte', (name) => flip(name, 'SHA256SUMS.sig', 250), 'release_signature_wrong'],
    ['no-signature', (name) => writeFileSync(at(name, 'SHA256SUMS.sig'), 'no'), 'release_signature_wrong'],
    ['empty-signature', (name) => writeFileSync(at(name, 'SHA256SUMS.sig'), ''), 'release_signature_wrong'],
    ['other-key', (name) => sign(name, 'other'), 'release_signature_wrong'],
    ['other-purpose', (name) => sign(name, 'key', 'git'), 'release_signature_wrong'],
    ['other-release', (name) => writeFileSync(at(name, 'SHA256SUMS'), sumsFor('0.4.0')), 'release_signature_wrong'],
    ['missing-signature', (name) => rmSync(at(name, 'SHA256SUMS.sig')), 'release_file_missing'],
    ['missing-sums', (name) => rmSync(at(name, 'SHA256SUMS')), 'release_file_missing'],
    ['large', (name) => writeFileSync(at(name, 'SHA256SUMS'), good.repeat(600)), 'answer_too_large'],
  ];
  for (const [name, change, reason] of cases) {
    makeRelease(name, good);
    change(name);
    for (const from of [`${origin}/${name}`, at(name)])
      await t.rejects(checkForUpdate(source(from), own), refusal(reason), from);
  }
  for (const [name, sums] of [
    ['no-program', `${sumOf('')}  LICENSE\n`],
    ['two-versions', sumsFor('0.3.0') + sumsFor('0.4.0')],
    ['no-version', sumsFor('latest')],
    ['no-sum', 'a word\n'],
    ['a-path', `${sumOf('')}  ../hearth-0.3.0-linux-x64\n`],
    ['nothing', ''],
  ] as const) {
    makeRelease(name, sums);
    await t.rejects(checkForUpdate(source(at(name)), own), refusal('release_sums_malformed'), name);
  }
});

t.test('what a server may not do', async (t) => {
  for (const [name, message] of [
    ['elsewhere', /leads to another server, 127\.0\.0\.1:\d+/],
    ['tls', /leads to another server/],
    ['nowhere', /another server|address to address/],
    ['circle', /from address to address/],
    ['broken', /answers 503/],
  ] as const)
    await t.rejects(checkForUpdate(source(`${origin}/${name}`), own), refusal('peer_unreachable', message), name);
  await t.rejects(checkForUpdate(source(`${origin}/endless`), own), refusal('answer_too_large'));
  await t.rejects(checkForUpdate(source('http://127.0.0.1:1/'), own), refusal('peer_unreachable'));
  asked.length = 0;
  await t.rejects(checkForUpdate(source(`${origin}/0.3.0`, 'none'), own), refusal('config_updates_signers'));
  t.strictSame(asked, [], 'nothing is asked before the signers are known');
});

t.test('who may sign', async (t) => {
  const plain = keyLine('key');
  const table: [line: string, keys: number][] = [
    [`hearth-release namespaces="hearth-release" ${plain}`, 1],
    [`hearth-release ${plain}`, 1],
    [`alice,hearth-release namespaces="git,hearth-release" ${plain} comment`, 1],
    [`# the first\n\nhearth-release ${plain}\r\nhearth-release ${keyLine('second')}`, 2],
    [`hearth-release namespaces="git" ${plain}`, 0],
    [`alice ${plain}`, 0],
    [`hearth-release valid-before="20200101" ${plain}`, 0],
    [`hearth-release cert-authority ${plain}`, 0],
    [`hearth-release ssh-ed25519 AAAA`, 0],
    [`#hearth-release ${plain}`, 0],
    ['', 0],
  ];
  for (const [content, keys] of table) {
    writeFileSync(at('some'), content);
    if (keys > 0) t.equal((await readSigners(at('some'))).size, keys, content);
    else await t.rejects(readSigners(at('some')), refusal('config_updates_signers'), content);
  }
});

t.test('a program beside the sum that was signed for it', async (t) => {
  const file = at('hearth');
  writeFileSync(file, '0.2.0 x64');
  const verify = (release: string, program: Partial<typeof own> = {}) =>
    verifyProgram(source(at(release)), { file, ...own, ...program });
  t.strictSame(await verify('0.2.0'), { file, sha256: sumOf('0.2.0 x64'), isGenuine: true });
  t.match(await verify('0.2.0', { arch: 'arm64' }), { isGenuine: false }, 'for another processor');
  writeFileSync(file, '0.2.0 x65');
  t.match(await verify('0.2.0'), { isGenuine: false, sha256: sumOf('0.2.0 x65') }, 'one byte');
  await t.rejects(verify('0.3.0'), refusal('release_of_other_version'));
  await t.rejects(verify('0.2.0', { arch: 'riscv64' }), refusal('release_of_other_version'));
  await t.rejects(verify('other-key'), refusal('release_signature_wrong'));
});

t.test('the commands', async (t) => {
  const { version } = JSON.parse(text(path.join(import.meta.dirname, '../../package.json'))) as { version: string };
  const env = { SERVICE_DATA_DIR: at('data') };
  const configured = (name: string, signers = 'signers') => ({
    env: { ...env, SERVICE_UPDATES_URL: `${origin}/${name}`, SERVICE_UPDATES_SIGNERS: at(signers) },
  });
  makeRelease('future', sumsFor('99.0.0'));
  makeRelease('past', sumsFor('0.0.1'));
  makeRelease('now', sumsFor(version));
  for (const [name, says] of [
    [
      'future',
      `Hearth 99.0.0 is newer than ${version}\n${origin}/future/hearth-99.0.0-linux-${process.arch}\nSHA-256 `,
    ],
    ['past', `Hearth 0.0.1, which is older than this program, ${version}\n`],
    ['now', `Hearth ${version} is the newest release\n`],
  ] as const) {
    const { code, stdout, stderr } = await runCli(['self-update', '--check'], configured(name));
    t.strictSame([code, stderr], [0, ''], name);
    t.ok(stdout.includes(says), stdout);
  }
  const json = await runCli(['self-update', '--check', '--json'], configured('future'));
  t.match(JSON.parse(json.stdout), {
    version,
    offered: '99.0.0',
    isNewer: true,
    program: { sha256: /^[0-9a-f]{64}$/ },
  });

  asked.length = 0;
  const refused: [words: string[], options: Parameters<typeof runCli>[1], code: number, says: RegExp][] = [
    [['self-update'], configured('future'), 2, /use --check/i],
    [['self-update', '--check'], { env }, 5, /not set: updates\.url and updates\.signers/i],
    [['self-update', '--check'], { env: { ...env, SERVICE_UPDATES_URL: origin } }, 5, /not set: updates\.signers/i],
    [['self-update', '--check'], { env: { ...env, SERVICE_UPDATES_URL: 'ftp://x' } }, 5, /updates\.url/],
    [['version', '--verify'], configured('now'), 4, /this is a source checkout/i],
    [['version', '--from', folder], { env }, 2, /require --verify/],
  ];
  for (const [words, options, code, says] of refused) {
    const result = await runCli(words, options);
    t.equal(result.code, code, words.join(' '));
    t.match(result.stderr, says);
  }
  t.strictSame(asked, [], 'nothing was asked');
  const wrong = await runCli(['self-update', '--check'], configured('other-key'));
  t.equal(wrong.code, 4);
  t.match(wrong.stderr, /signed it, which is not among the signers/);
});
