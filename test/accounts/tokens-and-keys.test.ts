import t from 'tap';
import { insertRow } from '../fixtures/test-database.ts';
import type { NewAccessToken } from '../../src/accounts/index.ts';
import { dayMs, minuteMs, openWithAlice, outcomes, reasonOf, refusalOf } from './accounts-fixture.ts';
import { genuineKeys } from './ssh-keys-fixture.ts';

const anywhere = { address: null };
const work: NewAccessToken = { name: 'work', access: 'write', repositoryIds: null, expiresAt: null };
const keyLine = (n: number, comment = '') => `${genuineKeys[n]!.type} ${genuineKeys[n]!.base64} ${comment}`;
const keyBlob = (n: number) => Buffer.from(genuineKeys[n]!.base64, 'base64');

async function openWithRepositories(...args: Parameters<typeof openWithAlice>) {
  const modules = await openWithAlice(...args);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  for (const id of ['r-1', 'r-2']) {
    await modules.db.write((tx) =>
      insertRow(tx, 'repositories', {
        id,
        owner_user_id: modules.alice.id,
        name: id,
        name_folded: id,
        visibility: 'PRIVATE',
        created_at: tx.now,
        updated_at: tx.now,
      }),
    );
  }
  return { ...modules, bob };
}

t.test('a token acts for its owner, within its scope', async (t) => {
  const { accounts, alice, clock } = await openWithRepositories(t);
  const { token, secret } = await accounts.addToken(alice.id, work);
  t.match(secret, /^hth_/);
  t.strictSame(token, {
    id: token.id,
    personId: alice.id,
    name: 'work',
    ending: secret.slice(-4),
    access: 'write',
    repositoryIds: null,
    onlyPackages: false,
    expiresAt: null,
    createdAt: clock.now(),
    lastUsedAt: null,
    lastUsedAddress: null,
  });
  t.strictSame(await accounts.viewerOfToken(secret, anywhere), {
    kind: 'person',
    id: alice.id,
    username: 'Alice',
    isAdministrator: false,
    via: 'token',
    scope: 'write',
    repositoryIds: null,
  });
});

t.test('a token can be limited to repositories, and loses deleted ones', async (t) => {
  const { accounts, alice, bob, db } = await openWithRepositories(t);
  const { token, secret } = await accounts.addToken(alice.id, { ...work, repositoryIds: ['r-1', 'r-2', 'r-1'] });
  t.same(token.repositoryIds, ['r-1', 'r-2']);
  t.same((await accounts.viewerOfToken(secret, anywhere))?.repositoryIds, ['r-1', 'r-2']);
  await accounts.addToken(alice.id, { ...work, name: 'all' });
  await accounts.addToken(bob.id, { ...work, repositoryIds: ['r-2'] });
  t.same((await accounts.listTokens(alice.id)).map(({ name, repositoryIds }) => [name, repositoryIds]).sort(), [
    ['all', null],
    ['work', ['r-1', 'r-2']],
  ]);
  t.equal((await accounts.listTokens(null)).length, 3);

  await db.write(({ manager }) => manager.query('DELETE FROM repositories'));
  t.same((await accounts.viewerOfToken(secret, anywhere))?.repositoryIds, [], 'none left is none, not all');
  t.same((await accounts.listTokens(bob.id))[0]?.repositoryIds, []);
});

