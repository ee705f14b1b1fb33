// Every kind of credentials at every format: what a public package, a private one and an absent one answer, for reading
// and for publishing. To whom a private one is hidden it answers as an absent one does, to the byte.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { stepOf, totpCode } from '../../src/accounts/second-factor/totp.ts';
import { basic, crateBody, npmBody, pushImage, pypiBody, registry, startPackageServer } from './package-server.ts';
import type { Answer } from './package-server.ts';

const server = await startPackageServer(t);
const { tokens, send, ids } = server;
const { accounts, db, repositories } = server.app.modules;
const alice = { auth: basic(tokens.alice) };

const newToken = (name: string) =>
  accounts.addToken(ids.alice, { name, access: 'write', repositoryIds: null, expiresAt: null });
const removed = await newToken('removed');
await accounts.removeToken(ids.alice, removed.token.id);
const expired = await newToken('expired');
await db.write(({ manager }) =>
  manager.query('UPDATE access_tokens SET expires_at = 1 WHERE id = ?', [expired.token.id]),
);

/** Kinds of credentials, and what they may do with a private package of alice that follows her repository. */
const kinds: Readonly<Record<string, { auth: string | undefined; private: 'none' | 'read' | 'write' }>> = {
  anonymous: { auth: undefined, private: 'none' },
  'a foreign person': { auth: basic(tokens.bob), private: 'none' },
  'the owner': { auth: basic(tokens.alice), private: 'write' },
  'the owner, as Bearer': { auth: `Bearer ${tokens.alice}`, private: 'write' },
  'the owner, reading only': { auth: basic(tokens.aliceReads), private: 'read' },
  'the owner, admin': { auth: basic(tokens.aliceAdmin), private: 'write' },
  'a token for packages': { auth: basic(tokens.packagesWrite), private: 'write' },
  'a token for reading packages': { auth: basic(tokens.packagesRead), private: 'read' },
  'a token limited to the repository': { auth: basic(tokens.limitedIn), private: 'write' },
  'a token limited to another one': { auth: basic(tokens.limitedOut), private: 'none' },
  'a token that was removed': { auth: basic(removed.secret), private: 'none' },
  'a token that has expired': { auth: basic(expired.secret), private: 'none' },
};
const isCredential = (kind: string): boolean => !kind.startsWith('a token that ');

interface Format {
  /** What an anonymous client gets where others get a challenge. */
  anonymous?: number;
  read: (owner: string, name: string) => string;
  write: (
    owner: string,
    name: string,
    version: string,
  ) => { method: string; target: string; headers?: Record<string, string>; body?: string | Buffer };
}

const formats: Readonly<Record<string, Format>> = {
  generic: {
    read: (owner, name) => `/packages/${owner}/generic/${name}/1.0/file.txt`,
    write: (owner, name, version) => ({
      method: 'PUT',
      target: `/packages/${owner}/generic/${name}/${version}/file.txt`,
      body: 'content',
    }),
  },
  npm: {
    read: (owner, name) => `/packages/${owner}/npm/${name}`,
    write: (owner, name, version) => ({
      method: 'PUT',
      target: `/packages/${owner}/npm/${name}`,
      body: npmBody(name, version.split('.').length === 2 ? `${version}.0` : version),
    }),
  },
  cargo: {
    anonymous: 404,
    read: (owner, name) => `/packages/${owner}/cargo/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`,
    write: (owner, name, version) => ({
      method: 'PUT',
      target: `/packages/${owner}/cargo/api/v1/crates/new`,
      body: crateBody(name, version.split('.').length === 2 ? `${version}.0` : version),
    }),
  },
  maven: {
    read: (owner, name) => `/packages/${owner}/maven/org/example/${name}/maven-metadata.xml`,
    write: (owner, name, version) => ({
      method: 'PUT',
      target: `/packages/${owner}/maven/org/example/${name}/${version}/${name}-${version}.jar`,
      body: 'a jar',
    }),
  },
  pypi: {
    read: (owner, name) => `/packages/${owner}/pypi/simple/${name}/`,
    write: (owner, name, version) => ({
      method: 'POST',
      target: `/packages/${owner}/pypi/`,
      ...pypiBody(name, version),
    }),
  },
  oci: {
    read: (owner, name) => `/v2/${owner}/${name}/manifests/v1`,
    write: (owner, name) => ({ method: 'POST', target: `/v2/${owner}/${name}/blobs/uploads/` }),
  },
};

for (const [format, { write }] of Object.entries(formats)) {
  if (format === 'oci') {
    for (const name of ['open', 'closed']) await pushImage(registry(server, tokens.alice), `alice/${name}`, 'v1');
    continue;
  }
  for (const name of ['open', 'closed']) {
    const { method, target, ...more } = write('alice', name, '1.0');
    const answer = await send(method, target, { ...alice, ...more });
    // No assertion: outside of a test it would end the file.
    if (answer.status >= 300) throw new Error(`${format} ${name}: ${answer.status} ${answer.text}`);
  }
}

/** What names the package or the request may differ. */
const shown = ({ status, headers, text }: Answer, ...names: string[]): unknown[] => [
  status,
  names.reduce((result, name) => result.replaceAll(name, 'NAME'), text),
  names.reduce((result, name) => result.replaceAll(name, 'NAME'), headers.get('www-authenticate') ?? ''),
  headers.get('content-type'),
];

