// The page of an issue: its timeline, its forms, and what they answer.
import t from 'tap';
import { measureCpuTime, mainThreadMs } from '../../fixtures/thread-cpu.ts';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from './issues-fixture.ts';

t.setTimeout(120_000);

const one = `${roofUrl}/issues/1`;

t.test('an issue is read by anyone, with its text rendered and its events in one line each', async (t) => {
  const { issues, viewers, at, anonymous, carol } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'It <b>rains</b> in', body: 'Bring **two** buckets.' });
  await issues.open(viewers.bob, at(0), { title: 'Gutter', body: 'See #1.' });
  await issues.addLabel(viewers.alice, { repository: at(0) }, { name: 'kind/bug', colour: 'd73a4a' });
  await issues.addMilestone(viewers.alice, at(0), { title: 'Autumn' });
  await issues.triage(viewers.carol, at(1), { labels: ['kind/bug'], assignees: ['bob'], milestone: 'Autumn' });
  await issues.setTitle(viewers.bob, at(1), 'It pours in');
  await issues.addLink(viewers.carol, at(1), 'needs', at(2));
  await issues.comment(viewers.alice, at(1), { body: '`code` and <script>alert(1)</script>' });
  await issues.triage(viewers.carol, at(1), { isLocked: true, isPinned: true });
  await issues.close(viewers.alice, at(1), 'not_planned');
  const shown = await anonymous.get(one);
  t.equal(shown.status, 200);
  t.match(shown.body, /id="e0"[^]*<strong>two<\/strong> buckets[^]*id="e1"/);
  t.notMatch(shown.body, /<script>alert/);
  t.match(extractMain(shown), /<code>code<\/code>/);
  const text = words(shown);
  for (const sentence of [
    'bob mentioned this in Open: Gutter #2',
    'carol added kind/bug label',
    'carol assigned bob',
    'carol added this to the milestone Autumn',
    'bob changed the title from It <b>rains</b> in to It pours in',
    'carol noted that this needs Open: Gutter #2',
    'carol locked the conversation',
    'carol pinned this',
    'alice closed this as not planned',
    'Closed as not planned',
    '2 participants',
    'Sign in to comment.',
  ])
    t.match(text, sentence);
  t.notMatch(extractMain(shown), /<form/, 'no form that would be refused');
  t.match(shown.body, /href="\/repos\/alice\/roof\/issues\?q=[^"]*label%3Akind%2Fbug"/, 'a label leads to its list');
  t.match(shown.body, /href="\/repos\/alice\/roof\/milestones\/[\w-]+"[^>]*><bdi>Autumn/);
  t.match(words(await carol.get(`${roofUrl}/issues/2`)), 'carol noted that this is needed by Closed: It pours in #1');
  t.match((await anonymous.get(`${roofUrl}/issues/99`)).status, 404);
  t.match((await anonymous.get(`${roofUrl}/issues/01`)).status, 404);
  t.match((await anonymous.get(`${roofUrl}/issues/x`)).status, 404);
});

t.test('a comment is previewed, kept as a draft, sent once, and leads to its place', async (t) => {
  const { issues, viewers, at, bob, alice, anonymous } = await issueWeb(t);
  await issues.open(viewers.alice, at(0), { title: 'Leak', body: 'x' });
  const post = (form: Record<string, string>) => bob.post(`${one}/comments`, form);
  const preview = await post({ body: 'It is **wet**', action: 'preview' });
  t.equal(preview.status, 200);
  t.match(preview.body, /aria-label="Preview"[^]*<strong>wet<\/strong>/);
  t.match(preview.body, />\s*It is \*\*wet\*\*<\/textarea>/, 'the form has what was typed');
  t.match((await post({ body: 'A draft', action: 'draft' })).headers.location, `${one}?done=draft-saved#reply`);
  t.match((await bob.get(one)).body, />\s*A draft<\/textarea>[^]*This is your saved draft/);
  t.notMatch((await alice.get(one)).body, /A draft/, 'no other person sees it');
  const sent = await post({ body: 'It is **wet**\r\n\r\nreally', action: 'comment' });
  t.match([sent.status, sent.headers.location], [303, `${one}#e1`]);
  t.equal((await post({ body: 'It is **wet**\r\n\r\nreally', action: 'comment' })).headers.location, `${one}#e1`);
  t.notMatch((await bob.get(one)).body, /A draft/, 'the draft is gone');
  const quoted = await bob.get(`${one}?quote=1`);
  t.match(quoted.body, />\s*&gt; It is \*\*wet\*\*\n&gt;\n&gt; really\n\n/);
  const empty = await post({ body: '  ', action: 'comment' });
  t.match([empty.status, empty.body], [422, /id="reply-error"[^>]*>Enter some text/]);
  const closing = await post({ body: 'Closing', action: 'close', reason: 'not_planned' });
  t.match([closing.status, closing.body], [403, />\s*Closing<\/textarea>/], 'who did not open it may not close it');
  t.notMatch((await anonymous.get(one)).body, /Closing/);
});

