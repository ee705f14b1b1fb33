import t from 'tap';
import { anonymous, localAdministrator, repositoryLevel } from '../../src/access/index.ts';
import type { CollaboratorRole, OrganisationRole, PersonViewer, Viewer } from '../../src/access/index.ts';
import type { Database } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createSearch, mostCounted, mostHits } from '../../src/search/index.ts';
import type { Search } from '../../src/search/index.ts';
import { fold } from '../../src/search/fold-text.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import type { SeededRandom } from '../fixtures/seeded-random.ts';
import type { Owner as Test } from '../fixtures/temporary-folder.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

/** SPEC §2.4 */
interface SearchResponse {
  repositories: { owner: string; name: string; visibility: string; description: string; createdAt: string }[];
  persons: { username: string; displayName: string }[];
}

interface Modules {
  db: Database;
  search: Search;
  find(viewer: Viewer, text: string): Promise<SearchResponse>;
}

async function openSearch(t: Test): Promise<Modules> {
  const { db } = await openTestDatabase(t);
  const search = createSearch({ db, logger: silentLogger });
  t.teardown(() => search.close());
  return {
    db,
    search,
    find: async (viewer, text) => JSON.parse((await search.findAll(viewer, text)).toString()) as SearchResponse,
  };
}

const personViewer = (id: string, change: Partial<PersonViewer> = {}): PersonViewer => ({
  kind: 'person',
  id,
  username: id,
  isAdministrator: false,
  via: 'token',
  scope: 'read',
  repositoryIds: null,
  ...change,
});

const change = (db: Database, sql: string, ...parameters: unknown[]) =>
  db.write((tx) => tx.manager.query(sql, parameters));

async function addOwner(
  db: Database,
  id: string,
  handle: string,
  kind: 'user' | 'organisation' = 'user',
  displayName = '',
): Promise<void> {
  await db.write(async (tx) => {
    const row = { id, display_name: displayName, created_at: tx.now };
    if (kind === 'user') await insertRow(tx, 'users', { ...row, username: handle });
    else await insertRow(tx, 'organisations', { ...row, name: handle });
    await insertRow(tx, 'handles', { folded: handle.toLowerCase(), display: handle, kind, owner_id: id });
  });
}

interface NewRow {
  id: string;
  owner: string;
  name: string;
  description?: string;
  isPrivate?: boolean;
  ofOrganisation?: boolean;
}

const addRepository = (
  db: Database,
  { id, owner, name, description = '', isPrivate = false, ofOrganisation = false }: NewRow,
) =>
  db.write((tx) =>
    insertRow(tx, 'repositories', {
      id,
      [ofOrganisation ? 'owner_org_id' : 'owner_user_id']: owner,
      name,
      name_folded: name.toLowerCase(),
      description,
      visibility: isPrivate ? 'PRIVATE' : 'PUBLIC',
      created_at: Date.UTC(2026, 1, 3, 4, 5, 6, 7),
      updated_at: 1,
    }),
  );

t.test('SPEC §2.4 the JSON has exactly these fields, in this order, as these types', async (t) => {
  const { db, search } = await openSearch(t);
  await addOwner(db, 'a', 'Alice', 'user', 'Alice A. "Quote" \\ Ünïcode');
  await addRepository(db, {
    id: 'r',
    owner: 'a',
    name: 'Tool',
    description: 'A "fine" tool / \\ 🔥 </script>',
    isPrivate: true,
  });
  t.equal(
    (await search.findAll(personViewer('a'), 'alice')).toString(),
    '{"repositories":[{"owner":"Alice","name":"Tool","visibility":"PRIVATE","description":"A \\"fine\\" tool / \\\\ 🔥 </script>",' +
      '"createdAt":"2026-02-03T04:05:06.007Z"}],"persons":[{"username":"Alice","displayName":"Alice A. \\"Quote\\" \\\\ Ünïcode"}]}',
  );
  for (const blank of ['', ' ', '\t\n\u00a0', '\u0001']) {
    t.equal(
      (await search.findAll(anonymous, blank)).toString(),
      '{"repositories":[],"persons":[]}',
      'SPEC §4.2 rule 3',
    );
  }
});