t.test('invalid input for a token is refused, with its field', async (t) => {
  const { accounts, alice, clock } = await openWithRepositories(t);
  await accounts.addToken(alice.id, work);
  const cases: [Partial<Record<keyof NewAccessToken, unknown>>, string, string][] = [
    [{}, 'token_name_taken', 'name'],
    [{ name: '' }, 'name_missing', 'name'],
    [{ name: '  ' }, 'name_missing', 'name'],
    [{ name: 'a\nb' }, 'invalid_text', 'name'],
    [{ name: 'x'.repeat(101) }, 'text_too_long', 'name'],
    [{ name: 'new', access: 'root' }, 'invalid_access', 'access'],
    [{ name: 'new', access: undefined }, 'invalid_access', 'access'],
    [{ name: 'new', repositoryIds: [] }, 'invalid_repositories', 'repos'],
    [{ name: 'new', repositoryIds: 'r-1' }, 'invalid_repositories', 'repos'],
    [{ name: 'new', repositoryIds: [1] }, 'invalid_repositories', 'repos'],
    [{ name: 'new', repositoryIds: ['r-1', 'nowhere'] }, 'invalid_repositories', 'repos'],
    [{ name: 'new', repositoryIds: Array.from({ length: 101 }, (_, n) => `r${n}`) }, 'invalid_repositories', 'repos'],
    [{ name: 'new', expiresAt: clock.now() }, 'invalid_expiry', 'expires_in'],
    [{ name: 'new', expiresAt: NaN }, 'invalid_expiry', 'expires_in'],
    [{ name: 'new', expiresAt: clock.now() + 0.5 }, 'invalid_expiry', 'expires_in'],
    [{ name: 'new', expiresAt: undefined }, 'invalid_expiry', 'expires_in'],
  ];
  for (const [changes, reason, field] of cases) {
    const attempt = accounts.addToken(alice.id, { ...work, ...changes } as NewAccessToken);
    t.match(await refusalOf(attempt), { reason, field }, JSON.stringify(changes).slice(0, 60));
  }
  t.equal(await reasonOf(accounts.addToken('nobody', work)), 'unknown_person');
  t.equal((await accounts.listTokens(alice.id)).length, 1, 'a refusal leaves nothing behind');
});

t.test('of 20 concurrent tokens of one name one is made', async (t) => {
  const { accounts, alice, bob } = await openWithRepositories(t);
  t.same(await outcomes(Array.from({ length: 20 }, () => accounts.addToken(alice.id, work))), {
    accepted: 1,
    token_name_taken: 19,
  });
  t.equal(await reasonOf(accounts.addToken(bob.id, work)), 'accepted', 'another person may use the name');
});

t.test('security I11 the numbers of tokens and keys per person are limited', async (t) => {
  const { accounts, alice, bob } = await openWithRepositories(t, { maxTokensPerPerson: 3, maxKeysPerPerson: 2 });
  const tokens = Array.from({ length: 6 }, (_, n) => accounts.addToken(alice.id, { ...work, name: `token ${n}` }));
  t.same(await outcomes(tokens), { accepted: 3, too_many_tokens: 3 });
  const keys = genuineKeys.map((_, n) => accounts.addKey(alice.id, { line: keyLine(n) }));
  t.same(await outcomes(keys), { accepted: 2, too_many_keys: 3 });
  t.equal(await reasonOf(accounts.addToken(bob.id, work)), 'accepted');
});

t.test('security D11 missing, mistyped, foreign, expired and revoked tokens are all refused', async (t) => {
  const { accounts, alice, bob, clock } = await openWithRepositories(t);
  const { token, secret } = await accounts.addToken(alice.id, { ...work, expiresAt: clock.now() + 30 * dayMs });
  for (const text of [
    '',
    secret.slice(0, -1),
    `${secret} `,
    secret.toLowerCase(),
    `hth_${'0'.repeat(32)}4S1yg8`,
    undefined,
    null,
    {},
  ]) {
    t.equal(await accounts.viewerOfToken(text as string, anywhere), null, String(text));
  }
  clock.advance(30 * dayMs - 1);
  t.ok(await accounts.viewerOfToken(secret, anywhere));
  clock.advance(1);
  t.equal(await accounts.viewerOfToken(secret, anywhere), null, 'expired');
  t.equal((await accounts.listTokens(alice.id)).length, 1, 'its owner still sees why');

  const other = await accounts.addToken(alice.id, { ...work, name: 'other' });
  t.equal(await reasonOf(accounts.removeToken(bob.id, other.token.id)), 'unknown_token', 'security E01 only their own');
  t.ok(await accounts.viewerOfToken(other.secret, anywhere));
  await accounts.removeToken(alice.id, other.token.id);
  t.equal(await accounts.viewerOfToken(other.secret, anywhere), null);
  t.equal(await reasonOf(accounts.removeToken(alice.id, other.token.id)), 'unknown_token');
  await accounts.removeToken(alice.id, token.id);
});

