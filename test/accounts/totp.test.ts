/** Codes of authenticator apps: the vectors of RFC 6238 and RFC 4226, time steps, base32. */
import t from 'tap';
import {
  base32,
  matchingStep,
  otpauthUri,
  parseTotpCode,
  stepOf,
  totpCode,
} from '../../src/accounts/second-factor/totp.ts';

const secret = Buffer.from('12345678901234567890');

t.test('RFC 6238 appendix B: eight digits with SHA-1', async (t) => {
  const vectors: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ];
  for (const [seconds, code] of vectors) {
    t.equal(totpCode(secret, stepOf(seconds * 1000), 8), code, `${seconds} s`);
    t.equal(totpCode(secret, stepOf(seconds * 1000)), code.slice(2));
  }
});

t.test('RFC 4226 appendix D: six digits of the counters 0 to 9', async (t) => {
  const codes = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ');
  t.same(
    codes.map((_, counter) => totpCode(secret, counter)),
    codes,
  );
});

t.test('RFC 4648: base32', async (t) => {
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  };
  for (const [text, code] of Object.entries(vectors)) t.equal(base32(Buffer.from(text)), code);
});

t.test('a code is accepted in its step, the one before and the one after, and later than the last one', async (t) => {
  const now = 1_800_000_000_000;
  const step = stepOf(now);
  for (const [offset, expected] of [
    [-2, null],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, null],
  ] as const)
    t.equal(matchingStep(secret, totpCode(secret, step + offset), { now, lastStep: -1 }), expected, `${offset} steps`);
  t.equal(matchingStep(secret, totpCode(secret, step), { now, lastStep: step }), null, 'the same one');
  t.equal(matchingStep(secret, totpCode(secret, step - 1), { now, lastStep: step }), null, 'an earlier one');
  t.equal(matchingStep(secret, totpCode(secret, step + 1), { now, lastStep: step }), step + 1, 'a later one');
});

t.test('codes as people type them', async (t) => {
  for (const text of ['123456', ' 123 456 ', '123-456', '123 456\n']) t.equal(parseTotpCode(text), '123456');
  for (const text of ['', '12345', '1234567', '12345a', '１２３４５６', '-1.5e+3'])
    t.equal(parseTotpCode(text), null, JSON.stringify(text));
});

t.test('the key URI has the secret, and names that are escaped', async (t) => {
  t.equal(
    otpauthUri(Buffer.from('foobar'), { issuer: 'git.example.org', account: 'a:b&c' }),
    'otpauth://totp/git.example.org:a%3Ab%26c?secret=MZXW6YTBOI&issuer=git.example.org',
  );
});
