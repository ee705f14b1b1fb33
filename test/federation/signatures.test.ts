import { constants, createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import t from 'tap';
import {
  bodyDigest,
  dateWindowMs,
  digestMatches,
  formatHttpDate,
  isSignedBy,
  parseHttpDate,
  parseSignatureHeader,
  readPublicKey,
  readSignedRequest,
  signatureBase,
  signingString,
  signRequest,
} from '../../src/federation/signatures/index.ts';
import type { IncomingRequest } from '../../src/federation/signatures/index.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const at = Date.UTC(2026, 2, 2, 9, 30);
const key = { keyId: 'https://forge.example/ap/users/alice#main-key', privateKey };
const url = new URL('https://other.example/ap/repos/bob/tool/inbox');
const body = Buffer.from('{"type":"Follow"}');

/** A signed POST as it would arrive; changes are made to headers by name, `null` removes one. */
async function arrived(
  changes: Record<string, string | null> = {},
  more: Partial<IncomingRequest> = {},
): Promise<IncomingRequest> {
  const headers: Record<string, string | null> = {
    ...(await signRequest({ method: 'POST', url, body, at }, key)),
    ...changes,
  };
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [name, value]));
  return { method: 'POST', target: url.pathname, rawHeaders, body, ...more };
}

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isDomainError(error) && error.code === 'unauthenticated') return error.reason;
    throw error;
  }
  return '';
}

const verdict = (request: IncomingRequest, host = 'other.example', now = at): string =>
  reasonOf(() => readSignedRequest(request, `https://${host}`, now)) ||
  (isSignedBy(readSignedRequest(request, `https://${host}`, now), publicKey) ? 'accepted' : 'wrong');

t.test('draft-cavage-12 appendix C: our signing strings are those of the published examples', async (t) => {
  const published = createPublicKey(`-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----`);
  const parts = {
    method: 'POST',
    target: '/foo?param=value&pet=dog',
    headers: new Map([
      ['host', 'example.com'],
      ['date', 'Sun, 05 Jan 2014 21:31:40 GMT'],
      ['content-type', 'application/json'],
      ['digest', 'SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE='],
      ['content-length', '18'],
    ]),
  };
  const examples: [covered: string, signature: string][] = [
    [
      '(request-target) host date',
      'qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3HMbe8VfEdKFYRqzic+efkb3nndiv/x1xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0=',
    ],
    [
      '(request-target) host date content-type digest content-length',
      'vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TAD48XaERZFukWgHoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE=',
    ],
  ];
  for (const [covered, signature] of examples) {
    const text = signingString(covered.split(' '), parts);
    t.ok(verify('RSA-SHA256', Buffer.from(text ?? ''), published, Buffer.from(signature, 'base64')), covered);
  }
});

t.test('SPEC §5 a signed POST covers method, path, host, date and body', async (t) => {
  const headers = await signRequest({ method: 'POST', url, body, at }, key);
  t.match(
    headers,
    {
      Host: 'other.example',
      Date: 'Mon, 02 Mar 2026 09:30:00 GMT',
      Digest: 'SHA-256=GYwYnH3BiO6aICFt0ThC5bUIJ4byvqdpWtR8m5fNkww=',
    },
    'digest and date as other programs compute them',
  );
  t.match(
    headers['Signature'],
    /^keyId="https:\/\/forge\.example\/ap\/users\/alice#main-key",algorithm="rsa-sha256",headers="\(request-target\) host date digest",signature="[A-Za-z0-9+/=]{344}"$/,
  );
  const text = [
    '(request-target): post /ap/repos/bob/tool/inbox',
    'host: other.example',
    'date: Mon, 02 Mar 2026 09:30:00 GMT',
    `digest: ${headers['Digest']}`,
  ].join('\n');
  t.equal(
    /signature="([^"]+)"/.exec(headers['Signature']!)?.[1],
    sign('RSA-SHA256', Buffer.from(text), privateKey).toString('base64'),
  );
});