t.test('SPEC §4.2 case is folded for all of Unicode, and no character of a query is special', async (t) => {
  const { db, find } = await openSearch(t);
  await addOwner(db, 'a', 'alice');
  const descriptions: Record<string, string> = {
    school: 'Une école à côté',
    street: 'Die Straße',
    greek: 'ΟΔΟΣ και ΟΣΑ',
    turkish: 'İstanbul',
    wild: '100% of a_b *and* "quotes"; DROP (x) NEAR ^y - z\\',
    plain: '100 of ab',
    flame: 'a 🔥 b',
    cyrillic: 'ПРИВЕТ',
  };
  for (const [name, description] of Object.entries(descriptions))
    await addRepository(db, { id: name, owner: 'a', name, description });
  const cases: [string, string[]][] = [
    ['ÉCOLE', ['school']],
    ['e\u0301cole', ['school']],
    ['ecole', []],
    ['STRAẞE', ['street']],
    ['strasse', []],
    ['οδος', ['greek']],
    ['ΟΔΟΣ', ['greek']],
    ['ος', ['greek']],
    ['οσ', ['greek']],
    ['ΟΣ', ['greek']],
    ['i̇stanbul', ['turkish']],
    ['İSTANBUL', ['turkish']],
    ['istanbul', []],
    ['stanbul', ['turkish']],
    ['привет', ['cyrillic']],
    ['%', ['wild']],
    ['_', ['wild']],
    ['0%', ['wild']],
    ['a_b', ['wild']],
    ['0%0', []],
    ['"', ['wild']],
    ['"quotes"; drop', ['wild']],
    ['*', ['wild']],
    ['\\', ['wild']],
    ['🔥', ['flame']],
    ['a 🔥', ['flame']],
    ['\ud83d', []],
    ["' OR 1=1 --", []],
    ['aliceschool', []],
    ['chool\u0001Une', []],
    ['alice', Object.keys(descriptions)],
  ];
  for (const [query, names] of cases) {
    const { repositories } = await find(anonymous, query);
    t.strictSame(repositories.map(({ name }) => name).sort(), names.toSorted(), JSON.stringify(query));
  }
});

t.test('SPEC §4.2 every search is live: it sees all earlier writes, of any process', async (t) => {
  const { db, find } = await openSearch(t);
  const names = async (text: string, viewer: Viewer = anonymous) =>
    (await find(viewer, text)).repositories.map(({ owner, name }) => `${owner}/${name}`);
  await addOwner(db, 'a', 'alice');
  await addOwner(db, 'o', 'guild', 'organisation');
  await addRepository(db, { id: 'r', owner: 'a', name: 'kettle', description: 'boils' });
  await addRepository(db, { id: 's', owner: 'o', name: 'stove', ofOrganisation: true });
  t.strictSame(await names('kettle'), ['alice/kettle']);

  await change(db, "UPDATE repositories SET description = 'whistles' WHERE id = 'r'");
  t.strictSame([await names('boil'), await names('WHISTLE')], [[], ['alice/kettle']]);
  await change(db, "UPDATE repositories SET name = 'Pot', name_folded = 'pot' WHERE id = 'r'");
  t.strictSame([await names('kettle'), await names('pot')], [[], ['alice/Pot']]);

  await change(db, "UPDATE repositories SET visibility = 'PRIVATE' WHERE id = 'r'");
  t.strictSame([await names('pot'), await names('pot', personViewer('a'))], [[], ['alice/Pot']]);
  await change(db, "UPDATE repositories SET visibility = 'PUBLIC', deleted_at = 5 WHERE id = 'r'");
  t.strictSame([await names('pot'), await names('pot', personViewer('a'))], [[], []]);
  await change(db, "UPDATE repositories SET deleted_at = NULL WHERE id = 'r'");

  await change(db, "UPDATE handles SET display = 'ALICE' WHERE owner_id = 'a'");
  t.strictSame(await names('pot'), ['ALICE/Pot'], 'only the case of the owner has changed');
  await change(db, "UPDATE handles SET display = 'alice' WHERE owner_id = 'a'");

  await db.write(async ({ manager }) => {
    await manager.query("UPDATE handles SET released_at = 9 WHERE owner_id = 'o'");
    await manager.query(
      "INSERT INTO handles (folded, display, kind, owner_id) VALUES ('union', 'Union', 'organisation', 'o')",
    );
    await manager.query("UPDATE organisations SET name = 'Union' WHERE id = 'o'");
  });
  t.strictSame([await names('guild'), await names('union')], [[], ['Union/stove']], 'the owner has another handle');

  await change(db, "UPDATE repositories SET owner_user_id = NULL, owner_org_id = 'o' WHERE id = 'r'");
  t.strictSame([await names('alice'), await names('union')], [[], ['Union/Pot', 'Union/stove']], 'a transfer');
  await change(db, "DELETE FROM repositories WHERE id = 's'");
  t.strictSame(await names('stove'), []);

  const people = async (text: string) => (await find(anonymous, text)).persons.map(({ username }) => username);
  await change(db, "UPDATE users SET display_name = 'Grüße' WHERE id = 'a'");
  t.strictSame(await people('grüß'), ['alice']);
  await change(db, "INSERT INTO users (id, display_name, created_at) VALUES ('n', 'Grüßli', 1)");
  t.strictSame(await people('grüß'), ['alice'], 'SPEC §2.4 nobody without a handle');
  await change(db, "UPDATE users SET username = 'nora' WHERE id = 'n'");
  t.strictSame(await people('grüß'), ['alice', 'nora']);
});

