// Lists of issues: what is shown to whom, filters in the box and in the address, bulk actions, and odd input.
import t from 'tap';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from './issues-fixture.ts';
import type { IssueWeb } from './issues-fixture.ts';

t.setTimeout(240_000);

const list = `${roofUrl}/issues`;
const titles = (body: string): string[] =>
  [
    ...(/<ul class="rows issue-rows">[^]*?<\/ul>/.exec(body)?.[0] ?? '').matchAll(
      /class="row-title"[^>]*><bdi>([^]*?)<\/bdi>/g,
    ),
  ].map(([, title]) => title!.replace(/<[^>]*>/g, ''));

async function fill({ issues, viewers, web, at }: IssueWeb): Promise<void> {
  const { alice, bob } = viewers;
  const roof = { owner: 'alice', name: 'roof' };
  await issues.addDefaultLabels(alice, { repository: roof });
  await issues.addMilestone(alice, roof, { title: 'Before winter', dueOn: '2026-12-01' });
  const open = async (title: string, body = ''): Promise<void> => {
    web.clock.advance(61_000);
    await issues.open(bob, roof, { title, body });
  };
  await open('Leak above the stairs', 'There is a puddle.');
  await open('Paint it red');
  await open('<b>Wind</b> & rain');
  await issues.triage(alice, at(1), {
    labels: ['kind/bug'],
    assignees: ['carol'],
    milestone: 'Before winter',
    isPinned: true,
  });
  await issues.triage(alice, at(2), { labels: ['kind/feature'], state: 'not_planned' });
}

