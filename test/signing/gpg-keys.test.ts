// OpenPGP keys of people: what is accepted, what is refused, and that a key takes nothing from another person.
import t from 'tap';
import { randomBytes } from 'node:crypto';
import { sendRequest, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { readIssuer } from '../../src/signing/verification/read-issuer.ts';
import { KeyRing } from './signed-commits.ts';

t.setTimeout(180_000);

const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'accepted',
    (error: unknown) => (isDomainError(error) ? error.reason : String(error)),
  );

/** A key in armour whose packets were replaced. */
const armour = (bytes: Buffer): string =>
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PGP PUBLIC KEY BLOCK-----\n`;
const contentOf = (armored: string): Buffer =>
  Buffer.from(
    armored
      .split('\n\n')[1]!
      .split('\n')
      .filter((line) => line !== '' && !/^[-=]/.test(line))
      .join(''),
    'base64',
  );

t.test('keys that are accepted, and those that are refused, each with its reason', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_KEYS_MAX_PER_PERSON: '3' } });
  const { signing } = web.modules;
  const alice = await signedIn(web, 'alice');
  const bob = await signedIn(web, 'bob');
  const ring = new KeyRing(t);
  const fingerprint = ring.make('Alice <alice@example.org>', 'ed25519');
  const armored = ring.export(fingerprint);
  const add = (text: unknown, who = alice) => reasonOf(signing.addGpgKey(who.id, text));

  t.equal(await add(''), 'gpg_key_missing');
  t.equal(await add(undefined), 'gpg_key_missing');
  t.equal(await add('hello'), 'gpg_key_unreadable');
  t.equal(await add(ring.run(['--armor', '--export-secret-keys', fingerprint])), 'gpg_key_private');
  t.equal(await add('x'.repeat(300_000)), 'gpg_key_too_large');
  t.equal(await add(`${armored}\n${armored}`), 'gpg_key_several', 'two blocks');
  t.equal(await add(armored.slice(0, 200)), 'gpg_key_unreadable');
  t.equal(await add(armour(randomBytes(500))), 'gpg_key_unreadable');
  t.equal(await add(armored.replace('PUBLIC KEY BLOCK', 'MESSAGE')), 'gpg_key_unreadable');
  const other = ring.make('Second <second@example.org>', 'ed25519');
  t.equal(await add(ring.run(['--armor', '--export', fingerprint, other])), 'gpg_key_several');
  t.equal(await add(ring.export(ring.make('Old <old@example.org>', 'dsa1024'))), 'gpg_key_weak');
  t.equal(await add(ring.export(ring.make('Short <short@example.org>', 'rsa1024'))), 'gpg_key_weak');
  t.equal(
    await add(ring.export(ring.make('Cert <cert@example.org>', 'ed25519', { usage: 'cert' }))),
    'gpg_key_cannot_sign',
  );
  const bytes = contentOf(armored);
  for (let at = 0; at < bytes.length; at += 7) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 0x55;
    await add(armour(changed), bob);
  }
  // What is not signed, such as the hint who made a signature, may be changed.
  for (const { id, ...stored } of await signing.listGpgKeys(bob.id)) {
    t.match(stored, { fingerprint, userIds: ['Alice <alice@example.org>'] }, 'what is not certified is not accepted');
    await signing.removeGpgKey(bob.id, id);
  }

  const many = ring.make('One <one@example.org>', 'ed25519');
  for (let count = 0; count < 50; count += 1) ring.run(['--quick-add-uid', many, `More <${count}@example.org>`]);
  t.equal(await add(ring.export(many)), 'gpg_key_too_many_user_ids');

  const { key, isNew } = await signing.addGpgKey(alice.id, `  ${armored.replaceAll('\n', '\r\n')}\n`);
  t.ok(isNew);
  t.match(key, {
    fingerprint,
    keyId: fingerprint.slice(-16),
    algorithm: 'Ed25519',
    userIds: ['Alice <alice@example.org>'],
    addresses: ['alice@example.org'],
    subkeys: [],
    expiresAt: null,
    revoked: false,
  });
  t.match(
    web.log.findLast(({ event }) => event === 'key.added')?.fields,
    { personId: alice.id, fingerprint, uses: 'signing' },
    'in the words of other keys',
  );

  t.test('the same key by another person', async (t) => {
    t.equal(await add(armored, bob), 'accepted', 'nobody can keep its owner from using it');
    t.equal((await signing.listGpgKeys(bob.id)).length, 1);
    t.equal((await signing.listGpgKeys(alice.id)).length, 1);
    t.same(await signing.ownAddresses(bob.id, await signing.listGpgKeys(bob.id)), new Set());
  });
  t.test('a new copy takes the place of the old one', async (t) => {
    ring.run(['--quick-add-key', fingerprint, 'ed25519', 'sign', '2y']);
    const again = await signing.addGpgKey(alice.id, ring.export(fingerprint));
    t.notOk(again.isNew);
    t.equal(again.key.id, key.id);
    t.equal(again.key.subkeys.length, 1);
    t.equal((await signing.listGpgKeys(alice.id)).length, 1);
    t.ok(web.log.some(({ event }) => event === 'key.updated'));
  });
  t.test('a person has a limited number of keys', async (t) => {
    t.equal(await add(ring.export(other)), 'accepted');
    t.equal(await add(ring.export(ring.make('Third <third@example.org>', 'ed25519'))), 'accepted');
    t.equal(await add(ring.export(ring.make('Fourth <fourth@example.org>', 'ed25519'))), 'too_many_gpg_keys');
    t.equal(await add(ring.export(other)), 'accepted', 'a copy of one that is there');
  });
  t.test('security E01 only their own is removed', async (t) => {
    t.equal(await reasonOf(signing.removeGpgKey(bob.id, key.id)), 'unknown_key');
    await signing.removeGpgKey(alice.id, key.id);
    t.equal(await reasonOf(signing.removeGpgKey(alice.id, key.id)), 'unknown_key');
  });
  t.test('the certifications of others are not stored', async (t) => {
    ring.run(['--local-user', many, '--quick-sign-key', fingerprint]);
    const given = ring.export(fingerprint);
    const stored = await signing.addGpgKey(alice.id, given);
    const packets = (input: string) => ring.run(['--list-packets'], { input });
    t.match(packets(given), many.slice(-16));
    t.notMatch(packets((await signing.armoredKeys(alice.id)).join('')), many.slice(-16));
    t.equal(stored.key.fingerprint, fingerprint);
  });
});

t.test('the issuer of a signature is read from any text', async (t) => {
  const ring = new KeyRing(t);
  const key = ring.make('Alice <alice@example.org>', 'ed25519');
  const signature = ring.sign(key, 'text');
  t.equal(readIssuer(signature), key.slice(-16));
  t.equal(readIssuer(signature.replaceAll('\n', '\r\n')), key.slice(-16));
  const [head, body = ''] = signature.split('\n\n');
  const bytes = Buffer.from(body.split('\n').slice(0, -3).join(''), 'base64');
  for (let length = 0; length < bytes.length; length += 1) {
    const cut = bytes.subarray(0, length).toString('base64');
    t.ok([null, key.slice(-16)].includes(readIssuer(`${head}\n\n${cut}\n-----END PGP SIGNATURE-----`)));
  }
  for (const text of [
    '',
    'x',
    head!,
    signature.replace('BEGIN PGP', 'BEGIN SSH'),
    `${head}\n\n!!!!\n-----END PGP SIGNATURE-----`,
  ])
    t.equal(readIssuer(text), null);
});

t.test('the pages, the files of a person, and the API', async (t) => {
  const web = await startWeb(t);
  const { accounts } = web.modules;
  const alice = await signedIn(web, 'alice');
  await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  const ring = new KeyRing(t);
  const armored = ring.export(ring.make('Alice <b>&lt;</b> <alice@example.org>', 'ed25519'));
  const foreign = ring.export(ring.make('Carol <carol@example.org>', 'ed25519', { expires: '1d', at: 1_700_000_000 }));

  t.match((await alice.get('/settings/gpg')).body, /<details[^>]* open/, 'the way to a first key');
  const wrong = await alice.post('/settings/gpg', { key: 'what is <this>?' });
  t.equal(wrong.status, 422);
  t.match(wrong.body, /not a readable OpenPGP public key[\s\S]*what is &lt;this&gt;\?/, 'with what was typed');
  const leaked = await alice.post('/settings/gpg', { key: ring.run(['--armor', '--export-secret-keys']) });
  t.match(leaked.body, /This is a private key/);
  t.notMatch(leaked.body, /BEGIN PGP PRIVATE/, 'a private key is not sent back');
  t.notMatch(JSON.stringify(web.log), /BEGIN PGP PRIVATE/);
  t.equal((await alice.post('/settings/gpg', { key: armored })).headers.location, '/settings/gpg?done=gpg-key-added');
  t.equal((await alice.post('/settings/gpg', { key: armored })).headers.location, '/settings/gpg?done=gpg-key-updated');
  await alice.post('/settings/gpg', { key: foreign });
  const { body } = await alice.get('/settings/gpg');
  t.match(body, /Alice &lt;b&gt;[\s\S]*Your address/);
  t.match(body, /This key expired on 2023-11-15\.[\s\S]*None of its user IDs is one of your verified email addresses/);

  const line = (comment: string) =>
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDQM3ETq+FeVbT0bjHGWqn/cJ+WRj0lfusLeXXvb/ald ${comment}`;
  const only = { title: 'desk', key: line('secret-name'), uses: 'signing' };
  t.equal((await alice.post('/settings/keys', only)).headers.location, '/settings/keys?done=signing-key-added');
  t.match((await alice.get('/settings/keys')).body, /Signing commits only/);
  t.equal((await sendRequest(web, '/alice.keys')).body, '', 'it signs nobody in');
  const firstId = async () => (await accounts.listKeys(alice.id))[0]!.id;
  const id = await firstId();
  t.equal((await alice.post(`/settings/keys/${id}/use`, { uses: 'both' })).status, 422);
  await alice.post(`/settings/keys/${id}/delete`);
  await alice.post('/settings/keys', { title: '', key: line('secret-name') });
  const keys = await sendRequest(web, '/Alice.keys');
  t.equal(keys.headers['content-type'], 'text/plain; charset=utf-8');
  t.equal(keys.body, `${line('').trim()}\n`, 'without the comment');
  const second = await firstId();
  t.equal((await alice.post(`/settings/keys/${second}/use`, { uses: 'authentication' })).status, 303);
  t.match((await alice.get('/settings/keys')).body, /Signing in only[\s\S]*Use for signing/);

  const gpg = (await sendRequest(web, '/alice.gpg')).body;
  t.equal(gpg.match(/BEGIN PGP PUBLIC KEY BLOCK/g)?.length, 2);
  t.match(
    new KeyRing(t).run(['--import', '--import-options', 'show-only', '--with-colons'], { input: gpg }),
    /^uid:.*alice@example\.org/m,
  );

  const of = (file: string) => sendRequest(web, file).then(({ status }) => status);
  t.same(
    await Promise.all(['/nobody.keys', '/nobody.gpg', '/alice.keysx', '/alice.txt'].map(of)),
    [404, 404, 404, 404],
  );

  const { secret } = await accounts.addToken(alice.id, {
    name: 'api',
    access: 'admin',
    repositoryIds: null,
    expiresAt: null,
  });
  const api = async (method: string, path: string, body?: object) => {
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: response.body === '' ? null : JSON.parse(response.body) };
  };
  const listed = await api('GET', '/user/gpg_keys');
  t.equal(listed.status, 200);
  t.match(
    listed.body.find(({ emails: [{ email }] }: { emails: [{ email: string }] }) => email === 'alice@example.org'),
    { key_id: /^[0-9A-F]{16}$/, can_sign: true, emails: [{ email: 'alice@example.org' }] },
  );
  t.equal((await api('POST', '/user/gpg_keys', { armored_public_key: 'x' })).status, 422);
  t.equal((await api('POST', '/user/gpg_keys', { armored_public_key: armored })).status, 201);
  t.same(JSON.parse((await sendRequest(web, '/api/v1/users/alice/gpg_keys')).body), listed.body);
  t.match(JSON.parse((await sendRequest(web, '/api/v1/users/alice/keys')).body), [{ key: line('').trim() }]);
  t.equal((await api('GET', '/user/keys')).body[0].uses, 'authentication');
  t.equal((await api('DELETE', `/user/gpg_keys/${listed.body[0].id}`)).status, 204);
  t.equal((await api('DELETE', `/user/gpg_keys/${listed.body[0].id}`)).status, 404);

  await accounts.setDisabled(alice.id, true);
  t.same(await Promise.all(['/alice.keys', '/alice.gpg', '/api/v1/users/alice/keys'].map(of)), [404, 404, 404]);
});
