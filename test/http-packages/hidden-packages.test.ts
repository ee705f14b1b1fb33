// A hidden package answers as an absent one, on every path of every format, of the API and of the pages: for each kind
// of credentials that may not read it, status, headers and body are the same.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { instanceScope } from '../../src/ci/index.ts';
import { driveRunner } from '../ci/ci-fixture.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import {
  basic,
  crateBody,
  digestOf,
  imageType,
  npmBody,
  pushImage,
  pypiBody,
  registry,
  startPackageServer,
} from './package-server.ts';
import type { Answer } from './package-server.ts';

const server = await startPackageServer(t);
const { tokens, send, ids } = server;
const { accounts, ci, db, repositories } = server.app.modules;
const host = new URL(server.origin).host;
/** Names of one length, so that lengths of answers can be compared. */
const [hidden, absent] = ['closed', 'absent'];

interface Asked {
  method: string;
  target: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Whether the owner does not get it: it needs a tag of a repository, or does not exist. */
  isAbsent?: boolean;
}

const layer = digestOf('a layer');
const upload = '00000000-0000-4000-8000-000000000000';
const json = { 'Content-Type': 'application/json' };

/** Requests by format; those that read are answered to the owner. */
const requests: Readonly<Record<string, (name: string) => readonly Asked[]>> = {
  generic: (name) => {
    const at = `/packages/alice/generic/${name}`;
    return [
      { method: 'GET', target: `${at}/1.0/file.txt` },
      { method: 'HEAD', target: `${at}/1.0/file.txt` },
      { method: 'GET', target: `/api${at}/1.0/file.txt` },
      { method: 'GET', target: `${at}/1.0/file.txt`, headers: { Range: 'bytes=0-1' } },
      { method: 'GET', target: `${at}/1.0/none.txt`, isAbsent: true },
      { method: 'PUT', target: `${at}/1.0/file.txt`, body: 'other' },
      { method: 'PUT', target: `${at}/2.0/file.txt`, body: 'other' },
      { method: 'DELETE', target: `${at}/1.0/file.txt` },
      { method: 'DELETE', target: `${at}/1.0` },
    ];
  },
  npm: (name) => {
    const at = `/packages/alice/npm/${name}`;
    return [
      { method: 'GET', target: at },
      { method: 'HEAD', target: at },
      { method: 'GET', target: `${at}/1.0.0` },
      { method: 'GET', target: `${at}/-/${name}-1.0.0.tgz` },
      { method: 'HEAD', target: `${at}/-/${name}-1.0.0.tgz` },
      { method: 'GET', target: `${at}/-/${name}-1.0.0.tgz`, headers: { Range: 'bytes=0-1' } },
      { method: 'GET', target: `/packages/alice/npm/-/v1/search?text=${name}` },
      { method: 'GET', target: `/packages/alice/npm/-/package/${name}/dist-tags` },
      { method: 'PUT', target: at, headers: json, body: npmBody(name, '2.0.0') },
      { method: 'PUT', target: `/packages/alice/npm/-/package/${name}/dist-tags/next`, headers: json, body: '"1.0.0"' },
      { method: 'DELETE', target: `/packages/alice/npm/-/package/${name}/dist-tags/latest` },
      { method: 'DELETE', target: `${at}/-rev/1` },
    ];
  },
  pypi: (name) => [
    { method: 'GET', target: `/packages/alice/pypi/simple/${name}/` },
    { method: 'HEAD', target: `/packages/alice/pypi/simple/${name}/` },
    {
      method: 'GET',
      target: `/packages/alice/pypi/simple/${name}/`,
      headers: { Accept: 'application/vnd.pypi.simple.v1+json' },
    },
    { method: 'GET', target: `/packages/alice/pypi/files/${name}/1.0/${name}-1.0.tar.gz`, isAbsent: true },
    { method: 'POST', target: '/packages/alice/pypi/', ...pypiBody(name, '2.0') },
  ],
  maven: (name) => {
    const at = `/packages/alice/maven/org/example/${name}`;
    return [
      { method: 'GET', target: `${at}/maven-metadata.xml` },
      { method: 'GET', target: `${at}/maven-metadata.xml.sha1` },
      { method: 'GET', target: `${at}/1.0/${name}-1.0.jar` },
      { method: 'HEAD', target: `${at}/1.0/${name}-1.0.jar` },
      { method: 'GET', target: `${at}/1.0/${name}-1.0.jar`, headers: { Range: 'bytes=0-1' } },
      { method: 'GET', target: `${at}/1.0/${name}-1.0.jar.md5` },
      { method: 'PUT', target: `${at}/2.0/${name}-2.0.jar`, body: 'a jar' },
      { method: 'PUT', target: `${at}/maven-metadata.xml`, body: '<metadata/>' },
    ];
  },
  cargo: (name) => {
    const at = '/packages/alice/cargo';
    return [
      { method: 'GET', target: `${at}/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}` },
      { method: 'HEAD', target: `${at}/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}` },
      { method: 'GET', target: `${at}/auth/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}` },
      { method: 'GET', target: `${at}/api/v1/crates/${name}/1.0.0/download` },
      { method: 'GET', target: `${at}/api/v1/crates/${name}/1.0.0/download`, headers: { Range: 'bytes=0-1' } },
      { method: 'HEAD', target: `${at}/api/v1/crates/${name}/1.0.0/download` },
      { method: 'GET', target: `${at}/api/v1/crates?q=${name}` },
      { method: 'PUT', target: `${at}/api/v1/crates/new`, body: crateBody(name, '2.0.0') },
      { method: 'DELETE', target: `${at}/api/v1/crates/${name}/1.0.0/yank` },
      { method: 'PUT', target: `${at}/api/v1/crates/${name}/1.0.0/unyank` },
    ];
  },
  go: (name) =>
    ['@v/list', '@latest', '@v/v1.0.0.info', '@v/v1.0.0.mod', '@v/v1.0.0.zip'].map((rest) => ({
      method: 'GET',
      target: `/packages/alice/go/${host}/alice/${name}/${rest}`,
      isAbsent: true,
    })),
  oci: (name) => {
    const at = `/v2/alice/${name}`;
    return [
      { method: 'GET', target: `${at}/manifests/v1` },
      { method: 'HEAD', target: `${at}/manifests/v1` },
      { method: 'GET', target: `${at}/tags/list` },
      { method: 'GET', target: `${at}/blobs/${layer}` },
      { method: 'HEAD', target: `${at}/blobs/${layer}` },
      { method: 'GET', target: `${at}/blobs/${digestOf('none')}`, isAbsent: true },
      { method: 'GET', target: `${at}/blobs/${layer}`, headers: { Range: 'bytes=0-1' } },
      { method: 'GET', target: `${at}/manifests/${digestOf('none')}`, isAbsent: true },
      { method: 'GET', target: `${at}/tags/list?n=1` },
      { method: 'GET', target: `${at}/referrers/${layer}` },
      { method: 'HEAD', target: `${at}/referrers/${layer}` },
      { method: 'GET', target: `${at}/referrers/${layer}?artifactType=application/example` },
      { method: 'POST', target: `/v2/alice/open/blobs/uploads/?mount=${layer}&from=alice/${name}` },
      { method: 'POST', target: `/v2/bob/mine/blobs/uploads/?mount=${layer}&from=alice/${name}` },
      // Its token names a scope of its own.
      { method: 'GET', target: `/v2/_catalog?last=alice/${name.slice(0, -1)}`, isAbsent: true },
      { method: 'POST', target: `${at}/blobs/uploads/` },
      { method: 'POST', target: `${at}/blobs/uploads/?digest=${layer}`, body: 'a layer' },
      { method: 'POST', target: `${at}/blobs/uploads/?mount=${layer}&from=alice/${name}` },
      { method: 'GET', target: `${at}/blobs/uploads/${upload}`, isAbsent: true },
      { method: 'PATCH', target: `${at}/blobs/uploads/${upload}`, body: 'a layer' },
      { method: 'PUT', target: `${at}/blobs/uploads/${upload}?digest=${layer}` },
      { method: 'PUT', target: `${at}/manifests/v2`, headers: { 'Content-Type': imageType }, body: '{}' },
      { method: 'DELETE', target: `${at}/manifests/v1` },
      { method: 'DELETE', target: `${at}/blobs/${layer}` },
    ];
  },
  api: (name) => {
    const at = `/api/v1/packages/alice/generic/${name}`;
    return [
      { method: 'GET', target: at },
      { method: 'GET', target: `${at}/-/latest` },
      { method: 'GET', target: `${at}/1.0` },
      { method: 'GET', target: `${at}/1.0/files` },
      { method: 'GET', target: `/api/v1/packages/alice?q=${name}` },
      { method: 'PATCH', target: at, headers: json, body: '{"visibility":"public"}' },
      { method: 'POST', target: `${at}/-/link/open` },
      { method: 'POST', target: `${at}/-/unlink` },
      { method: 'POST', target: `${at}/1.0/restore` },
      { method: 'DELETE', target: `${at}/1.0` },
      { method: 'DELETE', target: at },
    ];
  },
  pages: (name) =>
    ['', '/1.0', '/1.0/files/file.txt', '/settings'].map((rest) => ({
      method: 'GET',
      target: `/packages/alice/generic/${name}${rest}`,
      isAbsent: true,
    })),
};

