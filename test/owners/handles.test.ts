import t from 'tap';
import { foldHandle, parseHandle } from '../../src/owners/index.ts';
import type { DomainError } from '../../src/kernel/index.ts';
import { openAccounts, outcomes, reasonOf } from '../accounts/accounts-fixture.ts';

const refused = (text: unknown) => reasonOf(() => parseHandle(text));

t.test('a handle may be 1 to 39 letters and digits with single punctuation between them', (t) => {
  for (const text of [
    'a',
    'alice',
    'Alice',
    'a1',
    '1a',
    '0x',
    'a-b',
    'a_b.c-d',
    'a'.repeat(39),
    'well.known',
    'git-fan',
    'users1',
  ]) {
    t.same(parseHandle(text), { display: text, folded: text.toLowerCase() }, text);
  }
  t.end();
});

t.test('invalid grammar is refused', async (t) => {
  const broken = [
    '',
    ' ',
    'a ',
    ' a',
    'a b',
    '-a',
    'a-',
    '.a',
    'a.',
    '_a',
    'a_',
    'a--b',
    'a.-b',
    'a..b',
    '..',
    '.',
    'a/b',
    'a\\b',
    'a%2fb',
    'a@b',
    'a~',
    'ä',
    'а',
    'a\0b',
    'a\n',
    'a\u200b',
    '\u212aate',
    'ſam',
    '\ud800',
    'a'.repeat(40),
    'a'.repeat(1e6),
    undefined,
    null,
    7,
    true,
    {},
    ['alice'],
    { toString: () => 'alice' },
  ];
  for (const text of broken) t.equal(await refused(text), 'invalid_handle', JSON.stringify(text)?.slice(0, 40));
});

t.test('handles that look like something else are refused', async (t) => {
  const lookalikes = [
    '7',
    '0123456789',
    '6f9619ff-8b86-4d11-b42d-00c04fc964ff',
    '6F9619FF-8B86-4D11-B42D-00C04FC964FF',
  ];
  const endings = ['git', 'wiki', 'atom', 'rss', 'keys', 'gpg', 'json', 'png', 'patch', 'diff', 'txt'];
  for (const text of lookalikes) t.equal(await refused(text), 'invalid_handle', text);
  for (const ending of endings) {
    t.equal(await refused(`alice.${ending}`), 'invalid_handle', ending);
    t.equal(await refused(`alice.${ending.toUpperCase()}`), 'invalid_handle', ending);
    t.equal(await refused(`alice${ending}`), 'accepted', ending);
  }
});

t.test('reserved handles are refused in any case', async (t) => {
  const words = ['about', 'API', 'Login', 'well-known', 'www', 'constructor', 'toString', 'hasOwnProperty', 'valueof'];
  for (const text of words) t.equal(await refused(text), 'reserved_handle', text);
});

t.test('security C07 folding changes A to Z and nothing that only looks like a letter', (t) => {
  t.equal(foldHandle('Alice-B.C'), 'alice-b.c');
  t.equal(foldHandle('\u212aate'), '\u212aate');
  t.end();
});

t.test('the refusal names the form field of the caller', (t) => {
  const fieldOf = (...args: [unknown, string?]) => {
    try {
      return parseHandle(...args);
    } catch (error) {
      return (error as DomainError).field;
    }
  };
  t.equal(fieldOf('a b', 'name'), 'name');
  t.equal(fieldOf('a b'), 'handle');
  t.equal(fieldOf('login', 'name'), 'name');
  t.end();
});