t.test('a failed write leaves the index unchanged, like the rows', async (t) => {
  const { db, find } = await openSearch(t);
  await addOwner(db, 'a', 'alice');
  await addRepository(db, { id: 'r', owner: 'a', name: 'kettle' });
  const failing = db.write(async ({ manager }) => {
    await manager.query("UPDATE repositories SET description = 'changed' WHERE id = 'r'");
    throw new Error('on purpose');
  });
  await t.rejects(failing, /on purpose/);
  t.strictSame((await find(anonymous, 'changed')).repositories, []);
  t.equal((await find(anonymous, 'kettle')).repositories.length, 1);
  t.strictSame(await db.read.query('SELECT * FROM search_changes'), []);
});

t.test('rows from before there was an index are indexed at start', async (t) => {
  const { db } = await openTestDatabase(t);
  await addOwner(db, 'a', 'alice');
  await db.write(async ({ manager }) => {
    const row = `'r' || value, 'a', 'n' || value, 'n' || value, 'PUBLIC', 1, 1 FROM json_each(?)`;
    const numbers = JSON.stringify(Array.from({ length: 1200 }, (_, number) => number));
    await manager.query(
      `INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at) SELECT ${row}`,
      [numbers],
    );
  });
  const search = createSearch({ db, logger: silentLogger });
  t.teardown(() => search.close());
  await search.recover();
  await checkIndex(t, db);
  const { repositories, persons } = await search.findFirst(anonymous, 'n11', 50);
  t.strictSame([repositories.total, repositories.rows.length, persons.total], [111, 50, 0]);
  t.equal((await search.findFirst(anonymous, 'n', 50)).repositories.total, mostCounted + 1, 'counted no further');
  t.equal(
    (JSON.parse((await search.findAll(anonymous, 'n')).toString()) as SearchResponse).repositories.length,
    mostHits,
  );

  // Later rows are indexed by their own write.
  await change(
    db,
    `INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at)
    SELECT 'q' || value, 'a', 'q-' || value, 'q-' || value, 'PUBLIC', 1, 1 FROM json_each(?)`,
    JSON.stringify(Array.from({ length: 600 }, (_, at) => at)),
  );
  t.equal((await search.findFirst(anonymous, 'q-59', 50)).repositories.total, 11);
  t.equal((JSON.parse((await search.findAll(anonymous, 'q-')).toString()) as SearchResponse).repositories.length, 600);
  await checkIndex(t, db);
});