t.test('a signed GET covers its query, and no body', async (t) => {
  const withQuery = new URL('https://other.example:8443/.well-known/x?resource=acct%3Abob');
  const headers = await signRequest({ method: 'GET', url: withQuery, at }, key);
  t.strictSame(Object.keys(headers), ['Host', 'Date', 'Signature']);
  t.equal(headers['Host'], 'other.example:8443');
  const check = (target: string): boolean => {
    const parts = {
      method: 'GET',
      target,
      headers: new Map([
        ['host', 'other.example:8443'],
        ['date', headers['Date']!],
      ]),
    };
    const text = signingString(['(request-target)', 'host', 'date'], parts)!;
    return verify(
      'RSA-SHA256',
      Buffer.from(text),
      publicKey,
      Buffer.from(/signature="([^"]+)"/.exec(headers['Signature']!)![1]!, 'base64'),
    );
  };
  t.ok(check('/.well-known/x?resource=acct%3Abob'));
  t.notOk(check('/.well-known/x'));
});

t.test('SPEC §5 what was signed is accepted; anything changed on the way is not', async (t) => {
  t.equal(verdict(await arrived()), 'accepted');
  t.equal(verdict(await arrived({ 'X-Other': 'kept out of it' })), 'accepted');
  t.equal(
    verdict(await arrived({}, { target: `${url.pathname}?x=1` })),
    'accepted',
    'a query that the sender did not sign',
  );
  const otherBody = Buffer.from('{"type":"Undo"}');
  const table: [what: string, request: IncomingRequest, verdict: string][] = [
    ['another path', await arrived({}, { target: '/ap/repos/bob/other/inbox' }), 'wrong'],
    ['another method', await arrived({}, { method: 'PUT' }), 'wrong'],
    ['another body', await arrived({}, { body: otherBody }), 'signature_digest'],
    ['another body with its digest', await arrived({ Digest: bodyDigest(otherBody) }, { body: otherBody }), 'wrong'],
    ['another date', await arrived({ Date: formatHttpDate(at + 1000) }), 'wrong'],
    ['another host', await arrived({ Host: 'third.example' }), 'signature_host'],
    ['X-Date beside Date', await arrived({ 'X-Date': formatHttpDate(at + 86_400_000) }), 'accepted'],
    ['no Date', await arrived({ Date: null }), 'signature_missing'],
    ['no Digest', await arrived({ Digest: null }), 'signature_missing'],
    ['no Signature', await arrived({ Signature: null }), 'signature_missing'],
    ['no Host', await arrived({ Host: null }), 'signature_missing'],
    ['a second Date', await arrived({ date: formatHttpDate(at) }), 'signature_repeated'],
    ['a second Digest', await arrived({ DIGEST: bodyDigest(body) }), 'signature_repeated'],
    ['a second Host', await arrived({ host: 'other.example' }), 'signature_repeated'],
    ['RFC 9421', await arrived({ 'Signature-Input': 'sig1=("@method")' }), 'signature_rfc9421'],
    [
      'only Authorization',
      await arrived({ Signature: null, Authorization: 'Signature keyId="x"' }),
      'signature_missing',
    ],
  ];
  for (const [what, request, expected] of table) t.equal(verdict(request), expected, what);
  t.equal(verdict(await arrived(), 'OTHER.example'), 'accepted', 'hosts have no case');
  t.equal(verdict(await arrived(), 'other.example:8443'), 'signature_host', 'a port belongs to the host');
});

t.test('the date may differ by an hour, and not a second more', async (t) => {
  const request = await arrived();
  for (const [distance, expected] of [
    [0, 'accepted'],
    [dateWindowMs, 'accepted'],
    [-dateWindowMs, 'accepted'],
    [dateWindowMs + 1000, 'signature_date'],
    [-dateWindowMs - 1000, 'signature_date'],
  ] as const)
    t.equal(verdict(request, 'other.example', at + distance), expected, String(distance));
});

