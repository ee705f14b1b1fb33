// What happened in a repository, and in those of a user, an organisation and a team, in Gitea's form.
import t from 'tap';
import { openWorld } from './gitea-world.ts';

t.setTimeout(300_000);

t.test('feeds have what happened there, by all and by one, of a day, page by page, and nothing hidden', async (t) => {
  const { web, alice, bob, carol, anonymous } = await openWorld(t);
  await alice('POST', '/orgs', { username: 'guild' });
  await alice('POST', '/orgs/guild/repos', { name: 'hall' });
  await alice('POST', '/orgs/guild/repos', { name: 'yard', private: false });
  const team = (await alice('POST', '/orgs/guild/teams', { name: 'crew', permission: 'read' })).json.id;
  t.equal((await alice('PUT', `/teams/${team}/repos/guild/hall`)).status, 204);
  t.equal((await alice('PUT', `/teams/${team}/members/bob`)).status, 204);
  for (const [call, repository, title] of [
    [alice, 'alice/site', 'one'],
    [bob, 'alice/site', 'two'],
    [alice, 'alice/cellar', 'three'],
    [alice, 'guild/hall', 'four'],
    [alice, 'guild/yard', 'five'],
  ] as const)
    t.equal((await call('POST', `/repos/${repository}/issues`, { title })).status, 201, title);
  await alice('POST', '/repos/alice/site/contents/a.txt', { content: 'YQ==', new_branch: 'topic' });
  await alice('POST', '/repos/alice/site/pulls', { head: 'topic', base: 'main', title: 'six' });
  web.clock.advance(60_000);
  t.equal((await alice('POST', '/repos/alice/site/pulls/3/merge', { Do: 'merge' })).status, 200);
  await alice('POST', '/repos/alice/site/releases', { tag_name: 'v1', name: 'First' });
  await web.modules.repositories.stop();

  const shown = async (call: typeof alice, path: string) => {
    const { status, json } = await call('GET', path);
    if (status !== 200) return status;
    return json.map((one: { op_type: string; content: string; ref_name: string }) =>
      [one.op_type, /push|commit|delete/.test(one.op_type) ? one.ref_name : one.content].join(' '),
    );
  };
  const kindsOf = async (call: typeof alice, path: string) => {
    const rows = await shown(call, path);
    return Array.isArray(rows) ? [...rows].filter((row) => /issue|pull|release/.test(row)).sort() : rows;
  };
  const site = [
    'create_issue 1|one',
    'create_issue 2|two',
    'create_pull_request 3|six',
    'merge_pull_request 3|six',
    'publish_release First',
  ];
  const today = new Date(web.modules.clock.now()).toISOString().slice(0, 10);
  for (const [call, path, expected] of [
    [anonymous, '/repos/alice/site/activities/feeds', site],
    [bob, '/repos/alice/cellar/activities/feeds', 404],
    [bob, '/users/alice/activities/feeds', site],
    [alice, '/users/alice/activities/feeds', [...site, 'create_issue 1|three'].sort()],
    [bob, '/users/alice/activities/feeds?only-performed-by=true', site.filter((row) => !row.includes('two'))],
    [bob, `/users/alice/activities/feeds?date=${today}`, site],
    [bob, '/users/alice/activities/feeds?date=2001-02-03', []],
    [bob, '/users/alice/activities/feeds?date=odd', 422],
    [bob, '/users/bob/activities/feeds', []],
    [bob, '/users/nobody/activities/feeds', 404],
    [carol, '/orgs/guild/activities/feeds', ['create_issue 1|five']],
    [bob, '/orgs/guild/activities/feeds', ['create_issue 1|five', 'create_issue 1|four']],
    [alice, '/orgs/guild/activities/feeds', ['create_issue 1|five', 'create_issue 1|four']],
    [alice, '/orgs/nowhere/activities/feeds', 404],
    [bob, `/teams/${team}/activities/feeds`, ['create_issue 1|four']],
    [alice, '/teams/99999/activities/feeds', 404],
    [anonymous, `/teams/${team}/activities/feeds`, 401],
  ] as const)
    t.strictSame(await kindsOf(call, path), expected, path);
  t.equal(
    await kindsOf(carol, `/teams/${team}/activities/feeds`),
    await kindsOf(carol, '/teams/99999/activities/feeds'),
  );

  const whole = (await shown(anonymous, '/repos/alice/site/activities/feeds')) as string[];
  t.ok(whole.includes('commit_repo refs/heads/topic'), whole.join());
  t.ok(whole.includes('push_tag refs/tags/v1'), whole.join());
  const paged: string[] = [];
  for (let page = 1; ; page += 1) {
    const rows = (await shown(anonymous, `/repos/alice/site/activities/feeds?limit=2&page=${page}`)) as string[];
    if (rows.length === 0) break;
    paged.push(...rows);
  }
  t.strictSame(paged, whole);
  t.match((await anonymous('GET', '/repos/alice/site/activities/feeds?limit=1')).json, [
    { act_user: { login: 'alice' }, repo: { full_name: 'alice/site' }, is_private: false, comment: null },
  ]);
});
