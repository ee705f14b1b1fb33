import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { readdirSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { encodePacket, flushPacket } from '../../src/git/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { clientGit, commandLinesBelow, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { packOf, pushBytes, readResponse, zeroId } from '../git/push-fixture.ts';
import { startGitServer } from './git-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const main = gitSync(['rev-parse', 'main'], { cwd: sample });
const server = await startGitServer(t, {
  SERVICE_GIT_READ_SLOTS: '2',
  SERVICE_GIT_WRITE_SLOTS: '2',
  SERVICE_GIT_QUEUE: '1',
  SERVICE_GIT_QUEUE_WAIT: '300ms',
});
for (const [name, visibility] of [
  ['open', 'PUBLIC'],
  ['closed', 'PRIVATE'],
] as const) {
  const url = await server.newRepository(name, visibility);
  await clientGit(['push', '--quiet', url, 'main'], { cwd: sample });
}

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const { alice, aliceReads, bob } = server.tokens;

interface RequestInput {
  headers?: Record<string, string>;
  body?: Buffer | string;
  method?: string;
}

async function sendRequest(target: string, { headers = {}, body, method }: RequestInput = {}) {
  const response = await fetch(`${server.origin}${target}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: bytes.toString('latin1') };
}

const refs = (name: string, service = 'git-upload-pack') => `/git/alice/${name}.git/info/refs?service=${service}`;
const fetchType = { 'content-type': 'application/x-git-upload-pack-request' };
const pushType = { 'content-type': 'application/x-git-receive-pack-request' };
const wants = Buffer.concat([
  encodePacket(`want ${main} ofs-delta side-band-64k no-progress agent=x\n`),
  flushPacket,
  encodePacket('done\n'),
]);
const listing = Buffer.concat([encodePacket('command=ls-refs'), Buffer.from('0001'), flushPacket]);

t.test('SPEC §5, SECURITY D11, D02, E03: who may do what, with every kind of credentials', async (t) => {
  const expired = 'hth_0000000000000000000000000000000000000';
  const people: [string, Record<string, string>][] = [
    ['anonymous', {}],
    ['alice by password', basic('alice', alice)],
    ['alice by user name', basic(alice, '')],
    ['alice by user name with x-oauth-basic', basic(alice, 'x-oauth-basic')],
    ['alice by bearer', bearer(alice)],
    ['alice who reads', basic('any', aliceReads)],
    ['bob', basic('bob', bob)],
    ['an unknown token', basic('alice', expired)],
    ['a password', basic('alice', 'a long enough password')],
    ['an empty pair', basic('', '')],
    ['no base64', { authorization: 'Basic ***' }],
    ['another scheme', { authorization: 'Digest x' }],
    ['half a header', { authorization: 'Basic' }],
    ['a session cookie', { cookie: 'hearth_session=x; __Host-hearth_session=x' }],
  ];
  const questions: [string, string][] = [
    ['read open', refs('open')],
    ['read closed', refs('closed')],
    ['read absent', refs('absent')],
    ['write open', refs('open', 'git-receive-pack')],
    ['write closed', refs('closed', 'git-receive-pack')],
    ['write absent', refs('absent', 'git-receive-pack')],
  ];
  const expected: Record<string, number[]> = {
    anonymous: [200, 401, 401, 401, 401, 401],
    alice: [200, 200, 404, 200, 200, 404],
    'alice who reads': [200, 200, 404, 403, 403, 404],
    // Who may propose changes gets in; what is pushed is judged ref by ref.
    bob: [200, 404, 404, 200, 404, 404],
    'a session cookie': [200, 401, 401, 401, 401, 401],
  };
  const bodies = new Map<number, Set<string>>();
  for (const [person, headers] of people) {
    const row = expected[person] ?? (person.startsWith('alice') ? expected.alice! : [401, 401, 401, 401, 401, 401]);
    for (const [at, [question, target]] of questions.entries()) {
      const { status, text, headers: got } = await sendRequest(target, { headers });
      t.equal(status, row[at], `${person}: ${question}`);
      t.match(got.get('cache-control'), /no-cache/);
      t.equal(got.has('www-authenticate'), status === 401);
      if (status === 200 || person === 'an unknown token') continue;
      // Who may create it is told how, and sees every repository of this owner.
      if (question === 'write absent' && person.startsWith('alice') && person !== 'alice who reads') {
        t.match(text, /no repository alice\/absent yet/, person);
        continue;
      }
      if (person === 'anonymous' || status === 404) bodies.set(status, (bodies.get(status) ?? new Set()).add(text));
    }
  }
  t.same(
    [...bodies].map(([status, texts]) => [status, texts.size]),
    [
      [401, 1],
      [404, 1],
    ],
    'private and absent answer the same bytes',
  );
  t.equal((await sendRequest(refs('open'))).headers.get('www-authenticate'), null);
  t.equal((await sendRequest(refs('closed'))).headers.get('www-authenticate'), 'Basic realm="Hearth", charset="UTF-8"');
});

t.test('the same rules hold for the requests behind the advertisement', async (t) => {
  const [read, write] = ['/git/alice/closed.git/git-upload-pack', '/git/alice/open.git/git-receive-pack'];
  t.equal((await sendRequest(read, { headers: fetchType, body: wants })).status, 401);
  t.equal((await sendRequest(read, { headers: { ...fetchType, ...bearer(bob) }, body: wants })).status, 404);
  t.equal((await sendRequest(read, { headers: { ...fetchType, ...bearer(alice) }, body: wants })).status, 200);
  t.equal((await sendRequest(write, { headers: pushType, body: flushPacket })).status, 401);
  t.equal(
    (await sendRequest(write, { headers: { ...pushType, ...bearer(aliceReads) }, body: flushPacket })).status,
    403,
  );
  const command = encodePacket(`${'0'.repeat(40)} ${main} refs/heads/mine\0 report-status`);
  const reader = await sendRequest(write, {
    headers: { ...pushType, ...bearer(bob) },
    body: Buffer.concat([command, flushPacket]),
  });
  t.match(reader.text, /ng refs\/heads\/mine you may not write here/);
  const probe = await sendRequest(write, { headers: { ...pushType, ...bearer(alice) }, body: flushPacket });
  t.same([probe.status, probe.bytes.length], [200, 0], 'git’s probe');
});

t.test(
  'a client that posts to the earlier address of a repository is served, by the rules of the new one',
  async (t) => {
    const { repositories } = server.app.modules;
    for (const [name, visibility] of [
      ['earlier', 'PUBLIC'],
      ['hidden', 'PRIVATE'],
    ] as const) {
      const url = await server.newRepository(name, visibility);
      await clientGit(['push', '--quiet', url, 'main'], { cwd: sample });
      await repositories.rename(localAdministrator, 'alice', name, `${name}-moved`);
    }
    const [read, write] = ['git-upload-pack', 'git-receive-pack'];
    const command = encodePacket(`${'0'.repeat(40)} ${main} refs/heads/late\0 report-status`);
    const push = Buffer.concat([command, flushPacket, packOf(sample, 'main', 'main')]);
    const answers: [target: string, who: Record<string, string>, status: number][] = [
      ['earlier', {}, 200],
      ['hidden', {}, 401],
      ['hidden', bearer(bob), 404],
      ['hidden', bearer(alice), 200],
      ['hidden-absent', bearer(alice), 404],
    ];
    for (const [name, who, status] of answers) {
      const asked = await sendRequest(`/git/alice/${name}.git/${read}`, {
        headers: { ...fetchType, ...who },
        body: wants,
      });
      t.equal(asked.status, status, `${name} ${status}`);
      if (status === 200) t.match(asked.text, /PACK/);
      if (status === 200) continue;
      const pushed = await sendRequest(`/git/alice/${name}.git/${write}`, {
        headers: { ...pushType, ...who },
        body: push,
      });
      t.equal(pushed.status, status, `a push to ${name} ${status}`);
    }
    const reader = await sendRequest(`/git/alice/earlier.git/${write}`, {
      headers: { ...pushType, ...bearer(bob) },
      body: push,
    });
    t.match(reader.text, /ng refs\/heads\/late you may not write here/);
    const pushed = await sendRequest(`/git/alice/earlier.git/${write}`, {
      headers: { ...pushType, ...bearer(alice) },
      body: push,
    });
    t.match(pushed.text, /ok refs\/heads\/late/);
  },
);

t.test('SECURITY A07: only the smart protocol exists', async (t) => {
  for (const target of ['/git/alice/open.git/info/refs', `${refs('open')}&service=git-receive-pack`]) {
    t.equal((await sendRequest(target)).status, 400, target);
  }
  for (const service of ['git-upload-archive', 'git-nonsense', 'upload-pack', '']) {
    const [open, absent] = await Promise.all([
      sendRequest(refs('open', service)),
      sendRequest(refs('absent', service)),
    ]);
    t.equal(open.status, 403, service);
    t.strictSame([absent.status, absent.text], [open.status, open.text]);
  }
  for (const file of [
    'HEAD',
    'config',
    'objects/info/packs',
    'objects/pack/pack-1.pack',
    'refs/heads/main',
    'git-upload-archive',
    'info/refs/x',
    '../open.git/HEAD',
    'hooks/post-receive',
  ]) {
    t.equal((await sendRequest(`/git/alice/open.git/${file}`)).status, 404, file);
  }
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const { status, headers, text } = await sendRequest(`/git/alice/open.git/${service}`);
    t.strictSame([status, headers.get('allow')], [405, 'POST'], service);
    const absent = await sendRequest(`/git/alice/absent.git/${service}`);
    t.strictSame([absent.status, absent.text], [status, text]);
  }
  t.ok([404, 405].includes((await sendRequest(refs('open'), { method: 'POST', body: '' })).status));
});

t.test('one entrance: each address of git takes its methods, and an ambiguous request is refused', async (t) => {
  for (const [target, method, allow] of [
    [refs('open'), 'POST', 'GET, HEAD'],
    [refs('open'), 'DELETE', 'GET, HEAD'],
    ['/git/alice/open.git/git-upload-pack', 'PUT', 'POST'],
    ['/git/alice/%6fpen.git/git-receive-pack', 'GET', 'POST'],
  ] as const) {
    const { status, headers, text } = await sendRequest(target, { method });
    t.strictSame([status, headers.get('allow')], [405, allow], `${method} ${target}`);
    t.match(text, /^This address accepts only (GET|POST)\.\n$/);
  }
  const listed = await sendRequest(refs('open'));
  const asHead = await sendRequest(refs('open'), { method: 'HEAD' });
  t.strictSame(
    [asHead.status, asHead.text, asHead.headers.get('content-length')],
    [200, '', String(listed.bytes.length)],
  );
  for (const hosts of ['', 'Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n', 'Host: not a host\r\n'])
    t.match(
      await speak([`GET ${refs('open')} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`]),
      /^HTTP\/1\.1 400 /,
      hosts,
    );
});

t.test('SECURITY B01: hostile paths find nothing', async (t) => {
  const before = readdirSync(path.join(server.folder, 'data', 'repositories'), { recursive: true }).length;
  for (const name of [
    '%2e%2e',
    '..%2f..%2fetc',
    'open%00',
    '%00',
    'open.git',
    'open%2f',
    '-x',
    '__proto__',
    'constructor',
    '%ff',
    'a'.repeat(300),
    'open%20',
    '%',
    '%zz',
  ]) {
    for (const target of [
      `/git/alice/${name}.git/info/refs?service=git-receive-pack`,
      `/git/${name}/open.git/info/refs?service=git-receive-pack`,
    ]) {
      const { status } = await sendRequest(target, { headers: bearer(alice) });
      t.ok([400, 404].includes(status), `${target} ${status}`);
    }
  }
  for (const target of [
    '/git/alice/../alice/open.git',
    '/git/alice/./open.git',
    '/git/../git/alice/open.git',
    '/git//alice/open.git',
    '/git/alice/open.git/',
    '//git/alice/open.git',
  ]) {
    t.match(
      await speak([
        `GET ${target}/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
      ]),
      /^HTTP\/1\.1 (400|404) /,
      target,
    );
  }
  t.equal(readdirSync(path.join(server.folder, 'data', 'repositories'), { recursive: true }).length, before);
});