t.test('the namespace', async (t) => {
  const { db, owners } = await openAccounts(t);
  const claim = (handle: string, kind: 'user' | 'organisation', ownerId: string) =>
    db.write((tx) => owners.claim(tx, { handle, kind, ownerId }));

  t.test('SPEC §4.4 a handle is taken in both namespaces at once, ignoring case', async (t) => {
    await claim('Alice', 'user', 'u-alice');
    t.equal(await reasonOf(claim('alice', 'organisation', 'o-1')), 'handle_taken');
    t.equal(await reasonOf(claim('ALICE', 'user', 'u-2')), 'handle_taken');
    await claim('tools', 'organisation', 'o-tools');
    t.equal(await reasonOf(claim('Tools', 'user', 'u-2')), 'handle_taken');
    t.equal(await reasonOf(claim('orgs', 'user', 'u-2')), 'reserved_handle');
  });

  t.test('security J04 the database itself keeps the namespace', async (t) => {
    const insert = (folded: string, owner: string) =>
      db.write(({ manager }) =>
        manager.query('INSERT INTO handles VALUES (?, ?, ?, ?, NULL, NULL)', [folded, folded, 'user', owner]),
      );
    await t.rejects(insert('alice', 'u-3'), /unique/i, 'a second row of the same handle');
    await t.rejects(insert('another', 'u-alice'), /unique/i, 'a second current handle of the same owner');
  });

  t.test('a handle resolves to its owner in any case, and unknown text to no owner', async (t) => {
    t.same(await owners.resolve('ALICE'), { kind: 'user', id: 'u-alice', handle: 'Alice', avatarAt: null });
    t.same(await owners.resolve('tools'), { kind: 'organisation', id: 'o-tools', handle: 'tools', avatarAt: null });
    for (const text of [
      '',
      'nobody',
      '__proto__',
      'alice\0',
      'alice%',
      '%',
      '\ud800',
      'a'.repeat(1e6),
      "' OR 1=1 --",
    ]) {
      t.equal(await owners.resolve(text), null, text.slice(0, 20));
    }
  });

  t.test('owners are found by many ids at once', async (t) => {
    const ids = ['u-alice', 'o-tools', ...Array.from({ length: 1200 }, (_, n) => `nobody-${n}`)];
    const found = await owners.ownersById(ids);
    t.same([...found.values()].map((owner) => owner.handle).sort(), ['Alice', 'tools']);
    t.equal((await owners.ownersById([])).size, 0);
  });

  t.test('security J04 of 50 concurrent claims in both namespaces exactly one succeeds', async (t) => {
    const rounds = Number(process.env['HEARTH_CLAIM_ROUNDS'] ?? 3);
    for (let round = 1; round <= rounds; round += 1) {
      const attempts = Array.from({ length: 50 }, (_, n) =>
        claim(
          n % 3 === 0 ? `Prize-${round}` : `prize-${round}`,
          n % 2 === 0 ? 'user' : 'organisation',
          `r${round}-${n}`,
        ),
      );
      t.same(await outcomes(attempts), { accepted: 1, handle_taken: 49 });
    }
  });

  t.test('security E07 the old handle of a renamed owner stays reserved and redirects to the new one', async (t) => {
    await claim('before', 'user', 'u-mover');
    const rename = (handle: string) =>
      db.write((tx) => owners.rename(tx, { handle, kind: 'user', ownerId: 'u-mover' }));
    await rename('after');
    t.equal(await owners.resolve('before'), null);
    t.equal((await owners.resolveFormer('Before'))?.handle, 'after');
    t.equal(await owners.resolveFormer('after'), null);
    t.equal(await owners.isTaken('before'), true);
    t.equal(await reasonOf(claim('before', 'user', 'u-other')), 'handle_taken');

    await rename('BEFORE');
    t.same(
      await owners.resolve('before'),
      { kind: 'user', id: 'u-mover', handle: 'BEFORE', avatarAt: null },
      'the owner may go back',
    );
    await rename('Before');
    t.equal((await owners.resolve('before'))?.handle, 'Before', 'a change of case is a rename');
  });

  t.test('a refused rename changes nothing', async (t) => {
    await claim('steady', 'user', 'u-steady');
    const rename = db.write((tx) => owners.rename(tx, { handle: 'alice', kind: 'user', ownerId: 'u-steady' }));
    t.equal(await reasonOf(rename), 'handle_taken');
    t.equal((await owners.resolve('steady'))?.id, 'u-steady');
  });

  t.test('only an administrator frees a released handle, and no one in use is freed', async (t) => {
    await claim('gone', 'organisation', 'o-gone');
    t.equal(await reasonOf(db.write((tx) => owners.free(tx, 'gone'))), 'handle_in_use');
    await db.write((tx) => owners.release(tx, 'o-gone'));
    t.equal(await owners.resolve('gone'), null);
    t.equal(await reasonOf(claim('gone', 'user', 'u-new')), 'handle_taken');
    await db.write((tx) => owners.free(tx, 'Gone'));
    t.equal(await reasonOf(claim('gone', 'user', 'u-new')), 'accepted');
  });
});
