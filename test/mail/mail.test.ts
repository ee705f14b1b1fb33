import t from 'tap';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import { message, openMail } from './mail-fixture.ts';

t.test('a mail goes through the queue to the mail server, by STARTTLS and signed in', async (t) => {
  const server = await startMailServer(t, { tls: 'starttls', user: 'hearth' });
  const { send, rows } = await openMail(t, server.env);
  const sent = await send(
    message({ to: 'alice@example.org', subject: 'Grüße', text: 'Straße', html: '<p>Straße</p>' }),
  );
  t.match(sent, { state: 'DELIVERED', attempts: 1, error: null });
  const mail = await server.next('alice@example.org');
  t.match(mail, { from: 'hearth@example.org', tls: true, user: 'hearth', type: 'multipart/alternative' });
  t.match(mail, { text: /^Straße\s*$/, html: /<p>Straße<\/p>/ });
  t.equal(headerOf(mail, 'from'), 'Hearth <hearth@example.org>');
  t.equal(headerOf(mail, 'to'), 'alice@example.org');
  t.equal(headerOf(mail, 'subject'), 'Grüße');
  t.equal(headerOf(mail, 'auto-submitted'), 'auto-generated');
  t.match(headerOf(mail, 'message-id'), /^<[\w-]+@127\.0\.0\.1>$/);
  for (const name of ['precedence', 'list-id', 'list-unsubscribe', 'in-reply-to', 'x-mailer'])
    t.equal(headerOf(mail, name), null, name);
  for (const { payload } of await rows()) t.notMatch(payload, /Straße|alice/, 'what is stored is encrypted');
});
