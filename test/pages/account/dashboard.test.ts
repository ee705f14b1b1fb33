// The dashboard: filters, pages, pushes, and what other servers sent.
import t from 'tap';
import { randomUUID } from 'node:crypto';
import type { PersonViewer } from '../../../src/access/index.ts';
import { extractMain, signedIn, startWeb } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const sessionViewer = (id: string, username: string): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

t.test('the dashboard lists, filters and pages', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const first = await web.modules.repositories.create(sessionViewer(alice.id, 'alice'), {
    name: 'r0',
    visibility: 'PRIVATE',
  });
  await web.modules.db.write(async ({ manager }) => {
    for (let index = 1; index < 53; index += 1) {
      const name = `r${index}`;
      await manager.insert('repository', {
        ...first,
        id: randomUUID(),
        name,
        nameFolded: name,
        updatedAt: first.updatedAt + index,
      });
    }
  });
  const titles = (response: PageResponse) =>
    [...response.body.matchAll(/class="row-title" href="\/repos\/alice\/(r\d+)"/g)].map(([, name]) => name);
  const newest = await alice.get('/');
  t.same(titles(newest).slice(0, 2), ['r52', 'r51']);
  t.equal(titles(newest).length, 50);
  const next = /href="(\/\?after=[^"]+)"/.exec(newest.body)?.[1] ?? '';
  t.same(titles(await alice.get(next)), ['r2', 'r1', 'r0']);
  t.same(titles(await alice.get('/?q=R3')), [
    'r39',
    'r38',
    'r37',
    'r36',
    'r35',
    'r34',
    'r33',
    'r32',
    'r31',
    'r30',
    'r3',
  ]);
  t.match(extractMain(await alice.get('/?q=%3Cb%3E')), /None of your repositories has “&lt;b&gt;”/);
  for (const odd of ['/?after=x', '/?after=', '/?q=a&q=b', '/?done=constructor', '/?sort=none'])
    t.equal((await alice.get(odd)).status, 200, odd);
  t.same(titles(await alice.get('/?q=a%&after=1.x')), [], 'a wildcard is a plain character');
});

t.setTimeout(120_000);

t.test('pushes of what is followed, and requests that did not get through', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  t.notMatch((await alice.get('/')).body, /Followed on other servers|Needs attention/, 'nothing without federation');
  const status = { state: 'PENDING', why: 'failed', attempts: 8, error: 'certificate expired' } as const;
  const push = {
    handle: 'bob/glaze@other.example.org',
    url: 'https://other.example.org/repos/bob/glaze',
    branch: 'main',
    hashBefore: '1'.repeat(40),
    hashAfter: '2'.repeat(40),
    commitCount: 3,
    commits: [],
    isForced: true,
    pusher: 'bob',
    pushedAt: web.clock.now() - 60_000,
  };
  const pushes = Array.from({ length: 9 }, () => push);
  const news = {
    pending: [{ id: 'f', followId: 'f', handle: 'carol/<kiln>@other.example.org', url: null, status }],
  };
  const followedNews = async (_id: string, limit: number) => ({ ...news, pushes: pushes.slice(0, limit) });
  Object.assign(web.modules.federation, { isOperational: true, followedNews });
  const { body } = await alice.get('/');
  t.match(body, /Needs attention[^]*request to follow[^]*carol\/&lt;kiln&gt;@other\.example\.org[^]*was not delivered/);
  t.equal(body.match(/<bdi>main<\/bdi>: 3 commits, forced, by bob/g)?.length, 5, 'the newest few');
  t.match(body, /href="https:\/\/other\.example\.org\/repos\/bob\/glaze" rel="nofollow noopener"/);
});

t.test('the dashboard shows pushes to the viewer’s repositories, and no others', async (t) => {
  const web = await startWeb(t);
  const gina = await signedIn(web, 'gina');
  const henry = await signedIn(web, 'henry');
  await gina.post('/repos', { name: 'site', visibility: 'PRIVATE' });
  await henry.post('/repos', { name: 'elsewhere', visibility: 'PUBLIC' });
  const push = async (
    id: string,
    owner: string,
    name: string,
    who: string,
    ref: string,
    oldId: string,
    newId: string,
  ) => {
    const all = await web.modules.repositories.listAll();
    const repository = all.find((row) => row.owner.handle === owner && row.name === name)!;
    await web.modules.db.write(async ({ manager, now }) => {
      await manager.query('UPDATE repositories SET pushed_at = ? WHERE id = ?', [now, repository.id]);
      await manager.query(
        'INSERT INTO pushes (id, repository_id, user_id, via, options, created_at, settled_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        [id, repository.id, who, 'http', '[]', now, now],
      );
      await manager.query(
        'INSERT INTO push_updates (push_id, position, ref, old_id, new_id, result) VALUES (?, 0, ?, ?, ?, ?)',
        [id, ref, oldId, newId, 'ok'],
      );
    });
    web.clock.advance(1000);
  };
  const [none, a, b] = ['0'.repeat(40), 'a'.repeat(40), 'b'.repeat(40)];
  await push('p1', 'gina', 'site', henry.id, 'refs/heads/main', none, a);
  await push('p2', 'gina', 'site', gina.id, 'refs/heads/main', a, b);
  await push('p3', 'gina', 'site', gina.id, 'refs/tags/v1', none, b);
  await push('p4', 'henry', 'elsewhere', henry.id, 'refs/heads/main', none, a);
  const news = (response: PageResponse): string =>
    (/<h2 id="pushes">[^]*?<\/section>/.exec(response.body)?.[0] ?? '').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  t.match(
    news(await gina.get('/')),
    /gina created the tag v1 in gina\/site .*gina pushed to main in gina\/site .*henry created the branch main in gina\/site/,
  );
  t.notMatch(news(await gina.get('/')), /elsewhere/, 'a public repository of others is no news');
  t.notMatch((await henry.get('/')).body, /gina\/site/, 'nor a private one, though henry once pushed to it');
  await gina.post('/repos/gina/site/settings/collaborators', { username: 'henry', role: 'read' });
  t.match(news(await henry.get('/')), /gina\/site/);
});