t.test('a start does not wait for very many rows: they are indexed beside other writes, each once', async (t) => {
  const { db } = await openTestDatabase(t);
  const owners = 700;
  for (let at = 0; at < owners; at += 1) await addOwner(db, `o${at}`, `owner${at}`);
  await db.write(({ manager }) =>
    manager.query(
      `INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at)
       SELECT 'r' || value, 'o' || (value % ${owners}), 'n' || value, 'n' || value, 'PUBLIC', 1, 1 FROM json_each(?)`,
      [JSON.stringify(Array.from({ length: 2_500 }, (_, number) => number))],
    ),
  );
  const search = createSearch({ db, logger: silentLogger });
  t.teardown(() => search.close());
  const recorded = async () => Number((await db.read.query('SELECT count(*) AS n FROM search_changes'))[0].n);
  await search.recover();
  t.ok((await recorded()) > 2_500, 'nothing is indexed before the start');
  t.equal((await search.findFirst(anonymous, 'n11', 50)).repositories.total, 0);
  const catchingUp = search.catchUp();
  // Writes of requests that come meanwhile: one that the catching up has passed, and one that goes away.
  for (let at = 0; at < 20; at += 1) {
    await change(db, `UPDATE repositories SET description = 'changed meanwhile' WHERE id = ?`, `r${at * 100}`);
    await change(db, 'DELETE FROM repositories WHERE id = ?', `r${at * 100 + 1}`);
  }
  await catchingUp;
  t.equal(await recorded(), 0);
  await checkIndex(t, db);
  t.equal((await search.findFirst(anonymous, 'meanwhile', 50)).repositories.total, 20);
  await change(db, `UPDATE repositories SET name = 'later', name_folded = 'later' WHERE id = ?`, 'r5');
  t.equal((await search.findFirst(anonymous, 'later', 50)).repositories.total, 1, 'writes index themselves again');
  await search.catchUp();
  await checkIndex(t, db);
});

/** Generated names that share many letters, and a brute-force search over them. */
function drawWorld(random: SeededRandom) {
  const alphabet = ['a', 'b', 'A', 'B', 'ß', 'Σ', 'é', '%', '_', ' ', '🔥'];
  const word = (most: number, letters = alphabet) =>
    Array.from({ length: 1 + random.below(most) }, () => random.pick(letters)).join('');
  const people = Array.from({ length: 12 }, (_, at) => ({
    id: `p${at}`,
    username: random.chance(0.8) ? `${word(4, ['a', 'b', 'B'])}${at}` : null,
    displayName: word(8),
  }));
  const organisations = Array.from({ length: 4 }, (_, at) => ({
    id: `o${at}`,
    handle: `${word(4, ['a', 'b', 'A'])}x${at}`,
  }));
  const roles = new Map<string, OrganisationRole>();
  for (const { id } of people)
    for (const other of organisations)
      if (random.chance(0.3)) roles.set(`${other.id}/${id}`, random.pick(['GUEST', 'MEMBER', 'OWNER']));
  const collaborators = new Map<string, CollaboratorRole>();
  const repositories = Array.from({ length: 150 }, (_, at) => {
    const ofOrganisation = random.chance(0.4);
    const owner = ofOrganisation ? random.pick(organisations).id : random.pick(people).id;
    if (random.chance(0.2)) collaborators.set(`r${at}/${random.pick(people).id}`, 'read');
    return {
      id: `r${at}`,
      owner,
      ofOrganisation,
      name: `${word(5, ['a', 'b', 'A', '_'])}${at}`,
      description: word(20),
      isPrivate: random.chance(0.5),
    };
  });
  const teams = organisations.flatMap(({ id: organisation }) =>
    [1, 2].map((number) => ({
      id: `t${number}${organisation}`,
      organisation,
      people: people.filter(() => random.chance(0.3)).map(({ id }) => id),
      repositories: repositories
        .filter(({ owner }) => owner === organisation && random.chance(0.4))
        .map(({ id }) => id),
    })),
  );
  const query = () =>
    random.chance(0.2)
      ? [...random.pick(repositories).description].slice(random.below(3), 3 + random.below(6)).join('')
      : word(4);
  return { people, organisations, roles, collaborators, teams, repositories, query };
}

