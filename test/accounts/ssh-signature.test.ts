// Signatures made by OpenSSH, and forged ones.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkSshSignature } from '../../src/accounts/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const message = Buffer.from('tree of fire\n');

t.test('a signature by ssh-keygen is valid, and only for these bytes and this namespace', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'message');
  writeFileSync(file, message);
  for (const [type, ...bits] of [
    ['ed25519'],
    ['rsa', '-b', '2048'],
    ['ecdsa', '-b', '256'],
    ['ecdsa', '-b', '384'],
    ['ecdsa', '-b', '521'],
  ]) {
    const key = path.join(folder, `${type}${bits[1] ?? ''}`);
    execFileSync('ssh-keygen', ['-q', '-t', type!, ...bits, '-N', '', '-f', key]);
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'git', '-f', key, file], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const text = readFileSync(`${file}.sig`, 'utf8');
    const fingerprint = execFileSync('ssh-keygen', ['-lf', `${key}.pub`])
      .toString()
      .split(' ')[1]!;
    t.same(checkSshSignature(text, message, 'git'), { fingerprint, isGood: true }, key);
    t.same(
      checkSshSignature(text, Buffer.from('tree of ice\n'), 'git'),
      { fingerprint, isGood: false },
      `${type}: other bytes`,
    );
    t.equal(checkSshSignature(text, message, 'file'), null, `${type}: made for something else`);
    execFileSync('rm', [`${file}.sig`]);
  }
});

const packed = (bytes: Buffer | string): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(bytes));
  return Buffer.concat([length, Buffer.from(bytes as string)]);
};

/** What a security token would make, with every field under control. */
function tokenSignature({ counted = 9, signedFor = 'ssh:' } = {}): string {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const type = 'sk-ssh-ed25519@openssh.com';
  const blob = Buffer.concat([
    packed(type),
    packed(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')),
    packed('ssh:'),
  ]);
  const head = [packed('git'), packed(''), packed('sha512')];
  const wrapped = Buffer.concat([
    Buffer.from('SSHSIG'),
    ...head,
    packed(createHash('sha512').update(message).digest()),
  ]);
  const counter = Buffer.from([1, 0, 0, 0, 9]);
  const attested = Buffer.concat([
    createHash('sha256').update(signedFor).digest(),
    counter,
    createHash('sha256').update(wrapped).digest(),
  ]);
  const signature = Buffer.concat([
    packed(type),
    packed(sign(null, attested, privateKey)),
    Buffer.from([1, 0, 0, 0, counted]),
  ]);
  const bytes = Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01'), packed(blob), ...head, packed(signature)]);
  return `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END SSH SIGNATURE-----`;
}

t.test('a signature by a signature by a key on a security token', async (t) => {
  t.equal(checkSshSignature(tokenSignature(), message, 'git')?.isGood, true);
  t.equal(
    checkSshSignature(tokenSignature({ counted: 8 }), message, 'git')?.isGood,
    false,
    'another count than it signed',
  );
  t.equal(
    checkSshSignature(tokenSignature({ signedFor: 'ssh:elsewhere' }), message, 'git')?.isGood,
    false,
    'made for another site',
  );
});

t.test('malformed signatures are refused', async (t) => {
  const good = tokenSignature();
  const body = good.split('\n').slice(1, -1).join('');
  const wrapped = (bytes: Buffer) =>
    `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64')}\n-----END SSH SIGNATURE-----`;
  const bytes = Buffer.from(body, 'base64');
  for (const text of [
    '',
    'x',
    good.replace('SSH SIG', 'PGP SIG'),
    wrapped(bytes.subarray(0, 60)),
    wrapped(Buffer.concat([bytes, Buffer.from('more')])),
    wrapped(Buffer.from('SSHSIG')),
    'A'.repeat(100_000),
  ]) {
    t.equal(checkSshSignature(text, message, 'git'), null);
  }
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 0x41;
    t.not(checkSshSignature(wrapped(changed), message, 'git')?.isGood, true, `byte ${at}`);
  }
});
