// Mails of notifications on a real SMTP server: threading, what is asked again when they are sent, digests, and
// unsubscribing by one request.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { fillRepository, sendRequest, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { gitSync } from '../git/git-fixture.ts';
import { commit } from '../pulls/pulls-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const roof = { owner: 'alice', name: 'roof' };
const at = (number: number) => ({ ...roof, number });
const minute = 61_000;

async function openMails(t: Owner) {
  const server = await startMailServer(t);
  const web = await startWeb(t, { env: server.env });
  const { accounts, db, mail, notifications, repositories } = web.modules;
  const viewers: ReturnType<typeof viewerOf>[] = [];
  const sessions = new Map<string, Awaited<ReturnType<typeof signedIn>>>();
  for (const name of ['alice', 'bob', 'carol']) {
    const session = await signedIn(web, name);
    const { id } = session;
    sessions.set(name, session);
    viewers.push(viewerOf(id, name));
    await accounts.addresses.add(id, { address: `${name}@example.org`, isVerified: true });
  }
  const [alice, bob, carol] = viewers as [(typeof viewers)[0], (typeof viewers)[0], (typeof viewers)[0]];
  await repositories.create(alice, { name: 'roof', visibility: 'PUBLIC' });
  await repositories.create(alice, { name: 'cellar', visibility: 'PRIVATE' });
  await notifications.setWatching(alice, roof, 'participating');
  await mail.drain();
  server.mails.length = 0;
  /** Lets a minute pass, and sends what is due. @returns the mails that came of it */
  async function send(after = minute) {
    await waitUntil(
      async () => (await db.read.query('SELECT 1 FROM issue_entries WHERE announced_at IS NULL LIMIT 1')).length === 0,
    );
    await notifications.tell();
    web.clock.advance(after);
    await mail.drain();
    await sleep(100);
    return server.mails.splice(0).map((mail) => ({ ...mail, text: mail.text.replaceAll('\r\n', '\n') }));
  }
  return { ...web.modules, web, server, sessions, alice, bob, carol, send };
}

t.test('the events of a minute are one mail, and mails of an issue are one thread', async (t) => {
  const { issues, send, alice, bob, carol } = await openMails(t);
  const { id } = await issues.open(bob, roof, {
    title: 'It “rains” in',
    body: 'Look, @carol: ![a puddle](https://tracker.example/p.png) <script>alert(1)</script> **now**\n\n- [x] found',
  });
  await issues.comment(bob, at(1), { body: 'More of it\n\n> a quotation' });
  const [first, ...none] = await send();
  t.same(none, [], 'one mail; bob gets none of his own acts, and alice only takes part');
  t.same(first!.to, ['carol@example.org']);
  t.equal(headerOf(first!, 'from'), '"bob (Hearth)" <hearth@example.org>', 'who wrote all of it');
  t.equal(headerOf(first!, 'subject'), '[alice/roof] It “rains” in (#1)');
  t.equal(headerOf(first!, 'message-id'), `<${id}.0@127.0.0.1>`);
  t.match(headerOf(first!, 'list-id'), /^"alice\/roof" <roof\.alice\.127\.0\.0\.1>$/);
  t.equal(headerOf(first!, 'in-reply-to'), null);
  t.match(first!.text, /bob opened this:\n> Look, @carol[^]*bob wrote:\n> More of it\n>\n> > a quotation/);
  t.match(first!.text, /\/repos\/alice\/roof\/issues\/1\n/);
  t.match(first!.text, /You are receiving this mail because you were mentioned/);
  t.match(first!.html, '<strong>now</strong>');
  t.match(first!.html, /☑ *found/);
  t.notMatch(first!.html, /<img|<script|<input|src=/, 'nothing is loaded, and nothing runs');
  t.match(
    first!.html,
    /<a href="https:\/\/tracker\.example\/p\.png"[^>]*>a puddle \(tracker\.example\)<\/a>/,
    'an image is a link',
  );
  t.match(first!.html, /<a href="http:\/\/127\.0\.0\.1:\d+\/users\/carol">@carol<\/a>/, 'links are absolute');

  await issues.comment(carol, at(1), { body: 'I come' });
  const [second] = await send();
  t.same(second!.to, ['bob@example.org']);
  t.equal(headerOf(second!, 'from'), '"carol (Hearth)" <hearth@example.org>');
  t.equal(headerOf(second!, 'subject'), 'Re: [alice/roof] It “rains” in (#1)');
  t.equal(headerOf(second!, 'in-reply-to'), `<${id}.0@127.0.0.1>`);
  t.equal(headerOf(second!, 'references'), `<${id}.0@127.0.0.1>`);
  t.equal(headerOf(second!, 'message-id'), `<${id}.2@127.0.0.1>`);

  await issues.comment(bob, at(1), { body: 'By one' });
  await issues.comment(carol, at(1), { body: 'By another' });
  await issues.comment(alice, at(1), { body: '@bob, @carol' });
  const mails = await send();
  t.same(
    mails.map((mail) => [mail.to[0], headerOf(mail, 'from')]).sort(),
    [
      ['bob@example.org', 'Hearth <hearth@example.org>'],
      ['carol@example.org', 'Hearth <hearth@example.org>'],
    ],
    'two others wrote',
  );
});

