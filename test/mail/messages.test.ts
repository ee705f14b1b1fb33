/** What a message may say, and what no title, name or address can make of it. */
import t from 'tap';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import { message, openMail } from './mail-fixture.ts';

t.test('headers of a thread and of unsubscribing', async (t) => {
  const server = await startMailServer(t);
  const { send } = await openMail(t, server.env);
  await send(
    message({
      thread: {
        messageId: 'issue-7.3@git.example.org',
        inReplyTo: '<issue-7.1@git.example.org>',
        listId: 'site.alice.git.example.org',
        listName: 'alice/site',
      },
      unsubscribeUrl: 'https://git.example.org/unsubscribe/abc?x=1',
    }),
  );
  const mail = await server.next();
  t.equal(headerOf(mail, 'message-id'), '<issue-7.3@git.example.org>');
  t.equal(headerOf(mail, 'in-reply-to'), '<issue-7.1@git.example.org>');
  t.equal(headerOf(mail, 'references'), '<issue-7.1@git.example.org>');
  t.equal(headerOf(mail, 'list-id'), '"alice/site" <site.alice.git.example.org>');
  t.equal(headerOf(mail, 'list-unsubscribe'), '<https://git.example.org/unsubscribe/abc?x=1>');
  t.equal(headerOf(mail, 'list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  t.equal(headerOf(mail, 'precedence'), 'bulk');
  t.equal(headerOf(mail, 'auto-submitted'), 'auto-generated');
});

t.test('no title, name or identifier adds a header', async (t) => {
  const server = await startMailServer(t);
  const { send } = await openMail(t, server.env);
  const evil = 'x\r\nBcc: mallory@example.org\r\n\r\n<script>\u2028Cc: a@b.c\u0000\u202Egnp.exe';
  await send(
    message({
      subject: evil,
      text: `${evil}\u0007 text\r.\r\n.\r\nQUIT`,
      thread: {
        messageId: 'a@git.example.org',
        listId: `repo.${evil}`,
        listName: `"${evil}" <c@d.e>`,
      },
      unsubscribeUrl: 'https://git.example.org/u\r\nBcc: mallory@example.org',
    }),
  );
  const mail = await server.next();
  t.strictSame(mail.to, ['alice@example.org']);
  const names = mail.headers.map(([name]) => name);
  for (const name of ['bcc', 'cc']) t.notOk(names.includes(name), name);
  t.notMatch(mail.raw.split('\r\n\r\n')[0], /^(Bcc|Cc):/im);
  const subject = headerOf(mail, 'subject')!;
  t.match(subject, /^x Bcc: mallory@example\.org <script> Cc: a@b\.c gnp\.exe$/);
  t.match(mail.text, /\n\.\s*\nQUIT/, 'a line with one dot ends no message');
  t.notMatch(mail.text, /\u0007/);
  t.match(headerOf(mail, 'list-unsubscribe'), /^<https:\/\/git\.example\.org\/uBcc:%20?\S*>$/);
});

t.test('what is no plain address is never written to', async (t) => {
  const server = await startMailServer(t);
  const { send } = await openMail(t, server.env);
  for (const to of [
    'alice@example.org, mallory@example.org',
    'Alice <alice@example.org>',
    'alice@example.org\r\nRCPT TO:<mallory@example.org>',
    'alice@example.org> NOTIFY=SUCCESS',
    '"alice"@example.org',
    'alice',
    '@example.org',
    'alice@\u202Egro.elpmaxe',
    '',
  ])
    t.match(await send(message({ to })), { state: 'FAILED', attempts: 1, error: /cannot be written to/ }, to);
  t.equal(server.mails.length, 0);
});

t.test('a long subject is cut, a too large message refused, an odd Message-ID as well', async (t) => {
  const server = await startMailServer(t);
  const { send } = await openMail(t, server.env);
  await send(message({ subject: '👩‍💻'.repeat(150) }));
  const { headers } = await server.next();
  const subject = new Map(headers).get('subject')!;
  t.ok([...subject].length <= 200 && subject.endsWith('…'), subject);
  t.match(await send(message({ text: 'x '.repeat(600_000) })), { state: 'FAILED', error: /larger than/ });
  const thread = { messageId: 'a b@c', listId: 'l', listName: 'l' };
  t.match(await send(message({ thread })), { state: 'FAILED', error: /Message-ID/ });
});

t.test('the recipient is asked for when the mail is sent: who lost access gets nothing', async (t) => {
  const server = await startMailServer(t);
  const { mail, db, rows } = await openMail(t, server.env);
  let mayRead = true;
  mail.define<{ token: string }>('guarded', async () => (mayRead ? message() : null));
  await db.write((tx) => mail.enqueue(tx, { kind: 'guarded', data: { token: 'one-time-token' } }));
  mayRead = false;
  await mail.drain();
  t.equal(server.mails.length, 0);
  t.match(await rows(), [{ state: 'DELIVERED' }]);
  t.match(await mail.list({ state: 'DELIVERED', limit: 5 }), [{ kind: 'guarded', isDropped: true, to: null }]);
});

t.test('a queued mail is encrypted, and its data is dropped once it was sent', async (t) => {
  const server = await startMailServer(t);
  const { mail, db, rows } = await openMail(t, server.env);
  const token = 'a-token-that-nobody-may-read-in-a-copy-of-the-database'.repeat(20);
  mail.define<{ token: string }>('link', async (data) => message({ text: data.token }));
  await db.write((tx) => mail.enqueue(tx, { kind: 'link', data: { token } }));
  const [queued] = await rows();
  t.notMatch(queued!.payload, /a-token/);
  await mail.drain();
  t.match((await server.next()).text.replace(/\s/g, ''), token);
  const [sent] = await rows();
  t.ok(sent!.payload.length < queued!.payload.length / 2, 'shorter by the token');
  t.match(await mail.list({ state: 'DELIVERED', limit: 5 }), [
    { kind: 'link', to: 'alice@example.org', subject: 'A subject', response: /queued/ },
  ]);
});

t.test('limits of an hour put mails off without counting an attempt', async (t) => {
  const server = await startMailServer(t);
  const { mail, enqueue, rows, clock } = await openMail(t, {
    ...server.env,
    SERVICE_MAIL_MAX_PER_HOUR: '4',
    SERVICE_MAIL_MAX_PER_RECIPIENT: '2',
  });
  for (const to of ['alice', 'ALICE', 'alice', 'bob', 'carol', 'dave']) {
    await enqueue(message({ to: `${to}@example.org` }), 'one after the other');
  }
  await mail.drain();
  t.strictSame(
    (await rows()).map(({ state, attempts }) => [state, attempts]),
    [
      ['DELIVERED', 1],
      ['DELIVERED', 1],
      ['PENDING', 0],
      ['DELIVERED', 1],
      ['DELIVERED', 1],
      ['PENDING', 0],
    ],
  );
  const waiting = (await rows()).filter(({ state }) => state === 'PENDING');
  t.match(waiting[0]?.error, /mail\.max_per_recipient/);
  t.match(waiting[1]?.error, /mail\.max_per_hour/);
  clock.advance(3_600_000);
  await mail.drain();
  t.equal(server.mails.length, 6);
});

t.test('failed mails are listed with the words of the server and can be retried', async (t) => {
  const server = await startMailServer(t);
  const { mail, send } = await openMail(t, server.env);
  for (let n = 0; n < 3; n += 1) await send(message({ to: 'nobody@example.org', subject: `Mail ${n}` }));
  t.same(await mail.count(), { pending: 0, failed: 3 });
  const failed = await mail.list({ state: 'FAILED', limit: 2 });
  t.match(failed, [{ to: 'nobody@example.org', subject: 'Mail 2', error: /User unknown/ }, { subject: 'Mail 1' }]);
  const older = await mail.list({ state: 'FAILED', limit: 2, before: failed[1]! });
  t.match(older, [{ subject: 'Mail 0' }]);
  t.equal(older.length, 1);
  await t.rejects(mail.retry(9_999), { code: 'not_found', reason: 'unknown_message' });
  await mail.retry(failed[0]!.id);
  await mail.drain();
  t.equal(await mail.retryFailed(), 3);
  await mail.drain();
  t.same(await mail.count(), { pending: 0, failed: 3 });
});

t.test('without settings nothing is queued, and a test says what is missing', async (t) => {
  const { mail, enqueue, rows } = await openMail(t, {});
  t.equal(mail.isConfigured, false);
  t.same(mail.missing, ['mail.host', 'mail.from', 'base_url']);
  await enqueue(message());
  t.same(await rows(), []);
  await t.rejects(mail.sendTest('alice@example.org'), {
    code: 'conflict',
    reason: 'mail_not_sent',
    message: /mail\.host, mail\.from, base_url/,
  });
});

t.test('a test message', async (t) => {
  const server = await startMailServer(t);
  const { mail } = await openMail(t, server.env);
  t.match(await mail.sendTest(' alice@example.org '), /^250/);
  t.match(await server.next(), { to: ['alice@example.org'], text: /^Mail works/, html: /<h1>Mail works<\/h1>/ });
  await t.rejects(mail.sendTest('alice'), { code: 'invalid', reason: 'invalid_address' });
  await t.rejects(mail.sendTest('nobody@example.org'), { reason: 'mail_not_sent', message: /User unknown/ });
});