t.test('who opened an issue closes and reopens it, with words or without', async (t) => {
  const { issues, viewers, at, bob, anonymous } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  const post = (form: Record<string, string>) => bob.post(`${one}/comments`, form);
  t.equal((await post({ body: '', action: 'close', reason: 'duplicate' })).headers.location, `${one}#e1`);
  t.match(words(await anonymous.get(one)), 'Closed as duplicate');
  t.match((await post({ body: 'Again', action: 'reopen' })).headers.location, `${one}#e2`);
  t.match(words(await anonymous.get(one)), /Again.*bob reopened this/);
  const wrong = await post({ body: 'because', action: 'close', reason: 'boredom' });
  t.match([wrong.status, wrong.body], [422, />\s*because<\/textarea>/]);
});

t.test('a text is edited with its history; two who edit at once get both texts', async (t) => {
  const { issues, viewers, at, bob, alice, anonymous, web } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak', body: 'one\ntwo\nthree' });
  t.match((await bob.get(`${one}?edit=0`)).body, /name="revision" value="1"[^]*>\s*one\ntwo\nthree<\/textarea>/);
  web.clock.advance(60_000);
  const edit = { position: '0', revision: '1', body: 'one\n2\nthree', action: 'save' };
  t.match(
    (await bob.post(`${one}/edit`, { ...edit, action: 'preview' })).body,
    /aria-label="Preview"[^]*2<br \/>\nthree/,
  );
  t.equal((await bob.post(`${one}/edit`, edit)).headers.location, `${one}#e0`);
  const late = await alice.post(`${one}/edit`, { ...edit, body: 'one\ndeux\nthree' });
  t.equal(late.status, 409);
  t.match(late.body, /readonly[^>]*>\s*one\n2\nthree<\/textarea>[^]*>\s*one\ndeux\nthree<\/textarea>/);
  t.match(late.body, /name="revision" value="2"/);
  t.equal((await alice.post(`${one}/edit`, { ...edit, body: 'one\ndeux\nthree', revision: '2' })).status, 303);
  t.match((await anonymous.get(one)).body, /history\/0[^>]*>edited</);
  const history = await anonymous.get(`${one}/history/0`);
  t.match(words(history), /alice edited .* bob edited .* bob wrote this/);
  t.match(history.body, /<span>one<\/span><del>2<\/del><ins>deux<\/ins><span>three<\/span>/);
  t.match((await anonymous.get(`${one}/history/0?revision=2`)).body, /<del>two<\/del><ins>2<\/ins>/);
  t.match((await anonymous.get(`${one}/history/0?revision=1`)).body, /<ins>one<\/ins><ins>two<\/ins>/);
  t.equal((await anonymous.get(`${one}/history/1`)).status, 404);
  t.equal((await anonymous.get(`${one}/history/x`)).status, 404);
});

t.test('the title is changed in its form, which comes back when it is refused', async (t) => {
  const { issues, viewers, at, bob } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  t.match((await bob.get(`${one}?edit=title`)).body, /name="title"[^>]*value="Leak"/);
  t.equal((await bob.post(`${one}/title`, { title: 'Big leak' })).headers.location, one);
  t.equal((await bob.post(`${one}/title`, { title: ' ' })).status, 422);
  const long = await bob.post(`${one}/title`, { title: 'x'.repeat(10_000) });
  t.match([long.status, long.body], [422, new RegExp(`value="x{10000}"`)]);
  t.equal((await bob.post(`${one}/title`, { title: 'turned \u202e around' })).status, 422);
});

