// time limit: 120 s
// Due dates, branches and tracked times of issues from a server that answers as Gitea's API describes: they come with
// their people, follow changes there, and what was changed here stays.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { startGiteaStub } from './gitea-stub.ts';

t.setTimeout(110_000);

const port = await freePort();
const clock = fixedClock(Date.UTC(2026, 0, 1));
const here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` }, clock });
const alice = await here.addPerson('alice');
const dave = await here.addPerson('dave');
const viewer: PersonViewer = {
  ...{ kind: 'person', id: alice.id, username: 'alice', isAdministrator: false },
  ...{ via: 'session', scope: 'admin', repositoryIds: null },
};
const { imports, issues } = here.modules;
const forge = await startGiteaStub(t, { port });
const host = `127.0.0.1:${port}`;

type Json = Record<string, unknown>;
const timeOf = (id: number, number: number, login: string, seconds: number): Json => ({
  ...{ id, created: forge.tick(), time: seconds, user_id: 0, user_name: login, issue_id: 0 },
  issue: forge.world.issues.find((issue) => issue['number'] === number) ?? null,
});
const one = forge.addIssue({ due_date: '2024-05-01T23:59:59Z', ref: 'refs/heads/main' });
const two = forge.addIssue({ ref: 'no..such~name' });
const three = forge.addIssue();
const times: Json[] = [];
forge.world.extras.set('/times', times);
Object.assign(forge.world.repository, {
  internal_tracker: { enable_time_tracker: true },
  permissions: { admin: true },
});
times.push(timeOf(11, one, 'bob', 60), timeOf(12, one, 'carol', 3_600), timeOf(13, two, 'bob', 5));
// Twice, of no issue, without time, of a deleted account, longer than a life.
times.push(times[0]!, { ...timeOf(14, one, 'bob', 7), issue: null }, timeOf(15, one, 'bob', 0));
times.push(timeOf(16, three, 'Ghost', 9), timeOf(17, three, 'bob', 2_000_000_000));

const { id } = await imports.start(viewer, {
  address: `${forge.url}/bob/tool`,
  token: forge.world.token,
  name: 'tool',
});
await imports.runDue();
const run = async (wish = {}): Promise<void> => {
  await imports.again(viewer, id, wish);
  await imports.runDue();
  t.match(await imports.find(id), { state: 'done', lastError: null });
};
const api = async <T = unknown>(path: string, method = 'GET', body?: Json): Promise<T> => {
  const response = await fetch(`${here.url}/api/v1/repos/alice/tool${path}`, {
    method,
    headers: { Authorization: `token ${alice.token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (response.status === 204 ? null : await response.json()) as T;
};
const timesHere = async (): Promise<string[]> =>
  (await api<Json[]>('/times?limit=50')).map(
    ({ issue, user_name: who, time }) => `#${(issue as Json)['number']} ${who} ${time}`,
  );
const planOf = async (number: number): Promise<unknown[]> => {
  const { due_date: due, ref } = await api<Json>(`/issues/${number}`);
  return [due === null ? null : String(due).slice(0, 10), ref];
};
const problems = async (): Promise<string[]> =>
  (await imports.problems((await imports.find(id))!.id)).map(({ item, problem }) => `${item}: ${problem}`);

t.test('times come once, with the names of their people', async (t) => {
  const all = [`#${one} bob@${host} 60`, `#${one} carol@${host} 3600`, `#${two} bob@${host} 5`];
  t.strictSame(await timesHere(), all);
  t.strictSame(
    (await problems()).filter((line) => line.startsWith('tracked')),
    [
      `tracked times: one of #${three} did not come: it has more than a year`,
      `tracked times: one of #${three} did not come: it has no person`,
    ],
  );
  await run({ isFull: true });
  t.strictSame(await timesHere(), all, 'a second run changes nothing');
});

t.test('a claim gives them to an account, and its reversal takes them back', async (t) => {
  await imports.people.claim(viewer, `bob@${host}`, dave.id);
  t.strictSame(await timesHere(), [`#${one} dave 60`, `#${one} carol@${host} 3600`, `#${two} dave 5`]);
  times.push(timeOf(20, two, 'bob', 8));
  await run();
  t.strictSame((await timesHere()).at(-1), `#${two} dave 8`, 'later runs know the claim');
  await imports.people.unclaim(viewer, `bob@${host}`);
  t.strictSame(
    (await timesHere()).filter((line) => line.includes('dave')),
    [],
  );
});

t.test('what was removed on either side goes, what was added here stays', async (t) => {
  const at = { owner: 'alice', name: 'tool', number: two };
  const [row] = (await issues.times.list(viewer, { issue: at }, {}, { limit: 1 } as never)).rows;
  await issues.times.remove(viewer, at, row!.id);
  await issues.times.add(viewer, at, { seconds: 99 });
  times.splice(1, 1);
  await run({ isFull: true });
  t.strictSame(await timesHere(), [`#${one} bob@${host} 60`, `#${two} bob@${host} 8`, `#${two} alice 99`]);
  // Without administrator access the list has one's own times alone, which does not mean that others are gone.
  Object.assign(forge.world.repository, { permissions: { admin: false } });
  const others = times.splice(0, times.length);
  await run({ isFull: true });
  t.equal((await timesHere()).length, 3);
  t.ok((await problems()).some((line) => /^tracked times: only those of the owner of the token/.test(line)));
  times.push(...others);
});

t.test('due dates and branches come, follow changes there, and stay as they were set here', async (t) => {
  t.strictSame(await planOf(one), ['2024-05-01', 'refs/heads/main']);
  t.strictSame(await planOf(two), [null, ''], 'a name that is none is left out');
  forge.touch(one, { due_date: '2024-06-01T23:59:59Z', ref: '' });
  await run();
  t.strictSame(await planOf(one), ['2024-06-01', '']);
  forge.touch(one, { due_date: null });
  await run();
  t.strictSame(await planOf(one), [null, '']);
  await api(`/issues/${one}`, 'PATCH', { due_date: '2026-02-03T00:00:00Z' });
  await api(`/issues/${three}`, 'PATCH', { due_date: '2026-02-04T00:00:00Z', ref: 'topic' });
  forge.touch(one, { title: 'Renamed', due_date: '2024-07-01T23:59:59Z' });
  forge.addComment(three, 'More');
  await run({ isFull: true });
  t.strictSame(await planOf(one), ['2026-02-03', ''], 'set here and there: it stays as here');
  t.strictSame(await planOf(three), ['2026-02-04', 'topic'], 'nothing is known of it there');
  t.equal((await api<Json>(`/issues/${one}`))['title'], 'Renamed');
});