for (const [format, { read, write, anonymous = 401 }] of Object.entries(formats))
  t.test(format, async (t) => {
    for (const [kind, { auth, private: level }] of Object.entries(kinds)) {
      const get = (owner: string, name: string) => send('GET', read(owner, name), { auth });
      const publish = (owner: string, name: string) => {
        const { method, target, ...more } = write(owner, name, `2.0.${Object.keys(kinds).indexOf(kind)}`);
        return send(method, target, { auth, ...more });
      };
      const [open, closed, absent] = [
        await get('alice', 'open'),
        await get('alice', 'closed'),
        await get('alice', 'absent'),
      ];
      t.equal(open.status, isCredential(kind) ? 200 : 401, `${kind} reads a public package`);
      t.equal(
        closed.status,
        level !== 'none' ? 200 : !isCredential(kind) ? 401 : kind === 'anonymous' ? anonymous : 404,
        `${kind}, private`,
      );
      if (level === 'none')
        t.strictSame(shown(closed, 'closed'), shown(absent, 'absent'), `${kind}: private as absent`);
      const nobody = await get('nobody', 'absent');
      t.strictSame(shown(nobody, 'nobody', 'absent'), shown(absent, 'alice', 'absent'), `${kind}: of no owner`);
      const [into, fresh] = [await publish('alice', 'closed'), await publish('nobody', 'absent')];
      if (level === 'write') t.ok(into.status < 300, `${kind} publishes: ${into.status} ${into.text}`);
      else if (level === 'none')
        t.strictSame(shown(into, 'alice', 'closed'), shown(fresh, 'nobody', 'absent'), `${kind}: publishing`);
      else t.equal(into.status, 403, `${kind} does not publish`);
    }
  });

t.test('an address that no package has is absent to who signed in, and asks anyone else to', async (t) => {
  // Refused before the client is asked to sign in.
  for (const rest of ['generic/tool', 'maven/', 'maven/org/example/closed/']) {
    const statusFor = async (auth: string | undefined) =>
      (await send('GET', `/packages/alice/${rest}`, { auth })).status;
    t.equal(await statusFor(basic(tokens.alice)), 404, `${rest} for the owner`);
    t.equal(await statusFor(basic(removed.secret)), 401, `${rest} for a token that was removed`);
  }
  t.equal((await send('GET', '/packages/alice/maven/')).status, 401);
});

t.test('members of an organisation publish, guests read what is private, others nothing', async (t) => {
  await repositories.create(localAdministrator, { owner: 'acme', name: 'inner', visibility: 'PRIVATE' });
  const put = (token: string, name: string, version: string) =>
    send('PUT', `/packages/acme/generic/${name}/${version}/f`, { auth: basic(token), body: 'x' });
  t.equal((await put(tokens.bob, 'inner', '1')).status, 201, 'a MEMBER');
  t.equal((await put(tokens.carol, 'inner', '2')).status, 403, 'a GUEST');
  t.equal((await put(tokens.alice, 'tool', '1')).status, 201, 'an OWNER');
  const get = async (token: string | undefined, name: string) =>
    (await send('GET', `/packages/acme/generic/${name}/1/f`, { auth: token === undefined ? undefined : basic(token) }))
      .status;
  t.equal(await get(tokens.carol, 'inner'), 200);
  t.equal(await get(undefined, 'inner'), 401);
  t.equal(await get(undefined, 'tool'), 200);
});

t.test('nobody fills the quota of an owner where they may publish nothing', async (t) => {
  const stored = async (): Promise<number> =>
    Number((await db.read.query('SELECT count(*) AS stored FROM package_blobs'))[0].stored);
  const uploads: readonly (readonly [who: keyof typeof tokens, owner: string, status: number, stores: number])[] = [
    ['bob', 'alice', 403, 0],
    ['carol', 'acme', 403, 0],
    ['packagesRead', 'alice', 403, 0],
    ['limitedOut', 'acme', 403, 0],
    ['limitedOut', 'alice', 403, 1],
    ['bob', 'acme', 200, 1],
  ];
  for (const [at, [who, owner, status, stores]] of uploads.entries()) {
    const before = await stored();
    // The name is known after the content.
    const { headers, body } = pypiBody('filler', `1.0.${at}`);
    const answer = await send('POST', `/packages/${owner}/pypi/`, { auth: basic(tokens[who]), headers, body });
    t.strictSame([answer.status, (await stored()) - before], [status, stores], `${who}: ${owner}`);
  }
});

t.test('name and password sign in where the account has no second factor', async (t) => {
  const password = 'a good password';
  const dora = await accounts.addPerson({ username: 'dora', password });
  const auth = basic(password, 'dora');
  const put = (version: string, authorization: string) =>
    send('PUT', `/api/packages/dora/generic/tool/${version}/f`, { auth: authorization, body: 'x' });
  t.equal((await put('1', auth)).status, 201);
  t.equal((await send('PUT', '/packages/alice/generic/tool/7/f', { auth, body: 'x' })).status, 403, 'of another owner');
  for (const [name, secret] of [
    ['dora', 'another password'],
    ['dora', ''],
    ['nobody', password],
    ['', password],
  ] as const) {
    const refused = await put('2', basic(secret, name));
    t.match([refused.status, refused.headers.get('www-authenticate')], [401, /^Basic/], `${name}:${secret}`);
  }
  const secret = await accounts.secondFactor.beginTotp(dora.id);
  await accounts.secondFactor.enableTotp(dora.id, totpCode(secret, stepOf(Date.now())));
  const refused = await put('3', auth);
  t.match([refused.status, refused.text], [401, /second factor/]);
  t.equal((await send('GET', '/packages/dora/generic/tool/3/f')).status, 404, 'nothing of it is there');
});

t.test('a token for packages opens nothing else', async (t) => {
  const auth = `Bearer ${tokens.packagesWrite}`;
  t.equal((await send('GET', '/api/v1/user', { auth })).status, 401);
  t.equal((await send('GET', '/git/alice/closed.git/info/refs?service=git-upload-pack', { auth })).status, 401);
});
