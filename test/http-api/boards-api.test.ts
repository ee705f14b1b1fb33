// The operations of boards: what they answer, and who may call them.
import t from 'tap';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';

t.setTimeout(240_000);
const web = await startWeb(t);
const { accounts, organisations } = web.modules;

async function callerOf(username: string) {
  const { id } = await accounts.addPerson({ username });
  const token = { name: 'api', access: 'admin', repositoryIds: null, expiresAt: null } as const;
  const { secret } = await accounts.addToken(id, token);
  return caller(`token ${secret}`);
}

function caller(authorization: string | null) {
  return async (method: string, path: string, body?: object) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(authorization !== null && { Authorization: authorization }),
        ...(text && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
      },
      ...(text && { body: text }),
    });
    return { ...response, json: response.body === '' ? null : JSON.parse(response.body) };
  };
}

const [alice, bob] = [await callerOf('alice'), await callerOf('bob')];
const anonymous = caller(null);
await alice('POST', '/user/repos', { name: 'site', private: false });
const at = '/repos/alice/site/boards';
for (const title of ['One', 'Two', 'Three']) await alice('POST', '/repos/alice/site/issues', { title });

t.test('a board is made, filled, moved and deleted', async (t) => {
  t.strictSame((await anonymous('GET', at)).json, []);
  const made = await alice('POST', at, { title: 'Work', columns: 'state' });
  t.match(made, { status: 201, json: { title: 'Work', public: false, columns: { length: 3 } } });
  const board = `${at}/${made.json.id}`;
  const [open, doing, closed] = made.json.columns.map(({ id }: { id: string }) => id);
  t.match((await anonymous('GET', board)).json, {
    columns: [
      { name: 'Open', rule: 'open', cards: 3 },
      { name: 'In progress', rule: null, cards: 0 },
      { name: 'Closed', rule: 'closed', cards: 0 },
    ],
  });
  const cards = async (column: string, query = '') =>
    (await anonymous('GET', `${board}/columns/${column}/cards${query}`)).json;
  const first = await anonymous('GET', `${board}/columns/${open}/cards?limit=2`);
  t.match(first, { status: 200, headers: { 'x-total-count': '3', link: /rel="next"/ }, json: { length: 2 } });
  const next = new URL(/<([^>]+)>; rel="next"/.exec(String(first.headers['link']))![1]!);
  t.equal((await anonymous('GET', next.pathname.slice('/api/v1'.length) + next.search)).json.length, 1);
  const [card] = await cards(open, '?q=two');
  t.match(card, { issue: { title: 'Two', number: 2, repository: { full_name: 'alice/site' } } });
  const move = (body: object, call = alice) => call('PATCH', `${board}/cards/${card.id}`, body);
  t.match(await move({ column: closed, to: 'top' }), { status: 204 });
  t.match((await anonymous('GET', '/repos/alice/site/issues/2')).json, { state: 'closed' });
  t.match(await move({ column: doing }), { status: 204 });
  t.match((await anonymous('GET', '/repos/alice/site/issues/2')).json, { state: 'open' });
  t.match(await move({}), { status: 422 });
  t.match(await move({ column: board.split('/').at(-1)! }), { status: 404 });
  for (const [call, status] of [
    [bob, 403],
    [anonymous, 401],
  ] as const)
    t.equal((await move({ column: open }, call)).status, status);
  t.equal((await alice('DELETE', `${board}/cards/${card.id}`)).status, 204);
  t.equal((await alice('DELETE', `${board}/cards/${card.id}`)).status, 404, 'it is gone');
  t.strictSame(await cards(doing), []);
  t.match(await alice('POST', `${board}/cards`, { index: 2, column: doing }), { status: 201, json: { id: card.id } });
  t.equal((await alice('POST', `${board}/cards`, { index: 99 })).status, 404);
  t.equal((await alice('PATCH', `${board}/columns/${doing}`, { name: 'Doing', limit: 2, move: 'left' })).status, 204);
  t.match((await anonymous('GET', board)).json.columns[0], { name: 'Doing', limit: 2 });
  const added = await alice('POST', `${board}/columns`, { name: 'Later' });
  t.match(added, { status: 201, json: { name: 'Later', limit: null, rule: null } });
  t.equal((await alice('POST', `${board}/columns`, { name: 'later' })).status, 409);
  t.equal((await alice('DELETE', `${board}/columns/${added.json.id}`)).status, 204);
  t.match((await alice('PATCH', board, { description: 'All of it' })).json, {
    title: 'Work',
    description: 'All of it',
  });
  t.equal((await bob('DELETE', board)).status, 403);
  t.equal((await alice('DELETE', board)).status, 204);
  t.equal((await alice('GET', board)).status, 404);
});

t.test('a board of an organisation is for its members until it is for everyone', async (t) => {
  await alice('POST', '/orgs', { username: 'guild' });
  await organisations.find('guild');
  await alice('POST', '/orgs/guild/repos', { name: 'vault', private: true });
  await alice('POST', '/repos/guild/vault/issues', { title: 'Gold' });
  const made = await alice('POST', '/orgs/guild/boards', { title: 'Plan', columns: 'state' });
  t.equal(made.status, 201);
  const board = `/orgs/guild/boards/${made.json.id}`;
  const column = `${board}/columns/${made.json.columns[0].id}/cards`;
  t.match((await alice('GET', column)).json, { length: 1, 0: { issue: { title: 'Gold' } } });
  for (const call of [bob, anonymous]) {
    t.equal((await call('GET', board)).status, 404);
    t.strictSame((await call('GET', '/orgs/guild/boards')).json, []);
  }
  t.match(await bob('PATCH', board, { title: 'Mine' }), { status: 404 });
  t.match((await alice('PATCH', board, { public: true })).json, { public: true });
  for (const call of [bob, anonymous]) {
    t.match((await call('GET', board)).json, { title: 'Plan', columns: [{ cards: 0 }, { cards: 0 }, { cards: 0 }] });
    t.strictSame((await call('GET', column)).json, []);
  }
  t.equal((await bob('PATCH', board, { title: 'Mine' })).status, 403);
  t.equal((await anonymous('PATCH', board, { title: 'Mine' })).status, 401);
});