const first = (name: string): readonly Asked[] => [
  { method: 'PUT', target: `/packages/alice/generic/${name}/1.0/file.txt`, body: 'content' },
  { method: 'PUT', target: `/packages/alice/npm/${name}`, headers: json, body: npmBody(name, '1.0.0') },
  { method: 'POST', target: '/packages/alice/pypi/', ...pypiBody(name, '1.0') },
  { method: 'PUT', target: `/packages/alice/maven/org/example/${name}/1.0/${name}-1.0.jar`, body: 'a jar' },
  { method: 'PUT', target: '/packages/alice/cargo/api/v1/crates/new', body: crateBody(name, '1.0.0') },
];
const ask = ({ method, target, headers = {}, body }: Asked, auth: string | undefined): Promise<Answer> =>
  send(method, target, { auth, headers, ...(body === undefined ? {} : { body }) });

for (const one of first(hidden!)) {
  const { status, text } = await ask(one, basic(tokens.alice));
  // No assertion: outside of a test it would end the file.
  if (status >= 300) throw new Error(`${one.target}: ${status} ${text}`);
}
await pushImage(registry(server, tokens.alice), `alice/${hidden}`, 'v1');

const newToken = async (id: string, name: string, more: Record<string, unknown> = {}) =>
  accounts.addToken(id, { name, access: 'write', repositoryIds: null, expiresAt: null, ...more });