t.test('HTTP dates are read in one spelling only', async (t) => {
  t.equal(parseHttpDate('Mon, 02 Mar 2026 09:30:00 GMT'), at);
  for (const text of [
    '',
    'now',
    '0',
    String(at),
    '2026-03-02T09:30:00Z',
    'Monday, 02-Mar-26 09:30:00 GMT',
    'Mon Mar  2 09:30:00 2026',
    'Mon, 02 Mar 2026 09:30:00 +0000',
    'Tue, 02 Mar 2026 09:30:00 GMT',
    'Mon, 30 Feb 2026 09:30:00 GMT',
    'Mon, 2 Mar 2026 09:30:00 GMT',
    'Mon, 02 Mar 2026 24:30:00 GMT',
    'Mon, 02 Mar 2026 09:30:60 GMT',
  ])
    t.equal(parseHttpDate(text), null, text);
});

t.test('a digest is one SHA-256 among others, and it decides', async (t) => {
  const right = bodyDigest(body).slice('SHA-256='.length);
  for (const header of [
    `SHA-256=${right}`,
    `sha-256=${right}`,
    `MD5=abc=, SHA-256=${right}`,
    `SHA-256=${right},SHA-512=abcd`,
  ])
    t.ok(digestMatches(header, body), header);
  for (const header of [
    '',
    'SHA-256',
    'SHA-256=',
    right,
    `SHA-512=${right}`,
    `SHA-256=${right}, SHA-256=${right}`,
    `SHA-256=${right};`,
    'SHA-256=AAAA',
    `SHA-256="${right}"`,
    `SHA-256=${Buffer.from(right, 'base64').toString('hex')}`,
  ])
    t.notOk(digestMatches(header, body), header);
});

t.test('the Signature header is read strictly', async (t) => {
  const good = 'keyId="https://a.example/k",headers="(request-target) host date digest",signature="AAAA"';
  t.match(parseSignatureHeader(good), {
    keyId: 'https://a.example/k',
    algorithm: null,
    covered: ['(request-target)', 'host', 'date', 'digest'],
    created: null,
  });
  t.match(parseSignatureHeader(`${good},algorithm="hs2019",created=1772443800,expires=1772443900`), {
    algorithm: 'hs2019',
    created: 1_772_443_800,
    expires: 1_772_443_900,
  });
  t.match(parseSignatureHeader(`${good} , algorithm="rsa-sha256"`), { algorithm: 'rsa-sha256' });
  t.match(parseSignatureHeader(`${good},unknown="kept out"`), { algorithm: null });
  const table: [header: string, reason: string][] = [
    ['', 'signature_malformed'],
    [',', 'signature_malformed'],
    [`${good},`, 'signature_malformed'],
    [`Signature ${good}`, 'signature_malformed'],
    [`${good},keyId="https://b.example/k"`, 'signature_malformed'],
    [`${good},KEYID="https://b.example/k"`, 'signature_malformed'],
    [`${good},signature="BBBB"`, 'signature_malformed'],
    [good.replace('AAAA', 'AA!A'), 'signature_malformed'],
    [good.replace('AAAA', 'AAA'), 'signature_malformed'],
    [good.replace('AAAA', ''), 'signature_malformed'],
    [good.replace('https://a.example/k', ''), 'signature_malformed'],
    [good.replace('"https://a.example/k"', 'https://a.example/k'), 'signature_malformed'],
    [good.replace('a.example', 'a.\\"example'), 'signature_malformed'],
    [`${good},created="1772443800"`, 'signature_malformed'],
    [`${good},created=-5`, 'signature_malformed'],
    [`${good},created=1e9`, 'signature_malformed'],
    [`${good},algorithm=5`, 'signature_malformed'],
    [`${good},algorithm="rsa-sha512"`, 'signature_algorithm'],
    [`${good},algorithm="hmac-sha256"`, 'signature_algorithm'],
    [`${good},algorithm="none"`, 'signature_algorithm'],
    [`${good},algorithm=""`, 'signature_algorithm'],
    [good.replace('digest', 'digest digest'), 'signature_malformed'],
    [good.replace('digest', 'Digest'), 'signature_malformed'],
    [good.replace('host date', 'host  date'), 'signature_malformed'],
    [good.replace(' digest', ''), 'signature_coverage'],
    [good.replace(' host', ''), 'signature_coverage'],
    [good.replace(' date', ''), 'signature_coverage'],
    [good.replace('(request-target) ', ''), 'signature_coverage'],
    [good.replace('headers="(request-target) host date digest",', ''), 'signature_coverage'],
    [`${good.replace('host date', '(created) host date')},algorithm="rsa-sha256",created=1`, 'signature_malformed'],
    [`keyId="${'x'.repeat(9000)}",signature="AAAA"`, 'signature_malformed'],
  ];
  for (const [header, reason] of table)
    t.equal(
      reasonOf(() => parseSignatureHeader(header)),
      reason,
      header.slice(0, 120),
    );
});