/** The index has the trigrams of every public text and nothing else, after any sequence of changes. */
async function checkIndex(
  t: Test & { same(a: unknown, b: unknown, message: string): void },
  db: Database,
): Promise<void> {
  const lists = [
    ['search_repositories', 'search_repository_trigrams', "visibility <> 'PUBLIC'"],
    ['search_people', 'search_person_trigrams', '0'],
  ] as const;
  for (const [texts, index, isHidden] of lists) {
    const rows: { place: number; folded: string }[] = await db.read.query(
      `SELECT place, folded FROM ${texts} WHERE NOT (${isHidden})`,
    );
    const trigramsOf = (text: string): string[] => {
      const characters = [...text];
      return [...new Set(characters.slice(2).map((_, at) => characters.slice(at, at + 3).join('')))];
    };
    const wanted = rows.flatMap(({ place, folded }) => trigramsOf(folded).map((trigram) => `${place} ${trigram}`));
    const actual = await db.write(async ({ manager }) => {
      await manager.query(`CREATE VIRTUAL TABLE temp.${index}_instances USING fts5vocab(main, ${index}, instance)`);
      const words: { word: string }[] = await manager.query(
        `SELECT DISTINCT doc || ' ' || term AS word FROM temp.${index}_instances`,
      );
      await manager.query(`DROP TABLE temp.${index}_instances`);
      return words;
    });
    t.same(actual.map(({ word }) => word).sort(), wanted.sort(), `${index}: ${wanted.length} trigrams`);
  }
}

t.test(
  'security E08 a search finds what a scan of every visible row finds, in the order of handles and names',
  async (t) => {
    const { db, find, search } = await openSearch(t);
    const random = seededRandom(7);
    const accessData = drawWorld(random);
    for (const { id, username, displayName } of accessData.people) {
      if (username === null)
        await change(db, 'INSERT INTO users (id, display_name, created_at) VALUES (?, ?, 1)', id, displayName);
      else await addOwner(db, id, username, 'user', displayName);
    }
    for (const { id, handle } of accessData.organisations) await addOwner(db, id, handle, 'organisation');
    for (const repository of accessData.repositories) await addRepository(db, repository);
    for (const [key, role] of accessData.roles)
      await change(
        db,
        'INSERT INTO organisation_members (organisation_id, user_id, role, created_at) VALUES (?, ?, ?, 1)',
        ...key.split('/'),
        role,
      );
    for (const [key, role] of accessData.collaborators)
      await change(db, 'INSERT INTO collaborators VALUES (?, ?, ?, 1)', ...key.split('/'), role);
    for (const { id, organisation, people, repositories } of accessData.teams) {
      await change(
        db,
        `INSERT INTO teams (id, organisation_id, name, name_folded, role, created_at) VALUES (?, ?, ?, ?, 'read', 1)`,
        ...[id, organisation, id, id],
      );
      for (const person of people) await change(db, 'INSERT INTO team_members VALUES (?, ?, 1)', id, person);
      for (const repository of repositories)
        await change(db, `INSERT INTO team_repositories VALUES (?, ?, 'read', 1)`, id, repository);
    }
    const handles = new Map<string, string | null>([
      ...accessData.people.map(({ id, username }) => [id, username] as const),
      ...accessData.organisations.map(({ id, handle }) => [id, handle] as const),
    ]);

    const expected = (viewer: Viewer, text: string): { repositories: string[]; persons: string[] } => {
      const wanted = fold(text);
      if (wanted.trim() === '') return { repositories: [], persons: [] };
      const contains = (...fields: string[]) => fields.some((field) => fold(field).includes(wanted));
      const seen = accessData.repositories.filter((row) => {
        const of = viewer.kind === 'person' ? viewer.id : '';
        const level = repositoryLevel(viewer, {
          id: row.id,
          visibility: row.isPrivate ? 'PRIVATE' : 'PUBLIC',
          ownerUserId: row.ofOrganisation ? null : row.owner,
          ownerOrganisationId: row.ofOrganisation ? row.owner : null,
          organisationRole: accessData.roles.get(`${row.owner}/${of}`) ?? null,
          collaboratorRole: accessData.collaborators.get(`${row.id}/${of}`) ?? null,
          teamRole: accessData.teams.some(
            ({ people, repositories }) => people.includes(of) && repositories.includes(row.id),
          )
            ? 'read'
            : null,
          deleted: false,
        });
        const handle = handles.get(row.owner) ?? null;
        return level !== 'none' && handle !== null && contains(handle, row.name, row.description);
      });
      const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
      return {
        repositories: seen
          .map((row) => `${handles.get(row.owner)}/${row.name}`)
          .sort((a, b) => bytes(a.toLowerCase().replace('/', '\u0001'), b.toLowerCase().replace('/', '\u0001'))),
        persons: accessData.people
          .flatMap(({ username, displayName }) =>
            username !== null && contains(username, displayName) ? [username] : [],
          )
          .sort((a, b) => bytes(a.toLowerCase(), b.toLowerCase())),
      };
    };

    const viewers: Viewer[] = [
      anonymous,
      ...accessData.people.map(({ id }) => personViewer(id)),
      personViewer('p0', { repositoryIds: ['r1', 'r2', 'r3'] }),
      personViewer('p1', { repositoryIds: [] }),
      localAdministrator,
      { kind: 'task', taskId: 1, repositoryId: 'r1', scope: 'read' },
      {
        kind: 'task',
        taskId: 2,
        repositoryId: accessData.repositories.find(({ isPrivate }) => isPrivate)!.id,
        scope: 'read',
      },
    ];
    let hits = 0;
    for (let round = 0; round < 300; round++) {
      if (round % 10 === 9) {
        const changed = random.pick(accessData.repositories);
        Object.assign(changed, {
          isPrivate: random.chance(0.5),
          description: random.pick(accessData.repositories).description + accessData.query(),
        });
        await change(
          db,
          'UPDATE repositories SET visibility = ?, description = ? WHERE id = ?',
          changed.isPrivate ? 'PRIVATE' : 'PUBLIC',
          changed.description,
          changed.id,
        );
      }
      const [viewer, text] = [random.pick(viewers), accessData.query()];
      const { repositories, persons } = await find(viewer, text);
      const actual = {
        repositories: repositories.map(({ owner, name }) => `${owner}/${name}`),
        persons: persons.map(({ username }) => username),
      };
      hits += actual.repositories.length + actual.persons.length;
      const wanted = expected(viewer, text);
      if (JSON.stringify(actual) !== JSON.stringify(wanted))
        t.same(actual, wanted, `${JSON.stringify(viewer)} looks for ${JSON.stringify(text)}`);
      if (round % 5 > 0) continue;
      const first = await search.findFirst(viewer, text, 5);
      const shown = {
        repositories: first.repositories.rows.map(({ hit }) => `${hit.owner}/${hit.name}`),
        persons: first.persons.rows.map(({ hit }) => hit.username),
      };
      t.same(shown, { repositories: wanted.repositories.slice(0, 5), persons: wanted.persons.slice(0, 5) });
      t.same([first.repositories.total, first.persons.total], [wanted.repositories.length, wanted.persons.length]);
    }
    t.ok(hits > 3_000, `${hits} hits`);
    await checkIndex(t, db);
  },
);

