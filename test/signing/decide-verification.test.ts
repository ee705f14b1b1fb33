import t from 'tap';
import { verifyOpenPgp } from '../../src/signing/verification/decide-verification.ts';

const alice = { id: 'alice', username: 'alice' };
const key = {
  id: 'key',
  owner: alice,
  fingerprint: 'F',
  keyIds: ['1'],
  isOwn: true,
  updatedAt: 0,
  expiresAt: 50,
};
const read = { address: 'alice@example.org', at: 0, ssh: null, keyId: '1', isTooLarge: false };
const good = { state: 'good', fingerprint: 'F', signedAt: 1, endsAt: null };

/** The reason for a signature by the key, of a commit with an address, at the time 100. */
function reasonOf(result: object | null, { isOwn = true, owner = alice as typeof alice | null } = {}): string {
  const signers = { ssh: [], gpg: [], instance: [], addresses: owner === null ? [] : [[read.address, owner]] };
  const signature = { ...read, signature: { kind: 'openpgp', text: '', signed: '' } };
  return verifyOpenPgp(signature as never, signers as never, { ...key, isOwn }, result as never, 100).reason;
}

t.test('what a signature by an OpenPGP key says', async (t) => {
  t.equal(reasonOf(good), 'valid');
  t.equal(reasonOf({ ...good, endsAt: 101 }), 'valid', 'a signature that ends later');
  t.equal(reasonOf({ ...good, endsAt: 100 }), 'expired_signature');
  t.equal(reasonOf({ ...good, endsAt: 1 }), 'expired_signature');
  t.equal(reasonOf(good, { isOwn: false }), 'no_user');
  t.equal(reasonOf(good, { owner: { id: 'bob', username: 'bob' } }), 'bad_email');
  t.equal(reasonOf(good, { owner: null }), 'unverified_email');
  t.equal(reasonOf(null), 'unavailable');
  const states: [state: string, reason: string][] = [
    ['bad', 'invalid'],
    ['malformed', 'malformed_signature'],
    ['weak_hash', 'weak_signature'],
    ['not_signing', 'unknown_key'],
    ['key_expired', 'expired_key'],
    ['key_revoked', 'revoked_key'],
    ['key_too_young', 'weak_signature'],
  ];
  for (const [state, reason] of states) t.equal(reasonOf({ ...good, state }), reason, state);
});