t.test('hs2019 may cover (created) and (expires), and both are held to the clock', async (t) => {
  const seconds = at / 1000;
  const signed = (created: number | null, expires: number | null): IncomingRequest => {
    const covered = [
      '(request-target)',
      ...(created === null ? [] : ['(created)']),
      ...(expires === null ? [] : ['(expires)']),
      'host',
      'date',
      'digest',
    ];
    const headers = new Map([
      ['host', 'other.example'],
      ['date', formatHttpDate(at)],
      ['digest', bodyDigest(body)],
    ]);
    const text = signingString(covered, { method: 'POST', target: url.pathname, headers, created, expires })!;
    const signature = sign('RSA-SHA256', Buffer.from(text), privateKey).toString('base64');
    const times = [
      ...(created === null ? [] : [`created=${created}`]),
      ...(expires === null ? [] : [`expires=${expires}`]),
    ];
    const header = [
      `keyId="${key.keyId}"`,
      'algorithm="hs2019"',
      ...times,
      `headers="${covered.join(' ')}"`,
      `signature="${signature}"`,
    ].join(', ');
    return { method: 'POST', target: url.pathname, rawHeaders: [...headers].flat().concat('Signature', header), body };
  };
  t.equal(verdict(signed(seconds, null)), 'accepted');
  t.equal(verdict(signed(seconds, seconds + 300)), 'accepted');
  t.equal(verdict(signed(null, seconds - 1)), 'signature_expired');
  t.equal(verdict(signed(seconds + 7200, null)), 'signature_expired');
  t.equal(verdict(signed(seconds - 7200, null)), 'signature_expired');
});

t.test('a covered header that is not there is not taken for an empty one', async (t) => {
  const request = await arrived();
  const rawHeaders = request.rawHeaders.map((value) => value.replace('date digest', 'date digest x-missing'));
  t.equal(verdict({ ...request, rawHeaders }), 'wrong');
});

t.test('only a public RSA key of a sound size, in the form for public keys, is a key', async (t) => {
  const pem = (made: { publicKey: { export(options: object): string | Buffer } }) =>
    made.publicKey.export({ type: 'spki', format: 'pem' }) as string;
  t.ok(readPublicKey(publicKey.export({ type: 'spki', format: 'pem' }) as string));
  t.equal(readPublicKey(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string), null, 'a private key');
  t.equal(readPublicKey(publicKey.export({ type: 'pkcs1', format: 'pem' }) as string), null);
  t.equal(readPublicKey(pem(generateKeyPairSync('rsa', { modulusLength: 1024 }))), null, 'too short');
  t.equal(readPublicKey(pem(generateKeyPairSync('ed25519'))), null);
  t.equal(readPublicKey(pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }))), null);
  for (const text of ['', 'x', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'])
    t.equal(readPublicKey(text), null, text);
});

t.test('security G09 no bytes in these headers cause anything but a refusal', async (t) => {
  const random = seededRandom(7);
  const chunks = [
    'keyId',
    '=',
    '"',
    ',',
    'headers',
    'signature',
    '(request-target)',
    ' ',
    '\\',
    'created=',
    '9',
    '\u00ff',
    'AAAA',
    '(',
    ')',
    'x'.repeat(50),
    '\t',
  ];
  const good = await arrived();
  for (let round = 0; round < 3000; round++) {
    const noise = Array.from({ length: random.below(20) }, () => random.pick(chunks)).join('');
    const name = random.pick(['Signature', 'Date', 'Digest', 'Host']);
    const rawHeaders = good.rawHeaders.map((value, index) => (good.rawHeaders[index - 1] === name ? noise : value));
    const startedAt = performance.now();
    const result = verdict({ ...good, rawHeaders });
    if (result === 'accepted' || performance.now() - startedAt > 1000)
      t.fail(`${name}: ${JSON.stringify(noise)} ${result}`);
  }
});

