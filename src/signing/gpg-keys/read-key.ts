import { createHash } from 'node:crypto';
import { invalid, unavailable } from '../../kernel/index.ts';
import type { SigningDeps } from '../deps.ts';
import { openPgpLimits, readKeyLimits } from '../limits.ts';
import type { KeyProblem, ParsedKey } from './parsed-key.ts';
import type { run } from './read-key-task.ts';

const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`;

const field = { field: 'key' };

/** Error for a key problem. */
function refuse(problem: KeyProblem) {
  switch (problem) {
    case 'unreadable':
      return invalid(
        'gpg_key_unreadable',
        'This is not a readable OpenPGP public key. Paste the output of "gpg --armor --export", including its first and last lines.',
        field,
      );
    case 'private':
      return invalid(
        'gpg_key_private',
        'This is a private key: do not share it. Paste the output of "gpg --armor --export".',
        field,
      );
    case 'several':
      return invalid(
        'gpg_key_several',
        'Paste one key at a time: "gpg --armor --export" followed by the key ID.',
        field,
      );
    case 'too_large':
      return invalid(
        'gpg_key_too_large',
        `This key is larger than ${kibibytes(openPgpLimits.keyBytes)}. Export it without third-party signatures: "gpg --armor --export --export-options export-minimal" followed by the key ID.`,
        field,
      );
    case 'too_many_user_ids':
      return invalid('gpg_key_too_many_user_ids', `A key can have at most ${openPgpLimits.userIds} user IDs.`, field);
    case 'too_many_subkeys':
      return invalid('gpg_key_too_many_subkeys', `A key can have at most ${openPgpLimits.subkeys} subkeys.`, field);
    case 'no_user_id':
      return invalid(
        'gpg_key_no_user_id',
        'This key has no self-signed user ID. Export it from your own keyring.',
        field,
      );
    case 'weak':
      return invalid(
        'gpg_key_weak',
        'This key is too weak: RSA needs at least 2048 bits, and DSA is no longer safe. Create one with "gpg --quick-generate-key".',
        field,
      );
    case 'cannot_sign':
      return invalid(
        'gpg_key_cannot_sign',
        'This key cannot sign because neither its primary key nor a subkey is for signing.',
        field,
      );
  }
}

/**
 * Reads an armored OpenPGP public key in the worker pool; computes ids, fingerprints, user ids and validity from its
 * packets.
 *
 * Throws `invalid`, field `key`: `gpg_key_missing`, and `gpg_key_…` by the problem; `unavailable` (`busy`).
 * @param client client in the fair queue of the pool
 */
export async function readKey({ workers }: SigningDeps, client: string, text: unknown): Promise<ParsedKey> {
  if (typeof text !== 'string' || text.trim() === '')
    throw invalid('gpg_key_missing', 'Paste a public key.', { field: 'key' });
  const armored = text.trim();
  // Checked first: a private key must not reach a worker, a log line or an error of the library.
  if (/BEGIN PGP PRIVATE KEY|BEGIN (?:OPENSSH |RSA |EC )?PRIVATE KEY/.test(armored)) throw refuse('private');
  if (armored.length > openPgpLimits.keyBytes) throw refuse('too_large');
  if (!armored.startsWith('-----BEGIN PGP PUBLIC KEY BLOCK-----')) throw refuse('unreadable');
  // The library reads only the first block.
  if (armored.split('-----BEGIN ').length > 2) throw refuse('several');
  const outcome = await workers.run<typeof run>({
    task: 'openpgp-key',
    key: createHash('sha256').update(armored).digest('base64'),
    input: () => ({
      armored,
      maxUserIds: openPgpLimits.userIds,
      maxSubkeys: openPgpLimits.subkeys,
      maxStoredBytes: openPgpLimits.storedBytes,
    }),
    client,
    limits: readKeyLimits,
  });
  if (!outcome.ok) {
    if (outcome.reason === 'busy') throw unavailable('busy', 'The server is busy. Please try again in a moment.');
    throw refuse(outcome.reason === 'failed' ? 'unreadable' : 'too_large');
  }
  if (!outcome.value.ok) throw refuse(outcome.value.problem);
  return outcome.value.key;
}