t.test('rights, accounts and wishes are asked again when a mail is sent', async (t) => {
  const { accounts, issues, notifications, repositories, send, alice, bob, carol } = await openMails(t);
  const cellar = { owner: 'alice', name: 'cellar' };
  await repositories.collaborators.add(alice, 'alice', 'cellar', { username: 'bob', role: 'write' });
  t.equal((await send()).length, 1, 'of the access');
  await issues.open(alice, cellar, { title: 'A secret', body: '@bob' });
  await repositories.collaborators.remove(alice, 'alice', 'cellar', 'bob');
  t.same(await send(), [], 'who lost access gets nothing');
  await issues.open(bob, roof, { title: 'One', body: '@carol' });
  await issues.trash(alice, at(1));
  t.same(await send(), [], 'nor is a mail sent of what is in the trash');
  await issues.open(bob, roof, { title: 'Two' });
  await issues.comment(carol, at(2), { body: 'A comment' });
  await issues.setSubscription(bob, at(2), false);
  t.same(await send(), [], 'who has unsubscribed meanwhile');
  await issues.comment(carol, at(2), { body: '@bob' });
  await accounts.setDisabled(bob.id, true);
  t.same(await send(), [], 'whose account is disabled');
  await accounts.setDisabled(bob.id, false);
  await issues.comment(carol, at(2), { body: '@bob, again' });
  await issues.deleteComment(carol, at(2), 2);
  t.equal((await send()).length, 1, 'and of the others');
  const rules = [{ reason: 'mention', channel: 'mail', isOn: false }] as const;
  await notifications.changeSettings(bob, { rules });
  await issues.comment(carol, at(2), { body: '@bob, once more' });
  t.same(await send(), [], 'a rule switches it off');
});

t.test('a new round links to what changed since the review of the reader', async (t) => {
  const { issues, pulls, repositories, sessions, send, alice, bob, carol } = await openMails(t);
  const { path } = await repositories.find(alice, 'alice', 'roof');
  await fillRepository(t, path, { 'tiles.txt': 'red\nblue\n' });
  const git = (...words: string[]): string => gitSync([`--git-dir=${path}`, ...words], { cwd: path });
  const head = commit(path, {
    parents: [git('rev-parse', 'main')],
    files: { 'tiles.txt': 'slate\n' },
    message: 'Slate',
  });
  git('update-ref', 'refs/heads/slate', head);
  await pulls.open(alice, roof, { title: 'Slate', body: '', head: 'slate' });
  await issues.setSubscription(carol, at(1), true);
  const comment = { round: 1, path: 'tiles.txt', firstLine: 1, body: '```suggestion\ncopper\n```', sendNow: true };
  const place = await pulls.reviews.addComment(bob, at(1), comment);
  const inbox = async (name: string): Promise<string> => (await sessions.get(name)!.get('/notifications')).body;
  t.notMatch((await send()).map(({ text }) => text).join(), /since your review/);
  await pulls.suggestions.apply(alice, at(1), { comments: [place], round: 1 });
  const mails = new Map((await send()).map((mail) => [mail.to[0], mail]));
  t.match(
    mails.get('bob@example.org')!.text,
    /pushed round 2[^]*What changed since your review\n\S+\/pulls\/1\/changes\?from=1\n/,
  );
  t.match(mails.get('carol@example.org')!.text, /pushed round 2/);
  t.notMatch(mails.get('carol@example.org')!.text, /since your review/, 'carol has reviewed nothing');
  t.match(
    await inbox('bob'),
    /<a href="\/repos\/alice\/roof\/pulls\/1\/changes\?from=1">Changed since your review<\/a>/,
  );
  t.notMatch(await inbox('carol'), /Changed since your review/);
  await pulls.reviews.submit(bob, at(1), { verdict: 'APPROVE', round: 2 });
  t.notMatch(await inbox('bob'), /Changed since your review/);
});