t.test('the list, its filters and its counts', async (t) => {
  const context = await issueWeb(t);
  const { alice, anonymous, issues, viewers } = context;
  const empty = await anonymous.get(list);
  t.match(empty, { status: 200, body: /No issues yet/ });
  t.notMatch(extractMain(empty), /New issue/, 'who is not signed in is asked to sign in');
  t.match(empty.body, /href="\/login\?next=/);
  t.match((await alice.get(list)).body, /href="\/repos\/alice\/roof\/issues\/new"/);
  await fill(context);

  const shown = await anonymous.get(list);
  t.same(titles(shown.body), ['&lt;b&gt;Wind&lt;/b&gt; &amp; rain', 'Leak above the stairs']);
  t.match(words(shown), /2 open 1 closed All/);
  t.match(shown.body, /<h3[^>]*>Pinned<\/h3>/);
  t.match(words(shown), /#1 opened .* by bob · Before winter/);
  t.match(extractMain(shown), /Assigned to carol/);
  t.match(shown.body, /Issues<span class="tab-count">2<\/span>/, 'the tab has the number of open ones');
  const titlesFor = async (query: string): Promise<string[]> => titles((await anonymous.get(`${list}?${query}`)).body);
  t.same(await titlesFor('q=is:closed'), ['Paint it red']);
  t.same(await titlesFor('state=closed'), ['Paint it red']);
  t.same(await titlesFor('q=label:kind/bug'), ['Leak above the stairs']);
  t.same(await titlesFor('label=kind/bug&state=all'), ['Leak above the stairs']);
  t.same(await titlesFor('q=is:open&label=kind/feature'), []);
  t.same(await titlesFor('assignee=carol'), ['Leak above the stairs']);
  t.same(await titlesFor('assignee=none&state=all'), ['&lt;b&gt;Wind&lt;/b&gt; &amp; rain', 'Paint it red']);
  t.same(await titlesFor('milestone=Before+winter'), ['Leak above the stairs']);
  t.same(await titlesFor('q=puddle'), ['Leak above the stairs'], 'a word of the text');
  t.same(await titlesFor('sort=oldest'), ['Leak above the stairs', '&lt;b&gt;Wind&lt;/b&gt; &amp; rain']);
  t.same(await titlesFor('author=nobody-here'), []);
  t.match(words(await anonymous.get(`${list}?q=is:closed+label:kind/bug`)), /No issue matches\. Show all open issues/);

  const odd = await anonymous.get(`${list}?q=${encodeURIComponent('colour:red is:blue <script> repo:a/b')}`);
  t.match(words(odd), /Not recognised: colour:red is:blue repo:a\/b \./);
  t.notMatch(odd.body, /<script>/);
  t.match(odd.body, /value="is:open &lt;script&gt;"/, 'what was understood stands in the box');
  for (const query of ['after=x', 'before=9.9.9', 'after=1.1', `q=${'label:'.repeat(300)}`, 'sort=%22%22', 'label=%22'])
    t.equal((await anonymous.get(`${list}?${query}`)).status, 200, query);

  await issues.changeSettings(viewers.alice, { owner: 'alice', name: 'roof' }, { issuesFrom: 'nobody' });
  t.notMatch((await anonymous.get(roofUrl)).body, /tab-count/, 'no tab where issues are off');
  t.match(words(await alice.get(list)), /does not accept new issues/, 'but what is there can be read');
});

t.test('pages follow one another, and keep what was chosen', async (t) => {
  const context = await issueWeb(t);
  const { anonymous, issues, viewers, web } = context;
  for (let number = 1; number <= 53; number += 1) {
    web.clock.advance(61_000);
    await issues.open(viewers.bob, { owner: 'alice', name: 'roof' }, { title: `Tile ${number}` });
  }
  const first = await anonymous.get(`${list}?q=sort:oldest`);
  t.equal(titles(first.body).length, 50);
  const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.body)!;
  const second = await anonymous.get(next.replaceAll('&amp;', '&'));
  t.same(titles(second.body), ['Tile 51', 'Tile 52', 'Tile 53']);
  t.match(second.body, /rel="prev"/);
  t.notMatch(second.body, /rel="next"/);
});

t.test('selected issues are changed by those who may, one by one, and what was refused is named', async (t) => {
  const context = await issueWeb(t);
  await fill(context);
  const { alice, bob, carol, anonymous, issues, viewers, at } = context;
  const bulk = `${list}/bulk`;
  for (const [name, browser] of Object.entries({ bob, anonymous })) {
    t.notMatch((await browser.get(list)).body, /id="bulk"/, `${name} sees no form`);
    const { status, headers } = await browser.post(bulk, { number: '1', action: 'close' });
    t.ok(status === 404 || headers.location?.startsWith('/login'), `${name} is refused`);
  }
  t.match(
    (await carol.get(list)).body,
    /id="bulk"[^]*action="\/repos\/alice\/roof\/issues\/bulk"|action="\/repos\/alice\/roof\/issues\/bulk"/,
  );
  const done = await carol.post(bulk, { number: ['1', '3'], action: 'label', label: 'kind/question', q: 'is:open' });
  t.match(done, { status: 303, headers: { location: `${list}?done=issues-changed` } });
  t.match(
    (await issues.find(viewers.alice, at(1))).labels.map(({ name }) => name),
    ['kind/question'],
    'an exclusive label takes the place of its like',
  );
  await carol.post(bulk, { number: ['1', '3'], action: 'milestone', milestone: '=Before winter' });
  await carol.post(bulk, { number: ['1', '3'], action: 'assign', assignee: 'bob' });
  t.match(await issues.find(viewers.alice, at(3)), { assignees: [bob.id], milestoneId: /./ });
  await carol.post(bulk, { number: ['1'], action: 'milestone', milestone: 'none' });
  t.match(await issues.find(viewers.alice, at(1)), { milestoneId: null });
  await carol.post(bulk, { number: ['1'], action: 'not-planned' });
  t.match(await issues.find(viewers.alice, at(1)), { state: 'CLOSED', closeReason: 'not_planned' });
  await carol.post(bulk, { number: ['1'], action: 'reopen' });
  t.match(await issues.find(viewers.alice, at(1)), { state: 'OPEN' });

  const partly = await carol.post(bulk, { number: ['3', '99'], action: 'close' });
  t.equal(partly.status, 200);
  t.match(words(partly), /Changed: #3 \. #99 : Issue not found/);
  for (const [form, reason] of [
    [{ action: 'close' }, /Select issues first/],
    [{ number: '1', action: 'label', label: '' }, /Choose a label first/],
    [{ number: '1', action: 'explode' }, /Choose an action/],
    [{ number: ['x', '-1', '1e9'], action: 'close' }, /Select issues first/],
    [{ number: '1', action: 'label', label: 'no-such' }, /There is no label named no-such/],
    [{ number: '1', action: 'assign', assignee: 'nobody-here' }, /Only people with read access/],
  ] as const) {
    const refused = await carol.post(bulk, form as Record<string, string | string[]>);
    t.equal(refused.status, 422, reason.source);
    t.match(words(refused), reason);
  }
  t.match((await carol.post(bulk, { number: '1', action: 'label' })).body, /value="1"[^>]*checked/, 'the tick stays');
  t.equal(
    (await alice.post(bulk, { number: ['1', '1'], action: 'close', q: 'is:closed' })).headers.location,
    `${list}?q=is%3Aclosed&done=issues-changed`,
  );
});

t.test(
  'a private repository shows its issues to its people only, also in feeds and lists over repositories',
  async (t) => {
    const context = await issueWeb(t);
    const { alice, bob, anonymous, issues, viewers, repositories, web } = context;
    await repositories.create(viewers.alice, { name: 'vault', visibility: 'PRIVATE' });
    await issues.open(viewers.alice, { owner: 'alice', name: 'vault' }, { title: 'Combination lost', body: 'Left 7' });
    web.clock.advance(61_000);
    await issues.open(
      viewers.alice,
      { owner: 'alice', name: 'roof' },
      { title: 'Combination of tiles', body: 'see @bob' },
    );
    const vault = '/repos/alice/vault';
    for (const path of [
      '/issues',
      '/issues.atom',
      '/issues/1.atom',
      '/labels',
      '/milestones',
      '/issues/moderation',
      '/issues/trash',
    ]) {
      t.equal((await bob.get(vault + path)).status, 404, path);
      t.equal((await alice.get(vault + path)).status, 200, path);
    }
    const feed = await alice.get(`${vault}/issues/1.atom`);
    t.match(feed, { headers: { 'content-type': /atom\+xml/ }, body: /Left 7/ });
    t.match((await anonymous.get(`${roofUrl}/issues.atom`)).body, /<title>#1 Combination of tiles<\/title>/);
    t.equal((await anonymous.get(`${roofUrl}/issues/0.atom`)).status, 404);
    t.equal((await anonymous.get(`${roofUrl}/issues/99.atom`)).status, 404);

    for (const path of ['/search/issues?q=combination', '/users/alice/issues', '/search/issues?q=author:alice']) {
      t.match(words(await alice.get(path)), /Combination lost/, path);
      for (const browser of [bob, anonymous]) {
        const shown = words(await browser.get(path));
        t.match(shown, /Combination of tiles/, path);
        t.notMatch(shown, /Combination lost/, path);
      }
    }
    t.match(words(await bob.get('/dashboard/issues?reason=mentioned')), /Combination of tiles/);
    t.match(words(await alice.get('/dashboard/issues?reason=created')), /Combination lost/);
    t.match(words(await bob.get('/dashboard/issues')), /No open issue is assigned to you/);
    t.match(await anonymous.get('/dashboard/issues'), { status: 303 });
    t.match((await bob.get('/search/issues?q=tiles')).body, /Combination of <mark>tiles<\/mark>/);
    t.match(words(await bob.get('/search/issues')), /Searches titles/);
    for (const query of ['q=x&after=zz', 'q=label:%22', 'q=a', `q=${'x'.repeat(2_000)}`])
      t.equal((await bob.get(`/search/issues?${query}`)).status, 200, query);
    for (const path of ['/users/nobody-here/issues', '/orgs/alice/issues', '/users/nobody-here/issues?q=x'])
      t.equal((await bob.get(path)).status, 404, path);
  },
);