t.test('the dashboard lists everything that a person may push to, and news of given access', async (t) => {
  const web = await startWeb(t);
  const { organisations, repositories, notifications } = web.modules;
  const alice = await signedIn(web, 'alice');
  const bob = await signedIn(web, 'bob');
  const as = (person: typeof alice, name: string) => sessionViewer(person.id, name);
  const [owner, other] = [as(alice, 'alice'), as(bob, 'bob')];
  const make = (name: string, organisation?: string) =>
    repositories.create(owner, { name, visibility: 'PRIVATE', ...(organisation && { owner: organisation }) });
  for (const organisation of ['acme', 'guests', 'teamed'])
    await organisations.create(owner, { name: organisation, displayName: '' });
  for (const name of ['written', 'read', 'hidden']) await make(name);
  await make('member', 'acme');
  await make('guest', 'guests');
  await make('of-team', 'teamed');
  await make('read-by-team', 'teamed');
  await repositories.create(other, { name: 'own', visibility: 'PUBLIC' });

  const collaborate = (name: string, role: string) =>
    repositories.collaborators.add(owner, 'alice', name, { username: 'bob', role });
  await collaborate('written', 'write');
  await collaborate('read', 'read');
  await organisations.addMember(owner, 'acme', { username: 'bob', role: 'MEMBER' });
  await organisations.addMember(owner, 'guests', { username: 'bob', role: 'GUEST' });
  const team = { organisation: 'teamed', name: 'crew' };
  await organisations.teams.create(owner, 'teamed', { name: 'crew', role: 'write' });
  await repositories.teams.setRole(owner, team, { owner: 'teamed', name: 'of-team' }, 'write');
  await repositories.teams.setRole(owner, team, { owner: 'teamed', name: 'read-by-team' }, 'read');
  await organisations.teams.addMember(owner, team, 'bob');

  const titles = (response: PageResponse) =>
    [...response.body.matchAll(/class="row-title" href="\/repos\/([^"]+)"/g)].map(([, name]) => name).sort();
  t.strictSame(titles(await bob.get('/')), ['acme/member', 'alice/written', 'bob/own', 'teamed/of-team']);
  t.strictSame(titles(await bob.get('/?q=WRIT')), ['alice/written']);
  const menu = (await bob.get('/')).body;
  t.match(menu, /<a href="\/#own">Your repositories<\/a>[^]*<a href="\/dashboard\/pulls">Your pull requests<\/a>/);

  const news = async () =>
    [...(await bob.get('/notifications')).body.matchAll(/added you to (the \w+) <a href="([^"]+)">/g)].map(
      ([, kind, url]) => `${kind} ${url}`,
    );
  t.strictSame((await news()).sort(), [
    'the organisation /orgs/acme',
    'the organisation /orgs/guests',
    'the repository /repos/alice/read',
    'the repository /repos/alice/written',
    'the team /orgs/teamed/teams/crew',
  ]);
  t.match(menu, /aria-label="Notifications, 5 unread"/);
  t.notMatch((await alice.get('/notifications')).body, /added you/, 'one’s own acts are no news');

  await repositories.collaborators.remove(owner, 'alice', 'read', 'bob');
  t.notMatch(await news(), ['the repository /repos/alice/read'], 'a place out of sight is not shown');
  const page = (await bob.get('/notifications')).body;
  const id = /name="id" value="(\d+)"/.exec(page)?.[1] ?? '';
  t.equal((await alice.post('/notifications/access', { id })).status, 303);
  t.equal((await news()).length, 4, 'another person marks nothing');
  await bob.post('/notifications/access', { id });
  t.equal((await news()).length, 3);
  await bob.post('/notifications/read', { all: 'yes', up_to: String(web.clock.now()) });
  t.equal((await news()).length, 0);
  t.equal(await notifications.countUnread(other), 0);
  await collaborate('read', 'admin');
  t.strictSame(await news(), ['the repository /repos/alice/read'], 'given again, it is new');
});
