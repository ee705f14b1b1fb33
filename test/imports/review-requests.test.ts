// time limit: 120 s
// Requests for a review from a server that answers as Gitea's API describes: they follow the source, and what was
// decided here stays.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { startGiteaStub, user } from './gitea-stub.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(110_000);

const port = await freePort();
const clock = fixedClock(Date.UTC(2026, 0, 1));
const here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` }, clock });
const { imports } = here.modules;
const alice = await here.addPerson('alice');
const viewer: PersonViewer = {
  ...{ kind: 'person', id: alice.id, username: 'alice', isAdministrator: true },
  ...{ via: 'session', scope: 'admin', repositoryIds: null },
};
const forge = await startGiteaStub(t, { port });

t.test('a request for a review that is withdrawn there goes; what was decided here stays', async (t) => {
  const tip = forge.commitFile(forge.tip(), 'one\nrequested\n');
  const names = ['kept', 'withdrawn', 'declined', 'answering', 'replying'].map((name) => `rq-${name}`);
  const number = forge.addPull(tip, { requested_reviewers: names.map((login) => user(login)) });
  const address = `${forge.url}/bob/tool`;
  const { id } = await imports.start(viewer, { address, token: forge.world.token, name: 'tool', visibility: 'PUBLIC' });
  await imports.runDue();
  const run = async (wish = {}): Promise<void> => {
    await imports.again(viewer, id, wish);
    await imports.runDue();
  };
  const tokens = new Map<string, string>();
  for (const name of [...names, 'rq-here']) {
    const { id: account, token } = await here.addPerson(name);
    tokens.set(name, token);
    if (name !== 'rq-here') await imports.people.claim(viewer, `${name}@${forge.host}`, account);
  }
  await run({ isFull: true });
  const requests = async (): Promise<Json[]> =>
    here.modules.db.read.query(
      `SELECT substr(u.username, 4) AS name, r.answered_at IS NOT NULL AS answered
       FROM review_requests r JOIN users u ON u.id = r.user_id
       JOIN issues i ON i.id = r.issue_id WHERE i.repository_id = ? ORDER BY u.username`,
      [id],
    );
  const turns = async (): Promise<string[]> => {
    const rows = await here.modules.db.read.query(
      `SELECT substr(u.username, 4) AS name FROM attention a JOIN users u ON u.id = a.user_id
       JOIN issues i ON i.id = a.issue_id WHERE i.repository_id = ? ORDER BY u.username`,
      [id],
    );
    return rows.map(({ name }: Json) => name);
  };
  t.strictSame(
    (await requests()).map(({ name }) => name),
    ['answering', 'declined', 'kept', 'replying', 'withdrawn'],
  );

  const change = async (path: string, body: Json, { method = 'POST', as = alice.token } = {}): Promise<void> => {
    const response = await fetch(`${here.url}/api/v1/repos/alice/tool/${path}`, {
      method,
      headers: { Authorization: `token ${as}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    t.ok(response.ok, `${path}: ${response.status}`);
  };
  const asked = `pulls/${number}/requested_reviewers`;
  await change(asked, { reviewers: ['rq-here'] });
  await change(asked, { reviewers: ['rq-declined'] }, { method: 'DELETE' });
  for (const name of ['rq-answering', 'rq-replying'])
    await change(`pulls/${number}/reviews`, { event: 'COMMENT', body: 'Seen.' }, { as: tokens.get(name)! });
  // A requested reviewer has the turn once it is open again.
  for (const state of ['closed', 'open']) await change(`issues/${number}`, { state }, { method: 'PATCH' });
  await waitUntil(async () => (await turns()).includes('withdrawn'));

  const pull = forge.world.pulls.find((each) => each['number'] === number)!;
  pull['requested_reviewers'] = ['kept', 'declined', 'answering'].map((name) => user(`rq-${name}`));
  forge.addComment(number, 'Without them, then.');
  await run();
  const wanted = [
    { name: 'answering', answered: 1 },
    { name: 'here', answered: 0 },
    { name: 'kept', answered: 0 },
    { name: 'replying', answered: 1 },
  ];
  t.strictSame(
    (await requests()).map(({ name, answered }) => ({ name, answered: Number(answered) })),
    wanted,
  );
  t.notOk((await turns()).includes('withdrawn'));
  await run({ isFull: true });
  t.match(await imports.find(id), { progress: { written: 0 } });
});
