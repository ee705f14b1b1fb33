// Pages of pull requests without a browser: who sees which button, filters of the list, and ways to a new one.
import t from 'tap';
import { fillRepository } from '../../fixtures/web-fixture.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';
import { issueWeb, roofUrl, words } from '../issues/issues-fixture.ts';
import { pullWork } from './pulls-fixture.ts';

async function pullWeb(t: Owner) {
  const context = await issueWeb(t);
  const { repositories, viewers, web } = context;
  const found = await repositories.find(viewers.alice, 'alice', 'roof');
  await fillRepository(t, found.path, { 'README.md': '# Roof\n' });
  const work = await pullWork(t, found.path);
  await work.commit('tiles', { 'tiles.txt': 'red\n' }, 'Lay tiles');
  await work.commit('gutter', { 'gutter.txt': 'deep\n' }, 'Dig a gutter');
  await work.commit('chimney', { 'chimney.txt': 'tall\n' }, 'Build a chimney');
  const place = { owner: 'alice', name: 'roof' };
  return { ...context, pulls: web.modules.pulls, found, work, place };
}

t.test('each role sees the buttons that it may press', async (t) => {
  const { pulls, place, viewers, alice, bob, carol, anonymous } = await pullWeb(t);
  await pulls.open(viewers.carol, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  const one = `${roofUrl}/pulls/1`;
  const formsOf = async (who: { get(path: string): Promise<{ body: string }> }): Promise<string[]> => [
    ...new Set(
      Array.from((await who.get(one)).body.matchAll(/action="[^"]*\/pulls\/1\/([a-z-]+)/g), ([, name]) => name!),
    ),
  ];
  const triage = ['assignees', 'links', 'lock'];
  const own = ['comments', 'draft', 'merge', 'react', 'retarget', 'reviewers', 'subscribe'];
  t.same((await formsOf(anonymous)).sort(), []);
  t.same((await formsOf(bob)).sort(), ['comments', 'react', 'review', 'subscribe'], 'a reader takes part in the talk');
  t.same((await formsOf(carol)).sort(), [...own, ...triage].sort(), 'the author, who may write');
  t.same((await formsOf(alice)).sort(), [...own, ...triage, 'delete', 'review'].sort(), 'the owner');
  for (const name of ['merge', 'retarget', 'draft', 'ready', 'revert', 'update', 'reviewers', 'dismiss', 'branch']) {
    const { status } = await bob.post(`${one}/${name}`, {
      round: '1',
      style: 'merge',
      base: 'gutter',
      action: 'delete',
      review: 'x',
      reason: 'y',
      add: 'alice',
    });
    t.ok([403, 404, 409, 422].includes(status), `${name}: a reader may not (${status})`);
    t.match(
      (await anonymous.post(`${one}/${name}`, {})).headers['location'] ?? '',
      /^\/login/,
      `${name}: sign in first`,
    );
  }
  const { pull } = await pulls.find(viewers.alice, { ...place, number: 1 });
  t.equal(pull.baseBranch, 'main');
  t.equal(pull.isDraft, false, 'nothing has changed');
});