t.test('order keys keep the order of the texts, whatever the order of insertion', async (t) => {
  const { db, find } = await openSearch(t);
  const random = seededRandom(3);
  await addOwner(db, 'a', 'alice');
  await addOwner(db, 'z', 'zoe');
  await addRepository(db, { id: 'last', owner: 'z', name: 'z' });
  /** Each between the previous one and the next owner: the gap between two neighbours is used up repeatedly. */
  for (let number = 0; number < 300; number++)
    await addRepository(db, { id: `u${number}`, owner: 'a', name: `up-${String(number).padStart(4, '0')}` });
  for (let number = 300; number > 0; number--)
    await addRepository(db, { id: `d${number}`, owner: 'a', name: `down-${String(number).padStart(4, '0')}` });
  for (let number = 0; number < 300; number++)
    await addRepository(db, { id: `m${number}`, owner: 'a', name: `mixed-${random.uuid()}` });
  const rows: { place: number; folded: string }[] = await db.read.query(
    'SELECT place, folded FROM search_repositories ORDER BY place',
  );
  t.equal(rows.length, 901);
  t.strictSame(
    rows.map(({ folded }) => folded),
    rows.map(({ folded }) => folded).sort(),
  );
  await checkIndex(t, db);
  t.equal((await find(anonymous, 'alice')).repositories.length, 900);
  t.equal((await find(anonymous, '-0150')).repositories.length, 2);
});
