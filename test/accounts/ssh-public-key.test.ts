import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { fingerprintOf, parsePublicKeyLine, worksWithBuiltInServer } from '../../src/accounts/keys/ssh-public-key.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { reasonOf } from './accounts-fixture.ts';
import { certificate, dsaKey, genuineKeys, weakRsaKey } from './ssh-keys-fixture.ts';

const [ed25519, , , , rsa] = genuineKeys as unknown as { type: string; base64: string; fingerprint: string }[];
const refusal = (line: unknown) => reasonOf(() => parsePublicKeyLine(line));

/** Encodes fields of a key blob: each with its length in front. */
function packed(...fields: (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = typeof field === 'string' ? Buffer.from(field, 'latin1') : field;
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

const line = (type: string, blob: Buffer) => `${type} ${blob.toString('base64')}`;

function ecPoint(namedCurve: string): Buffer {
  const { x, y } = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
}

t.test('keys made by OpenSSH are parsed, with the fingerprint that OpenSSH prints', (t) => {
  for (const { type, base64, fingerprint } of genuineKeys) {
    const key = parsePublicKeyLine(`${type} ${base64} alice@laptop`);
    t.match(key, { type, fingerprint, comment: 'alice@laptop' }, type);
    t.equal(key.blob.toString('base64'), base64);
    t.ok(worksWithBuiltInServer(type));
  }
  t.end();
});

t.test('space around the line and within the comment is ignored', (t) => {
  t.equal(
    parsePublicKeyLine(`\n  ${ed25519!.type}\t${ed25519!.base64}  alice  on her\tlaptop \r\n`).comment,
    'alice on her laptop',
  );
  t.equal(parsePublicKeyLine(`${ed25519!.type} ${ed25519!.base64}`).comment, '');
  t.end();
});

t.test('keys on security tokens are parsed; the built-in server cannot use them', (t) => {
  const keys = [
    line('sk-ssh-ed25519@openssh.com', packed('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 7), 'ssh:')),
    line(
      'sk-ecdsa-sha2-nistp256@openssh.com',
      packed('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', ecPoint('P-256'), 'ssh:'),
    ),
  ];
  const file = path.join(temporaryFolder(t), 'keys');
  writeFileSync(file, `${keys.join('\n')}\n`);
  const printed = spawnSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).stdout;
  for (const key of keys) {
    const { type, fingerprint } = parsePublicKeyLine(key);
    t.notOk(worksWithBuiltInServer(type));
    t.match(printed, fingerprint, 'OpenSSH reads the same key');
  }
  t.end();
});

t.test('security F06 anything but one plain public key is refused, each kind with its own reason', async (t) => {
  const good = `${ed25519!.type} ${ed25519!.base64}`;
  const cases: [string, unknown, string][] = [
    ['nothing', '', 'key_missing'],
    ['space', ' \n\t', 'key_missing'],
    ['not a text', ['x'], 'key_missing'],
    [
      'an OpenSSH private key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----',
      'key_private',
    ],
    ['a PEM private key', '-----BEGIN RSA PRIVATE KEY-----\nAAAA', 'key_private'],
    ['a PuTTY file', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', 'key_private'],
    ['an RFC 4716 file', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----', 'key_unreadable'],
    ['a PEM public key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'key_unreadable'],
    ['two keys', `${good}\n${good}`, 'key_several'],
    ['a certificate', certificate, 'key_certificate'],
    ['options', `command="rm -rf /",no-pty ${good}`, 'key_options'],
    ['an option', `restrict ${good}`, 'key_options'],
    ['options before a certificate', `cert-authority ${certificate}`, 'key_options'],
    ['DSA', dsaKey, 'key_type_unsupported'],
    ['an unknown type', 'ssh-ed448 AAAA', 'key_type_unsupported'],
    ['a curve nobody asked for', 'ecdsa-sha2-nistp192 AAAA', 'key_type_unsupported'],
    ['RSA of 1024 bits', weakRsaKey, 'key_too_short'],
    ['words', 'hello there', 'key_unreadable'],
    ['a type alone', 'ssh-ed25519', 'key_unreadable'],
    ['an inherited property', '__proto__ AAAA', 'key_unreadable'],
    ['another inherited property', 'constructor AAAA', 'key_unreadable'],
    ['broken base64', `ssh-ed25519 ${ed25519!.base64.slice(0, -1)}!`, 'key_unreadable'],
    [
      'base64url',
      line('ssh-ed25519', packed('ssh-ed25519', Buffer.alloc(32, 0xff))).replaceAll('/', '_'),
      'key_unreadable',
    ],
    ['half a key', `ssh-ed25519 ${ed25519!.base64.slice(0, 40)}`, 'key_unreadable'],
    ['another type inside', `ssh-rsa ${ed25519!.base64}`, 'key_unreadable'],
    ['a megabyte', `ssh-ed25519 ${'A'.repeat(1e6)}`, 'key_unreadable'],
  ];
  for (const [what, text, reason] of cases) t.equal(await refusal(text), reason, what);
});

t.test('a key has one canonical form, so that it cannot be added twice', async (t) => {
  const exponent = Buffer.from([1, 0, 1]);
  const modulus = parsePublicKeyLine(`${rsa!.type} ${rsa!.base64}`).blob.subarray(-257);
  const even = Buffer.from(modulus);
  even[256] = even[256]! & 0xfe;
  const point = ecPoint('P-256');
  const offCurve = Buffer.from(point);
  offCurve[64] = offCurve[64]! ^ 1;
  const rsaLine = (...fields: Buffer[]) => line('ssh-rsa', packed('ssh-rsa', ...fields));
  const ecLine = (curve: string, bytes: Buffer) =>
    line('ecdsa-sha2-nistp256', packed('ecdsa-sha2-nistp256', curve, bytes));

  t.equal(await refusal(rsaLine(exponent, modulus)), 'accepted');
  t.equal(await refusal(ecLine('nistp256', point)), 'accepted');
  const cases: [string, string][] = [
    [
      'bytes after the key',
      line('ssh-ed25519', Buffer.concat([packed('ssh-ed25519', Buffer.alloc(32)), Buffer.from([0])])),
    ],
    ['31 bytes', line('ssh-ed25519', packed('ssh-ed25519', Buffer.alloc(31)))],
    ['33 bytes', line('ssh-ed25519', packed('ssh-ed25519', Buffer.alloc(33)))],
    ['a zero byte before the modulus', rsaLine(exponent, Buffer.concat([Buffer.alloc(1), modulus]))],
    ['a zero byte before the exponent', rsaLine(Buffer.from([0, 1, 0, 1]), modulus)],
    ['a negative modulus', rsaLine(exponent, modulus.subarray(1))],
    ['an even modulus', rsaLine(exponent, even)],
    ['exponent 1', rsaLine(Buffer.from([1]), modulus)],
    ['an even exponent', rsaLine(Buffer.from([2]), modulus)],
    ['no exponent', rsaLine(Buffer.alloc(0), modulus)],
    ['a giant modulus', rsaLine(exponent, Buffer.alloc(4096, 0x7f))],
    ['another curve named', ecLine('nistp384', point)],
    ['a point off the curve', ecLine('nistp256', offCurve)],
    ['a compressed point', ecLine('nistp256', Buffer.concat([Buffer.from([2]), point.subarray(1, 33)]))],
    ['a length beyond the end', line('ssh-ed25519', Buffer.from('ffffffff00', 'hex'))],
    [
      'a security token key without its site',
      line('sk-ssh-ed25519@openssh.com', packed('sk-ssh-ed25519@openssh.com', Buffer.alloc(32))),
    ],
    [
      'a site of 256 bytes',
      line('sk-ssh-ed25519@openssh.com', packed('sk-ssh-ed25519@openssh.com', Buffer.alloc(32), 'x'.repeat(256))),
    ],
  ];
  for (const [what, text] of cases) t.equal(await refusal(text), 'key_unreadable', what);
});

t.test('truncated and changed keys are refused or parsed, never a fault', (t) => {
  const outcomes = new Set<string>();
  const tryBlob = (type: string, blob: Buffer) => {
    try {
      t.equal(parsePublicKeyLine(line(type, blob)).fingerprint, fingerprintOf(blob));
      outcomes.add('read');
    } catch (error) {
      if (!isDomainError(error)) throw error;
      outcomes.add(error.reason);
    }
  };
  for (const { type, base64 } of genuineKeys) {
    const blob = Buffer.from(base64, 'base64');
    for (let end = 0; end < blob.length; end += 1) tryBlob(type, blob.subarray(0, end));
    for (let at = 0; at < blob.length; at += 1) {
      const changed = Buffer.from(blob);
      changed[at] = changed[at]! ^ (1 << (at % 8));
      tryBlob(type, changed);
    }
  }
  t.strictSame([...outcomes].sort(), ['key_unreadable', 'read']);
  t.end();
});
