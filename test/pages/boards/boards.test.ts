// The pages of boards: forms without scripts, who sees and sends which, filters, and further cards of a column.
import t from 'tap';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from '../issues/issues-fixture.ts';

t.setTimeout(240_000);

const roof = { owner: 'alice', name: 'roof' };
const list = `${roofUrl}/boards`;

t.test('a board is made, filled, moved and deleted by forms alone', async (t) => {
  const { alice, bob, carol, anonymous, issues, viewers, at } = await issueWeb(t);
  t.match(words(await anonymous.get(list)), /No boards yet/);
  for (const title of ['Leak', 'Draught']) await issues.open(viewers.bob, roof, { title });
  t.match(await carol.post(list, { title: '' }), { status: 422, body: /Enter a title for the board/ });
  const made = await carol.post(list, { title: 'Winter', description: 'Before the snow', preset: 'basic' });
  t.match(made.headers.location, /boards\/[0-9a-f-]{36}\?done=board-added/);
  const own = made.headers.location!.replace(/\?.*/, '');
  t.match(words(await anonymous.get(list)), /Winter Before the snow/);
  t.match(await carol.post(list, { title: 'WINTER' }), { status: 422 }, 'the form from a second tab');
  for (const issue of ['', 'x', '#77', 'alice/absent#1'])
    t.match(await carol.post(`${own}/cards`, { issue }), { status: 422, body: /This issue does not exist/ }, issue);
  const added = await carol.post(`${own}/cards`, { issue: '#1' });
  t.match(added, { status: 303, headers: { location: /#card-[0-9a-f-]{36}$/ } });
  await carol.post(`${own}/cards`, { issue: 'alice/roof#2' });
  const ids = await Promise.all([1, 2].map(async (number) => (await issues.find(viewers.alice, at(number))).id));
  const page = async (query = '') => (await anonymous.get(`${own}${query}`)).body;
  const columns = [...(await page()).matchAll(/data-column="([^"]+)"/g)].map(([, id]) => id!);
  t.equal(columns.length, 3);
  /** The titles of each column. */
  const cards = async (query = ''): Promise<string[]> =>
    (await page(query))
      .split('data-column=')
      .slice(1)
      .map((part) => [...part.matchAll(/row-title[^>]*><bdi>([^<]*)/g)].map(([, title]) => title).join(' '));
  t.same(await cards(), ['Draught Leak', '', '']);
  t.match(await carol.post(`${own}/move`, { column: columns[1]!, to: 'top' }), {
    status: 422,
    body: /Select at least one/,
  });
  const moved = await carol.post(`${own}/move`, { card: ids[0]!, column: columns[1]!, to: 'top' });
  t.match(moved, { status: 303, headers: { location: `${own}#card-${ids[0]}` } });
  t.same(await cards(), ['Draught', 'Leak', '']);
  t.same(await cards('?q=leak'), ['', 'Leak', '']);
  t.same(await cards('?q=is:closed'), ['', '', '']);
  t.match(words(await anonymous.get(`${own}?q=moon:full`)), /not recognised/i);
  await carol.post(`${own}/move`, { card: ids[1]!, column: columns[1]!, above: ids[0]! });
  t.same(await cards(), ['', 'Draught Leak', '']);
  await carol.post(`${own}/move`, { card: ids[1]!, to: 'down' });
  t.same(await cards(), ['', 'Leak Draught', '']);
  t.match(
    await carol.post(`${own}/move`, { card: '00000000-0000-4000-8000-000000000000', column: columns[0]!, to: 'top' }),
    { status: 422, body: /no longer exists/ },
  );

  t.match(await carol.post(`${own}/columns`, { column_name: 'done' }), { status: 422, body: /column with this name/ });
  await carol.post(`${own}/columns/${columns[1]}`, { column_name: 'Doing', limit: '1' });
  t.match(words(await anonymous.get(own)), /Doing 2 of 1 More than the limit/);
  await carol.post(`${own}/columns/${columns[1]}/move`, { direction: 'left' });
  t.same(await cards(), ['Leak Draught', '', '']);
  t.match(words(await anonymous.get(`${roofUrl}/issues/1`)), /carol added this to the board Winter , in To do/);
  t.match((await anonymous.get(`${own}?column=${columns[1]}`)).body, /Whole board/);
  t.equal((await anonymous.get(`${own}?column=${ids[0]}`)).status, 404);
  t.match(await anonymous.get(`${own}?column=${columns[1]}&after=x`), { status: 422 });

  for (const browser of [bob, anonymous])
    for (const path of [
      list,
      own,
      ...['cards', 'move', 'remove', 'columns', 'delete'].map((form) => `${own}/${form}`),
    ]) {
      const { status, headers } = await browser.post(path, { title: 'Mine', card: ids[0]!, issue: '#1' });
      t.ok(status === 404 || headers.location?.startsWith('/login'), path);
    }
  t.notMatch(extractMain(await bob.get(own)), /action="[^"]*\/boards\/[^"]*\/(?:move|cards|delete)/);
  t.notMatch(extractMain(await bob.get(list)), /action="[^"]*\/boards/);
  await carol.post(`${own}/remove`, { card: ids[0]! });
  t.same(await cards(), ['Draught', '', '']);
  await carol.post(`${own}/columns/${columns[1]}/delete`);
  t.same(await cards(), ['', '']);
  t.equal((await alice.post(`${own}/delete`)).status, 303);
  t.equal((await anonymous.get(own)).status, 404);
  t.equal((await anonymous.get(`${list}/x`)).status, 404);
});

t.test('a board of an organisation is for its members until it is for everyone', async (t) => {
  const { alice, bob, carol, anonymous, issues, viewers, web, repositories } = await issueWeb(t);
  const { organisations } = web.modules;
  await organisations.create(viewers.alice, { name: 'guild' });
  await organisations.addMember(viewers.alice, 'guild', { username: 'bob', role: 'MEMBER' });
  for (const [name, visibility] of [
    ['hall', 'PUBLIC'],
    ['vault', 'PRIVATE'],
  ] as const) {
    await repositories.create(viewers.alice, { owner: 'guild', name, visibility });
    await issues.open(viewers.alice, { owner: 'guild', name }, { title: `In the ${name}` });
  }
  const boards = '/orgs/guild/boards';
  const made = await bob.post(boards, { title: 'Plan', preset: 'state' });
  const own = made.headers.location!.replace(/\?.*/, '');
  const absent = await carol.get(`${boards}/00000000-0000-4000-8000-000000000000`);
  t.same((await carol.get(own)).body, absent.body, 'hidden is as absent');
  t.equal((await anonymous.get(own)).status, 404);
  t.match(words(await carol.get(boards)), /No boards yet/);
  const whole = words(await bob.get(own));
  for (const text of [/Open 2 /, /In the vault vault #1/, /In the hall hall #1/]) t.match(whole, text);
  t.equal((await carol.post(own, { title: 'Mine' })).status, 404);
  t.equal((await alice.post(own, { title: 'Plan', public: 'yes' })).status, 303);
  t.match(words(await anonymous.get(own)), /Open 1 .*In the hall/);
  t.notMatch((await anonymous.get(own)).body, /vault/);
  t.match(await carol.post(own, { title: 'Mine' }), { status: 403 });
  t.equal((await anonymous.get('/orgs/absent/boards')).status, 404);
});
