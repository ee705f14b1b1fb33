import t from 'tap';
import { looksLikeAccessToken } from '../../src/accounts/index.ts';
import { newSetupToken, normaliseSetupToken } from '../../src/accounts/registration/setup-token-format.ts';
import { createHashingLimit } from '../../src/accounts/hashing/hashing-limit.ts';
import { createPasswordHasher } from '../../src/accounts/hashing/password-hasher.ts';
import { normalisePassword, parsePassword } from '../../src/accounts/password-rules.ts';
import { formatPasswordString, isOutdated, parsePasswordString } from '../../src/accounts/hashing/password-string.ts';
import { suggestPassword } from '../../src/accounts/passwords/suggest-password.ts';
import { parseWebsite } from '../../src/accounts/people/profile-rules.ts';
import { cleanText, parseText } from '../../src/accounts/validate-text.ts';
import { randomString } from '../../src/accounts/random-string.ts';
import { newAccessToken } from '../../src/accounts/tokens/token-format.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { cheapCost, reasonOf } from './accounts-fixture.ts';

/** Titles of tests may not contain line breaks. */
const inAscii = (value: unknown) =>
  JSON.stringify(value)
    ?.slice(0, 30)
    .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);

const hasher = (limits = { atOnce: 2, waiting: 50 }) =>
  createPasswordHasher({ cost: cheapCost, ...limits, random: systemRandom });

t.test('security D11 an access token is hth_, 32 random characters and a checksum', (t) => {
  const token = newAccessToken(systemRandom);
  t.match(token, /^hth_[0-9A-Za-z]{38}$/);
  t.ok(looksLikeAccessToken(token));
  t.not(newAccessToken(systemRandom), token);
  t.end();
});

t.test('the form of tokens is stable, so that issued ones stay valid', (t) => {
  const zeros = { bytes: (count: number) => Buffer.alloc(count), uuid: () => '' };
  t.equal(newAccessToken(zeros), `hth_${'0'.repeat(32)}4S1yg8`);
  t.end();
});

t.test('a token with any one character changed, or truncated, is refused by its checksum', (t) => {
  const token = newAccessToken(systemRandom);
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'x' ? 'y' : 'x';
    t.notOk(looksLikeAccessToken(token.slice(0, at) + other + token.slice(at + 1)), `character ${at}`);
  }
  const others = [
    token.slice(0, -1),
    `${token}0`,
    ` ${token}`,
    `${token}\n`,
    token.toUpperCase(),
    '',
    'hth_',
    undefined,
    null,
    7,
    [token],
  ];
  for (const text of others) t.notOk(looksLikeAccessToken(text), JSON.stringify(text));
  t.end();
});

t.test('random text has a uniform distribution', (t) => {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const counts = new Map<string, number>();
  const characters = 62_000;
  for (const character of randomString(systemRandom, alphabet, characters)) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  t.equal(counts.size, alphabet.length);
  // Without rejected bytes, the first eight characters would occur 1.24 times as often.
  for (const [character, count] of counts) t.ok(Math.abs(count - 1000) < 200, `${character}: ${count}`);
  t.end();
});

t.test('a setup token is accepted in any spelling that a person might type', (t) => {
  const token = newSetupToken(systemRandom);
  t.match(token, /^[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){4}$/);
  const forms = [token, token.toLowerCase(), token.replaceAll('-', ''), ` ${token.replaceAll('-', ' ')} `];
  for (const form of forms) t.equal(normaliseSetupToken(form), token, form);
  t.equal(normaliseSetupToken('7Q2K-OOOO-IIII-LLLL-0000'), '7Q2K-0000-1111-1111-0000');
  for (const text of ['', '7Q2K', `${token}-0000`, token.replace(/.$/, 'U'), token.replace(/.$/, '\0'), null, 7]) {
    t.equal(normaliseSetupToken(text), null, String(text));
  }
  t.end();
});