t.test('reactions, hiding, deleting: each is a button', async (t) => {
  const { issues, viewers, at, bob, carol, anonymous } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak', body: 'x' });
  await issues.comment(viewers.bob, at(1), { body: 'buy my ladders' });
  t.equal((await bob.post(`${one}/react`, { position: '1', kind: 'heart' })).headers.location, `${one}#e1`);
  t.match((await bob.get(one)).body, /name="remove" value="heart"[^>]*aria-label="Heart: 1, including yours/);
  t.match((await carol.get(one)).body, /name="kind" value="heart"[^>]*aria-label="Heart: 1"/);
  await bob.post(`${one}/react`, { position: '1', remove: 'heart' });
  t.notMatch((await carol.get(one)).body, /Heart: 1/);
  t.equal((await bob.post(`${one}/react`, { position: '1', kind: 'fury' })).status, 422);
  t.equal((await bob.post(`${one}/react`, { position: '7', kind: 'heart' })).status, 404);
  t.equal((await carol.post(`${one}/hide`, { position: '1', reason: 'spam' })).status, 303);
  t.match((await anonymous.get(one)).body, /<summary[^>]*>Hidden as spam<\/summary>/);
  t.equal((await bob.post(`${one}/hide`, { position: '1', reason: '' })).status, 404, 'only members');
  await carol.post(`${one}/hide`, { position: '1', reason: '' });
  t.notMatch((await anonymous.get(one)).body, /Hidden as/);
  t.equal((await carol.post(`${one}/hide`, { position: '1', reason: 'boredom' })).status, 422);
  t.equal((await bob.post(`${one}/delete`, { position: '1' })).headers.location, `${one}#e1`);
  t.match(words(await anonymous.get(one)), 'This comment was deleted.');
  t.notMatch((await anonymous.get(one)).body, /ladders/);
});

t.test('labels, assignees, milestone, links, subscription, lock and pin change beside the timeline', async (t) => {
  const { issues, viewers, at, carol, bob, web } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  await issues.open(viewers.bob, at(0), { title: 'Gutter' });
  for (const name of ['bug', 'help wanted', 'question'])
    await issues.addLabel(viewers.alice, { repository: at(0) }, { name, colour: 'd73a4a' });
  await issues.addMilestone(viewers.alice, at(0), { title: 'Autumn' });
  const post = (name: string, form: Record<string, string | string[]>) => carol.post(`${one}/${name}`, form);
  const labels = async () => (await issues.find(viewers.carol, at(1))).labels.map(({ name }) => name).sort();
  t.equal((await post('labels', { before: '', labels: ['bug', 'question'] })).status, 303);
  await issues.triage(viewers.alice, at(1), { labels: { add: ['help wanted'] } });
  await post('labels', { before: 'bug\nquestion', labels: ['bug'] });
  t.same(await labels(), ['bug', 'help wanted'], 'what another person added meanwhile stays');
  t.match(await post('labels', { before: '', labels: ['nonsense'] }), {
    status: 422,
    body: /There is no label named nonsense/,
  });
  t.equal((await post('assignees', { add: '@bob, carol' })).status, 303);
  await post('assignees', { remove: ['bob'], add: '' });
  t.same((await issues.find(viewers.carol, at(1))).assignees, [carol.id]);
  const unknownPerson = await post('assignees', { add: 'nobody-here' });
  t.match([unknownPerson.status, unknownPerson.body], [422, /value="nobody-here"[^]*Only people with read access/]);
  await post('milestone', { milestone: 'Autumn' });
  t.match(words(await bob.get(one)), 'Milestone Autumn');
  await post('milestone', { milestone: '' });
  t.match(words(await bob.get(one)), 'Milestone None');
  t.equal((await post('milestone', { milestone: 'Never' })).status, 422);
  for (const to of ['#2', '2', 'alice/roof#2', `${web.origin}${roofUrl}/issues/2#e0`])
    t.equal((await post('links', { kind: 'needs', to })).status, 303, to);
  t.match(
    (await carol.get(one)).body,
    /needs<\/span>[^]*>Gutter<[^]*name="to" value="\/repos\/alice\/roof\/issues\/2"/,
  );
  await post('links', { kind: 'needs', to: `${roofUrl}/issues/2`, action: 'remove' });
  t.match(words(await carol.get(one)), 'Links None yet');
  for (const to of ['#99', 'alice/none#1', 'alice/roof2', 'https://example.org/7', ''])
    t.match(await post('links', { kind: 'needs', to }), { status: 422, body: /This issue does not exist\./ }, to);
  t.equal((await post('links', { kind: 'needs', to: '#1' })).status, 422, 'not with itself');
  t.match((await carol.get(one)).body, /Unsubscribe/, 'who is assigned is subscribed');
  await carol.post(`${one}/subscribe`, { on: 'no' });
  t.notMatch((await carol.get(one)).body, /Unsubscribe/);
  await post('pin', { on: 'yes' });
  await post('lock', { on: 'yes' });
  t.match(await issues.find(viewers.bob, at(1)), { lockedAt: Number, pinnedAt: Number });
  await post('pin', { on: 'no' });
  await post('lock', { on: 'no' });
  t.match(await issues.find(viewers.bob, at(1)), { lockedAt: null, pinnedAt: null });
});

t.test('what was typed stays when the issue was locked meanwhile', async (t) => {
  const { issues, viewers, at, bob } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  await issues.triage(viewers.carol, at(1), { isLocked: true });
  const refused = await bob.post(`${one}/comments`, { body: 'A long answer', action: 'comment' });
  t.equal(refused.status, 403);
  t.match(refused.body, /readonly[^>]*>\s*A long answer<\/textarea>/);
  t.match(words(refused), 'This issue is locked');
});

t.test('trash asks, restores, and forgets; a moved issue leads to where it is', async (t) => {
  const { issues, repositories, viewers, at, alice, bob, carol, anonymous } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  t.match(words(await alice.get(one)), 'Delete The issue goes to the trash for 30 days.');
  t.equal((await alice.post(`${one}/delete`)).headers.location, `${one}?done=issue-trashed`);
  t.match(words(await alice.get(one)), /Leak #1 This issue was deleted .* by alice\. .*Restore Delete permanently/);
  for (const other of [anonymous, bob, carol]) t.equal((await other.get(one)).status, 404);
  t.equal((await carol.post(`${one}/restore`)).status, 404);
  t.equal((await alice.post(`${one}/restore`)).headers.location, one);
  t.equal((await alice.post(`${one}/restore`)).status, 303, 'pressed twice');
  t.equal((await anonymous.get(one)).status, 200);
  await repositories.create(viewers.alice, { name: 'shed', visibility: 'PUBLIC' });
  await repositories.create(viewers.alice, { name: 'cellar', visibility: 'PRIVATE' });
  t.match(await alice.post(`${one}/move`, { repository: 'alice' }), { status: 422, body: /value="alice"/ });
  t.equal((await alice.post(`${one}/move`, { repository: 'bob/none' })).status, 422);
  t.equal((await alice.post(`${one}/move`, { repository: 'alice/roof' })).status, 422);
  t.equal(
    (await alice.post(`${one}/move`, { repository: 'alice/shed' })).headers.location,
    '/repos/alice/shed/issues/1',
  );
  const moved = await anonymous.get(one);
  t.match([moved.status, moved.headers.location], [301, '/repos/alice/shed/issues/1']);
  t.match(words(await anonymous.get('/repos/alice/shed/issues/1')), 'alice moved this here from another repository');
  await alice.post('/repos/alice/shed/issues/1/move', { repository: 'alice/cellar' });
  t.equal((await anonymous.get(one)).status, 404, 'no page shows a private repository');
  t.equal((await alice.get(one)).headers.location, '/repos/alice/cellar/issues/1');
  await alice.post('/repos/alice/cellar/issues/1/delete');
  await alice.post('/repos/alice/cellar/issues/1/purge');
  t.equal((await alice.get('/repos/alice/cellar/issues/1')).status, 404);
});

t.test('a newcomer who is held is admitted or refused on the page', async (t) => {
  const { issues, viewers, at, bob, carol, anonymous } = await issueWeb(t);
  await issues.changeSettings(viewers.alice, at(0), { holdsNewcomers: true });
  await issues.open(viewers.carol, at(0), { title: 'Leak' });
  await bob.post(`${one}/comments`, { body: 'I have a ladder', action: 'comment' });
  t.match(words(await bob.get(one)), 'A member must approve your first contribution here.');
  t.notMatch((await anonymous.get(one)).body, /ladder/);
  t.match((await carol.get(one)).body, /value="admit"/);
  t.notMatch((await bob.get(one)).body, /value="admit"/);
  t.equal((await bob.post(`${one}/held`, { position: '1', decision: 'admit' })).status, 404);
  t.equal((await carol.post(`${one}/held`, { position: '1', decision: 'refuse' })).status, 303);
  t.notMatch((await bob.get(one)).body, /ladder/);
  await bob.post(`${one}/comments`, { body: 'I have a bucket', action: 'comment' });
  t.equal((await carol.post(`${one}/held`, { position: '2', decision: 'admit' })).headers.location, `${one}#e2`);
  t.match((await anonymous.get(one)).body, /I have a bucket/);
  t.equal((await carol.post(`${one}/held`, { position: '2', decision: 'refuse' })).status, 303, 'decided already');
  t.match((await anonymous.get(one)).body, /I have a bucket/);
});

t.test('a long issue is paged by position, and an anchor leads to its page', async (t) => {
  const { issues, viewers, at, anonymous, alice, web } = await issueWeb(t);
  await issues.open(viewers.alice, at(0), { title: 'Leak', body: 'opening' });
  for (let number = 1; number <= 401; number += 1) {
    if (number % 50 === 0) web.clock.advance(3_600_000);
    await issues.comment(viewers.alice, at(1), { body: `drop ${number}` });
  }
  const first = await anonymous.get(one);
  t.match(first.body, /id="e0"[^]*id="e199"/);
  t.notMatch(first.body, /id="e200"/);
  t.match(words(first), 'Entries 0 to 199 of 401 Later Newest');
  const second = await anonymous.get(`${one}?from=250`);
  t.match(second.body, /id="e200"[^]*id="e399"/);
  t.notMatch(second.body, /id="e(?:199|400)"/);
  t.match(second.body, new RegExp(`href="${one}"[^]*href="${one}\\?from=400"`));
  t.match((await anonymous.get(`${one}?from=99999`)).body, /id="e401"/, 'beyond the end is the last page');
  web.clock.advance(3_600_000);
  t.equal(
    (await alice.post(`${one}/comments`, { body: 'last', action: 'comment' })).headers.location,
    `${one}?from=400#e402`,
  );
  t.match((await alice.get(`${one}?from=400&edit=402`)).body, />\s*last<\/textarea>/);
});

t.test('texts and forms that are too large, and addresses that mean nothing, are refused in words', async (t) => {
  const { issues, viewers, at, bob, anonymous } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  const post = (body: string) => bob.post(`${one}/comments`, { body, action: 'comment' });
  t.equal((await post('x'.repeat(65_536))).status, 303);
  const long = await post('y'.repeat(65_537));
  t.match([long.status, long.body.includes('y'.repeat(65_537))], [422, true], 'what was typed is still there');
  t.equal((await post('ü'.repeat(40_000))).status, 422, 'bytes count');
  t.equal((await post('z'.repeat(300_000))).status, 413);
  t.equal((await post('a\u0000b')).status, 422);
  const { result: many, cpuMs } = await measureCpuTime(() => post('@nobody-x '.repeat(5_000) + '#1 '.repeat(1_000)));
  t.equal(many.status, 303);
  t.ok(cpuMs < mainThreadMs, `${cpuMs} ms`);
  const unseen = await anonymous.post(`${one}/comments`, { body: '**bold**', action: 'preview' });
  t.notMatch(unseen.body, /<strong>bold/, 'nothing is rendered for who may not send it');
  const signedOut = await anonymous.post(`${one}/comments`, { body: 'A long answer', action: 'comment' });
  t.match(
    [signedOut.status, signedOut.body],
    [403, /You are signed out[^]*readonly[^>]*>\s*A long answer<\/textarea>/],
  );
  for (const name of ['edit', 'title', 'react', 'subscribe', 'delete'])
    t.match(
      (
        await anonymous.post(`${one}/${name}`, {
          body: 'x',
          action: 'comment',
          position: '0',
          revision: '1',
          title: 'x',
          kind: 'heart',
        })
      ).headers.location,
      /^\/login/,
      name,
    );
  t.equal((await bob.post(`${roofUrl}/issues/9/comments`, { body: 'x', action: 'comment' })).status, 404);
  t.equal((await bob.post(`${one}/edit`, { position: 'x', body: 'x', revision: '1' })).status, 404);
});

t.test('too many comments in a minute are refused with a wait, and the text stays', async (t) => {
  const { issues, viewers, at, bob } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  for (let number = 0; number < 59; number += 1) await issues.comment(viewers.bob, at(1), { body: `drop ${number}` });
  const refused = await bob.post(`${one}/comments`, { body: 'one more', action: 'comment' });
  t.equal(refused.status, 429);
  t.ok(Number(refused.headers['retry-after']) > 0);
  t.match(refused.body, />\s*one more<\/textarea>/);
});

t.test('an issue that waits is decided about on its page', async (t) => {
  const { issues, viewers, at, bob, alice, carol, anonymous } = await issueWeb(t);
  await issues.changeSettings(viewers.alice, at(0), { holdsNewcomers: true });
  await bob.post(`${roofUrl}/issues/new`, { title: 'Ladders', body: 'Buy them' });
  t.match(words(await bob.get(one)), /Waiting for a member/);
  t.equal((await anonymous.get(one)).status, 404);
  t.match((await carol.get(one)).body, /value="refuse"/);
  t.equal(
    (await carol.post(`${one}/held`, { position: '0', decision: 'refuse' })).headers.location,
    `${roofUrl}/issues`,
  );
  t.equal((await bob.get(one)).status, 404);
  t.match(words(await alice.get(one)), 'Restore', 'it is in the trash');
  await bob.post(`${roofUrl}/issues/new`, { title: 'Leak', body: 'Here' });
  const two = `${roofUrl}/issues/2`;
  t.equal((await carol.post(`${two}/held`, { position: '0', decision: 'admit' })).headers.location, `${two}#e0`);
  t.equal((await anonymous.get(two)).status, 200);
});

t.test('people who are gone, and a private repository', async (t) => {
  const { issues, repositories, viewers, at, bob, carol, anonymous, web } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak', body: 'x' });
  await issues.triage(viewers.carol, at(1), { assignees: ['bob'] });
  await web.modules.accounts.deletePerson(bob.id);
  t.match(words(await anonymous.get(one)), /Deleted user opened this .* carol assigned Deleted user/);
  await repositories.changeVisibility(viewers.alice, 'alice', 'roof', 'PRIVATE');
  t.equal((await anonymous.get(one)).status, 404);
  t.equal((await carol.get(one)).status, 200);
});

t.test('a text is rendered when it is written, by any transport', async (t) => {
  const { issues, viewers, at, alice, web } = await issueWeb(t);
  await issues.open(viewers.alice, at(0), { title: 'Leak' });
  const requests: string[] = [];
  const { run } = web.modules.workers;
  web.modules.workers.run = ((request: Parameters<typeof run>[0]) => {
    requests.push(`${request.task} ${request.key}`);
    return run(request);
  }) as typeof run;
  await issues.comment(viewers.alice, at(1), { body: 'fresh' });
  const [atWrite] = requests.splice(0);
  t.match(atWrite, /^markdown /);
  await alice.get(one);
  t.ok(requests.includes(atWrite!), 'the page asks for the same');
});

t.test('references are links for those who may see what they name, and boxes of tasks are buttons', async (t) => {
  const { issues, repositories, viewers, at, alice, bob, anonymous } = await issueWeb(t);
  await repositories.create(viewers.alice, { name: 'cellar', visibility: 'PRIVATE' });
  await issues.open(viewers.alice, { owner: 'alice', name: 'cellar' }, { title: 'Secret' });
  await issues.open(viewers.bob, at(0), { title: 'Leak', body: '- [ ] find it\n- [x] tell @alice' });
  await issues.comment(viewers.alice, at(1), { body: 'See #1 and alice/cellar#1.' });
  const seen = await anonymous.get(one);
  t.match(seen.body, /<a[^>]*href="\/users\/alice"[^>]*>@alice<\/a>/);
  t.match(seen.body, new RegExp(`<a[^>]*href="${one}"[^>]*>#1</a> and alice/cellar#1`));
  t.match((await alice.get(one)).body, /href="\/repos\/alice\/cellar\/issues\/1"/);
  t.notMatch(seen.body, /name="line"/);
  t.match((await bob.get(one)).body, /name="line" value="0"[^>]*aria-checked="false"/);
  const tick = { position: '0', revision: '1', line: '0' };
  t.equal((await bob.post(`${one}/tasks`, tick)).headers.location, `${one}#e0`);
  t.match((await bob.get(one)).body, /name="line" value="0"[^>]*aria-checked="true"/);
  t.match(await bob.post(`${one}/tasks`, tick), { status: 409, body: /Someone edited this text/ });
  t.equal((await bob.post(`${one}/tasks`, { ...tick, revision: '2', line: '9' })).status, 422);
});