t.test('names are found in any case, with and without .git', async (t) => {
  for (const target of ['/git/ALICE/Open.git', '/git/alice/OPEN', '/git/alice/open.GIT']) {
    t.equal((await sendRequest(`${target}/info/refs?service=git-upload-pack`)).status, 200, target);
  }
});

t.test('responses are git’s own bytes, typed and never cached', async (t) => {
  const first = await sendRequest(refs('open'));
  t.equal(first.headers.get('content-type'), 'application/x-git-upload-pack-advertisement');
  t.match(first.text, /^001e# service=git-upload-pack\n0000/);
  t.equal(first.headers.get('expires'), 'Fri, 01 Jan 1980 00:00:00 GMT');
  t.match((await sendRequest(refs('open'), { headers: { 'git-protocol': 'version=2' } })).text, /^000eversion 2\n/);
  t.match((await sendRequest(refs('open'), { headers: { 'git-protocol': 'version=1' } })).text, /0000000eversion 1\n/);
  for (const odd of ['version=3', 'version=2:x=y', 'version=2, version=2', '$(id)', 'version=2;', '']) {
    t.match(
      (await sendRequest(refs('open'), { headers: { 'git-protocol': odd } })).text,
      /^001e# service=git-upload-pack\n0000[0-9a-f]{4}[0-9a-f]{40} HEAD/,
      odd,
    );
  }
  const push = await sendRequest(refs('open', 'git-receive-pack'), {
    headers: { ...bearer(alice), 'git-protocol': 'version=2' },
  });
  t.match(push.text, /^001f# service=git-receive-pack\n0000/, 'pushes have no version 2');
  const pack = await sendRequest('/git/alice/open.git/git-upload-pack', { headers: fetchType, body: wants });
  t.equal(pack.headers.get('content-type'), 'application/x-git-upload-pack-result');
  t.match(pack.text, /^0008NAK\n.*PACK/s);
});

t.test('the usual spelling of an address, which passes by the pages, responds as any other does', async (t) => {
  const other = (path: string) =>
    path.replace(/\/(open|closed|absent)/, (_, name: string) => `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`);
  const responseTo = async (path: string, options: Parameters<typeof sendRequest>[1]) => {
    const { status, headers, text } = await sendRequest(path, options);
    const pairs = [...headers].filter(([name]) => !['x-request-id', 'date', 'keep-alive'].includes(name));
    t.match(headers.get('x-request-id'), /^[\w-]{12}$/);
    return { status, text, headers: pairs.map(([name, value]) => `${name}: ${value}`).sort() };
  };
  const requests: [path: string, options?: Parameters<typeof sendRequest>[1]][] = [
    [refs('open')],
    [refs('open'), { headers: { 'git-protocol': 'version=2' } }],
    [refs('open', 'git-receive-pack')],
    [refs('open', 'git-receive-pack'), { headers: bearer(alice) }],
    [refs('open'), { headers: { authorization: 'Bearer wrong' } }],
    [refs('absent')],
    ['/git/alice/open.git/git-upload-pack', { headers: fetchType, body: wants }],
    ['/git/alice/open.git/git-upload-pack', { headers: { ...fetchType, 'content-type': 'text/plain' }, body: wants }],
    ['/git/alice/open.git/git-upload-pack'],
  ];
  for (const [path, options] of requests)
    t.same(await responseTo(path, options), await responseTo(other(path), options), path);
  for (const name of ['content-security-policy', 'x-content-type-options', 'referrer-policy'])
    t.ok((await sendRequest(refs('open'))).headers.has(name), name);
});

t.test('a repository that turns private is closed at once, also to who asks for what was cached before', async (t) => {
  const target = '/git/alice/open.git/git-upload-pack';
  const whole = Buffer.concat([
    ...['command=fetch', 'object-format=sha1'].map(encodePacket),
    Buffer.from('0001'),
    ...[`want ${main}\n`, 'done\n'].map(encodePacket),
    flushPacket,
  ]);
  const version2 = { ...fetchType, 'git-protocol': 'version=2' };
  const turn = (visibility: 'PUBLIC' | 'PRIVATE') =>
    server.app.modules.repositories.changeVisibility(localAdministrator, 'alice', 'open', visibility);
  const statuses = async (headers: Record<string, string> = {}) => [
    (await sendRequest(refs('open'), { headers })).status,
    (await sendRequest(target, { headers: { ...version2, ...headers }, body: listing })).status,
    (await sendRequest(target, { headers: { ...version2, ...headers }, body: whole })).status,
  ];
  for (let round = 0; round < 3; round += 1) {
    t.same(await statuses(), [200, 200, 200]);
    await turn('PRIVATE');
    t.same(await statuses(), [401, 401, 401], 'from memory and the kept answers, too');
    t.same(await statuses(bearer(alice)), [200, 200, 200]);
    await turn('PUBLIC');
  }
});

t.test('SECURITY I03: a body is of its type, plain or gzip', async (t) => {
  const target = '/git/alice/open.git/git-upload-pack';
  for (const type of [
    '',
    'text/plain',
    'application/x-git-receive-pack-request',
    'application/x-git-upload-pack-request; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ]) {
    t.equal((await sendRequest(target, { headers: { 'content-type': type }, body: wants })).status, 415, type);
  }
  for (const encoding of ['deflate', 'br', 'compress', 'gzip, gzip', 'x', 'zstd']) {
    t.equal(
      (await sendRequest(target, { headers: { ...fetchType, 'content-encoding': encoding }, body: wants })).status,
      415,
      encoding,
    );
  }
  for (const encoding of ['gzip', 'x-gzip', 'GZIP']) {
    const { status, text } = await sendRequest(target, {
      headers: { ...fetchType, 'content-encoding': encoding },
      body: gzipSync(wants),
    });
    t.equal(status, 200);
    t.match(text, /PACK/);
  }
  t.equal(
    (await sendRequest(target, { headers: { ...fetchType, 'content-encoding': 'identity' }, body: wants })).status,
    200,
  );
  t.equal(
    (await sendRequest(target, { headers: { ...fetchType, 'content-encoding': 'gzip' }, body: wants })).status,
    400,
    'not gzip at all',
  );
  t.equal(
    (
      await sendRequest(target, {
        headers: { ...fetchType, 'content-encoding': 'gzip' },
        body: gzipSync(wants).subarray(0, 40),
      })
    ).status,
    400,
    'cut',
  );
});

t.test('SECURITY I03, I06: bombs and oversize bodies are refused while they arrive', async (t) => {
  const zeros = gzipSync(Buffer.alloc(70 * 1024 * 1024), { level: 1 });
  t.ok(zeros.length < 1_000_000);
  const bomb = await sendRequest('/git/alice/open.git/git-upload-pack', {
    headers: { ...fetchType, 'content-encoding': 'gzip' },
    body: zeros,
  });
  t.ok([400, 413].includes(bomb.status), `${bomb.status}`);
  // Well-formed, so that only the size is wrong with it.
  const lines = Buffer.concat([
    encodePacket(`want ${main} side-band-64k\n`),
    ...Array.from({ length: 45_000 }, () => encodePacket(`want ${main}\n`)),
  ]);
  const many = gzipSync(lines, { level: 9 });
  t.ok(lines.length > 200 * many.length, `ratio ${lines.length / many.length}`);
  t.equal(
    (
      await sendRequest('/git/alice/open.git/git-upload-pack', {
        headers: { ...fetchType, 'content-encoding': 'gzip' },
        body: many,
      })
    ).status,
    413,
  );

  const commands = pushBytes({
    commands: Array.from({ length: 100_001 }, (_, n) => `${zeroId} ${main} refs/heads/${n}`),
  });
  const packed = await sendRequest('/git/alice/open.git/git-receive-pack', {
    headers: { ...pushType, ...bearer(alice), 'content-encoding': 'gzip' },
    body: gzipSync(commands),
  });
  t.equal(packed.status, 200);
  t.match(readResponse(packed.bytes).report.at(-2), /^ng refs\/heads\/100000 one push may update at most 100000 refs/);
  const endless = Buffer.concat(
    // A little more than the limit: what is left when it is refused is read at once, also on a busy machine.
    Array.from({ length: 3 }, () =>
      pushBytes({
        commands: Array.from({ length: 32_500 }, (_, n) => `${zeroId} ${main} refs/heads/${'x'.repeat(250)}${n}`),
      }).subarray(0, -4),
    ),
  );
  t.equal(
    (
      await sendRequest('/git/alice/open.git/git-receive-pack', {
        headers: { ...pushType, ...bearer(alice) },
        body: endless,
      })
    ).status,
    413,
  );
});

t.test('SECURITY P0-21: malformed bodies are the client’s mistake, never ours', async (t) => {
  const random = seededRandom(3);
  const seeds = [
    wants,
    listing,
    pushBytes({ commands: [`${zeroId} ${main} refs/heads/x`] }),
    Buffer.from('0000'),
    Buffer.from('00010000'),
    encodePacket('command=fetch'),
  ];
  const statuses = new Map<number, number>();
  for (let round = 0; round < 120; round += 1) {
    const body = Buffer.from(random.pick(seeds));
    for (let change = random.below(4); change > 0 && body.length > 0; change -= 1)
      body[random.below(body.length)] = random.below(256);
    const cut = body.subarray(0, random.chance(0.3) ? random.below(body.length + 1) : body.length);
    const isPush = random.chance(0.4);
    const headers = {
      ...(isPush ? pushType : fetchType),
      ...bearer(alice),
      ...(random.chance(0.5) ? { 'git-protocol': 'version=2' } : {}),
    };
    const { status } = await sendRequest(`/git/alice/open.git/${isPush ? 'git-receive-pack' : 'git-upload-pack'}`, {
      headers,
      body: cut,
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status >= 500)
      t.fail(`${status} to ${JSON.stringify(cut.toString('latin1'))} ${JSON.stringify(server.log.at(-1))}`);
  }
  t.ok(statuses.get(200)! > 0 && statuses.get(400)! > 0, JSON.stringify([...statuses]));
});

/** Speaks HTTP by hand; returns what came until the other side closed, or `until` was seen. */
function speak(
  parts: readonly (string | Buffer)[],
  { closeAfterMs, stopAt }: { closeAfterMs?: number; stopAt?: RegExp } = {},
): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    const socket = connect(server.port, '127.0.0.1');
    socket.on('data', (chunk) => {
      output += chunk.toString('latin1');
      if (stopAt?.test(output)) socket.destroy();
    });
    socket.on('error', () => {}).on('close', () => resolve(output));
    for (const part of parts) socket.write(part);
    if (closeAfterMs !== undefined) setTimeout(() => socket.destroy(), closeAfterMs);
  });
}

const head = (target: string, headers: Record<string, string>) =>
  `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

t.test('chunked bodies and Expect: 100-continue', async (t) => {
  const target = '/git/alice/open.git/git-upload-pack';
  const chunks = [...wants].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`);
  t.match(
    await speak([
      head(target, { ...fetchType, 'Transfer-Encoding': 'chunked', Connection: 'close' }),
      ...chunks,
      '0\r\n\r\n',
    ]),
    /^HTTP\/1\.1 200 .*PACK/s,
  );
  const expecting = head(target, {
    ...fetchType,
    Expect: '100-continue',
    'Content-Length': String(wants.length),
    Connection: 'close',
  });
  t.match(await speak([expecting, wants]), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
});