t.test('a token of an administrator administers only when it is unlimited, and while its owner does', async (t) => {
  const { accounts, alice, bob } = await openWithRepositories(t);
  await accounts.setAdministrator(alice.id, true);
  await accounts.setAdministrator(bob.id, true);
  const administers = async (changes: Partial<NewAccessToken>) => {
    const { secret } = await accounts.addToken(alice.id, { ...work, name: JSON.stringify(changes), ...changes });
    return { secret, response: (await accounts.viewerOfToken(secret, anywhere))?.isAdministrator };
  };
  t.equal((await administers({ access: 'write' })).response, false);
  t.equal((await administers({ access: 'admin', repositoryIds: ['r-1'] })).response, false);
  const { secret, response } = await administers({ access: 'admin' });
  t.equal(response, true);
  await accounts.setAdministrator(alice.id, false);
  t.equal((await accounts.viewerOfToken(secret, anywhere))?.isAdministrator, false);
});

t.test('last use of a token is recorded with its address, at most once a minute', async (t) => {
  const { accounts, alice, clock } = await openWithRepositories(t);
  const { secret } = await accounts.addToken(alice.id, work);
  const use = async (address: string | null) => {
    await Promise.all(Array.from({ length: 20 }, () => accounts.viewerOfToken(secret, { address })));
    await accounts.settled();
    const [token] = await accounts.listTokens(alice.id);
    return [token!.lastUsedAt, token!.lastUsedAddress];
  };
  const start = clock.now();
  t.same(await use('192.0.2.1'), [start, '192.0.2.1']);
  clock.advance(minuteMs - 1);
  t.same(await use('192.0.2.2'), [start, '192.0.2.1']);
  clock.advance(1);
  t.same(await use('192.0.2.2'), [start + minuteMs, '192.0.2.2']);
  t.equal((await accounts.personById(alice.id)).lastSeenAt, start + minuteMs);
});

t.test('a key identifies its owner until it is removed', async (t) => {
  const { accounts, alice, bob, clock } = await openWithRepositories(t);
  const key = await accounts.addKey(alice.id, { title: '', line: keyLine(0, 'alice@laptop') });
  t.strictSame(key, {
    id: key.id,
    personId: alice.id,
    title: 'alice@laptop',
    type: 'ssh-ed25519',
    fingerprint: genuineKeys[0]!.fingerprint,
    line: keyLine(0, '').trim(),
    uses: 'both',
    worksWithBuiltInServer: true,
    createdAt: clock.now(),
    lastUsedAt: null,
    lastUsedAddress: null,
  });
  t.strictSame(await accounts.viewerOfKey(keyBlob(0), anywhere), {
    viewer: {
      kind: 'person',
      id: alice.id,
      username: 'Alice',
      isAdministrator: false,
      via: 'key',
      scope: 'admin',
      repositoryIds: null,
    },
    keyId: key.id,
  });
  t.equal(await accounts.viewerOfKey(keyBlob(1), anywhere), null);
  t.equal(await accounts.viewerOfKey(Buffer.alloc(0), anywhere), null);
  t.equal(await reasonOf(accounts.removeKey(bob.id, key.id)), 'unknown_key', 'security E01 only their own');
  await accounts.removeKey(alice.id, key.id);
  t.equal(await accounts.viewerOfKey(keyBlob(0), anywhere), null);
  t.equal(await reasonOf(accounts.removeKey(alice.id, key.id)), 'unknown_key');
});

t.test('a key is named by its title, else its comment, else its type', async (t) => {
  const { accounts, alice } = await openWithRepositories(t);
  const titleOf = async (n: number, title: string | undefined, comment: string) =>
    (await accounts.addKey(alice.id, { ...(title !== undefined && { title }), line: keyLine(n, comment) })).title;
  t.equal(await titleOf(0, ' My laptop ', 'alice@laptop'), 'My laptop');
  t.equal(await titleOf(1, undefined, `alice\0\u202e${'x'.repeat(200)}`), `alice ${'x'.repeat(94)}`);
  t.equal(await titleOf(2, '', ''), 'ecdsa-sha2-nistp384');
  t.equal(await reasonOf(accounts.addKey(alice.id, { title: 'a\0', line: keyLine(3) })), 'invalid_text');
  t.equal(await reasonOf(accounts.addKey(alice.id, { line: 'nonsense' })), 'key_unreadable');
  t.equal(await reasonOf(accounts.addKey('nobody', { line: keyLine(3) })), 'unknown_person');
  t.same((await accounts.listKeys(alice.id)).length, 3);
  t.same((await accounts.listKeys(null)).length, 3);
});

