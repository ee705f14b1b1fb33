/** Mails about an account in each language: every event, with words of the catalogue and values in them. */
import t from 'tap';
import type { SecurityEvent } from '../../src/accounts/index.ts';
import { noticeMail } from '../../src/notices/notice-mail.ts';
import { chooseLanguage, inLanguage } from '../../src/translation/index.ts';

const by = { username: 'bob' };
const device = { address: '192.0.2.1', userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Firefox/130.0' };
const events = [
  { kind: 'signed_in', ...device },
  { kind: 'signed_in', ...device, address: '' },
  { kind: 'ssh_key_added', title: 'laptop', fingerprint: 'SHA256:abc', uses: 'both' },
  { kind: 'ssh_key_added', title: 'laptop', fingerprint: 'SHA256:abc', uses: 'signing' },
  { kind: 'gpg_key_added', fingerprint: 'ABCD' },
  { kind: 'token_added', name: 'ci', access: 'write' },
  { kind: 'second_factor_added', factor: 'totp', name: '' },
  { kind: 'second_factor_added', factor: 'passkey', name: 'phone' },
  { kind: 'second_factor_removed', factor: 'totp', by: 'person' },
  { kind: 'second_factor_removed', factor: 'passkey', by: 'person' },
  { kind: 'second_factor_removed', factor: 'all', by: 'administrator' },
  { kind: 'account_linked', issuer: 'https://id.example.org', label: 'alice' },
  { kind: 'recovery_code_used', left: 3 },
  { kind: 'recovery_codes_made' },
  { kind: 'wrong_codes', ...device },
  { kind: 'password_changed', by: 'person' },
  { kind: 'password_changed', by: 'administrator' },
  { kind: 'password_changed', by: 'link' },
  { kind: 'primary_address_changed', from: 'alice@example.org', to: null },
  { kind: 'access_given', place: { kind: 'repository', owner: 'bob', name: 'site' }, role: 'write', by },
  { kind: 'access_given', place: { kind: 'organisation', name: 'acme' }, role: null, by: null },
  { kind: 'access_given', place: { kind: 'team', organisation: 'acme', name: 'core' }, role: null, by },
] as unknown as SecurityEvent[];

const mailIn = (language: string | null, event: SecurityEvent) =>
  inLanguage(chooseLanguage(language, undefined, 'en'), () =>
    noticeMail(
      { personId: 'a', to: 'alice@example.org', event, at: 0 },
      { username: 'alice' } as never,
      'https://git.example.org',
    ),
  );

t.test('every mail about an account is in the language of its reader', async (t) => {
  for (const event of events) {
    const [english, german, french] = ['en', 'de', 'fr'].map((language) => mailIn(language, event));
    const name = `${event.kind} ${JSON.stringify(event).slice(0, 80)}`;
    for (const [language, mail] of Object.entries({ en: english!, de: german!, fr: french! })) {
      t.notMatch(`${mail.subject} ${mail.text}`, /mails\.notice|undefined|[{}]/, `${language}: ${name}`);
      t.match(mail.html, `<html lang="${language}" dir="ltr">`, name);
    }
    t.not(german!.subject, english!.subject, name);
    t.not(french!.subject, english!.subject, name);
    const lines = (text: string) =>
      text.split('\n').filter((line) => / .* /.test(line) && !/https?:|UTC|^SHA/.test(line));
    const same = lines(german!.text).filter((line) => lines(english!.text).includes(line));
    t.strictSame(same, [], `${name}: no line is English in the German mail`);
  }
});

t.test('a reader whose language is gone, or who has none, gets the language of the server', async (t) => {
  for (const language of ['tlh', '', '__proto__', null])
    t.equal(mailIn(language, events[0]!).subject, mailIn('en', events[0]!).subject, String(language));
});