/** RFC 9421, signed without a line of ours. */
function messageSigned({
  covered = ['@method', '@target-uri', 'content-digest'],
  parameters = `created=${at / 1000};keyid="${key.keyId}";alg="rsa-v1_5-sha256"`,
  values = {} as Record<string, string>,
  label = 'sig1',
  sent = {} as Record<string, string | null>,
  pss = false,
} = {}): IncomingRequest {
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  const all: Record<string, string> = {
    '@method': 'POST',
    '@target-uri': url.href,
    '@authority': url.host,
    '@scheme': 'https',
    '@request-target': url.pathname,
    '@path': url.pathname,
    '@query': '?',
    'content-digest': digest,
    host: url.host,
    date: formatHttpDate(at),
    ...values,
  };
  const input = `(${covered.map((name) => `"${name}"`).join(' ')});${parameters}`;
  const base = [...covered.map((name) => `"${name}": ${all[name]}`), `"@signature-params": ${input}`].join('\n');
  const signature = pss
    ? sign('sha512', Buffer.from(base), { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 })
    : sign('sha256', Buffer.from(base), privateKey);
  const headers: Record<string, string | null> = {
    Host: url.host,
    Date: formatHttpDate(at),
    'Content-Digest': digest,
    'Signature-Input': `${label}=${input}`,
    Signature: `${label}=:${signature.toString('base64')}:`,
    ...sent,
  };
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [name, value]));
  return { method: 'POST', target: url.pathname, rawHeaders, body };
}

t.test('RFC 9421 §2.5: our signature base is that of the published example', (t) => {
  const headers = new Map([
    ['host', 'example.com'],
    ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
    ['content-type', 'application/json'],
    [
      'content-digest',
      'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
    ],
    ['content-length', '18'],
  ]);
  const parameters =
    '("@method" "@authority" "@path" "content-digest" "content-length" "content-type");created=1618884473;keyid="test-key-rsa-pss"';
  t.equal(
    signatureBase(['@method', '@authority', '@path', 'content-digest', 'content-length', 'content-type'], parameters, {
      method: 'POST',
      target: '/foo?param=Value&Pet=dog',
      origin: 'https://example.com',
      headers,
    }),
    [
      '"@method": POST',
      '"@authority": example.com',
      '"@path": /foo',
      '"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
      '"content-length": 18',
      '"content-type": application/json',
      `"@signature-params": ${parameters}`,
    ].join('\n'),
  );
  t.end();
});

t.test('RFC 9421: what covers method, target and content is accepted, in any order and with either algorithm', (t) => {
  const usual = `created=${at / 1000};keyid="${key.keyId}"`;
  for (const covered of [
    ['@method', '@target-uri', 'content-digest'],
    ['content-digest', '@target-uri', '@method', 'date', 'host'],
    ['@method', '@target-uri', '@authority', 'host', 'date', 'content-digest'],
    ['@method', '@authority', '@request-target', 'content-digest'],
    ['@method', 'host', '@path', '@query', 'content-digest'],
    ['@method', '@target-uri', '@scheme', 'content-digest'],
  ])
    t.equal(verdict(messageSigned({ covered })), 'accepted', covered.join(' '));
  t.equal(verdict(messageSigned({ parameters: usual })), 'accepted', 'no alg: the key says it');
  t.equal(verdict(messageSigned({ parameters: `${usual};alg="rsa-pss-sha512"`, pss: true })), 'accepted');
  t.equal(verdict(messageSigned({ parameters: `${usual};expires=${at / 1000 + 60};nonce="n";tag="t"` })), 'accepted');
  t.equal(verdict(messageSigned({ sent: { Date: null }, label: 'other' })), 'accepted', 'no Date is needed');
  t.end();
});