t.test('a wrong name of a reviewer comes back with what was typed, and asks no one', async (t) => {
  const { pulls, place, viewers, alice } = await pullWeb(t);
  await pulls.open(viewers.alice, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  const one = `${roofUrl}/pulls/1`;
  for (const [typed, says] of [
    ['bob, nemo', 'There is no user named nemo.'],
    ['bob, none/none', 'This team does not exist.'],
    ['bob, alice', 'You cannot request a review from the author.'],
  ] as const) {
    const { status, body } = await alice.post(`${one}/reviewers`, { add: typed });
    t.equal(status, 422, typed);
    t.match(body, `value="${typed}"`, 'what was typed is kept');
    t.match(body, new RegExp(`id="reviewers-error"[^>]*>[^]{0,400}${says.replaceAll('.', '\\.')}`), 'beside the field');
    t.same(await pulls.attention.requested(viewers.alice, { ...place, number: 1 }), [], 'not even those who are there');
  }
  t.match(await alice.post(`${one}/reviewers`, { add: 'bob' }), { status: 303 });
  t.match((await alice.post(`${one}/reviewers`, { remove: 'nemo' })).status, 422);
});

t.test('a conflict is shown with its marks, to who may read the repository', async (t) => {
  const { pulls, place, viewers, work, repositories, alice, bob, anonymous } = await pullWeb(t);
  const hostile = 'fine\u202e <script>alert(1)</script>\n';
  await work.commit('tiles', { 'roof.txt': `topic ${hostile}`, 'b <i>.txt': 'topic\n' }, 'Lay tiles');
  await pulls.open(viewers.carol, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  await work.commit('main', { 'roof.txt': 'main\n', 'b <i>.txt': 'main\n' }, 'On main');
  const one = `${roofUrl}/pulls/1`;
  // A slow machine may need another view: the page does not wait for git.
  let page = await anonymous.get(one);
  for (let view = 0; view < 100 && /The conflicts are being determined/.test(words(page)); view += 1)
    page = await anonymous.get(one);
  t.match(
    words(page),
    /Git cannot merge these files: .*b <i>\.txt .*roof\.txt .*Resolve the conflicts locally and push/,
  );
  const rows = Array.from(
    page.body.matchAll(/<tr class="(ours|theirs|mark)"><td class="number">(\d+)<\/td><td>(.*?)<\/td>/g),
    ([, kind, number, text]) => `${number} ${kind} ${text}`,
  );
  t.same(rows.slice(5), [
    '1 mark &lt;&lt;&lt;&lt;&lt;&lt;&lt; main',
    '2 ours main',
    '3 mark =======',
    '4 theirs topic fine<span class="odd" title="U+202E">U+202E</span> &lt;script&gt;alert(1)&lt;/script&gt;',
    '5 mark &gt;&gt;&gt;&gt;&gt;&gt;&gt; tiles',
  ]);
  await repositories.changeVisibility(viewers.alice, place.owner, place.name, 'PRIVATE');
  for (const who of [anonymous, bob]) {
    const hidden = await who.get(one);
    t.equal(hidden.status === 200, false);
    t.notMatch(hidden.body, /class="ours"/);
  }
  t.match((await alice.get(one)).body, /class="ours"/);
});

t.test('the list is narrowed down by state, draft and review', async (t) => {
  const { pulls, place, viewers, anonymous, issues, at } = await pullWeb(t);
  await pulls.open(viewers.carol, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  await pulls.open(viewers.carol, place, { head: 'gutter', title: 'Dig a gutter', body: '', isDraft: true });
  await pulls.open(viewers.carol, place, { head: 'chimney', title: 'Build a chimney', body: '' });
  await issues.open(viewers.bob, place, { title: 'An issue', body: '' });
  await pulls.reviews.submit(viewers.alice, at(1), { verdict: 'APPROVE', body: '', round: 1 });
  await pulls.merge(viewers.alice, at(3), { style: 'merge', round: 1 });
  const found = async (query: string): Promise<string[]> => {
    const { body } = await anonymous.get(`${roofUrl}/pulls?${new URLSearchParams({ q: query })}`);
    return Array.from(body.matchAll(/class="row-title" href="[^"]*\/pulls\/(\d+)"/g), ([, number]) => number!);
  };
  t.same(await found(''), ['2', '1'], 'what is open, and no issue');
  t.same(await found('is:merged'), ['3']);
  t.same(await found('is:closed'), ['3']);
  t.same(await found('is:all'), ['3', '2', '1']);
  t.same(await found('is:draft'), ['2']);
  t.same(await found('-is:draft'), ['1']);
  t.same(await found('review:approved'), ['1']);
  t.same(await found('review:none'), ['2']);
  t.same(await found('review:changes_requested'), []);
  await pulls.reviews.submit(viewers.alice, at(1), { verdict: 'REQUEST_CHANGES', body: 'No.', round: 1 });
  t.same(await found('review:approved'), [], 'the last verdict counts');
  t.same(await found('review:changes_requested'), ['1']);
  await pulls.attention.request(viewers.carol, at(2), { add: ['alice'] });
  t.same(await found('review-requested:alice'), ['2']);
  const other = await anonymous.get(`${roofUrl}/issues?q=is%3Apull`);
  t.equal(other.status, 303);
  t.equal(other.headers['location'], `${roofUrl}/pulls`);
});

t.test('those who may write change several of the list at once', async (t) => {
  const { pulls, issues, place, viewers, at, bob, carol, anonymous } = await pullWeb(t);
  for (const head of ['tiles', 'gutter', 'chimney'])
    await pulls.open(viewers.carol, place, { head, title: head, body: '' });
  await issues.addLabel(viewers.alice, { repository: place }, { name: 'later', colour: 'd73a4a' });
  const list = `${roofUrl}/pulls`;
  t.notMatch((await anonymous.get(list)).body, 'bulk');
  t.notMatch((await bob.get(list)).body, 'bulk', 'a reader ticks nothing');
  const { body } = await carol.get(list);
  t.equal(body.match(/type="checkbox" name="number"/g)!.length, 3);
  t.notMatch(body, 'not-planned', 'a pull request is closed without a reason');
  const bulk = (form: Record<string, string | string[]>) => carol.post(`${list}/bulk`, { number: ['1', '3'], ...form });
  t.match(await bulk({ action: 'label', label: 'later', q: 'is:open' }), {
    status: 303,
    headers: { location: `${list}?done=pulls-changed` },
  });
  await bulk({ action: 'assign', assignee: 'alice' });
  await bulk({ action: 'close' });
  const states = await Promise.all(
    [1, 2, 3].map(async (number) => (await issues.find(viewers.alice, at(number))).state),
  );
  t.same(states, ['CLOSED', 'OPEN', 'CLOSED']);
  const { labels, assignees } = await issues.find(viewers.alice, at(3));
  t.same([labels.map(({ name }) => name), assignees], [['later'], [viewers.alice.id]]);
  t.match(words(await bulk({ number: [], action: 'close' })), /Select pull requests first/);
  const partly = await bulk({ number: ['2', '99'], action: 'close' });
  t.match([partly.status, words(partly)], [200, /Changed: #2 \. #99 : Issue not found/]);
  t.equal((await bob.post(`${list}/bulk`, { number: '2', action: 'reopen' })).status, 404);
});

t.test('a number leads to what it is; the commits, feeds and files of a pull request', async (t) => {
  const { pulls, issues, place, viewers, anonymous } = await pullWeb(t);
  await issues.open(viewers.bob, place, { title: 'It rains in', body: '' });
  await pulls.open(viewers.carol, place, { head: 'tiles', title: 'Lay tiles', body: 'Fixes #1.' });
  const leads = async (path: string): Promise<unknown[]> => {
    const { status, headers } = await anonymous.get(path);
    return [status, headers['location']];
  };
  t.same(await leads(`${roofUrl}/issues/2`), [301, `${roofUrl}/pulls/2`]);
  t.same(await leads(`${roofUrl}/pulls/1`), [301, `${roofUrl}/issues/1`]);
  t.equal((await anonymous.get(`${roofUrl}/pulls/9`)).status, 404);
  t.match(words(await anonymous.get(`${roofUrl}/pulls/2/commits`)), /Lay tiles/);
  t.match((await anonymous.get(`${roofUrl}/pulls.atom`)).body, /#2 Lay tiles/);
  t.match((await anonymous.get(`${roofUrl}/pulls/2.atom`)).body, /Fixes #1\./);
  t.equal(JSON.parse((await anonymous.get(`${roofUrl}/pulls/2.json`)).body).number, 2);
  t.match((await anonymous.get(`${roofUrl}/pulls/2.md`)).body, /Lay tiles/);
  t.match((await anonymous.get(`${roofUrl}/issues/1`)).body, new RegExp(`href="${roofUrl}/pulls/2"`));
});

t.test('branches, a comparison and a push lead to a new pull request, for who may push', async (t) => {
  const { repositories, viewers, found, work, carol, bob, pulls, place } = await pullWeb(t);
  const link = `${roofUrl}/pulls/new?head=tiles`;
  t.match((await carol.get(`${roofUrl}/branches`)).body, link);
  t.notMatch((await bob.get(`${roofUrl}/branches`)).body, '/pulls/new');
  t.match((await carol.get(`${roofUrl}/compare/main...tiles`)).body, 'pulls/new?base=main&amp;head=tiles');
  const oid = await work.objects({ 'paint.txt': 'green\n' }, 'Paint it', 'origin/main');
  await repositories.pushes.moveBranch(viewers.carol, found, {
    branch: 'paint',
    oldId: '0'.repeat(40),
    newId: oid,
    right: 'push',
  });
  const home = await carol.get(roofUrl);
  t.match(words(home), /You recently pushed to paint/);
  t.notMatch(words(await bob.get(roofUrl)), /You recently pushed/);
  await pulls.open(viewers.carol, place, { head: 'paint', title: 'Paint it', body: '' });
  t.notMatch(words(await carol.get(roofUrl)), /You recently pushed/, 'it has its pull request');
});

t.test('a review from the page of talk; those who may dismiss it do so there and on the page of changes', async (t) => {
  const { pulls, place, viewers, alice, bob, carol, anonymous } = await pullWeb(t);
  await pulls.open(viewers.carol, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  const one = `${roofUrl}/pulls/1`;
  const send = (form: Record<string, string>) => bob.post(`${one}/review`, { page: 'talk', round: '1', ...form });
  t.notMatch((await carol.get(one)).body, 'Review these changes', 'its author has no verdict');
  t.notMatch((await anonymous.get(one)).body, 'Review these changes');
  const empty = await send({ verdict: 'COMMENT', body: ' ' });
  t.match([empty.status, words(empty)], [422, /Enter some text.*Add a comment/]);
  const late = await send({ verdict: 'REQUEST_CHANGES', body: 'They leak.', round: '0' });
  t.match(late, { status: /404|422|409/ });
  t.match(await send({ verdict: 'REQUEST_CHANGES', body: 'They leak.' }), {
    status: 303,
    headers: { location: `${one}?done=review-submitted` },
  });
  t.match(words(await anonymous.get(`${one}/changes`)), /Lay tiles/);
  t.match(words(await bob.get(`${one}/changes`)), /Finish your review bob Requested changes/);
  for (const page of [one, `${one}/changes`]) {
    t.match((await alice.get(page)).body, `action="${one}/dismiss`, page);
    t.notMatch((await bob.get(page)).body, `action="${one}/dismiss`, page);
  }
  const [review] = await pulls.reviews.list(viewers.alice, { ...place, number: 1 });
  const dismiss = (form: Record<string, string>) => alice.post(`${one}/dismiss`, { review: review!.id, ...form });
  t.match(words(await dismiss({ shown: 'view=split', reason: '' })), /Finish your review Enter a reason/);
  t.match(words(await dismiss({ page: 'talk', reason: '' })), /Enter a reason.*Add a comment/);
  t.match(await dismiss({ shown: 'view=split', reason: 'They are dry.' }), {
    status: 303,
    headers: { location: `${one}/changes?view=split&done=review-dismissed` },
  });
  t.match(words(await anonymous.get(one)), /alice dismissed/);
});

t.test('owners of changed files are shown, with what is wrong in their file', async (t) => {
  const { pulls, place, viewers, work, anonymous } = await pullWeb(t);
  await work.commit('main', { CODEOWNERS: '*.txt @carol\n*.md @alice\n[Part]\n*.js @nowhere-at-all\n' }, 'Owners');
  await pulls.open(viewers.carol, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  const shown = words(await anonymous.get(`${roofUrl}/pulls/1`));
  t.match(
    shown,
    /Code owners \*\.txt 1 file @carol 1 problem in the file Line 3: \[Part\] : sections are not supported\./,
  );
  t.notMatch(shown, /@alice|nowhere/, 'of other files nothing is said');
  t.match((await anonymous.get(`${roofUrl}/pulls/1`)).body, `${roofUrl}/blob/main/CODEOWNERS`);
});

t.test('SECURITY: who may push to a fork decides whether others may', async (t) => {
  const { pulls, place, viewers, repositories, alice, bob, carol, anonymous } = await pullWeb(t);
  await repositories.forks.create(viewers.bob, 'alice', 'roof', {});
  const fork = await repositories.find(viewers.bob, 'bob', 'roof');
  await (await pullWork(t, fork.path)).commit('porch', { 'porch.txt': 'wide\n' }, 'Build a porch');
  await pulls.open(viewers.bob, place, { head: 'bob:porch', title: 'Build a porch', body: '' });
  const one = `${roofUrl}/pulls/1`;
  const form = new RegExp(`action="${one}/maintainers"`);
  const isOn = async () => (await pulls.find(viewers.bob, { ...place, number: 1 })).pull.maintainersMayPush;
  for (const [name, browser] of Object.entries({ alice, carol, anonymous })) {
    t.notMatch((await browser.get(one)).body, form, name);
    const { status } = await browser.post(`${one}/maintainers`, { on: 'yes' });
    t.ok([303, 403, 422].includes(status), `${name}: ${status}`);
    t.equal(await isOn(), false, `${name} has no right to the fork`);
  }
  t.match((await bob.get(one)).body, form);
  t.equal((await bob.post(`${one}/maintainers`, { on: 'yes' })).status, 303);
  t.equal(await isOn(), true);
  t.match(words(await carol.get(one)), /Maintainers may push to the branch/);
  await bob.post(`${one}/maintainers`, { on: 'no' });
  t.equal(await isOn(), false);
});

t.test('comments of a review stand in the conversation, and are answered and resolved there', async (t) => {
  const { pulls, place, viewers, work, alice, bob, carol, anonymous } = await pullWeb(t);
  await work.commit(
    'rows',
    { 'rows.txt': Array.from({ length: 12 }, (_, at) => `\trow ${at + 1}\n`).join('') },
    'Rows',
  );
  await pulls.open(viewers.carol, place, { head: 'rows', title: 'Rows', body: '' });
  const one = `${roofUrl}/pulls/1`;
  const at = { ...place, number: 1 };
  for (let line = 1; line <= 10; line += 1) {
    const comment = { path: 'rows.txt', side: 'NEW' as const, firstLine: line, lastLine: line, round: 1 };
    await pulls.reviews.addComment(viewers.bob, at, { ...comment, body: `About ${line}`, sendNow: false });
  }
  t.notMatch((await bob.get(one)).body, 'About 1', 'a draft is not in the conversation');
  await bob.post(`${one}/review`, { page: 'talk', round: '1', verdict: 'REQUEST_CHANGES', body: 'See below.' });
  const shown = (await anonymous.get(one)).body;
  const threads = [...shown.matchAll(/<details class="talk-thread" open>.*?<\/details>/gs)].map(([html]) => html);
  t.equal(threads.length, 10);
  t.match(
    threads[9]!,
    /<bdi>rows\.txt, line 10<\/bdi>.*<span class="sign" aria-hidden="true">10<\/span>\trow 10<\/span>.*About 10/s,
    'with its line, and the tab of it',
  );
  t.notMatch(shown, /review\/comments|threads\//, 'a signed-out reader has no forms');
  t.ok(shown.indexOf('requested changes') < shown.indexOf('talk-thread'), 'below its review');

  const begun = await pulls.threads.list(viewers.alice, at);
  const [first, second] = [1, 2].map((line) => begun.find(({ firstLine }) => firstLine === line));
  t.match((await carol.get(one)).body, `action="${one}/review/comments"`);
  const answer = { page: 'talk', from: '0', round: '1', thread: first!.id, action: 'now' };
  const answered = await carol.post(`${one}/review/comments`, { ...answer, body: 'Because.' });
  t.match(answered, { status: 303, headers: { location: `${one}#t-${first!.id}-2` } });
  const after = (await bob.get(one)).body;
  t.equal(after.match(/class="talk-thread"/g)!.length, 10, 'an answer begins no thread');
  t.match(after, /About 1<.*Because\..*About 2</s);
  t.match(after, new RegExp(`replied to <a class="quiet-link" href="#t-${first!.id}">rows\\.txt, line 1</a>`));
  const refused = await carol.post(`${one}/review/comments`, { ...answer, body: ' ' });
  t.equal(refused.status, 422);
  t.match(refused.body, /Add a comment/, 'shown on the page that it was sent from');
  const long = 'x'.repeat(70_000);
  const kept = await carol.post(`${one}/review/comments`, { ...answer, body: long });
  t.match([kept.status, kept.body.includes(long)], [422, true], 'what was typed stays');
  t.equal(
    (await anonymous.post(`${one}/review/comments`, { ...answer, body: 'Hm.' })).headers['location']?.startsWith(
      '/login',
    ),
    true,
  );

  const resolved = await bob.post(`${one}/threads/${second!.id}`, { page: 'talk', from: '0', resolved: '1' });
  t.match(resolved, { status: 303, headers: { location: `${one}#t-${second!.id}` } });
  const folded = async () =>
    [
      ...(await alice.get(one)).body.matchAll(
        /<details class="talk-thread"( open)?>.*?<bdi>(.*?)<\/bdi>(.*?)<\/summary>/gs,
      ),
    ].map(([, open, where, rest]) => [where, open !== undefined, /Resolved|Changed since|Gone since/.exec(rest!)?.[0]]);
  t.strictSame((await folded()).slice(0, 2), [
    ['rows.txt, line 1', true, undefined],
    ['rows.txt, line 2', false, 'Resolved'],
  ]);
});
