// What fields offer while one types: by who asks and where, nothing that the other pages hide.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { viewerOf } from '../issues/issues-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const { issues, repositories, organisations } = web.modules;
const people = {
  anonymous: visitor(web),
  alice: await signedIn(web, 'alice'),
  bob: await signedIn(web, 'bob'),
  carol: await signedIn(web, 'carol'),
};
const alice = viewerOf(people.alice.id, 'alice');
const bob = viewerOf(people.bob.id, 'bob');
for (const [viewer, name, visibility] of [
  [alice, 'roof', 'PUBLIC'],
  [alice, 'attic', 'PRIVATE'],
  [bob, 'cellar', 'PRIVATE'],
] as const) {
  await repositories.create(viewer, { name, visibility });
  const at = { owner: viewer.username!, name };
  await issues.open(viewer, at, { title: `Leak of ${name}` });
  await issues.open(viewer, at, { title: `Gutter of ${name}` });
  await issues.addLabel(viewer, { repository: at }, { name: `kind/${name}`, colour: 'd73a4a' });
  await issues.addMilestone(viewer, at, { title: `Autumn of ${name}` });
}
await repositories.collaborators.add(alice, 'alice', 'attic', { username: 'carol', role: 'write' });
await repositories.collaborators.add(alice, 'alice', 'roof', { username: 'carol', role: 'read' });

interface Item {
  text: string;
  label: string;
  note: string;
}
async function ask(who: Visitor, at: string, kind: string, q = ''): Promise<number | string[]> {
  const answer = await who.get(`/repos/${at}/suggestions?${new URLSearchParams({ kind, q })}`);
  if (answer.status !== 200) return answer.status;
  t.match(answer.headers['cache-control'], 'no-store');
  return (JSON.parse(answer.body) as { items: Item[] }).items.map(({ text }) => text);
}

t.test('each sees what the pages show them, and a hidden repository is absent', async (t) => {
  const none: string[] = [];
  const table: readonly [keyof typeof people, string, string, string, number | string[]][] = [
    // Signed out: public things, no names.
    ['anonymous', 'alice/roof', 'reference', 'Leak', ['#1']],
    ['anonymous', 'alice/roof', 'reference', '2', ['#2']],
    ['anonymous', 'alice/roof', 'reference', '9', none],
    ['anonymous', 'alice/roof', 'label', 'ROOF', ['kind/roof']],
    ['anonymous', 'alice/roof', 'milestone', 'aut', ['Autumn of roof']],
    ['anonymous', 'alice/roof', 'mention', 'a', none],
    ['anonymous', 'alice/roof', 'assignee', 'a', none],
    // No right of their own: people with a public profile, not who works here.
    ['bob', 'alice/roof', 'mention', '', none],
    ['bob', 'alice/roof', 'mention', 'car', ['@carol']],
    ['bob', 'alice/roof', 'reviewer', '', none],
    ['bob', 'alice/roof', 'reference', 'attic', none],
    ['bob', 'alice/roof', 'label', 'attic', none],
    // A reader is not shown who else has rights.
    ['carol', 'alice/roof', 'mention', '', none],
    // A member.
    ['carol', 'alice/attic', 'mention', '', ['@alice', '@carol']],
    ['carol', 'alice/attic', 'assignee', 'ALI', ['alice']],
    ['carol', 'alice/attic', 'reviewer', '', ['alice', 'carol']],
    ['carol', 'alice/attic', 'reference', 'gutter', ['#2']],
    ['carol', 'alice/attic', 'label', '', ['kind/attic']],
    ['carol', 'alice/attic', 'milestone', 'cellar', none],
    ['alice', 'alice/attic', 'reference', '', ['#2', '#1']],
  ];
  for (const [who, at, kind, q, wanted] of table)
    t.strictSame(await ask(people[who], at, kind, q), wanted, `${who} ${at} ${kind} ${q}`);
  for (const kind of ['mention', 'reference', 'emoji', 'assignee', 'reviewer', 'label', 'milestone', 'nonsense'])
    for (const [who, hidden] of [
      ['anonymous', 'alice/attic'],
      ['bob', 'alice/attic'],
      ['alice', 'bob/cellar'],
      ['carol', 'bob/cellar'],
    ] as const) {
      const [shown, absent] = [hidden, 'alice/absent'].map((at) => `/repos/${at}/suggestions?kind=${kind}&q=a`);
      const [one, other] = [await people[who].get(shown!), await people[who].get(absent!)];
      t.equal(one.status, 404);
      t.equal(one.body, other.body, `${who} at ${hidden}: as one that is absent`);
    }
});

t.test('teams are offered to those who may know of them', async (t) => {
  await organisations.create(alice, { name: 'acme' });
  await repositories.create(alice, { owner: 'acme', name: 'tools', visibility: 'PUBLIC' });
  await organisations.teams.create(alice, 'acme', { name: 'smiths', role: 'write' });
  t.strictSame(await ask(people.alice, 'acme/tools', 'mention', 'smi'), ['@acme/smiths']);
  t.strictSame(await ask(people.alice, 'acme/tools', 'reviewer', 'acme/s'), ['acme/smiths']);
  for (const who of [people.anonymous, people.bob]) t.strictSame(await ask(who, 'acme/tools', 'mention', 'acme/s'), []);
});

t.test('emoji by their beginning first; wrong kinds and long words', async (t) => {
  const { bob: who } = people;
  t.match(await ask(who, 'alice/roof', 'emoji', 'tad'), [':tada:']);
  t.equal(((await ask(who, 'alice/roof', 'emoji', 'a')) as string[]).length, 20);
  t.equal(await ask(who, 'alice/roof', 'nonsense'), 422);
  t.strictSame(await ask(who, 'alice/roof', 'label', 'x'.repeat(500)), []);
  for (const q of ["'", '%', '_', '"', '\\', '*', '\uffff'])
    t.type(await ask(who, 'alice/roof', 'mention', q), Array, JSON.stringify(q));
});

t.test('held and deleted issues, disabled people are not offered', async (t) => {
  const at = { owner: 'alice', name: 'roof' };
  await issues.trash(alice, { ...at, number: 2 });
  t.strictSame(await ask(people.bob, 'alice/roof', 'reference', '2'), []);
  t.strictSame(await ask(people.bob, 'alice/roof', 'reference', 'gutter'), []);
  await web.modules.accounts.setDisabled(people.carol.id, true);
  t.strictSame(await ask(people.bob, 'alice/roof', 'mention', 'car'), []);
  t.strictSame(await ask(people.alice, 'alice/attic', 'assignee', ''), ['alice']);
});

t.test('the script and the style sheet stay within their budgets, compressed', async (t) => {
  const size = async (name: string): Promise<number> => {
    const page = await people.alice.get('/repos/alice/roof/issues/1');
    const path = new RegExp(`/assets/[0-9a-f]{12}-${name.replace('.', '\\.')}`).exec(page.body)?.[0];
    if (path === undefined) throw new Error(`${name} is not on the page`);
    return gzipSync((await people.alice.get(path)).body, { level: 9 }).length;
  };
  t.ok((await size('writing.js')) <= 6_000);
  t.ok((await size('app.en.js')) + (await size('writing.js')) <= 13_000);
  const style = await size('style.css');
  t.ok(style <= 10_000, `style.css has ${style} bytes`);
  t.notMatch((await people.anonymous.get('/repos/alice/roof/issues/1')).body, 'writing.js');
});