t.test('a digest has one line for each conversation that may be read', async (t) => {
  const { issues, notifications, repositories, send, alice, bob } = await openMails(t);
  await notifications.changeSettings(bob, { digest: 'daily' });
  await repositories.collaborators.add(alice, 'alice', 'cellar', { username: 'bob', role: 'write' });
  t.equal((await send()).length, 1, 'of the access');
  await issues.open(alice, roof, { title: 'One', body: '@bob' });
  await issues.open(alice, roof, { title: 'Two', body: '@bob' });
  await issues.comment(alice, at(1), { body: '@bob!' });
  await issues.open(alice, { owner: 'alice', name: 'cellar' }, { title: 'A secret', body: '@bob' });
  t.same(await send(), [], 'nothing at once');
  await repositories.collaborators.remove(alice, 'alice', 'cellar', 'bob');
  const [mail, ...none] = await send(24 * 3_600_000);
  t.same(none, []);
  t.equal(headerOf(mail!, 'subject'), 'Your day: 2 conversations');
  t.match(mail!.text, /alice\/roof#1: One\nhttp:[^\n]+\/issues\/1\nYou were mentioned/);
  t.notMatch(mail!.raw, /secret/);
  t.same(await send(24 * 3_600_000), [], 'and once');
});

t.test('one request unsubscribes, without a session; a link that was changed does nothing', async (t) => {
  const { issues, send, web, bob, carol } = await openMails(t);
  await issues.open(bob, roof, { title: 'One' });
  await issues.comment(carol, at(1), { body: 'A comment' });
  const [mail, ...none] = await send();
  t.same(none, [], 'carol is not mailed of the opening, whichever entry is announced first');
  t.same(mail!.to, ['bob@example.org']);
  t.equal(headerOf(mail!, 'list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  const link = new URL(/^<(.*)>$/.exec(headerOf(mail!, 'list-unsubscribe')!)![1]!);
  const path = link.pathname + link.search;
  const shown = await sendRequest(web, path);
  t.equal(shown.status, 200);
  t.match(shown.body, /no longer be notified of this conversation/);
  t.notMatch(shown.body, /One/, 'a forwarded mail tells no more than it did');
  t.equal((await issues.subscriptionOf(bob, at(1)))!.isOn, true, 'looking does nothing');
  for (const wrong of [path.slice(0, -1), path.replace(/.$/, (last) => (last === '0' ? '1' : '0')), '?token=']) {
    const target = wrong.startsWith('?') ? `${link.pathname}${wrong}` : wrong;
    t.equal((await sendRequest(web, target)).status, 404);
    t.equal((await sendRequest(web, target, { form: { 'List-Unsubscribe': 'One-Click' } })).status, 404);
  }
  for (let times = 0; times < 2; times += 1)
    t.equal((await sendRequest(web, path, { form: { 'List-Unsubscribe': 'One-Click' } })).status, 200, 'twice is once');
  t.equal((await issues.subscriptionOf(bob, at(1)))!.isOn, false);
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const body = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  t.equal((await sendRequest(web, path, { body, headers: multipart })).status, 200, 'in either form of RFC 8058');
  await issues.comment(carol, at(1), { body: 'Another comment' });
  t.same(await send(), []);
});
