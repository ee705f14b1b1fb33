// time limit: 120 s
// Claims of one account for several authors, and of several accounts for one author at once.
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub, user } from './gitea-stub.ts';

t.setTimeout(110_000);

const port = await freePort();
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
const { imports, db } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const dave = viewerOf((await signedIn(web, 'dave')).id, 'dave');
const forge = await startGiteaStub(t, { port, pageSize: 50 });
const number = forge.addIssue({ title: 'First' });
const comment = forge.addComment(number, 'A comment');
const both = ['bob', 'carol'].map((login) => ({ content: 'heart', user: user(login) }));
forge.world.reactions.set(`comment ${comment}`, both);
const start = async (name: string): Promise<string> => {
  const { id } = await imports.start(alice, { address: `${forge.url}/bob/tool`, token: forge.world.token, name });
  await imports.runDue();
  return id;
};
const [one, two] = [await start('one'), await start('two')];
const at = (login: string): string => `${login}@${forge.host}`;
/** Reactions by account, and by names without one. */
async function reactions(id: string): Promise<[accounts: number, names: number]> {
  const count = async (from: string): Promise<number> => {
    const [row] = await db.read.query(
      `SELECT count(*) AS n FROM ${from} r JOIN issues i ON i.id = r.issue_id WHERE i.repository_id = ?`,
      [id],
    );
    return Number(row.n);
  };
  return [await count('reactions'), await count('(SELECT * FROM imported_reactions WHERE user_id IS NULL)')];
}

t.test('a reaction stays as long as one of its claims does', async (t) => {
  const steps: readonly (readonly [what: string, () => Promise<void>, counts: [number, number]])[] = [
    ['none', async () => {}, [0, 2]],
    ['the first claim', () => imports.people.claim(alice, at('bob'), alice.id), [1, 1]],
    ['the second one', () => imports.people.claim(alice, at('carol'), alice.id), [1, 0]],
    ['again', () => imports.people.claim(alice, at('carol'), alice.id), [1, 0]],
    ['the first one is undone', () => imports.people.unclaim(alice, at('bob')), [1, 1]],
    ['another account has it', () => imports.people.claim(dave, at('bob'), dave.id), [2, 0]],
    ['both are undone', () => imports.people.unclaim(alice, at('carol')), [1, 1]],
    ['all', () => imports.people.unclaim(dave, at('bob')), [0, 2]],
  ];
  for (const [what, step, counts] of steps) {
    await step();
    for (const id of [one, two]) t.strictSame(await reactions(id), counts, what);
  }
});

t.test('a reaction that the account has given itself stays when a claim is undone', async (t) => {
  const react = async (isOn: boolean): Promise<void> => {
    for (const name of ['one', 'two']) {
      const at = { owner: 'alice', name, number };
      await web.modules.issues.react(alice, at, { position: 1, kind: 'heart', isOn });
    }
  };
  const claim = (login: string) => () => imports.people.claim(alice, at(login), alice.id);
  const unclaim = (login: string) => () => imports.people.unclaim(alice, at(login));
  const steps: readonly (readonly [what: string, () => Promise<void>, counts: [number, number]])[] = [
    ['the own one', () => react(true), [1, 2]],
    ['a claim', claim('bob'), [1, 1]],
    ['again', claim('bob'), [1, 1]],
    ['undone', unclaim('bob'), [1, 2]],
    ['another one', claim('bob'), [1, 1]],
    ['and a second one', claim('carol'), [1, 0]],
    ['the first is undone', unclaim('bob'), [1, 1]],
    ['the second, too', unclaim('carol'), [1, 2]],
    ['the own one is taken away', () => react(false), [0, 2]],
    ['a claim without it', claim('carol'), [1, 1]],
    ['which is undone', unclaim('carol'), [0, 2]],
  ];
  for (const [what, step, counts] of steps) {
    await step();
    for (const id of [one, two]) t.strictSame(await reactions(id), counts, what);
  }
});