t.test('security F05 a key belongs to one person, and the refusal does not say to whom', async (t) => {
  const { accounts, alice, bob } = await openWithRepositories(t);
  await accounts.addKey(alice.id, { line: keyLine(0, 'alice@laptop') });
  const refusals = await Promise.all(
    [alice, bob].map(({ id }) =>
      accounts.addKey(id, { line: keyLine(0, 'other comment') }).catch((error) => `${error.code} ${error.message}`),
    ),
  );
  t.same(refusals, ['conflict This key is already in use.', 'conflict This key is already in use.']);
  t.same(
    await outcomes(
      Array.from({ length: 10 }, (_, n) => accounts.addKey(n % 2 ? alice.id : bob.id, { line: keyLine(1) })),
    ),
    {
      accepted: 1,
      key_in_use: 9,
    },
  );
});

t.test('security F01 a key for signing only signs nobody in, and takes the key from nobody', async (t) => {
  const { accounts, alice, bob } = await openWithRepositories(t);
  const signing = await accounts.addKey(bob.id, { line: keyLine(0), uses: 'signing' });
  t.equal(await accounts.viewerOfKey(keyBlob(0), anywhere), null);
  t.same(await accounts.publicKeyLines(bob.id), []);
  const own = await accounts.addKey(alice.id, { line: keyLine(0), uses: 'authentication' });
  t.equal((await accounts.viewerOfKey(keyBlob(0), anywhere))?.viewer.id, alice.id);
  t.same(await accounts.publicKeyLines(alice.id), [keyLine(0).split(' ').slice(0, 2).join(' ')]);
  t.same(
    new Map((await accounts.keyHolders([own.fingerprint])).map(({ personId, uses }) => [personId, uses])),
    new Map([
      [bob.id, 'signing'],
      [alice.id, 'authentication'],
    ]),
  );
  t.equal(await reasonOf(accounts.addKey(bob.id, { line: keyLine(0), uses: 'signing' })), 'key_in_use', 'not twice');
  t.equal(await reasonOf(accounts.setKeyUse(bob.id, signing.id, 'both')), 'key_only_signs');
  t.equal(await reasonOf(accounts.setKeyUse(bob.id, own.id, 'signing')), 'unknown_key', 'security E01 only their own');
  t.equal((await accounts.setKeyUse(alice.id, own.id, 'both')).uses, 'both');
  t.equal((await accounts.setKeyUse(alice.id, own.id, 'signing')).uses, 'signing');
  t.equal(await accounts.viewerOfKey(keyBlob(0), anywhere), null, 'from then on');
  t.equal(await reasonOf(accounts.addKey(alice.id, { line: keyLine(1), uses: 'all' as never })), 'invalid_key_use');
});

t.test('security F01 offering a key is no use of it; signing with it is', async (t) => {
  const { accounts, alice, clock } = await openWithRepositories(t);
  await accounts.addKey(alice.id, { line: keyLine(0) });
  const lastUse = async () => {
    await accounts.settled();
    const [key] = await accounts.listKeys(alice.id);
    return [key!.lastUsedAt, key!.lastUsedAddress];
  };
  t.ok(await accounts.viewerOfKey(keyBlob(0), { address: '192.0.2.1', hasSigned: false }));
  t.same(await lastUse(), [null, null]);
  await accounts.viewerOfKey(keyBlob(0), { address: '192.0.2.1', hasSigned: true });
  t.same(await lastUse(), [clock.now(), '192.0.2.1']);
});

t.test('the key of a disabled account is refused', async (t) => {
  const { accounts, alice } = await openWithRepositories(t);
  await accounts.addKey(alice.id, { line: keyLine(0) });
  await accounts.setDisabled(alice.id, true);
  t.equal(await accounts.viewerOfKey(keyBlob(0), anywhere), null);
  await accounts.setDisabled(alice.id, false);
  t.ok(await accounts.viewerOfKey(keyBlob(0), anywhere));
});
