// What a hostile peer sends: over a hundred deliveries, each of which must get 401 (or 400, 404, 413 where nothing
// needs verifying) or be ignored, without an effect, and without a connection to a host off the allowlist.
import { constants, createSign, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, pemOf, rowsOf, sendRaw, sha256, sign, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer, Keys, RawResponse, Signing } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';
import type { Peer } from './two-instances.ts';

const hearth: Peer = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_FEDERATION_USER_RESYNC_INTERVAL: '1h' },
});
const peer: FakePeer = await startFakePeer(t);
/** On no list: a request to it is a failure. */
const sentinel: FakePeer = await startFakePeer(t, { host: '127.0.0.9' });

const alice = await hearth.modules.accounts.addPerson({ username: 'alice' });
for (const [name, visibility] of [
  ['tool', 'PUBLIC'],
  ['secret', 'PRIVATE'],
] as const) {
  await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility });
}
const tool = `${hearth.origin}/ap/repos/alice/tool`;
const inbox = `${tool}/inbox`;
const mallory = peer.addActor('/users/mallory');
const victim = peer.addActor('/users/victim', {}, keysNumber(1));
const followed = peer.addActor('/repos/bob/lib', { type: 'Repository' }, keysNumber(1));
const [weak, curve] = [
  generateKeyPairSync('rsa', { modulusLength: 1024 }),
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
] as Keys[];

const victimsFollow = { id: peer.newId(), type: 'Follow', actor: victim.id, object: tool };
const act = (type: string, more: object = {}) => ({ id: peer.newId(), type, actor: mallory.id, object: tool, ...more });
const follow = (more: object = {}) => act('Follow', more);

interface Attack {
  name: string;
  /** 401 unless given; 202 means recorded and ignored. */
  status?: number;
  send(): Promise<RawResponse>;
}

const attacks: Attack[] = [];
const add = (name: string, send: Attack['send'], status = 401): void => void attacks.push({ name, send, status });

/** A signed delivery with something changed: what is signed, what is sent, or both. */
interface Change {
  activity?: unknown;
  body?: string | Buffer;
  url?: string;
  sign?: Partial<Signing>;
  /** Headers over the signed ones; `null` takes one away, an array gives it several times. */
  headers?: Record<string, string | string[] | null>;
  method?: string;
}

function deliver({
  activity = follow(),
  body = JSON.stringify(activity),
  url = inbox,
  sign: signing = {},
  headers = {},
  method,
}: Change): Promise<RawResponse> {
  const signed: Record<string, string | string[] | null> = {
    ...sign({ url: inbox, body, keyId: mallory.keyId, privateKey: mallory.keys.privateKey, ...signing }),
    ...headers,
  };
  const pairs = Object.entries(signed).flatMap(([name, value]) =>
    value === null ? [] : [value].flat().map((each): [string, string] => [name, each]),
  );
  return sendRaw({ url, headers: pairs, body, ...(method === undefined ? {} : { method }) });
}

const change = (name: string, how: Change, status?: number): void => add(name, () => deliver(how), status);