t.test('a suggested password is valid', (t) => {
  const suggested = suggestPassword(systemRandom);
  t.match(suggested, /^\w{5}(?:-\w{5}){3}$/);
  t.equal(parsePassword(suggested), suggested);
  t.end();
});

t.test('passwords have 8 characters at least, 1024 bytes at most, and are valid text', async (t) => {
  const cases: [unknown, string][] = [
    ['12345678', 'accepted'],
    ['päßwörtç', 'accepted'],
    ['🔑🔑🔑🔑🔑🔑🔑🔑', 'accepted'],
    ['        ', 'accepted'],
    ['x'.repeat(1024), 'accepted'],
    ['1234567', 'password_too_short'],
    ['🔑🔑🔑🔑🔑🔑🔑', 'password_too_short'],
    ['', 'password_too_short'],
    [undefined, 'password_too_short'],
    [['12345678'], 'password_too_short'],
    ['x'.repeat(1025), 'password_too_long'],
    ['é'.repeat(513), 'password_too_long'],
    ['x'.repeat(1e7), 'password_too_long'],
    ['1234\x005678', 'password_unusable'],
    ['12345678\ud800', 'password_unusable'],
  ];
  for (const [password, reason] of cases) {
    t.equal(await reasonOf(() => parsePassword(password)), reason, inAscii(password));
    t.equal(
      normalisePassword(password) === null,
      !['accepted', 'password_too_short'].includes(reason) || typeof password !== 'string',
    );
  }
});

t.test('passwords are normalised: code points may differ between systems', (t) => {
  t.equal(parsePassword('cafe\u0301 cafe\u0301'), parsePassword('caf\u00e9 caf\u00e9'));
  t.end();
});

t.test('a password string round-trips with its parameters', (t) => {
  const stored = {
    cost: { memoryKib: 19456, passes: 2, parallelism: 1 },
    salt: Buffer.alloc(16, 1),
    hash: Buffer.alloc(32, 2),
  };
  const text = formatPasswordString(stored);
  t.equal(text, '$argon2id$v=19$m=19456,t=2,p=1$AQEBAQEBAQEBAQEBAQEBAQ$AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI');
  t.same(parsePasswordString(text), stored);
  t.notOk(isOutdated(text, stored.cost));
  t.ok(isOutdated(text, { ...stored.cost, passes: 3 }));
  t.ok(isOutdated(text, { ...stored.cost, memoryKib: 65536 }));
  t.end();
});

t.test('a damaged password string is parsed as none', (t) => {
  const good = '$argon2id$v=19$m=19456,t=2,p=1$AQEBAQEBAQEBAQEBAQEBAQ$AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI';
  const damaged = [
    '',
    '$',
    good.slice(1),
    `${good}\n`,
    `${good}=`,
    good.replace('argon2id', 'argon2i'),
    good.replace('v=19', 'v=16'),
    good.replace('m=19456', 'm=0'),
    good.replace('m=19456', 'm=7'),
    good.replace('m=19456', 'm=99999999'),
    good.replace('t=2', 't=-1'),
    good.replace('p=1', 'p=100'),
    good.slice(0, 60),
  ];
  for (const text of damaged) t.equal(parsePasswordString(text), null, text.slice(0, 40));
  t.end();
});

t.test('hashes made by the reference implementation are verified', async (t) => {
  // A test vector of the reference implementation of argon2.
  const known = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  await hasher().inSlot(async ({ matches }) => {
    t.ok(await matches('password', known));
  });
});

t.test('a password matches its own hash and no other; nothing matches a missing or damaged one', async (t) => {
  await hasher().inSlot(async ({ hash, matches }) => {
    const stored = await hash('a password');
    t.ok(await matches('a password', stored));
    t.notOk(await matches('another password', stored));
    t.notOk(await matches('', null));
    t.notOk(await matches('a password', null));
    t.notOk(await matches('a password', 'damaged'));
    t.not(await hash('a password'), stored, 'the salt differs');
  });
});