t.test('RFC 9421: components left out, repeated, changed or with parameters are refused', (t) => {
  const usual = `created=${at / 1000};keyid="${key.keyId}"`;
  const digest512 = `sha-512=:${createHash('sha512').update(body).digest('base64')}:`;
  const cases: [string, IncomingRequest, string][] = [
    ...(
      [
        ['@method', '@target-uri'],
        ['@method', 'content-digest'],
        ['@target-uri', 'content-digest'],
        ['@method', '@path', 'content-digest'],
        ['@method', '@authority', '@path', 'content-digest'],
        ['@method', '@request-target', 'content-digest'],
        ['@method', '@method', '@target-uri', 'content-digest'],
        ['@method', '@target-uri', 'content-digest', 'x-missing'],
        ['@method', '@target-uri', 'content-digest', '@status'],
        [],
      ] as string[][]
    ).map((covered): [string, IncomingRequest, string] => [
      `covering ${covered.join(' ')}`,
      messageSigned({ covered }),
      'signature_rfc9421',
    ]),
    ['no created', messageSigned({ parameters: `keyid="${key.keyId}"` }), 'signature_rfc9421'],
    ['no keyid', messageSigned({ parameters: `created=${at / 1000}` }), 'signature_rfc9421'],
    ['another algorithm', messageSigned({ parameters: `${usual};alg="hmac-sha256"` }), 'signature_rfc9421'],
    ['a keyid twice', messageSigned({ parameters: `${usual};keyid="x"` }), 'signature_rfc9421'],
    ['created as a string', messageSigned({ parameters: `created="1";keyid="x"` }), 'signature_rfc9421'],
    ['made too early', messageSigned({ parameters: `created=${at / 1000 + 3601};keyid="x"` }), 'signature_expired'],
    ['made too late', messageSigned({ parameters: `created=${at / 1000 - 3601};keyid="x"` }), 'signature_expired'],
    ['run out', messageSigned({ parameters: `${usual};expires=${at / 1000 - 1}` }), 'signature_expired'],
    ['another label', messageSigned({ sent: { Signature: 'sig2=:AAAA:' } }), 'signature_rfc9421'],
    ['two signatures', messageSigned({ sent: { Signature: 'sig1=:AAAA:, sig2=:AAAA:' } }), 'signature_rfc9421'],
    ['a draft signature beside it', messageSigned({ sent: { Signature: 'keyId="x"' } }), 'signature_rfc9421'],
    ['no signature', messageSigned({ sent: { Signature: null } }), 'signature_missing'],
    ['no digest', messageSigned({ sent: { 'Content-Digest': null } }), 'signature_rfc9421'],
    ['another digest', messageSigned({ sent: { 'Content-Digest': 'sha-256=:AAAA:' } }), 'signature_digest'],
    [
      'a digest of SHA-512 alone',
      messageSigned({ values: { 'content-digest': digest512 }, sent: { 'Content-Digest': digest512 } }),
      'signature_digest',
    ],
    ['another host', messageSigned({ sent: { Host: 'third.example' } }), 'signature_host'],
    ['another path', { ...messageSigned(), target: '/elsewhere' }, 'wrong'],
    ['another method', { ...messageSigned(), method: 'PUT' }, 'wrong'],
    ['another body', { ...messageSigned(), body: Buffer.from('{}') }, 'signature_digest'],
    [
      'components in another order than signed',
      messageSigned({
        sent: { 'Signature-Input': `sig1=("@target-uri" "@method" "content-digest");${usual};alg="rsa-v1_5-sha256"` },
      }),
      'wrong',
    ],
    [
      'a component with a parameter',
      messageSigned({ sent: { 'Signature-Input': `sig1=("@method";req "@target-uri" "content-digest");${usual}` } }),
      'signature_rfc9421',
    ],
    [
      'a long input',
      messageSigned({ sent: { 'Signature-Input': `sig1=(${'"a" '.repeat(9_000)})` } }),
      'signature_rfc9421',
    ],
  ];
  for (const [name, request, expected] of cases) t.equal(verdict(request), expected, name);
  t.end();
});

t.test('a Digest without SHA-256 is refused with a sentence that says so', async (t) => {
  const request = await arrived({ Digest: `SHA-512=${createHash('sha512').update(body).digest('base64')}` });
  t.throws(() => readSignedRequest(request, 'https://other.example', at), /no SHA-256/);
  t.throws(() => readSignedRequest({ ...request, body: Buffer.from('x') }, 'https://other.example', at), /no SHA-256/);
});
