// The year of pushes on a person's page: every day in its place, and nothing of what the viewer may not see.
import t from 'tap';
import { firstDayShown, viewPushCalendar } from '../../../src/pages/account/push-calendar.view.ts';
import { signedIn, startWeb, visitor, fillRepository } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const dayMs = 86_400_000;
const dayOf = (text: string): number => Date.parse(text) / dayMs;

t.test('a year ends today and begins on a Monday', async (t) => {
  for (const [now, first] of [
    ['2026-11-20', '2025-11-17'],
    ['2026-11-22', '2025-11-17'],
    ['2026-11-23', '2025-11-24'],
    ['2024-02-29', '2023-02-27'],
  ] as const) {
    t.equal(firstDayShown(Date.parse(`${now}T23:59:00Z`)), dayOf(first), now);
  }
  const now = Date.parse('2026-11-20T12:00:00Z');
  const pushes = new Map([
    [dayOf('2026-11-20'), 8],
    [dayOf('2025-11-17'), 1],
    [dayOf('2025-11-16'), 5],
  ]);
  const view = viewPushCalendar({ pushes, commits: new Map() }, now);
  t.equal(view.summary, '9 pushes in the last year', 'older ones do not count');
  t.same(view.days, [
    { x: 0, y: 16, level: 1, title: '1 push on 17 November 2025' },
    { x: 52 * 13, y: 16 + 4 * 13, level: 4, title: '8 pushes on 20 November 2026' },
  ]);
  const commits = new Map([
    [dayOf('2026-11-19'), 1],
    [dayOf('2026-11-20'), 2],
    [dayOf('2025-11-16'), 7],
  ]);
  const both = viewPushCalendar({ pushes, commits }, now);
  t.equal(both.summary, '3 commits and 9 pushes in the last year');
  t.same(
    both.days.map(({ level, title }) => `${level} ${title}`),
    ['1 1 push on 17 November 2025', '1 1 commit on 19 November 2026', '4 2 commits and 8 pushes on 20 November 2026'],
  );
  t.equal(view.quiet.match(/M/g)?.length, 52 * 7 + 5 - 2);
  t.ok(view.months.length >= 11 && view.months.every(({ x }, index) => x > (view.months[index - 1]?.x ?? -1)));
  t.equal(viewPushCalendar({ pushes: new Map(), commits: new Map() }, now).summary, '0 pushes in the last year');
});

t.test('a visitor sees pushes to what they may read', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  for (const [name, visibility] of [
    ['kiln', 'PUBLIC'],
    ['attic', 'PRIVATE'],
  ] as const) {
    await alice.post('/repos', { name, visibility });
    const viewer = {
      kind: 'person',
      id: alice.id,
      username: 'alice',
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    } as const;
    await fillRepository(t, (await web.modules.repositories.find(viewer, 'alice', name)).path, { 'a.txt': 'one\n' });
    t.equal((await alice.post(`/repos/alice/${name}/branches`, { name: 'topic', from: 'main' })).status, 303);
  }
  const summary = async (who: { get: typeof alice.get }) =>
    /\d+ push(?:es)? in the last year/.exec((await who.get('/users/alice')).body)?.[0];
  t.equal(await summary(alice), '2 pushes in the last year');
  t.equal(await summary(visitor(web)), '1 push in the last year');
  web.clock.advance(380 * dayMs);
  t.equal(await summary(visitor(web)), '0 pushes in the last year');
});