t.test('a connection serves the next request after every kind of response', async (t) => {
  const pushTarget = '/git/alice/open.git/git-receive-pack';
  const refused = pushBytes({ commands: [`${zeroId} ${main} refs/hearth/x`], pack: packOf(sample, 'main') });
  const exchanges: [string, string, Record<string, string>, Buffer][] = [
    [
      '200',
      '/git/alice/open.git/git-upload-pack',
      fetchType,
      Buffer.concat([wants, Buffer.from('what git does not read')]),
    ],
    ['200', pushTarget, { ...pushType, ...bearer(alice) }, refused],
    ['400', pushTarget, { ...pushType, ...bearer(alice) }, Buffer.from('nonsense')],
    ['401', pushTarget, pushType, flushPacket],
    ['415', pushTarget, { ...bearer(alice), 'content-type': 'text/plain' }, flushPacket],
  ];
  for (const [status, target, headers, body] of exchanges) {
    const first = [head(target, { ...headers, 'Content-Length': String(body.length) }), body];
    const output = await speak([
      ...first,
      `GET ${refs('closed')} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    ]);
    const lines = output.match(/HTTP\/1\.1 \d+/g);
    t.same(lines, [`HTTP/1.1 ${status}`, 'HTTP/1.1 401'], `${status} ${target}`);
  }
});

t.test('SECURITY I12, R28: nothing is left of clients who hang up', async (t) => {
  const data = path.join(server.folder, 'data');
  const cut = pushBytes({ commands: [`${zeroId} ${main} refs/heads/cut`], pack: packOf(sample, 'main') });
  const half = cut.subarray(0, cut.length - 60);
  const push = head('/git/alice/open.git/git-receive-pack', {
    ...pushType,
    ...bearer(alice),
    'Content-Length': String(cut.length),
  });
  const chunkedPush = head('/git/alice/open.git/git-receive-pack', {
    ...pushType,
    ...bearer(alice),
    'Transfer-Encoding': 'chunked',
  });
  const fetching = head('/git/alice/open.git/git-upload-pack', { ...fetchType, 'Content-Length': '10000' });
  await Promise.all([
    ...[0, 20, 60, 120].flatMap((closeAfterMs) => [
      speak([push, half], { closeAfterMs }),
      speak([push], { closeAfterMs }),
    ]),
    ...[20, 100].map((closeAfterMs) =>
      speak([chunkedPush, `${half.length.toString(16)}\r\n`, half, '\r\n'], { closeAfterMs }),
    ),
    ...[0, 20, 60].flatMap((closeAfterMs) => [
      speak([fetching, wants], { closeAfterMs }),
      speak([fetching, wants.subarray(0, 50)], { closeAfterMs }),
    ]),
  ]);
  const { git } = server.app.modules;
  await waitUntil(
    () =>
      [git.load().reads, git.load().writes, git.load().short].every(({ running, waiting }) => running + waiting === 0),
    'all slots are free',
  );
  // Readers of objects wait for the next question, one of each repository that was read lately.
  await waitUntil(
    async () => (await commandLinesBelow(data)).every((line) => line.includes(' cat-file --batch-command ')),
    'git has ended',
  );
  const repository = await server.pathOf('open');
  const files = readdirSync(repository, { recursive: true, encoding: 'utf8' });
  t.same(
    files.filter((name) => /tmp_|\.lock$/.test(name)),
    [],
  );
  t.same(
    (await git.queries.cachedRefs(repository)).page('refs/heads/', 0, 99).map(({ name }) => name),
    ['main'],
  );
  const open: unknown = await server.app.modules.db.read.query('SELECT id FROM pushes WHERE settled_at IS NULL');
  t.same(open, [], 'each journalled push is settled');
});

t.test('SECURITY L03: beyond slots and queue a client is told to retry later', async (t) => {
  const target = '/git/alice/open.git/git-upload-pack';
  // A conversation, as over SSH, whose client says nothing holds the slot.
  const { git } = server.app.modules;
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.resume();
  const path = await server.pathOf('open');
  const holding = git.transfers.uploadPack({
    path,
    protocol: null,
    input,
    output,
    stateless: false,
    signal: new AbortController().signal,
  });
  await waitUntil(() => git.load().reads.running === 1);
  const unheardOf = Buffer.concat([
    encodePacket(`want ${main} no-progress side-band-64k\n`),
    flushPacket,
    encodePacket('done\n'),
  ]);
  const responses = await Promise.all([1, 2].map(() => sendRequest(target, { headers: fetchType, body: unheardOf })));
  t.same(
    responses.map(({ status, headers }) => [status, headers.get('retry-after')]),
    [
      [503, '5'],
      [503, '5'],
    ],
  );
  t.match(responses[0]!.text, /busy/);
  t.equal(
    (await sendRequest(target, { headers: fetchType, body: wants })).status,
    200,
    'what was answered before needs no slot',
  );
  t.equal((await sendRequest(refs('open'))).status, 200, 'the advertisement does not wait behind clones');
  t.equal(
    (await sendRequest(target, { headers: { ...fetchType, 'git-protocol': 'version=2' }, body: listing })).status,
    200,
    'nor does a list of refs',
  );
  input.end(flushPacket);
  await holding;
  await waitUntil(() => git.load().reads.running === 0);
  t.equal((await sendRequest(target, { headers: fetchType, body: unheardOf })).status, 200);
});

t.test('a damaged repository responds with 500 without a word about it, and the others go on', async (t) => {
  await server.newRepository('damaged');
  const repository = await server.pathOf('damaged');
  const { rmSync } = await import('node:fs');
  rmSync(path.join(repository, 'objects'), { recursive: true });
  const { status, text } = await sendRequest(refs('damaged'));
  t.equal(status, 500);
  t.match(text, /^internal error \([\w-]+\)\n$/);
  t.notMatch(text, server.folder);
  t.equal((await sendRequest(refs('open'))).status, 200);
});

t.test('a commit without an email address is accepted, as old projects have them', async (t) => {
  const { folder } = server;
  const work = path.join(folder, 'old-history');
  gitSync(['clone', '--quiet', sample, work], { cwd: folder });
  const tree = gitSync(['rev-parse', 'main^{tree}'], { cwd: work });
  const text = `tree ${tree}\nauthor alice 1000000000 +0000\ncommitter alice 1000000000 +0000\n\nOld\n`;
  const hash = ['hash-object', '--literally', '-w', '-t', 'commit', '--stdin'];
  const oid = gitSync(hash, { cwd: work, input: text });
  const url = await server.newRepository('old');
  await clientGit(['push', '--quiet', url, `${oid}:refs/heads/main`], { cwd: work });
  t.equal(gitSync(['rev-parse', 'main'], { cwd: await server.pathOf('old') }), oid);
});

t.test('git findings 11: a push to a full disk ends with a sentence in git’s output', async (t) => {
  const url = await server.newRepository('full');
  const { db } = server.app.modules;
  const size = (pages: number) => db.write((tx) => tx.manager.query(`PRAGMA max_page_count = ${pages}`));
  await size(1);
  t.teardown(() => size(1_073_741_823));
  // The first ones fill what is free in the database.
  const refused: string[] = [];
  for (let count = 0; count < 60 && refused.length < 2; count += 1) {
    const { code, stderr } = await clientGit(['push', url, `main:refs/heads/b${count}`], { cwd: sample });
    if (code !== 0) refused.push(stderr);
  }
  t.equal(refused.length, 2);
  for (const text of refused) t.match(text, /The disk of the server is full: nothing was changed/);
});
