import { nullIfAbsent } from '../../files/index.ts';
import { lstat, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { invalid } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { SharedKeys } from '../../nodes/index.ts';
import { fingerprint, generateKey, readPrivateKey } from '../../openssh/index.ts';
import { makeSecondKey, secondKeyFingerprint } from './second-host-key.ts';

/** The parts of `SharedKeys` that decide which key the servers of a database present. */
export type SharedHostKeys = Pick<SharedKeys, 'isShared' | 'agree' | 'find' | 'keep'>;

interface HostKey {
  /** The private key in OpenSSH format. */
  privateKey: string;
  /** `SHA256:…`, as clients show it. */
  fingerprint: string;
  /** Offered after the first key: ECDSA on P-256, as PEM. */
  second: { privateKey: string; fingerprint: string };
}

/**
 * The host keys: `ssh/host_ed25519` and `ssh/host_ecdsa` in the data folder, generated on the first start and kept,
 * since every client remembers the key it has seen. A client that knows the first is never shown the second.
 *
 * Throws `host_key_unusable` (and never replaces the file) if other users can read a file, if it is not a regular file,
 * or if it contains anything but an unencrypted Ed25519 key in OpenSSH format, or a P-256 key in PEM.
 */
export async function hostKey(dataDir: string): Promise<HostKey> {
  const first = fileOf(dataDir, 'host_ed25519');
  const second = fileOf(dataDir, 'host_ecdsa');
  return describe(
    dataDir,
    await readOrMake(first, () => generateKey('hearth').privateKey),
    await readOrMake(second, makeSecondKey),
  );
}

/**
 * The host keys that all servers of a database present: those that the first of them had. A server alone, on SQLite,
 * has those of its folder; a folder without any takes those of the database, for a restored backup of several servers.
 * Otherwise the folder gets a copy, and other keys in it are set aside as `….replaced`.
 *
 * Throws as `hostKey`, and `shared_key_unreadable`.
 */
export async function agreedHostKey(dataDir: string, shared: SharedHostKeys, logger: Logger): Promise<HostKey> {
  for (const name of names) {
    const file = fileOf(dataDir, name);
    const isThere = (await lstat(file).catch(nullIfAbsent)) !== null;
    if (isThere && !shared.isShared) continue;
    const kept = await shared.find(nameOf(name));
    if (kept === null) continue;
    if (isThere) {
      if ((await readFile(file, 'utf8')) === kept) continue;
      await rename(file, `${file}.replaced`);
      logger.warn('ssh.host_key_replaced', { file, aside: `${file}.replaced` });
    }
    await writeOnce(file, kept);
  }
  const own = await hostKey(dataDir);
  if (!shared.isShared) return own;
  const first = await shared.agree(nameOf('host_ed25519'), { print: own.fingerprint, secret: own.privateKey });
  const second = await shared.agree(nameOf('host_ecdsa'), {
    print: own.second.fingerprint,
    secret: own.second.privateKey,
  });
  const agreed = describe(dataDir, first, second);
  // Another server that started at the same moment was first.
  if (first !== own.privateKey || second !== own.second.privateKey) return agreedHostKey(dataDir, shared, logger);
  return agreed;
}

/** Makes the host keys of the folder those of all servers; each presents them from its next start on. */
export async function shareHostKey(dataDir: string, shared: SharedHostKeys): Promise<HostKey> {
  const own = await hostKey(dataDir);
  await shared.keep(nameOf('host_ed25519'), { print: own.fingerprint, secret: own.privateKey });
  await shared.keep(nameOf('host_ecdsa'), { print: own.second.fingerprint, secret: own.second.privateKey });
  return own;
}

const names = ['host_ed25519', 'host_ecdsa'] as const;
const nameOf = (name: (typeof names)[number]): string => `ssh ${name}`;
const fileOf = (dataDir: string, name: (typeof names)[number]): string => join(dataDir, 'ssh', name);

function describe(dataDir: string, privateKey: string, second: string): HostKey {
  const first = readHostKey(fileOf(dataDir, 'host_ed25519'), privateKey);
  const print = secondKeyFingerprint(second);
  if (print === null) throw unusable(fileOf(dataDir, 'host_ecdsa'), 'it is not an unencrypted P-256 key in PEM');
  return { ...first, second: { privateKey: second, fingerprint: print } };
}

async function readOrMake(file: string, make: () => string): Promise<string> {
  const found = await lstat(file).catch(nullIfAbsent);
  if (found === null) {
    await writeOnce(file, make());
  } else if (!found.isFile()) {
    throw unusable(file, 'it is not a plain file');
  } else if ((found.mode & 0o077) !== 0) {
    throw unusable(file, `others may read it; run: chmod 600 ${file}`);
  }
  return readFile(file, 'utf8');
}

function readHostKey(file: string, privateKey: string): Omit<HostKey, 'second'> {
  if (!privateKey.startsWith('-----BEGIN OPENSSH PRIVATE KEY-----')) {
    throw unusable(file, 'it is not a private key in OpenSSH format');
  }
  const key = readPrivateKey(privateKey);
  if ('blob' in key) return { privateKey, fingerprint: fingerprint(key.blob) };
  if (key.unreadable === 'other_type') throw unusable(file, `it holds a key of type ${key.type}`);
  if (key.unreadable === 'halves_differ') throw unusable(file, 'its two halves do not belong together');
  throw unusable(file, 'it is damaged or protected by a passphrase');
}

/** Written atomically: after a crash, the next start must not find a partial key. */
async function writeOnce(file: string, content: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${file}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  for (const each of [folder, dirname(folder)]) {
    const opened = await open(each, 'r');
    await opened.sync().finally(() => opened.close());
  }
}

function unusable(file: string, why: string) {
  return invalid('host_key_unusable', `The SSH host key ${file} cannot be used: ${why}.`);
}
