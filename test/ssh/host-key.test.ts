import t from 'tap';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { agreedHostKey, hostKey, shareHostKey } from '../../src/ssh/keys/host-key.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { createSharedKeys } from '../../src/nodes/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { databaseOf } from '../repositories/repositories-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const keyFile = (folder: string) => path.join(folder, 'ssh', 'host_ed25519');
const ed25519 = () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
const sshKeygen = (...args: string[]) => execFileSync('ssh-keygen', args, { encoding: 'utf8', stdio: 'pipe' });

t.test(
  'the host key is made once, readable by its owner only, and OpenSSH computes the same fingerprint',
  async (t) => {
    const folder = temporaryFolder(t);
    const made = await hostKey(folder);
    t.equal(statSync(keyFile(folder)).mode & 0o777, 0o600);
    t.equal(statSync(path.join(folder, 'ssh')).mode & 0o777, 0o700);
    const second = path.join(folder, 'ssh', 'host_ecdsa');
    t.same(readdirSync(path.join(folder, 'ssh')).sort(), ['host_ecdsa', 'host_ed25519']);
    t.equal(statSync(second).mode & 0o777, 0o600);
    t.match(sshKeygen('-l', '-f', second), made.second.fingerprint);
    t.match(sshKeygen('-l', '-f', keyFile(folder)), `256 ${made.fingerprint} hearth (ED25519)`);
    t.same(await hostKey(folder), made);
  },
);

t.test('a key whose halves begin with zeros is valid', async (t) => {
  const folder = temporaryFolder(t);
  let pair = ed25519();
  for (; !pair.x?.startsWith('AA') && !pair.x?.startsWith('AB'); pair = ed25519());
  const { privateKey, blob } = generateKey('hearth', pair);
  mkdirSync(path.join(folder, 'ssh'));
  writeFileSync(keyFile(folder), privateKey, { mode: 0o600 });
  t.equal(blob.length, 51);
  t.match(sshKeygen('-l', '-f', keyFile(folder)), (await hostKey(folder)).fingerprint);
  t.equal(sshKeygen('-y', '-f', keyFile(folder)).trim(), `ssh-ed25519 ${blob.toString('base64')} hearth`);
});

t.test('a key made by ssh-keygen is valid', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'ssh'));
  sshKeygen('-q', '-t', 'ed25519', '-N', '', '-f', keyFile(folder));
  const { fingerprint } = await hostKey(folder);
  t.match(sshKeygen('-l', '-f', keyFile(folder)), fingerprint);
});

t.test('a host that has the first key keeps it, and gets the second', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'ssh'));
  sshKeygen('-q', '-t', 'ed25519', '-N', '', '-f', keyFile(folder));
  const before = readFileSync(keyFile(folder), 'utf8');
  const { privateKey, second } = await hostKey(folder);
  t.equal(privateKey, before);
  t.equal((await hostKey(folder)).second.fingerprint, second.fingerprint);
  const file = path.join(folder, 'ssh', 'host_ecdsa');
  for (const [what, content, mode, message] of [
    ['another curve', generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey, 0o600, /P-256/],
    ['another type', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, 0o600, /P-256/],
    ['no key', null, 0o600, /P-256/],
    ['readable by others', generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey, 0o644, /chmod 600/],
  ] as const) {
    writeFileSync(file, content === null ? 'x' : content.export({ type: 'pkcs8', format: 'pem' }));
    chmodSync(file, mode);
    await t.rejects(hostKey(folder), { reason: 'host_key_unusable', message }, what);
  }
});

t.test('a partial key of a crashed start is replaced', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'ssh'));
  writeFileSync(`${keyFile(folder)}.new`, '-----BEGIN', { mode: 0o644 });
  await hostKey(folder);
  t.equal(statSync(keyFile(folder)).mode & 0o777, 0o600);
});