t.test('security D06 two hashes run at a time, fifty wait in order, further ones are refused', async (t) => {
  const slots = createHashingLimit({ atOnce: 2, waiting: 50 });
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const results = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      reasonOf(
        slots.run(async () => {
          most = Math.max(most, (running += 1));
          order.push(n);
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
        }),
      ),
    ),
  );
  t.equal(most, 2);
  t.same(
    order,
    Array.from({ length: 52 }, (_, n) => n),
  );
  t.equal(results.filter((reason) => reason === 'sign_in_busy').length, 8);

  await slots.run(() => Promise.reject(new Error('broken'))).catch(() => {});
  t.equal(await slots.run(async () => 'free again'), 'free again', 'a failure gives its slot back');
});

t.test('security J09 a text is NFC without controls, broken characters and reordering', async (t) => {
  const rule = { field: 'f', called: 'The text', maxCharacters: 10 };
  t.equal(parseText('  cafe\u0301 ', rule), 'café');
  t.equal(parseText('👩‍👩‍👧', rule), '👩‍👩‍👧', 'joined emoji stay joined');
  t.equal(parseText('a\r\nb\tc', { ...rule, manyLines: true }), 'a\nb\tc');
  const refused: [unknown, string][] = [
    ['a\nb', 'invalid_text'],
    ['a\0', 'invalid_text'],
    ['\u009b', 'invalid_text'],
    ['a\ud800', 'invalid_text'],
    ['\u202eabc', 'invalid_text'],
    ['\u2066abc', 'invalid_text'],
    ['a\u2028b', 'invalid_text'],
    [undefined, 'invalid_text'],
    [7, 'invalid_text'],
    [['a'], 'invalid_text'],
    ['x'.repeat(11), 'text_too_long'],
    ['x'.repeat(1e7), 'text_too_long'],
  ];
  for (const [text, reason] of refused) t.equal(await reasonOf(() => parseText(text, rule)), reason, inAscii(text));
  t.equal(await reasonOf(() => parseText('a\0b', { ...rule, manyLines: true })), 'invalid_text');
  for (const [pasted, kept] of [
    ['\x1b[31mred\x1b[0m\tok\x07', 'red\tok'],
    ['\x1b]0;title\x07ab\x08c', 'abc'],
    ['\x1b]8;;x\x1b\\link', 'link'],
    ['a\x0cb\x85\x7fc\x0b', 'abc'],
    ['\x1b[2K\r\n', ''],
  ] as const)
    t.equal(parseText(pasted, { ...rule, manyLines: true, maxCharacters: 50 }), kept, 'a pasted log is taken');
  t.equal(await reasonOf(() => parseText('\x1b[31mred', rule)), 'invalid_text', 'a name is none');
  t.equal(cleanText('\x1b[31mred\ud800\u202e\n', 6), '[31mre');
});

t.test('a website is a plain http or https URL', async (t) => {
  t.equal(parseWebsite(''), '');
  t.equal(parseWebsite(' https://example.org '), 'https://example.org', 'as it was written');
  t.equal(parseWebsite('HTTP://Example.org/a?b#c'), 'HTTP://Example.org/a?b#c');
  const refused = [
    'example.org',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'ftp://example.org',
    'https://',
    'https://alice:secret@example.org',
    'https://example.org/a b',
    '//example.org',
    'https:example.org',
    'https:\\\\example.org',
    'https://exa mple.org',
  ];
  for (const text of refused) t.equal(await reasonOf(() => parseWebsite(text)), 'invalid_website', text);
  t.equal(await reasonOf(() => parseWebsite('java\nscript:alert(1)')), 'invalid_text');
  t.equal(await reasonOf(() => parseWebsite(`https://example.org/${'a'.repeat(300)}`)), 'text_too_long');
});