const removed = await newToken(ids.alice, 'removed');
await accounts.removeToken(ids.alice, removed.token.id);
const expired = await newToken(ids.alice, 'expired');
await db.write(({ manager }) =>
  manager.query('UPDATE access_tokens SET expires_at = 1 WHERE id = ?', [expired.token.id]),
);
const password = 'a good password';
await accounts.addPerson({ username: 'dora', password });
const disabled = await accounts.addPerson({ username: 'erik' });
const ofDisabled = await newToken(disabled.id, 'of a disabled person');
await accounts.setDisabled(disabled.id, true);
const mine = (await repositories.find(localAdministrator, 'alice', 'open')).repository.id;
const bobs = {
  admin: await newToken(ids.bob, 'admin', { access: 'admin' }),
  limited: await newToken(ids.bob, 'limited', { repositoryIds: [mine] }),
  packagesRead: await newToken(ids.bob, 'packages, reads', { access: 'read', onlyPackages: true }),
  packagesWrite: await newToken(ids.bob, 'packages, writes', { onlyPackages: true }),
};

/** The token of a job of another repository. One that may write would own the absent name by publishing to it. */
async function jobToken(): Promise<string> {
  const work = path.join(server.folder, 'work');
  mkdirSync(path.join(work, '.hearth', 'workflows'), { recursive: true });
  const job = '{runs-on: linux, permissions: {packages: read, contents: read}, steps: [{run: "true"}]}';
  writeFileSync(path.join(work, '.hearth', 'workflows', 'ci.yml'), `on: push\njobs:\n  one: ${job}\n`);
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '--all'],
    ['commit', '-q', '-m', 'A workflow'],
  ])
    await runGit(args, { cwd: work });
  const { runner, token } = await ci.runners.create(instanceScope, { name: 'builder', ephemeral: false });
  const driven = await driveRunner(server.app.modules as never, { uuid: runner.uuid, token });
  await ci.runners.declare(await driven.row(), { version: 'v1', labels: ['linux'], capabilities: [] });
  await runGit(['push', '-q', server.url('open', tokens.alice), 'main'], { cwd: work });
  for (;;) {
    const task = await driven.fetch(5_000);
    if (task !== null) return String(task.context['token']);
  }
}

