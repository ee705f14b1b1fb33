import { nullIfAbsent } from '../../files/index.ts';
import { lstat, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { invalid } from '../../kernel/index.ts';
import { fingerprint, generateKey, readPrivateKey } from '../../openssh/index.ts';
import { makeSecondKey, secondKeyFingerprint } from './second-host-key.ts';

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
  const file = join(dataDir, 'ssh', 'host_ed25519');
  const first = readHostKey(file, await readOrMake(file, () => generateKey('hearth').privateKey));
  const secondFile = join(dataDir, 'ssh', 'host_ecdsa');
  const privateKey = await readOrMake(secondFile, makeSecondKey);
  const print = secondKeyFingerprint(privateKey);
  if (print === null) throw unusable(secondFile, 'it is not an unencrypted P-256 key in PEM');
  return { ...first, second: { privateKey, fingerprint: print } };
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