/* 1. No signature, or one that two readers could understand differently. */
change('no signature at all', { headers: { Signature: null } });
change('no date', { headers: { Date: null } });
change('no digest', { headers: { Digest: null } });
change('two signatures', { headers: { Signature: ['keyId="x"', 'keyId="y"'] } });
change('two dates', { headers: { Date: [new Date().toUTCString(), new Date(0).toUTCString()] } });
change('two digests', { headers: { Digest: [`SHA-256=${sha256('a')}`, `SHA-256=${sha256('b')}`] } });
change('two hosts', { headers: { Host: [hearth.host, 'other.example'] } }, 400);
change('the signature in Authorization', {
  headers: { Signature: null, Authorization: 'Signature keyId="x",signature="AAAA"' },
});
change('RFC 9421 beside it', { headers: { 'Signature-Input': 'sig1=("@method" "@path");keyid="x"' } });
change('RFC 9421 alone', { headers: { Signature: 'sig1=:AAAA:', 'Signature-Input': 'sig1=("@method")' } });
for (const [name, edit] of [
  ['an empty header', () => ''],
  ['nonsense', () => 'let me in'],
  ['a parameter twice', (header: string) => `${header},keyId="${peer.origin}/users/victim#main-key"`],
  ['a parameter twice in another case', (header: string) => `${header},KEYID="${victim.keyId}"`],
  ['no keyId', (header: string) => header.replace(/keyId="[^"]*",/, '')],
  ['no signature value', (header: string) => header.replace(/,signature="[^"]*"/, '')],
  ['an empty signature', (header: string) => header.replace(/signature="[^"]*"/, 'signature=""')],
  [
    'a signature of zeros',
    (header: string) => header.replace(/signature="[^"]*"/, `signature="${Buffer.alloc(256).toString('base64')}"`),
  ],
  ['a cut signature', (header: string) => header.replace(/signature="(....)[^"]*"/, 'signature="$1"')],
  ['a signature in base64url', (header: string) => header.replace(/signature="[^"]*"/, 'signature="-_-_"')],
  ['algorithm none', (header: string) => header.replace('rsa-sha256', 'none')],
  ['algorithm hmac-sha256', (header: string) => header.replace('rsa-sha256', 'hmac-sha256')],
  ['algorithm rsa-sha1', (header: string) => header.replace('rsa-sha256', 'rsa-sha1')],
  ['algorithm ed25519', (header: string) => header.replace('rsa-sha256', 'ed25519')],
  ['a header covered twice', (header: string) => header.replace('host date', 'host host date')],
  ['headers in upper case', (header: string) => header.replace('host date', 'Host Date')],
  ['a comma at the end', (header: string) => `${header},`],
  ['a header of 20 kB', (header: string) => `${header},padding="${'x'.repeat(12_000)}"`],
] as [string, (header: string) => string][]) {
  add(`Signature: ${name}`, () => {
    const body = JSON.stringify(follow());
    const headers = sign({ url: inbox, body, keyId: mallory.keyId, privateKey: mallory.keys.privateKey });
    return sendRaw({
      url: inbox,
      body,
      headers: Object.entries({ ...headers, Signature: edit(headers['Signature']!) }),
    });
  });
}

/* 2. Signed, but not over what counts, or for another request (invariant 7). */
for (const left of ['(request-target)', 'host', 'date', 'digest']) {
  const covered = ['(request-target)', 'host', 'date', 'digest'].filter((name) => name !== left);
  change(`${left} not covered`, { sign: { covered } });
}
change('only the date covered', { sign: { covered: ['date'] } });
change('a covered header that is not sent', {
  sign: { covered: ['(request-target)', 'host', 'date', 'digest', 'x-none'], signed: { 'x-none': '' } },
});
change('(created) with rsa-sha256', {
  sign: { covered: ['(request-target)', '(created)', 'host', 'date', 'digest'], signed: { '(created)': '1' } },
});
change('signed for another path', { sign: { url: `${hearth.origin}/ap/users/alice/inbox` } });
change('signed for another method', { sign: { method: 'GET' } });
change('signed for another host', { sign: { signed: { host: 'other.example' } } });
change('sent with the host it was signed for', {
  sign: { signed: { host: 'other.example' } },
  headers: { Host: 'other.example' },
});
change('signed for the host without its port', {
  sign: { signed: { host: '127.0.0.1' } },
  headers: { Host: '127.0.0.1' },
});
change("signed for a proxy's name", {
  headers: { Host: 'inner.example', 'X-Forwarded-Host': hearth.host },
  sign: { signed: { host: 'inner.example' } },
});
change('another body', { headers: { Digest: `SHA-256=${sha256('{}')}` } });
change('another body, digest fitted', {
  body: '{"evil":true}',
  sign: { signed: { digest: `SHA-256=${sha256('{}')}` } },
});
change('a digest of nothing', { headers: { Digest: 'SHA-256=' } });
change('a digest by MD5 alone', {
  headers: { Digest: 'MD5=XrY7u+Ae7tCTyyK7j1rNww==' },
  sign: { signed: { digest: 'MD5=XrY7u+Ae7tCTyyK7j1rNww==' } },
});
change('a digest by SHA-512 alone', {
  headers: { Digest: 'SHA-512=AAAA' },
  sign: { signed: { digest: 'SHA-512=AAAA' } },
});
for (const [name, date] of [
  ['two hours old', new Date(Date.now() - 7_200_000).toUTCString()],
  ['two hours early', new Date(Date.now() + 7_200_000).toUTCString()],
  ['of 1970', new Date(0).toUTCString()],
  ['in ISO form', new Date().toISOString()],
  ['a number', String(Date.now())],
  ['nonsense', 'tomorrow'],
  ['empty', ''],
] as const)
  change(`a date ${name}`, { sign: { date } });
change('an old date and a new X-Date', {
  sign: { date: new Date(0).toUTCString() },
  headers: { 'X-Date': new Date().toUTCString() },
});
change('the right words under the wrong key', { sign: { privateKey: victim.keys.privateKey } });
change('a key too short', { sign: { privateKey: weak!.privateKey } });

/* 2a. The same in spellings that another reader might forgive. */
for (const [name, edit] of [
  ['single quotes', (header: string) => header.replaceAll('"', "'")],
  ['typographic quotes', (header: string) => header.replace(/signature="([^"]*)"/, 'signature=\u00ab$1\u00bb')],
  ['no quotes around the keyId', (header: string) => header.replace(/keyId="([^"]*)"/, 'keyId=$1')],
  ['semicolons', (header: string) => header.replaceAll('",', '";')],
  ['two commas', (header: string) => header.replace('",', '",,')],
  ['a comma at the beginning', (header: string) => `,${header}`],
  ['spaces around the equals sign', (header: string) => header.replace('keyId=', 'keyId = ')],
  ['the scheme before it', (header: string) => `Signature ${header}`],
  ['an escaped quote', (header: string) => header.replace('#main-key', '#main-key\\"')],
  [
    'a second keyId inside the first',
    (header: string) => header.replace('#main-key"', `#main-key",keyid="${victim.keyId}"`),
  ],
  ['headers in a list of commas', (header: string) => header.replace('host date', 'host,date')],
  ['headers with two spaces', (header: string) => header.replace('host date', 'host  date')],
  ['headers with a space at the end', (header: string) => header.replace('digest"', 'digest "')],
  ['headers with a tab', (header: string) => header.replace('host date', 'host\tdate')],
  ['a signature with a space in it', (header: string) => header.replace(/signature="(....)/, 'signature="$1 ')],
  ['a signature with more padding', (header: string) => header.replace(/signature="([^"]*)"/, 'signature="$1===="')],
  [
    'a signature with a byte more',
    (header: string) =>
      header.replace(
        /signature="([^"]*)"/,
        (_all, value: string) =>
          `signature="${Buffer.concat([Buffer.from(value, 'base64'), Buffer.from([0])]).toString('base64')}"`,
      ),
  ],
  [
    'a signature of zero bytes before',
    (header: string) =>
      header.replace(
        /signature="([^"]*)"/,
        (_all, value: string) =>
          `signature="${Buffer.concat([Buffer.from([0]), Buffer.from(value, 'base64')]).toString('base64')}"`,
      ),
  ],
  ['a created that is text', (header: string) => `${header.replace('rsa-sha256', 'hs2019')},created="1"`],
  ['a created of 1970', (header: string) => `${header.replace('rsa-sha256', 'hs2019')},created=1`],
  [
    'a created in a thousand years',
    (header: string) => `${header.replace('rsa-sha256', 'hs2019')},created=33000000000`,
  ],
  ['an expires that is past', (header: string) => `${header.replace('rsa-sha256', 'hs2019')},expires=1`],
  ['an expires with a fraction', (header: string) => `${header.replace('rsa-sha256', 'hs2019')},expires=99999999999.5`],
  [
    'an expires of thirty digits',
    (header: string) => `${header.replace('rsa-sha256', 'hs2019')},expires=${'9'.repeat(30)}`,
  ],
] as [string, (header: string) => string][]) {
  add(`Signature: ${name}`, () => {
    const body = JSON.stringify(follow());
    const headers = sign({ url: inbox, body, keyId: mallory.keyId, privateKey: mallory.keys.privateKey });
    return sendRaw({
      url: inbox,
      body,
      headers: Object.entries({ ...headers, Signature: edit(headers['Signature']!) }),
    });
  });
}
for (const [name, date] of [
  ['without a leading zero', new Date().toUTCString().replace(/, \d\d /, ', 3 ')],
  ['with a zone in digits', new Date().toUTCString().replace('GMT', '+0000')],
  ['in small letters', new Date().toUTCString().toLowerCase()],
  ['with a year of two digits', new Date().toUTCString().replace(/ \d\d(\d\d) /, ' $1 ')],
  ['that does not exist', 'Mon, 30 Feb 2026 09:30:00 GMT'],
  ['with a comment', `${new Date().toUTCString()} (now)`],
  ['of RFC 850', 'Monday, 02-Mar-26 09:30:00 GMT'],
  ['twice in one', `${new Date().toUTCString()}, ${new Date().toUTCString()}`],
  ['an hour and some seconds old', new Date(Date.now() - 3_605_000).toUTCString()],
] as const)
  change(`a date ${name}`, { sign: { date } });
for (const [name, digest] of [
  ['in hexadecimal', (good: string) => Buffer.from(good, 'base64').toString('hex')],
  ['in base64url', (good: string) => Buffer.from(good, 'base64').toString('base64url').replace(/$/, '-')],
  ['twice', (good: string) => `${good},SHA-256=${good}`],
  ['once wrong, once right', (good: string) => `${sha256('x')},sha-256=${good}`],
  ['in quotes', (good: string) => `"${good}"`],
  ['as RFC 9530 has it', (good: string) => `:${good}:`],
] as [string, (good: string) => string][]) {
  const body = JSON.stringify(follow());
  const value = `SHA-256=${digest(sha256(body))}`;
  change(`a digest ${name}`, { body, headers: { Digest: value }, sign: { signed: { digest: value } } });
}
change('a digest under two spellings of its name', { headers: { digest: `SHA-256=${sha256('x')}` } });
change('a date under two spellings of its name', { headers: { DATE: new Date().toUTCString() } });
const [hostName, hostPort] = hearth.host.split(':');
for (const [host, status] of [
  [`${hearth.host}.`, 400],
  [`user@${hearth.host}`, 400],
  [`${hostName}:0${hostPort}`, 400],
  [`[::ffff:127.0.0.1]:${hostPort}`, 401],
  [`${hostName}.:${hostPort}`, 401],
] as const) {
  change(`sent to ${host}`, { headers: { Host: host }, sign: { signed: { host } } }, status);
}
change('a method in another header', { headers: { 'X-HTTP-Method-Override': 'POST' }, sign: { method: 'PUT' } });
change('the path in another header', {
  headers: { 'X-Original-URL': '/ap/users/alice/inbox', 'X-Rewrite-URL': '/ap/users/alice/inbox' },
  sign: { url: `${hearth.origin}/ap/users/alice/inbox` },
});
change('signed for the whole address', { sign: { signed: { '(request-target)': `post ${inbox}` } } });
change('signed for the path in capitals', {
  sign: { signed: { '(request-target)': `post ${new URL(inbox).pathname.toUpperCase()}` } },
});
change('signed for the path with a slash', {
  sign: { signed: { '(request-target)': `post ${new URL(inbox).pathname}/` } },
});
change('signed with a query that is not sent', { sign: { url: `${inbox}?a=1` } });
change('its own signature covered', {
  sign: { covered: ['(request-target)', 'host', 'date', 'digest', 'signature'], signed: { signature: 'x' } },
});
for (const [name, makeSignature] of [
  ['with SHA-1', (text: string) => createSign('RSA-SHA1').update(text).sign(mallory.keys.privateKey, 'base64')],
  ['with SHA-512', (text: string) => createSign('RSA-SHA512').update(text).sign(mallory.keys.privateKey, 'base64')],
  [
    'with PSS padding',
    (text: string) =>
      createSign('RSA-SHA256')
        .update(text)
        .sign({ key: mallory.keys.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING }, 'base64'),
  ],
  [
    'with a new line at the end',
    (text: string) => createSign('RSA-SHA256').update(`${text}\n`).sign(mallory.keys.privateKey, 'base64'),
  ],
  [
    'with line ends of two characters',
    (text: string) =>
      createSign('RSA-SHA256').update(text.replaceAll('\n', '\r\n')).sign(mallory.keys.privateKey, 'base64'),
  ],
] as [string, (text: string) => string][]) {
  add(`signed ${name}`, () => {
    const body = JSON.stringify(follow());
    const headers = sign({ url: inbox, body, keyId: mallory.keyId, privateKey: mallory.keys.privateKey });
    const text = `(request-target): post ${new URL(inbox).pathname}\nhost: ${headers['Host']}\ndate: ${headers['Date']}\ndigest: ${headers['Digest']}`;
    return sendRaw({
      url: inbox,
      body,
      headers: Object.entries({
        ...headers,
        Signature: headers['Signature']!.replace(/signature="[^"]*"/, `signature="${makeSignature(text)}"`),
      }),
    });
  });
}

/* 3. Whose key? (invariants 2, 3, 4, 12) */
const anyPath = '/users/mallory#main-key';
for (const [name, keyId] of [
  ['off the allowlist', sentinel.origin + anyPath],
  ['with the allowed host as user name', `http://127.0.0.3@${sentinel.host}${anyPath}`],
  ['with the allowed host as a label', `http://127.0.0.3.evil.example${anyPath}`],
  ['behind a backslash', `http://${sentinel.host}\\@127.0.0.3${anyPath}`],
  ['as a number', `http://2130706441:${new URL(sentinel.origin).port}${anyPath}`],
  ['on ourselves', `${hearth.origin}/ap/users/alice#main-key`],
  ['of our own instance', `${hearth.origin}/ap/instance#main-key`],
  ['by name localhost', `http://localhost${anyPath}`],
  ['in an inner network', `http://10.0.0.1${anyPath}`],
  ['of a metadata service', 'http://169.254.169.254/latest/meta-data'],
  ['in a file', 'file:///etc/passwd'],
  ['in data', 'data:application/json,{}'],
  ['of no scheme', `//127.0.0.3${anyPath}`],
  ['relative', '/users/mallory'],
  ['no URL', 'mallory'],
  ['an acct', `acct:mallory@${peer.host}`],
  ['with a trailing dot', `http://127.0.0.3.${anyPath}`],
  ['with a password', `http://a:b@${peer.host}${anyPath}`],
  ['with full-width digits', `http://\uff11\uff12\uff17.0.0.9:${new URL(sentinel.origin).port}${anyPath}`],
  ['with ideographic dots', `http://127\u30020\u30020\u30029${anyPath}`],
  ['in punycode', `http://xn--mllory-bua.example${anyPath}`],
  ['in hexadecimal', `http://0x7f000009:${new URL(sentinel.origin).port}${anyPath}`],
  ['in IPv6', `http://[::ffff:127.0.0.9]:${new URL(sentinel.origin).port}${anyPath}`],
  ['without its fragment', mallory.id],
  ['with another fragment', `${mallory.id}#other`],
  ['with two fragments', `${mallory.keyId}#x`],
  ['with a query', `${mallory.id}?x#main-key`],
  ['that goes up and down', `${peer.origin}/users/x/../mallory#main-key`],
  ['in escapes', `${peer.origin}/users/%6dallory#main-key`],
  ['with the scheme in capitals', mallory.keyId.replace('http:', 'HTTP:')],
  ['with a slash at the end', `${mallory.id}/#main-key`],
  ['with a space', `${mallory.keyId} `],
  ['of 5,000 characters', `${peer.origin}/${'x'.repeat(5000)}#main-key`],
  ['of javascript', 'javascript:alert(1)'],
  ['of a socket', 'unix:/run/control.sock'],
  ['of a blob', `blob:${mallory.keyId}`],
  ['of a websocket', mallory.keyId.replace('http:', 'ws:')],
] as const)
  change(`a key ${name}`, { sign: { keyId: Buffer.from(keyId).toString('latin1') } });

const serve = (path: string, write: (response: ServerResponse) => void): FakeActor => {
  peer.respond(path, (_request, response) => write(response));
  const id = peer.origin + path;
  return { id, keyId: `${id}#main-key`, keys: mallory.keys, inbox: `${id}/inbox`, document: {} };
};
const documentOf = (id: string, more: object = {}): string =>
  JSON.stringify({
    id,
    type: 'Person',
    inbox: `${id}/inbox`,
    publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem: pemOf(mallory.keys) },
    ...more,
  });
const asActor = (name: string, actor: FakeActor): void =>
  change(name, {
    activity: follow({ actor: actor.id }),
    sign: { keyId: actor.keyId, privateKey: actor.keys.privateKey },
  });
const served = (path: string, more: Record<string, unknown>, keys?: Keys): FakeActor => peer.addActor(path, more, keys);
const activityJson = { 'Content-Type': 'application/activity+json' };

asActor(
  'an actor that redirects to another host',
  serve('/a/redirect', (response) => void response.writeHead(302, { Location: `${sentinel.origin}/users/x` }).end()),
);
asActor(
  'an actor that redirects to itself',
  serve('/a/loop', (response) => void response.writeHead(301, { Location: `${peer.origin}/a/loop` }).end()),
);
asActor(
  'an actor that redirects to a good one',
  serve('/a/to-good', (response) => void response.writeHead(307, { Location: mallory.id }).end()),
);
for (const status of [201, 204, 401, 403, 404, 410, 418, 500, 503]) {
  asActor(
    `an actor that answers ${status}`,
    serve(
      `/a/status-${status}`,
      (response) =>
        void response
          .writeHead(status, activityJson)
          .end(status === 204 ? '' : documentOf(`${peer.origin}/a/status-${status}`)),
    ),
  );
}
for (const [index, type] of [
  'text/html',
  'application/json',
  'text/plain',
  'image/png',
  'application/ld+json',
  'application/octet-stream',
  '',
].entries()) {
  asActor(
    `an uploaded file that looks like an actor: ${type || 'no type'}`,
    serve(
      `/a/type-${index}`,
      (response) =>
        void response
          .writeHead(200, type === '' ? {} : { 'Content-Type': type })
          .end(documentOf(`${peer.origin}/a/type-${index}`)),
    ),
  );
}
for (const [name, text] of [
  ['nothing', ''],
  ['no JSON', '<html>'],
  ['an array', '[]'],
  ['a string', '"x"'],
  ['null', 'null'],
  ['100,000 brackets', '['.repeat(100_000)],
  ['half of it', documentOf(`${peer.origin}/x`).slice(0, 50)],
] as const)
  asActor(
    `an actor document that is ${name}`,
    serve(`/a/${name.replaceAll(/\W/g, '-')}`, (response) => void response.writeHead(200, activityJson).end(text)),
  );
asActor(
  'an actor document of 2 MiB',
  serve(
    '/a/huge',
    (response) =>
      void response
        .writeHead(200, activityJson)
        .end(documentOf(`${peer.origin}/a/huge`, { summary: 'x'.repeat(2 * 1024 * 1024) })),
  ),
);
asActor(
  'a compressed actor document',
  serve(
    '/a/gzip',
    (response) =>
      void response
        .writeHead(200, { ...activityJson, 'Content-Encoding': 'gzip' })
        .end(gzipSync(documentOf(`${peer.origin}/a/gzip`))),
  ),
);
asActor(
  'an actor that hangs up',
  serve('/a/gone', (response) => void response.destroy()),
);
asActor('a document that says to be the victim', { ...served('/a/pretender', { id: victim.id }), id: victim.id });
asActor('a document that says to be on another host', served('/a/elsewhere', { id: `${sentinel.origin}/users/x` }));
asActor('a document without an id', served('/a/anonymous', { id: undefined }));
asActor(
  'a key owned by another actor',
  served('/a/owner', {
    publicKey: { id: `${peer.origin}/a/owner#main-key`, owner: victim.id, publicKeyPem: pemOf(mallory.keys) },
  }),
);
asActor(
  'a key owned on another host',
  served('/a/owner-away', {
    publicKey: {
      id: `${peer.origin}/a/owner-away#main-key`,
      owner: `${sentinel.origin}/users/x`,
      publicKeyPem: pemOf(mallory.keys),
    },
  }),
);
asActor(
  'a key under another id',
  served('/a/other-key', {
    publicKey: {
      id: `${peer.origin}/a/other-key#second`,
      owner: `${peer.origin}/a/other-key`,
      publicKeyPem: pemOf(mallory.keys),
    },
  }),
);
asActor('no key', served('/a/no-key', { publicKey: undefined }));
asActor(
  'a private key in public',
  served('/a/private', {
    publicKey: {
      id: `${peer.origin}/a/private#main-key`,
      owner: `${peer.origin}/a/private`,
      publicKeyPem: mallory.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    },
  }),
);
asActor(
  'a key of 1,024 bits',
  served(
    '/a/weak',
    { publicKey: { id: `${peer.origin}/a/weak#main-key`, owner: `${peer.origin}/a/weak`, publicKeyPem: pemOf(weak!) } },
    weak!,
  ),
);
asActor(
  'a key of another kind',
  served(
    '/a/curve',
    {
      publicKey: {
        id: `${peer.origin}/a/curve#main-key`,
        owner: `${peer.origin}/a/curve`,
        publicKeyPem: pemOf(curve!),
      },
    },
    curve!,
  ),
);
asActor('an inbox on another host', served('/a/inbox-away', { inbox: `${sentinel.origin}/inbox` }));
asActor('an inbox that is no URL', served('/a/inbox-none', { inbox: 'javascript:alert(1)' }));
asActor('no inbox', served('/a/inbox-absent', { inbox: undefined }));
change('a key document that names a foreign owner', {
  activity: follow({ actor: `${sentinel.origin}/users/x` }),
  sign: {
    keyId: `${peer.addActor('/keys/1', { id: `${peer.origin}/keys/1`, type: 'Key', owner: `${sentinel.origin}/users/x`, publicKeyPem: pemOf(mallory.keys), publicKey: undefined, inbox: undefined }).id}`,
  },
});
change('a key document that names the victim', {
  activity: follow({ actor: victim.id }),
  sign: {
    keyId: `${peer.addActor('/keys/2', { id: `${peer.origin}/keys/2`, type: 'Key', owner: victim.id, publicKeyPem: pemOf(mallory.keys), publicKey: undefined, inbox: undefined }).id}`,
  },
});

/* 4. Speaking for another actor, or under an id that is not one's own (invariants 2, 6). */
for (const [name, actor] of [
  ['of the same host', victim.id],
  ['of another host', `${sentinel.origin}/users/x`],
  ['of this server', `${hearth.origin}/ap/users/alice`],
  ['that is missing', undefined],
  ['that is null', null],
  ['that is a list of two', [mallory.id, victim.id]],
  ['that is an object without an id', { type: 'Person' }],
  ['that is a number', 5],
  ['in other letters', mallory.id.toUpperCase()],
  ['with a fragment', `${mallory.id}#x`],
] as const)
  change(`an actor ${name}`, { activity: follow({ actor }) });
for (const [name, id] of [
  ['missing', undefined],
  ['null', null],
  ['a number', 5],
  ['empty', ''],
  ['no URL', 'urn:uuid:1'],
  ['a script', 'javascript:alert(1)'],
  ['of another host', `${sentinel.origin}/1`],
  ['of this server', `${hearth.origin}/1`],
  ['of another port', 'http://127.0.0.3:1/1'],
  ['of 3,000 characters', `${peer.origin}/${'x'.repeat(3000)}`],
  ['with a line break', `${peer.origin}/a\nb`],
  ['with a NUL', `${peer.origin}/a\u0000b`],
  ['with a name in it', `http://a@${peer.host}/1`],
  ['an object', { id: `${peer.origin}/1` }],
] as const)
  change(`an activity id that is ${name}`, { activity: follow({ id }) });

/* 5. Bodies that are signed and no activity (invariants 14, 17). */
for (const [name, body] of [
  ['empty', ''],
  ['no JSON', 'Follow!'],
  ['an array', '[]'],
  ['a string', '"Follow"'],
  ['null', 'null'],
  ['a number', '5'],
  ['100,000 brackets', '['.repeat(100_000)],
  ['100,000 braces', '{"a":'.repeat(100_000)],
  ['half an object', '{"id":'],
  ['a byte order mark', '\ufeff[]'],
  ['compressed', gzipSync(JSON.stringify(follow()))],
] as [string, string | Buffer][])
  change(`a body that is ${name}`, { body }, 400);
change('a body that is not UTF-8', { body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) }, 400);
change('an empty object', { body: '{}' });
change('an actor given twice', {
  body: `{"id":"${peer.newId()}","type":"Follow","actor":"${mallory.id}","object":"${tool}","actor":"${victim.id}"}`,
});
change('a prototype for everything', {
  body: `{"__proto__":{"id":"${peer.newId()}","type":"Follow","actor":"${mallory.id}","object":"${tool}"}}`,
});
change('a body above 1 MiB', { activity: follow({ padding: 'x'.repeat(1024 * 1024) }) }, 413);
change('a body that says to be huge', { headers: { 'Content-Length': '99999999999' }, body: '' }, 413);

change('an id given twice, the second elsewhere', {
  body: `{"id":"${peer.newId()}","type":"Follow","actor":"${mallory.id}","object":"${tool}","id":"${sentinel.origin}/1"}`,
});
change('a graph', { activity: { '@context': 'https://www.w3.org/ns/activitystreams', '@graph': [follow()] } });
change('the words of JSON-LD', {
  activity: { '@id': peer.newId(), '@type': 'Follow', actor: mallory.id, object: tool },
});
change('expanded JSON-LD', {
  activity: {
    'https://www.w3.org/ns/activitystreams#actor': [{ '@id': mallory.id }],
    'https://www.w3.org/ns/activitystreams#object': [{ '@id': tool }],
    id: peer.newId(),
  },
});
change('an actor behind another name', {
  activity: follow({ '@context': { who: { '@id': 'as:actor', '@type': '@id' } }, actor: undefined, who: mallory.id }),
});
change('an actor in a language map', { activity: follow({ actor: { '@value': mallory.id } }) });
change('a hundred thousand actors', { activity: follow({ actor: Array.from({ length: 20_000 }, () => mallory.id) }) });
change('an activity in an activity', { activity: { type: 'Create', object: follow() } });

/* 6. Places that are hidden or not there: one response (invariant 8). */
for (const path of [
  '/ap/repos/alice/secret/inbox',
  '/ap/repos/alice/absent/inbox',
  '/ap/repos/nobody/tool/inbox',
  '/ap/users/nobody/inbox',
  '/ap/users/constructor/inbox',
  '/ap/repos/alice/inbox',
  '/ap/nothing/inbox',
  '/ap/instance/inbox/more',
  '/ap/repos/alice/%2e%2e/inbox',
  '/ap/repos/alice/tool%2Finbox',
  '/ap/repos/alice/tool%00/inbox',
]) {
  const status = path.includes('%00') ? 400 : 404;
  add(
    `an inbox that is not there: ${path}`,
    () => deliver({ url: hearth.origin + path, sign: { url: hearth.origin + path } }),
    status,
  );
}
change('reading an inbox', { method: 'GET', sign: { method: 'GET' } }, 404);
change('putting into an inbox', { method: 'PUT', sign: { method: 'PUT' } }, 405);

/* 7. Validly signed, and still without an effect: recorded and ignored (invariants 5, 10, 11). */
const ignored = (name: string, activity: object): void => change(name, { activity }, 202);
ignored("an Undo of the victim's Follow by its id", act('Undo', { object: victimsFollow.id }));
ignored("an Undo of the victim's Follow, embedded", act('Undo', { object: victimsFollow }));
ignored(
  "an Undo in the victim's name",
  act('Undo', { object: { ...victimsFollow, actor: mallory.id, id: victimsFollow.id } }),
);
ignored(
  'an Accept of a follow of another person',
  act('Accept', { object: { type: 'Follow', actor: `${hearth.origin}/ap/users/alice`, object: followed.id } }),
);
ignored(
  'an Accept with the followed actor inside',
  act('Accept', { object: { type: 'Follow', actor: `${hearth.origin}/ap/users/alice`, object: mallory.id } }),
);
ignored('a Push of an actor nobody follows', act('Push', { target: { ref: 'refs/heads/main' }, object: [] }));
ignored('a Follow of a private repository', follow({ object: `${hearth.origin}/ap/repos/alice/secret` }));
ignored("a Follow of a private repository's page", follow({ object: `${hearth.origin}/repos/alice/secret` }));
ignored('a Follow of a private repository with a slash', follow({ object: `${hearth.origin}/ap/repos/alice/secret/` }));
ignored('a Delete of the victim', act('Delete', { object: victim.id }));
ignored('a Delete of an actor here', act('Delete', { object: `${hearth.origin}/ap/users/alice` }));
ignored('a Follow of a person who is not there', follow({ object: `${hearth.origin}/ap/users/absent` }));
ignored("a Follow of another server's repository", follow({ object: `${sentinel.origin}/repos/x` }));
ignored('a Follow of a path out of bounds', follow({ object: `${hearth.origin}/ap/repos/alice/../alice/tool` }));
for (const type of [
  'Reject',
  'Delete',
  'Move',
  'Update',
  'Create',
  'Announce',
  'Block',
  'Like',
  'Add',
  'Remove',
  'Flag',
  'constructor',
  '__proto__',
  'toString',
]) {
  ignored(
    `a ${type}`,
    act(type, {
      object: { ...victimsFollow, inbox: `${sentinel.origin}/inbox`, url: `${sentinel.origin}/x` },
      target: `${sentinel.origin}/y`,
    }),
  );
}
ignored(
  'an Announce that wraps a Follow of the victim',
  act('Announce', {
    object: {
      ...victimsFollow,
      id: peer.newId(),
      signature: { type: 'RsaSignature2017', creator: victim.keyId, signatureValue: 'AAAA' },
    },
  }),
);
ignored('an Undo of a list', act('Undo', { object: [victimsFollow.id, victimsFollow] }));
ignored('an Undo of everything', act('Undo', { object: { type: 'Follow', actor: mallory.id, object: [tool, tool] } }));
// An offer of an issue or a pull request is none of the activities that this server acts on, whatever is in it.
const ticket = (more: object = {}) => ({
  type: 'Ticket',
  attributedTo: mallory.id,
  summary: 'A ticket',
  source: { mediaType: 'text/markdown', content: '@alice #1' },
  content: '<p>text</p>',
  ...more,
});
const branchOf = (repository: string) => ({ type: 'Branch', ref: 'refs/heads/main', context: repository });
const offer = (object: object, target = tool) => act('Offer', { object, target });
ignored('an Offer of a ticket', offer(ticket()));
ignored('an Offer to a private repository', offer(ticket(), `${hearth.origin}/ap/repos/alice/secret`));
ignored('an Offer in the name of the victim', offer(ticket({ attributedTo: victim.id })));
ignored('an Offer in the name of a person here', offer(ticket({ attributedTo: `${hearth.origin}/ap/users/alice` })));
ignored(
  'an Offer of a pull request from a host off the allowlist',
  offer(
    ticket({
      attachment: {
        type: 'Offer',
        origin: branchOf(`${sentinel.origin}/repos/x`),
        target: branchOf(tool),
        hashAfter: 'a'.repeat(40),
      },
    }),
  ),
);
ignored('an Offer of nearly the largest text', offer(ticket({ content: '<b>'.repeat(150_000) })));
ignored(
  'an Update of a ticket of another actor',
  act('Update', { object: ticket({ id: `${peer.origin}/tickets/1`, attributedTo: victim.id, isResolved: true }) }),
);
ignored(
  'a Note to a ticket here',
  act('Create', { object: { type: 'Note', attributedTo: victim.id, context: `${tool}/issues/1`, content: 'x' } }),
);
change('an Offer of 1 MiB of HTML', { activity: offer(ticket({ content: 'x'.repeat(1024 ** 2) })) }, 413);
ignored('a Follow of two repositories', follow({ object: [tool, `${hearth.origin}/ap/repos/alice/secret`] }));
ignored('a Follow of a hundred thousand', follow({ object: Array.from({ length: 20_000 }, () => tool) }));
ignored('a Follow of a repository on another port', follow({ object: tool.replace(hearth.host, '127.0.0.1:1') }));
ignored('a Follow with a name before the host', follow({ object: tool.replace('://', '://x@') }));
ignored('a Follow of a branch', follow({ object: `${tool}/branches/main` }));
change(
  'a Follow 100,000 deep',
  {
    body: JSON.stringify(follow({ object: 'deep' })).replace('"deep"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  },
  202,
);
ignored(
  'a Push that holds everything',
  act('Push', {
    target: { ref: ['a'], name: {} },
    object: { orderedItems: Array.from({ length: 20_000 }, () => ({})) },
    hashBefore: {},
    published: {},
  }),
);
ignored(
  'an Accept of a list',
  act('Accept', {
    object: [
      { type: 'Follow', object: followed.id },
      { type: 'Follow', object: mallory.id },
    ],
  }),
);
ignored('a type that is no text', act('x', { type: [5, null, { a: 1 }] }));
ignored(
  'links everywhere',
  act('View', {
    '@context': [`${sentinel.origin}/context`],
    object: `${sentinel.origin}/o`,
    target: { id: `${sentinel.origin}/t` },
    to: [`${sentinel.origin}/to`],
    attachment: [{ url: `${sentinel.origin}/a` }],
    proof: `${sentinel.origin}/p`,
  }),
);

t.test('hostile deliveries have no effect', async (t) => {
  const { federation } = hearth.modules;
  await peer.deliver(victim, inbox, victimsFollow);
  await federation.follow(alice.id, followed.id);
  await federation.drain();
  const sent = peer.activities().length;
  const effects = async () => (await rowsOf(hearth)).replace(/\["federation_inbox",\[.*?\]\],/, '');
  const seen = async () =>
    Number((await hearth.modules.db.read.query('SELECT count(*) AS n FROM federation_inbox'))[0].n);
  let [before, known] = [await effects(), await seen()];

  for (const { name, status, send } of attacks) {
    const response = await send();
    if (response.status !== status) t.fail(`${name}: ${response.status}, not ${status}`);
    if (response.status === 401 && response.body !== '') t.fail(`${name}: the answer says why`);
    if (response.headers['set-cookie'] !== undefined) t.fail(`${name}: a cookie`);
    const [after, knownNow] = [await effects(), await seen()];
    if (after !== before) t.fail(`${name}: something was written`);
    if (knownNow !== known + (status === 202 ? 1 : 0)) t.fail(`${name}: ${knownNow - known} notes in the inbox log`);
    [before, known] = [after, knownNow];
  }
  t.ok(attacks.length >= 250, `${attacks.length} attacks`);
  await federation.drain();
  t.equal(peer.activities().length, sent, 'nothing was sent because of them');
  t.equal(sentinel.connections(), 0, 'and nobody off the allowlist was contacted');
  t.same(
    hearth.log.filter(({ level, event }) => level === 'error' && !event.startsWith('job')),
    [],
    'no internal error',
  );
  t.same(
    new Set(hearth.log.filter(({ event }) => event === 'federation.refused').map(({ reason }) => reason)),
    new Set([
      'signature_missing',
      'signature_repeated',
      'signature_rfc9421',
      'signature_malformed',
      'signature_algorithm',
      'signature_coverage',
      'signature_host',
      'signature_date',
      'signature_digest',
      'signature_expired',
      'signer_not_allowed',
      'signer_unknown',
      'signature_wrong',
      'actor_not_signer',
      'activity_id',
      'activity_malformed',
    ]),
    'the log knows why',
  );
});

t.test('SPEC §4.6 hidden and absent are the same bytes', async (t) => {
  const sendRequest = async (path: string) => {
    const { status, headers, body } = await deliver({ url: hearth.origin + path });
    const { date: _, 'x-request-id': __, ...rest } = headers;
    return { status, headers: rest, body };
  };
  const [hidden, absent] = [
    await sendRequest('/ap/repos/alice/secret/inbox'),
    await sendRequest('/ap/repos/alice/absent/inbox'),
  ];
  t.equal(hidden.status, 404);
  t.strictSame(hidden, absent);
});

t.test('security G09 random input in every place causes no server error', async (t) => {
  const noise = [
    '\u0000',
    '\ud800',
    '%',
    '../',
    '"',
    '\\',
    '{',
    'x'.repeat(3000),
    '\u202e',
    '💥',
    '-1',
    'NaN',
    '1e999',
  ];
  for (const text of noise) {
    for (const field of ['id', 'type', 'actor', 'object', '@context', 'published']) {
      const { status } = await deliver({ activity: follow({ [field]: text }) });
      if (![202, 400, 401].includes(status)) t.fail(`${field} = ${JSON.stringify(text).slice(0, 40)}: ${status}`);
    }
    const inObject = await deliver({
      activity: act('Undo', { object: { id: text, type: text, actor: text, object: text } }),
    });
    if (inObject.status !== 202) t.fail(`object of ${JSON.stringify(text).slice(0, 40)}: ${inObject.status}`);
  }
  t.same(
    hearth.log.filter(({ level, event }) => level === 'error' && !event.startsWith('job')),
    [],
  );
});