t.test('a reaction that came after the claim goes with it, an own one stays', async (t) => {
  const eyes = (isOn: boolean) => async (): Promise<void> => {
    for (const name of ['one', 'two'])
      await web.modules.issues.react(alice, { owner: 'alice', name, number }, { position: 1, kind: 'eyes', isOn });
  };
  const arrive = async (): Promise<void> => {
    const of = (content: string) => ({ content, user: user('carol') });
    const later = forge.addComment(number, 'A later comment');
    forge.world.reactions.set(`comment ${later}`, [of('heart')]);
    forge.world.reactions.set(`comment ${comment}`, [...both, of('rocket'), of('eyes')]);
    await again();
  };
  const again = async (): Promise<void> => {
    for (const id of [one, two]) await imports.again(alice, id, { isFull: true });
    await imports.runDue();
  };
  const claim = () => imports.people.claim(alice, at('carol'), alice.id);
  const unclaim = () => imports.people.unclaim(alice, at('carol'));
  const steps: readonly (readonly [what: string, () => Promise<void>, counts: [number, number]])[] = [
    ['a claim', claim, [1, 1]],
    ['an own one', eyes(true), [2, 1]],
    ['three more come', arrive, [4, 1]],
    ['the claim is undone', unclaim, [1, 5]],
    ['a run changes nothing', again, [1, 5]],
    ['it is claimed again', claim, [4, 1]],
    ['and undone', unclaim, [1, 5]],
    ['the own one is taken away', eyes(false), [0, 5]],
  ];
  for (const [what, step, counts] of steps) {
    await step();
    for (const id of [one, two]) t.strictSame(await reactions(id), counts, what);
  }
});

const reasonOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => (error as { reason?: string }).reason,
  );

t.test('one of two claims at once holds', async (t) => {
  const results = await Promise.allSettled([
    imports.people.claim(alice, at('carol'), alice.id),
    imports.people.claim(dave, at('carol'), dave.id),
  ]);
  const [held] = results.flatMap(({ status }, index) => (status === 'fulfilled' ? index : []));
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  const winner = [alice.id, dave.id][held!];
  for (const id of [one, two]) {
    const rows = await db.read.query(
      `SELECT DISTINCT e.author_id AS id FROM issue_entries e JOIN issues i ON i.id = e.issue_id
       WHERE i.repository_id = ? AND e.kind = 'comment'`,
      [id],
    );
    t.strictSame(
      rows.map((row: { id: string }) => row.id),
      [winner],
    );
  }
  const loser = winner === alice.id ? dave.id : alice.id;
  t.equal(await reasonOf(imports.people.claim(alice, at('carol'), loser)), 'import_person_claimed');
  t.equal(await reasonOf(imports.people.unclaim(alice, at('nobody'))), 'import_person_not_found');
});

t.test('several claims hold together, or none does', async (t) => {
  const accounts = async (): Promise<(string | null)[]> => {
    const people = await imports.people.list(forge.host);
    return ['bob', 'carol'].map((login) => people.find(({ person }) => person === at(login))!.userId);
  };
  const claim = (login: string, { id: userId }: { id: string }) => ({ person: at(login), userId });
  const cases: [what: string, claims: { person: string; userId: string }[], reason: string | undefined][] = [
    ['nobody of this name', [claim('bob', alice), claim('nobody', alice)], 'import_person_not_found'],
    ['two accounts for one', [claim('bob', alice), claim('carol', dave), claim('bob', dave)], 'import_person_claimed'],
    ['one line twice', [claim('bob', alice), claim('carol', dave), claim('bob', alice)], undefined],
    ['one that has another account', [claim('bob', alice), claim('carol', alice)], 'import_person_claimed'],
  ];
  for (const login of ['bob', 'carol'])
    await imports.people.unclaim(alice, at(login)).catch((error: unknown) => t.type(error, Error));
  t.strictSame(await accounts(), [null, null]);
  for (const [what, claims, reason] of cases) {
    const before = await accounts();
    const refused = await imports.people.claimAll(alice, claims).then(
      () => undefined,
      (error: unknown) => (error as { reason?: string }).reason,
    );
    t.equal(refused, reason, what);
    t.strictSame(await accounts(), reason === undefined ? [alice.id, dave.id] : before, what);
  }
});