/** A token of the token service for both names, as a client asks for it; without rights it names none of them. */
const scopes = [hidden, absent].map((name) => `repository:alice/${name}:pull,push,delete`);

/** What is left out differs between two equal requests, as does the number of an upload that begins. */
const passing = new Set(['date', 'x-request-id', 'docker-upload-uuid']);
const uploadId = /(?<=\/blobs\/uploads\/)[0-9a-f-]{36}/;
const shown = ({ status, headers, text }: Answer, name: string) => ({
  status,
  text: text.replaceAll(name, 'NAME').replaceAll(/"?(?:request_?id|nonce|time)"?[:=]\s*"[^"]*"/gi, ''),
  headers: Object.fromEntries(
    [...headers]
      .filter(([header]) => !passing.has(header))
      .map(([header, value]) => [
        header,
        value
          .replaceAll(name, 'NAME')
          .replaceAll(/'nonce-[^']*'/g, '')
          .replace(uploadId, ''),
      ]),
  ),
});

t.test('the owner gets what others are compared for', async (t) => {
  for (const [format, of] of Object.entries(requests))
    for (const asked of of(hidden!)) {
      if (asked.isAbsent === true || !['GET', 'HEAD'].includes(asked.method)) continue;
      const auth = format === 'oci' ? `Bearer ${await registry(server, tokens.alice).token(scopes[0]!)}` : undefined;
      const { status } = await ask(asked, auth ?? basic(tokens.alice));
      t.ok(status === 200 || status === 206, `${asked.method} ${asked.target}: ${status}`);
    }
});

const kinds: Readonly<Record<string, () => Promise<string | undefined> | string | undefined>> = {
  none: () => undefined,
  'a stranger': () => basic(tokens.bob),
  'a stranger, as Bearer': () => `Bearer ${tokens.bob}`,
  'a stranger, as "token"': () => `token ${tokens.bob}`,
  'a stranger, admin': () => basic(bobs.admin.secret),
  'a stranger, limited to a public repository': () => basic(bobs.limited.secret),
  'a stranger, reading packages': () => basic(bobs.packagesRead.secret),
  'a stranger, writing packages': () => basic(bobs.packagesWrite.secret),
  'name and password': () => basic(password, 'dora'),
  'the owner, limited to another repository': () => basic(tokens.limitedOut),
  'a job of another repository': async () => basic(await jobToken()),
  'the token service, for a stranger': async () => `Bearer ${await registry(server, tokens.bob).token(...scopes)}`,
  'the token service, for nobody': async () => `Bearer ${await registry(server).token(...scopes)}`,
  'a removed token': () => basic(removed.secret),
  'an expired token': () => basic(expired.secret),
  'a token of a disabled person': () => basic(ofDisabled.secret),
};

for (const [kind, authOf] of Object.entries(kinds))
  t.test(kind, async (t) => {
    const auth = await authOf();
    for (const [format, of] of Object.entries(requests)) {
      const [toHidden, toAbsent] = [of(hidden!), of(absent!)];
      for (const [at, asked] of toHidden.entries()) {
        const answer = await ask(asked, auth);
        const what = `${format}: ${asked.method} ${asked.target}`;
        t.not(answer.status, 429, what);
        t.strictSame(shown(answer, hidden!), shown(await ask(toAbsent[at]!, auth), absent!), what);
      }
    }
  });