t.test('an unsafe or unreadable key is refused with a message and not replaced', async (t) => {
  const make = (kind: string[]) => (file: string) => void sshKeygen('-q', '-f', file, ...kind);
  const cases: [string, (file: string) => void, RegExp][] = [
    [
      'readable by others',
      (file) => {
        make(['-t', 'ed25519', '-N', ''])(file);
        chmodSync(file, 0o640);
      },
      /others may read it; run: chmod 600/,
    ],
    ['ECDSA', make(['-t', 'ecdsa', '-N', '']), /type ecdsa-sha2-nistp256/],
    ['with a passphrase', make(['-t', 'ed25519', '-N', 'secret words']), /damaged or protected by a passphrase/],
    ['PEM', (file) => make(['-t', 'ecdsa', '-m', 'PEM', '-N', ''])(file), /not a private key in OpenSSH format/],
    ['a public key', (file) => writeFileSync(file, 'ssh-ed25519 AAAA', { mode: 0o600 }), /not a private key/],
    ['empty', (file) => writeFileSync(file, '', { mode: 0o600 }), /not a private key/],
    [
      'damaged',
      (file) => {
        make(['-t', 'ed25519', '-N', ''])(file);
        writeFileSync(file, readFileSync(file, 'utf8').slice(0, 150));
      },
      /damaged/,
    ],
    ['a folder', (file) => mkdirSync(file, { mode: 0o700 }), /not a plain file/],
    [
      'a link',
      (file) => {
        make(['-t', 'ed25519', '-N', ''])(`${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
      /not a plain file/,
    ],
  ];
  for (const [name, prepare, message] of cases) {
    const folder = temporaryFolder(t);
    mkdirSync(path.join(folder, 'ssh'));
    prepare(keyFile(folder));
    await t.rejects(hostKey(folder), { code: 'invalid', reason: 'host_key_unusable', message }, name);
  }
});

t.test('two halves that do not belong together are refused', async (t) => {
  const folder = temporaryFolder(t);
  await hostKey(folder);
  const lines = readFileSync(keyFile(folder), 'utf8').split('\n');
  const bytes = Buffer.from(lines.slice(1, -2).join(''), 'base64');
  // It is in the public part, behind headers of 62 bytes, and twice in the private part.
  const publicKey = Buffer.from(bytes.subarray(62, 94));
  for (let at = bytes.indexOf(publicKey); at !== -1; at = bytes.indexOf(publicKey, at + 1)) bytes[at]! ^= 1;
  writeFileSync(
    keyFile(folder),
    [lines[0], bytes.toString('base64'), '-----END OPENSSH PRIVATE KEY-----', ''].join('\n'),
  );
  await t.rejects(hostKey(folder), { reason: 'host_key_unusable', message: /do not belong together/ });
});

t.test('servers of one database present the host keys of the first; a server alone those of its folder', async (t) => {
  const { db } = await openTestDatabase(t);
  const instanceKey = new InstanceKey(path.join(temporaryFolder(t), 'secret.key'), systemRandom, 'nodes');
  const alone = Object.create(db, { node: { value: null } }) as typeof db;
  const sharedBy = (node: string | null) =>
    createSharedKeys({ db: node === null ? alone : databaseOf(db, node), random: systemRandom, instanceKey });
  const agree = (folder: string, node: string | null) => agreedHostKey(folder, sharedBy(node), silentLogger);
  const [a, b, c, d] = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)];
  const filesOf = (folder: string) => readdirSync(path.join(folder, 'ssh')).sort();

  const single = await agree(d, null);
  t.same(await agree(d, null), single);
  t.same(await db.read.query('SELECT name FROM shared_keys'), [], 'nothing is written for it');

  const first = await agree(a, 'a');
  t.not(first.fingerprint, single.fingerprint);
  t.same(await agree(b, 'b'), first, 'an empty folder');
  t.same(filesOf(b), ['host_ecdsa', 'host_ed25519']);
  const own = await hostKey(c);
  t.not(own.fingerprint, first.fingerprint);
  t.same(await agree(c, 'c'), first, 'a folder with other keys');
  t.same(filesOf(c), ['host_ecdsa', 'host_ecdsa.replaced', 'host_ed25519', 'host_ed25519.replaced']);
  t.equal(readFileSync(`${keyFile(c)}.replaced`, 'utf8'), own.privateKey, 'which are kept');
  t.same(await hostKey(c), first);
  t.equal(statSync(keyFile(c)).mode & 0o777, 0o600);

  t.same(await agree(d, null), single, 'on SQLite the folder decides');
  t.same(await agree(temporaryFolder(t), null), first, 'unless it is empty, of a restored backup');

  const replaced = await shareHostKey(d, sharedBy('d'));
  t.same(replaced, single);
  for (const [folder, node] of [
    [a, 'a'],
    [b, 'b'],
  ] as const)
    t.same(await agree(folder, node), single, `${node} after its next start`);
});

t.test('of servers that start at the same moment all present one host key', async (t) => {
  const { db } = await openTestDatabase(t);
  const instanceKey = new InstanceKey(path.join(temporaryFolder(t), 'secret.key'), systemRandom, 'nodes');
  const presented = await Promise.all(
    ['a', 'b', 'c', 'd'].map((node) =>
      agreedHostKey(
        temporaryFolder(t),
        createSharedKeys({ db: databaseOf(db, node), random: systemRandom, instanceKey }),
        silentLogger,
      ),
    ),
  );
  t.equal(new Set(presented.map(({ fingerprint }) => fingerprint)).size, 1);
  t.equal(new Set(presented.map(({ second }) => second.fingerprint)).size, 1);
});
