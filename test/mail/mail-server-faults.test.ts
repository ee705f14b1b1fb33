/** What becomes of a mail when the mail server refuses, waits, dies or is another one than expected. */
import t from 'tap';
import { startMailServer } from '../fixtures/mail-server.ts';
import { message, openMail } from './mail-fixture.ts';
import { startSmtpStub } from './smtp-stub.ts';

const minuteMs = 60_000;
const idOf = (mail: string): string | undefined => /^Message-ID: (.*)$/im.exec(mail)?.[1];

t.test('a server that refuses the recipient for good ends the mail, with its words', async (t) => {
  const server = await startMailServer(t);
  const { send } = await openMail(t, server.env);
  const row = await send(message({ to: 'nobody@example.org' }));
  t.match(row, { state: 'FAILED', attempts: 1, error: /refused it: 550 5\.1\.1 .*User unknown/ });
  t.match(await send(message()), { state: 'DELIVERED' }, 'the next one arrives');
});

t.test('a message that is refused after its text is refused for good, too', async (t) => {
  const stub = await startSmtpStub(t, { '.': '554 5.7.1 Message looks like spam' });
  const { send } = await openMail(t, stub.env);
  t.match(await send(message()), { state: 'FAILED', attempts: 1, error: /554 5\.7\.1 Message looks like spam/ });
});

t.test('a greylisting server gets the mail again later', async (t) => {
  const stub = await startSmtpStub(t, { RCPT: (nth) => (nth === 1 ? '450 4.2.0 Greylisted, come back' : '250 Ok') });
  const { mail, send, rows, clock } = await openMail(t, stub.env);
  const first = await send(message());
  t.match(first, { state: 'PENDING', attempts: 1, error: /asks to try later: 450 4\.2\.0 Greylisted/ });
  t.ok(first.nextAt >= clock.now() + minuteMs);
  t.equal(await mail.drain(), 0, 'not before its time');
  clock.advance(minuteMs + 1_000);
  await mail.drain();
  t.match(await rows(), [{ state: 'DELIVERED', attempts: 2, error: null }]);
  t.equal(stub.mails.length, 1);
});

t.test('a server that dies in the middle gets the same message again', async (t) => {
  const stub = await startSmtpStub(t, { '.': (nth) => (nth === 1 ? 'die' : '250 Ok') });
  const { mail, send, rows, clock } = await openMail(t, stub.env);
  t.match(await send(message()), { state: 'PENDING', attempts: 1, error: /The connection to 127\.0\.0\.1:\d+ failed/ });
  clock.advance(2 * minuteMs);
  await mail.drain();
  t.match(await rows(), [{ state: 'DELIVERED', attempts: 2 }]);
  t.equal(stub.mails.length, 2);
  t.ok(idOf(stub.mails[0]!));
  t.equal(stub.mails[1], stub.mails[0], 'byte for byte, so that the receiver knows it');
});

t.test('a server that is silent, or answers drop by drop, does not hold the queue', async (t) => {
  for (const [word, answer] of [
    ['CONNECT', null],
    ['MAIL', null],
    ['.', null],
    ['EHLO', 'drip'],
    ['RCPT', 'drip'],
  ] as const) {
    const stub = await startSmtpStub(t, { [word]: answer });
    const { send } = await openMail(t, stub.env);
    const began = performance.now();
    t.match(await send(message()), { state: 'PENDING', attempts: 1, error: /took longer than 1 seconds?|failed/ });
    t.ok(performance.now() - began < 5_000, `${word} ${answer}`);
    if (word !== 'CONNECT') t.equal(stub.lines[0], 'EHLO git.example.org');
  }
});

t.test('an absent server, a refused sign-in and a refused sender are tried again', async (t) => {
  const stub = await startSmtpStub(t, { MAIL: '553 5.7.1 Sender address rejected' });
  const { send } = await openMail(t, stub.env);
  t.match(await send(message()), { state: 'PENDING', error: /refuses mails: 553 5\.7\.1 Sender address rejected/ });

  const closed = await openMail(t, { ...stub.env, SERVICE_MAIL_PORT: '1' });
  t.match(await closed.send(message()), { state: 'PENDING', error: /refuses connections: is a mail server running/ });

  const server = await startMailServer(t, { tls: 'starttls', user: 'hearth' });
  const { SERVICE_MAIL_PASSWORD_FILE: _file, ...rest } = server.env;
  const wrong = await openMail(t, { ...rest, SERVICE_MAIL_PASSWORD: 'wrong horse' });
  const row = await wrong.send(message());
  t.match(row, { state: 'PENDING', error: /does not accept mail\.user and its password: 535/ });
  t.notMatch(row.error, /wrong horse/);

  const missing = await openMail(t, { ...rest, SERVICE_MAIL_PASSWORD_FILE: '/absent/password' });
  t.match(await missing.send(message()), { state: 'PENDING', error: /mail\.password_file\) cannot be read: ENOENT/ });
});

t.test('nothing is sent without the encryption that the settings ask for', async (t) => {
  const stub = await startSmtpStub(t);
  const starttls = await openMail(t, { ...stub.env, SERVICE_MAIL_TLS: 'starttls' });
  t.match(await starttls.send(message()), { state: 'PENDING', error: /does not offer STARTTLS, so nothing was sent/ });
  t.notMatch(stub.lines.join('\n'), /MAIL FROM/);
  const implicit = await openMail(t, { ...stub.env, SERVICE_MAIL_TLS: 'implicit' });
  t.match(await implicit.send(message()), { state: 'PENDING', error: /set mail\.tls to starttls|took longer/ });
});

t.test('a certificate of an unknown authority or another name is refused with what helps', async (t) => {
  for (const tls of ['starttls', 'implicit'] as const) {
    const server = await startMailServer(t, { tls });
    const { SERVICE_CA_FILE: _authority, ...untrusting } = server.env;
    const { send } = await openMail(t, untrusting);
    const row = await send(message());
    t.match(row, { state: 'PENDING', error: /The certificate of 127\.0\.0\.1:\d+ is not accepted: .*ca_file/ }, tls);
    t.equal(server.mails.length, 0);
    const trusting = await openMail(t, server.env);
    t.match(await trusting.send(message()), { state: 'DELIVERED' }, tls);
    t.equal(server.mails[0]?.tls, true);
  }
  const other = await startMailServer(t, { tls: 'starttls' });
  const renamed = await openMail(t, { ...other.env, SERVICE_MAIL_HOST: 'localhost' });
  t.match(await renamed.send(message()), { state: 'PENDING', error: /certificate of localhost:\d+ is not accepted/ });
});

t.test('a connection serves several mails, and a server that ended it meanwhile costs no attempt', async (t) => {
  const stub = await startSmtpStub(t, { MAIL: (nth) => (nth === 3 ? 'die' : '250 Ok') });
  const { send, rows } = await openMail(t, stub.env);
  for (let n = 0; n < 4; n += 1) await send(message());
  t.strictSame(
    (await rows()).map(({ state, attempts }) => [state, attempts]),
    Array.from({ length: 4 }, () => ['DELIVERED', 1]),
  );
  t.equal(stub.mails.length, 4);
  t.equal(stub.connections(), 2);
});
