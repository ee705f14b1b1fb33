import { readFile } from 'node:fs/promises';
import { parsePublicKeyLine } from '../accounts/index.ts';
import { invalid, isDomainError } from '../kernel/index.ts';

/** Who signs releases, and for what: `scripts/release` writes both. */
const principal = 'hearth-release';
export const namespace = 'hearth-release';

const line = /^(\S+)\s+(?:namespaces="([^"]*)"\s+)?((?:ssh|ecdsa|sk)-\S+\s+\S+)/;

/**
 * The keys that may sign releases, by a file in the format of ssh-keygen's `allowed_signers`. A line with another
 * option than `namespaces` is left out, because the option would restrict the key further. Throws
 * `config_updates_signers` when it cannot be read, or has no such key.
 * @returns their fingerprints, `SHA256:…`
 */
export async function readSigners(file: string): Promise<ReadonlySet<string>> {
  const unusable = (why: string, cause?: unknown) =>
    invalid('config_updates_signers', `The signers file ${file} ${why}.`, { cause });
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw unusable('cannot be read', cause);
  });
  const signers = new Set<string>();
  for (const each of text.split('\n')) {
    const [, principals = '', namespaces = namespace, key] = line.exec(each.trim()) ?? [];
    if (!principals.split(',').includes(principal) || !namespaces.split(',').includes(namespace)) continue;
    const fingerprint = fingerprintOf(key);
    if (fingerprint !== null) signers.add(fingerprint);
  }
  if (signers.size === 0) throw unusable(`has no key for ${principal}`);
  return signers;
}

function fingerprintOf(key: string | undefined): string | null {
  try {
    return parsePublicKeyLine(key).fingerprint;
  } catch (error) {
    if (isDomainError(error)) return null;
    throw error;
  }
}
