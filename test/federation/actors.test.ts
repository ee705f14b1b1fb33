import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { pushContent } from '../../src/federation/activities/push.ts';
import { instanceName, readAlias, repositoryAlias } from '../../src/federation/actors/actor-paths.ts';
import { personDocument } from '../../src/federation/actors/actor-documents.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import type { PageResponse } from '../fixtures/web-fixture.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { startPeer } from './two-instances.ts';
import type { Peer } from './two-instances.ts';

const hearth: Peer = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_SSH_PUBLIC_PORT: '2222' },
});
const { accounts, organisations, repositories, federation, db } = hearth.modules;
const port = Number(new URL(hearth.origin).port);

const get = (path: string, headers: Record<string, string> = {}): Promise<PageResponse> =>
  sendRequest({ port }, path, { headers });
const read = async (path: string) => JSON.parse((await get(path)).body) as Record<string, unknown>;
const add = (owner: string, name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC', description = '') =>
  repositories.create(localAdministrator, { owner, name, visibility, description });

const alice = await accounts.addPerson({ username: 'Alice', displayName: 'Alice <A>' });
await accounts.updateProfile(alice.id, { bio: 'I grow "trees" & <script>bushes</script>\nand more' });
await add('alice', 'Tool', 'PUBLIC', 'Cuts <b>everything</b>');
await add('alice', 'secret', 'PRIVATE');

t.test('SPEC §2.5 a public repository is an actor', async (t) => {
  const { status, headers } = await get('/ap/repos/Alice/Tool');
  t.match(
    [status, headers['content-type'], headers['vary'], headers['set-cookie']],
    [200, 'application/activity+json; charset=utf-8', /Accept/, undefined],
  );
  const id = `${hearth.origin}/ap/repos/Alice/Tool`;
  t.match(await read('/ap/repos/Alice/Tool'), {
    id,
    type: ['Repository', 'Service'],
    preferredUsername: 'Alice--Tool',
    name: 'Tool',
    summary: '<p>Cuts &lt;b&gt;everything&lt;/b&gt;</p>',
    url: `${hearth.origin}/repos/Alice/Tool`,
    attributedTo: `${hearth.origin}/ap/users/Alice`,
    inbox: `${id}/inbox`,
    outbox: `${id}/outbox`,
    followers: `${id}/followers`,
    cloneUri: [`${hearth.origin}/git/Alice/Tool.git`],
    pushUri: [`${hearth.origin}/git/Alice/Tool.git`, 'ssh://git@127.0.0.1:2222/Alice/Tool.git'],
    endpoints: { sharedInbox: `${hearth.origin}/ap/instance/inbox` },
    manuallyApprovesFollowers: false,
    publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem: /^-----BEGIN PUBLIC KEY-----\n/ },
  });
  t.equal((await read('/ap/repos/alice/tool'))['id'], id, 'in any case, under its one id');
  // The generated picture is SVG, which other software does not show.
  t.notOk('icon' in (await read('/ap/repos/Alice/Tool')));
  t.notOk('icon' in (await read('/ap/users/Alice')));
  const drawn = {
    kind: 'user',
    ownerId: 'u',
    path: '/ap/users/a',
    id: 'https://forge.example/ap/users/a',
    publicKeyPem: '',
  } as const;
  const person = { ...(await accounts.personByUsername('alice')), id: 'u', username: 'a', avatarAt: 5 };
  t.match(
    personDocument(
      drawn,
      person,
      { isOpen: false, approves: false },
      { origin: 'https://forge.example', sshOrigin: null },
    ),
    { icon: { type: 'Image', url: 'https://forge.example/avatars/u?v=5' } },
    'an uploaded one',
  );
});

t.test('a browser that follows the id of an actor gets its page, and every program the document', async (t) => {
  const accept = (path: string, value: string) => get(path, { accept: value });
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  t.match(await accept('/ap/repos/Alice/Tool', browser), {
    status: 303,
    headers: { location: `${hearth.origin}/repos/Alice/Tool`, vary: /Accept/ },
  });
  t.match(await accept('/ap/users/Alice', browser), {
    status: 303,
    headers: { location: `${hearth.origin}/users/Alice` },
  });
  t.equal((await accept('/ap/repos/Alice/secret', browser)).status, 404);
  for (const value of ['*/*', 'application/activity+json', 'application/json, text/html;q=0.5'])
    t.equal((await accept('/ap/repos/Alice/Tool', value)).status, 200, value);
});

t.test('SPEC §2.5 a person is an actor, and the instance', async (t) => {
  const id = `${hearth.origin}/ap/users/Alice`;
  t.match(await read('/ap/users/Alice'), {
    id,
    type: 'Person',
    preferredUsername: 'Alice',
    name: 'Alice <A>',
    summary: '<p>I grow &quot;trees&quot; &amp; &lt;script&gt;bushes&lt;/script&gt;<br>and more</p>',
    inbox: `${id}/inbox`,
    outbox: `${id}/outbox`,
    repositories: `${id}/repositories`,
    manuallyApprovesFollowers: true,
    publicKey: { id: `${id}#main-key` },
  });
  t.match(await read('/ap/instance'), {
    id: `${hearth.origin}/ap/instance`,
    type: 'Application',
    inbox: `${hearth.origin}/ap/instance/inbox`,
  });
  const nameless = await accounts.addPerson({});
  t.equal((await get(`/ap/users/${nameless.id}`)).status, 404, 'a person without a handle appears nowhere');
});

t.test('SPEC §4.6 private and missing respond the same, at every endpoint', async (t) => {
  const plain = ({ status, headers, body }: PageResponse) => {
    const { date: _, 'x-request-id': __, ...rest } = headers;
    return { status, headers: rest, body };
  };
  for (const part of [
    '',
    '/outbox',
    '/followers',
    '/outbox?page=1',
    '/activities/00000000-0000-4000-8000-000000000000',
  ]) {
    const [hidden, absent] = [
      plain(await get(`/ap/repos/alice/secret${part}`)),
      plain(await get(`/ap/repos/alice/absent${part}`)),
    ];
    t.equal(hidden.status, 404, part);
    t.strictSame(hidden, absent, part);
  }
  for (const path of [
    '/ap',
    '/ap/users',
    '/ap/users/Alice/followers',
    '/ap/repos/alice',
    '/ap/instance/inbox',
    '/ap/x/y/z/a/b',
  ]) {
    t.match(
      await get(path, { Accept: 'text/html' }),
      { status: 404, headers: { 'content-type': /^application\/json/ }, body: '{"error":{"code":"not_found"}}' },
      `${path}: no page`,
    );
  }
  const finger = async (name: string) => plain(await get(`/.well-known/webfinger?resource=acct:${name}@127.0.0.1`));
  t.equal((await finger('alice/secret')).status, 404);
  t.strictSame(await finger('alice/secret'), await finger('alice/absent'));
  t.strictSame(await finger('nobody'), await finger('alice/absent'));
  t.same(
    (await read('/ap/users/alice/repositories'))['first'],
    {
      id: `${hearth.origin}/ap/users/Alice/repositories?page=1`,
      type: 'OrderedCollectionPage',
      partOf: `${hearth.origin}/ap/users/Alice/repositories`,
      orderedItems: [`${hearth.origin}/ap/repos/Alice/Tool`],
    },
    'nor in a list',
  );
});

t.test('SPEC §3 a repository that turns private is gone at once, and back at once', async (t) => {
  await add('alice', 'flip');
  const statuses = async () =>
    Promise.all(
      [
        '/ap/repos/alice/flip',
        '/ap/repos/alice/flip/outbox',
        '/ap/repos/alice/flip/followers',
        '/.well-known/webfinger?resource=acct:alice/flip@127.0.0.1',
      ].map(async (path) => (await get(path)).status),
    );
  t.same(await statuses(), [200, 200, 200, 200]);
  const { id, publicKey } = await read('/ap/repos/alice/flip');
  await repositories.changeVisibility(localAdministrator, 'alice', 'flip', 'PRIVATE');
  t.same(await statuses(), [404, 404, 404, 404]);
  await repositories.changeVisibility(localAdministrator, 'alice', 'flip', 'PUBLIC');
  t.match(await read('/ap/repos/alice/flip'), { id, publicKey }, 'the same actor');
  await repositories.trash.move(localAdministrator, 'alice', 'flip');
  t.same(await statuses(), [404, 404, 404, 404]);
});

t.test('SPEC §4.6 WebFinger takes the host with and without its port, in any case', async (t) => {
  const finger = async (resource: string) => get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`);
  const self = `${hearth.origin}/ap/repos/Alice/Tool`;
  for (const resource of [
    'acct:alice/tool@127.0.0.1',
    `acct:Alice/Tool@127.0.0.1:${port}`,
    'ACCT:ALICE/TOOL@127.0.0.1',
    'alice/tool@127.0.0.1',
    'acct:@alice/tool@127.0.0.1',
    'acct:alice%2Ftool@127.0.0.1',
    self,
    `${hearth.origin}/repos/alice/tool`,
  ]) {
    const { status, headers, body } = await finger(resource);
    t.match(
      [status, headers['content-type'], headers['access-control-allow-origin']],
      [200, 'application/jrd+json; charset=utf-8', '*'],
      resource,
    );
    t.match(JSON.parse(body), {
      subject: `acct:Alice/Tool@127.0.0.1:${port}`,
      aliases: [self, `${hearth.origin}/repos/Alice/Tool`],
      links: [{ rel: 'self', type: 'application/activity+json', href: self }, {}],
    });
  }
  t.match(JSON.parse((await finger('acct:alice@127.0.0.1')).body), {
    subject: `acct:Alice@127.0.0.1:${port}`,
    links: [{ href: `${hearth.origin}/ap/users/Alice` }, { href: `${hearth.origin}/users/Alice` }],
  });
  t.equal((await get(`/.well-known/webfinger?resource=acct:alice/tool@127.0.0.1`)).status, 200, 'without encoding');
  for (const resource of [
    'acct:alice@other.example',
    `acct:alice@127.0.0.1:${port + 1}`,
    'https://other.example/users/alice',
    `${hearth.origin}/nowhere`,
    `acct:instance@other.example`,
    'acct:127.0.0.2@127.0.0.1',
    'acct:a/b/c@127.0.0.1',
    'acct:%zz@127.0.0.1',
  ]) {
    t.equal((await finger(resource)).status, 404, resource);
  }
  for (const query of [
    '',
    '?resource=',
    '?resource=alice',
    '?resource=acct:@',
    `?resource=acct:${'x'.repeat(600)}@127.0.0.1`,
    '?rel=self',
  ]) {
    t.equal((await get(`/.well-known/webfinger${query}`)).status, 400, query.slice(0, 40));
  }
});

t.test('the instance actor is found by WebFinger under the name that its document gives', async (t) => {
  const instance = `${hearth.origin}/ap/instance`;
  const { preferredUsername } = await read('/ap/instance');
  t.equal(preferredUsername, '127.0.0.1', 'the host without its port: user names contain no colon');
  for (const resource of [
    `acct:127.0.0.1@127.0.0.1:${port}`,
    'acct:127.0.0.1@127.0.0.1',
    'acct:instance@127.0.0.1',
    'ACCT:Instance@127.0.0.1',
    instance,
  ]) {
    const { status, body } = await get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`);
    t.equal(status, 200, resource);
    t.strictSame(JSON.parse(body), {
      subject: `acct:127.0.0.1@127.0.0.1:${port}`,
      aliases: [instance],
      links: [{ rel: 'self', type: 'application/activity+json', href: instance }],
    });
  }
  for (const [origin, name] of [
    ['https://git.example.org', 'git.example.org'],
    ['https://git.example.org:8443', 'git.example.org'],
    ['https://[2001:db8::1]', 'instance'],
    ['https://xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ] as const)
    t.equal(instanceName(origin), name);
});

t.test('NodeInfo leads to the instance and tells what an anonymous viewer may see', async (t) => {
  t.match(await read('/.well-known/nodeinfo'), {
    links: [
      { href: `${hearth.origin}/nodeinfo/2.1` },
      { rel: 'https://www.w3.org/ns/activitystreams#Application', href: `${hearth.origin}/ap/instance` },
    ],
  });
  t.match(await read('/nodeinfo/2.1'), {
    version: '2.1',
    software: { name: 'hearth' },
    protocols: ['activitypub'],
    openRegistrations: false,
    usage: { users: { total: 1 } },
  });
});

t.test('a page and its actor know each other', async (t) => {
  const link = `<${hearth.origin}/ap/repos/Alice/Tool>; rel="alternate"; type="application/activity+json"`;
  const page = await get('/repos/Alice/Tool', { Accept: 'text/html' });
  t.match(
    [page.status, page.headers['link'], page.headers['vary'], page.headers['content-type']],
    [200, link, /(^|, )Accept(,|$)/, /^text\/html/],
  );
  t.match((await get('/users/Alice')).headers, { link: /ap\/users\/Alice>/, vary: /(^|, )Accept(,|$)/ });
  for (const accept of [
    'application/activity+json',
    'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
    'application/activity+json, application/ld+json',
  ]) {
    const { status, headers } = await get('/repos/Alice/Tool', { Accept: accept });
    t.match(
      [status, headers['location'], headers['vary']],
      [302, `${hearth.origin}/ap/repos/Alice/Tool`, /(^|, )Accept(,|$)/],
      accept,
    );
  }
  for (const accept of [
    '*/*',
    'text/html,application/xhtml+xml,*/*;q=0.8',
    'text/html, application/activity+json;q=0.5',
  ])
    t.equal((await get('/repos/Alice/Tool', { Accept: accept })).status, 200, accept);
  t.equal((await get('/repos/alice/secret', { Accept: 'application/activity+json' })).status, 404);
  t.equal((await get('/repos/alice/secret')).headers['link'], undefined);
  await add('alice', 'unseen');
  const keys = await federation.listKeys();
  await get('/repos/Alice/unseen');
  t.equal((await federation.listKeys()).length, keys.length, 'looking at a page makes no key');
});

t.test('SPEC §2.5 a key is made on first use, once, however many ask at the same time', async (t) => {
  await add('alice', 'busy');
  const responses = await Promise.all(Array.from({ length: 20 }, () => read('/ap/repos/alice/busy')));
  t.equal(new Set(responses.map((document) => JSON.stringify(document['publicKey']))).size, 1);
  t.equal((await federation.listKeys()).filter(({ actorId }) => actorId.endsWith('/busy')).length, 1);
  t.notOk(JSON.stringify(await federation.listKeys()).includes('PRIVATE'), 'the private half stays where it is');
});

t.test('the list of repositories makes no key, and names the ids that the actors then have', async (t) => {
  await accounts.addPerson({ username: 'listed' });
  for (let number = 0; number < 12; number += 1) await add('listed', `r${number}`);
  const { id: former } = await read('/ap/repos/listed/r3');
  await repositories.rename(localAdministrator, 'listed', 'r3', 'r3-new');
  await add('listed', 'r3');
  const ofListed = async () => (await federation.listKeys()).filter(({ kind }) => kind === 'repository').length;
  const before = await ofListed();
  const { first } = (await read('/ap/users/listed/repositories')) as unknown as { first: { orderedItems: string[] } };
  t.equal(first.orderedItems.length, 13);
  t.ok(first.orderedItems.includes(former as string), 'a renamed one keeps its id');
  t.ok(first.orderedItems.includes(`${String(former)}~2`), 'which is not that of the new one with its name');
  t.equal(await ofListed(), before + 1, 'only what no name can tell is made');
  for (const id of first.orderedItems) t.equal((await read(new URL(id).pathname))['id'], id);
  t.equal(await ofListed(), before + 12);
});

t.test('an actor keeps its id when its repository is renamed, and no other repository ever gets it', async (t) => {
  await add('alice', 'first');
  const { id } = await read('/ap/repos/alice/first');
  await repositories.rename(localAdministrator, 'alice', 'first', 'second');
  t.match(
    await read('/ap/repos/Alice/first'),
    { id, name: 'second', url: `${hearth.origin}/repos/Alice/second` },
    'at its own address',
  );
  t.match(
    await get('/ap/repos/Alice/second'),
    { status: 301, headers: { location: id } },
    'to which its new name leads',
  );
  const uuid = '00000000-0000-4000-8000-000000000000';
  const row = { '@context': [], id: `${String(id)}/activities/${uuid}`, type: 'Create', object: { type: 'Note' } };
  await db.write(({ manager, now }) =>
    manager.query(
      `INSERT INTO federation_outbox (id, actor_path, repository_id, type, is_public, activity, created_at)
       SELECT ?, '/ap/repos/Alice/first', id, 'Create', 0, ?, ? FROM repositories WHERE name = 'second'`,
      [uuid, JSON.stringify(row), now],
    ),
  );
  for (const part of ['outbox', 'followers', `activities/${uuid}`, `notes/${uuid}`]) {
    t.equal((await get(`/ap/repos/Alice/first/${part}`)).status, 200, part);
    t.equal((await get(`/ap/repos/Alice/second/${part}`)).status, 404, 'a document is served under its own id only');
  }
  t.match(JSON.parse((await get('/.well-known/webfinger?resource=acct:alice/second@127.0.0.1')).body), {
    subject: `acct:Alice/second@127.0.0.1:${port}`,
    links: [{ href: id }, {}],
  });

  await add('alice', 'first');
  const other = JSON.parse((await get('/.well-known/webfinger?resource=acct:alice/first@127.0.0.1')).body) as {
    links: { href: string }[];
  };
  t.equal(other.links[0]!.href, `${String(id)}~2`);
  t.match(await read(new URL(other.links[0]!.href).pathname), {
    id: `${String(id)}~2`,
    name: 'first',
    url: `${hearth.origin}/repos/Alice/first`,
  });
  t.match((await get('/repos/Alice/first')).headers['link'], /first~2>/);
  await repositories.changeVisibility(localAdministrator, 'alice', 'second', 'PRIVATE');
  for (const path of ['', '/outbox', '/followers'])
    t.equal((await get(`/ap/repos/Alice/first${path}`)).status, 404, 'followers of the first learn that it is gone');
  t.match(
    await read('/ap/repos/Alice/first~2'),
    { id: `${String(id)}~2` },
    'and those of the other one that it is there',
  );
});

t.test('a repository has an alias for software whose names contain no slash', async (t) => {
  for (const [name, alias] of [
    ['tool', 'alice--tool'],
    ['my.tool_2', 'alice--my.tool_2'],
    ['a--b', 'alice--a--b'],
    ['-x', 'alice---x'],
    ['.github', 'alice--.github'],
    ['tool-', null],
    ['tool.', null],
    ['schön', null],
  ] as const) {
    t.equal(repositoryAlias('alice', name), alias, name);
    if (alias !== null) t.strictSame(readAlias(alias), { owner: 'alice', name });
  }
  for (const text of ['alice', 'alice-tool', '--tool', 'alice--', '--', 'a b--c', 'alice/x--y', ''])
    t.equal(readAlias(text), null, text);

  await add('alice', 'plus--minus');
  const self = `${hearth.origin}/ap/repos/Alice/plus--minus`;
  const subjectOf = async (resource: string) => {
    const { status, body } = await get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`);
    if (status !== 200) return status;
    const { subject, links } = JSON.parse(body) as { subject: string; links: { href: string }[] };
    return [subject, links[0]!.href];
  };
  const host = `127.0.0.1:${port}`;
  t.equal((await read(new URL(self).pathname))['preferredUsername'], 'Alice--plus--minus');
  t.strictSame(await subjectOf(`acct:Alice--plus--minus@${host}`), [`acct:Alice--plus--minus@${host}`, self]);
  t.strictSame(await subjectOf(`acct:alice--PLUS--minus@127.0.0.1`), [`acct:Alice--plus--minus@${host}`, self]);
  t.strictSame(await subjectOf(`acct:alice/plus--minus@${host}`), [`acct:Alice/plus--minus@${host}`, self]);
  t.strictSame(await subjectOf(self), [`acct:Alice/plus--minus@${host}`, self]);
  for (const name of ['alice--secret', 'alice--absent', 'nobody--tool', 'alice--', '--tool'])
    t.equal(await subjectOf(`acct:${name}@${host}`), 404, `${name}: hidden and absent alike`);
});

t.test('every term of a document is defined in it, or by a context that readers have with them', async (t) => {
  const known = ['https://www.w3.org/ns/activitystreams', 'https://w3id.org/security/v1'];
  /** Terms of those two that are used. */
  const usual = new Set(
    `id type name summary url published attributedTo inbox outbox followers preferredUsername icon mediaType endpoints
    sharedInbox publicKey owner publicKeyPem attachment to cc object target context actor totalItems orderedItems Image
    Service Person Application OrderedCollection Accept Follow @context`.split(/\s+/),
  );
  const check = (document: Record<string, unknown>): void => {
    const contexts = [document['@context']].flat() as (string | Record<string, unknown>)[];
    t.strictSame(
      contexts.filter((each) => typeof each === 'string' && !known.includes(each)),
      [],
    );
    const terms = new Set([
      ...usual,
      ...contexts.flatMap((each) => (typeof each === 'string' ? [] : Object.keys(each))),
    ]);
    const walk = (value: unknown): void => {
      if (Array.isArray(value)) return value.forEach(walk);
      if (typeof value !== 'object' || value === null) return;
      for (const [name, inner] of Object.entries(value)) {
        if (!terms.has(name)) t.fail(`${name} is not defined`);
        if (name === '@context') continue;
        if (name === 'type') for (const type of [inner].flat()) if (!terms.has(String(type))) t.fail(`type ${type}`);
        walk(inner);
      }
    };
    walk(document);
  };
  check(await read('/ap/repos/Alice/Tool'));
  check(await read('/ap/users/Alice'));
  check(await read('/ap/instance'));
  const push = pushContent({
    repositoryActorId: 'https://a.example/ap/repos/a/b',
    pusherActorId: 'https://a.example/ap/users/a',
    pusherName: 'A',
    repositoryName: 'a/b',
    repositoryUrl: 'https://a.example/repos/a/b',
    branch: 'main',
    hashBefore: '0'.repeat(40),
    hashAfter: '1'.repeat(40),
    isForced: true,
    totalCommits: 1,
    commits: [
      { hash: '1'.repeat(40), subject: 's', authorName: 'n', authorActorId: null, authoredAt: 0, committedAt: 0 },
    ],
    pushedAt: 0,
  });
  check({ ...push, type: 'Push', id: 'https://a.example/1', actor: 'https://a.example/ap/repos/a/b' });
  t.pass('checked');
});

t.test('a repository of an organisation is an actor that is attributed to no person', async (t) => {
  const viewer = {
    kind: 'person',
    id: alice.id,
    username: 'Alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  await organisations.create(viewer, { name: 'garden' });
  await repositories.create(viewer, { owner: 'garden', name: 'gate', visibility: 'PUBLIC' });
  const document = await read('/ap/repos/garden/gate');
  t.match(document, { type: ['Repository', 'Service'], preferredUsername: 'garden--gate' });
  t.notOk('attributedTo' in document);
  t.equal((await get('/ap/users/garden')).status, 404, 'there is no organisation actor');
});

t.test('SPEC §4.6 collections have pages of a hundred, and what is new is on the first', async (t) => {
  const many = await accounts.addPerson({ username: 'many' });
  await db.write(async ({ manager, now }) => {
    for (let index = 0; index < 120; index++) {
      await manager.query(
        `INSERT INTO repositories (id, owner_user_id, name, name_folded, visibility, created_at, updated_at) VALUES (?, ?, ?, ?, 'PUBLIC', ?, ?)`,
        [
          `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
          many.id,
          `r${index}`,
          `r${index}`,
          now,
          now - 1000 + index,
        ],
      );
      // A key each would take a minute; any will do.
      await manager.query(
        `INSERT INTO federation_keys SELECT ?, 'repository', ?, public_key_pem, private_key_pem, created_at FROM federation_keys LIMIT 1`,
        [`/ap/repos/many/r${index}`, `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`],
      );
    }
  });
  const collection = (await read('/ap/users/many/repositories')) as {
    totalItems: number;
    first: { orderedItems: string[]; next: string };
  };
  t.equal(collection.totalItems, 120);
  t.match(collection.first.orderedItems.length, 100);
  t.equal(collection.first.orderedItems[0], `${hearth.origin}/ap/repos/many/r119`);
  const next = (await read(collection.first.next.slice(hearth.origin.length))) as {
    orderedItems: string[];
    next?: string;
  };
  t.equal(next.orderedItems.length, 20);
  t.equal(next.next, undefined);
  t.match(await read('/ap/users/many/outbox'), { type: 'OrderedCollection', totalItems: 0 });
  t.match(await read('/ap/instance/outbox'), { type: 'OrderedCollection', totalItems: 0 });
  for (const path of ['/ap/users/many/followers', '/ap/instance/followers', '/ap/repos/Alice/Tool/repositories'])
    t.equal((await get(path)).status, 404, path);
  t.match(
    await read('/ap/users/many/repositories?page=nonsense'),
    { id: /page=1$/ },
    'what is no page number is the first',
  );
});

const endpoints = [
  '/.well-known/webfinger?resource=acct:alice@127.0.0.1',
  '/.well-known/nodeinfo',
  '/nodeinfo/2.1',
  '/ap/instance',
  '/ap/instance/outbox',
  '/ap/users/alice',
  '/ap/users/alice/outbox',
  '/ap/users/alice/repositories',
  '/ap/repos/alice/tool',
  '/ap/repos/alice/tool/outbox',
  '/ap/repos/alice/tool/followers',
];
const inboxes = ['/ap/instance/inbox', '/ap/users/alice/inbox', '/ap/repos/alice/tool/inbox', '/ap/pairing'];

t.test('SPEC §1 unless federation is operational every endpoint is 404, and nothing is emitted', async (t) => {
  const settings: Record<string, string>[] = [
    {},
    { SERVICE_FEDERATION_ENABLED: 'true' },
    { SERVICE_FEDERATION_BASE_URL: 'https://git.example.org' },
    { SERVICE_FEDERATION_ENABLED: 'true', SERVICE_FEDERATION_BASE_URL: 'https://127.0.0.1' },
    { SERVICE_FEDERATION_ENABLED: 'true', SERVICE_FEDERATION_BASE_URL: 'http://git.example.org' },
  ];
  for (const env of settings) {
    const off = await startHearth(t, {
      env: { ...env, SERVICE_SSH_ENABLED: 'false', SERVICE_FEDERATION_PEER_ALLOWLIST: 'other.example' },
    });
    await off.modules.accounts.addPerson({ username: 'alice' });
    await off.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
    const web = { port: Number(new URL(off.url).port) };
    for (const path of endpoints)
      t.equal((await sendRequest(web, path)).status, 404, `${path} with ${JSON.stringify(env)}`);
    for (const path of inboxes)
      t.equal((await sendRequest(web, path, { method: 'POST', body: '{}' })).status, 404, path);
    t.notOk(off.modules.federation.isOperational);
    t.not(off.modules.federation.obstacles.length, 0);
    await t.rejects(off.modules.federation.follow('x', 'bob/tool@other.example'), /Federation is off/);
    t.equal((await sendRequest(web, '/repos/alice/tool')).headers['link'], undefined);
    t.equal((await off.modules.federation.listKeys()).length, 0);
    await off.stop();
  }
});

t.test(
  'SPEC §1 an operational instance serves what is public under its base URL, whatever the request says',
  async (t) => {
    const on = await startHearth(t, {
      env: {
        SERVICE_SSH_ENABLED: 'false',
        SERVICE_BASE_URL: 'https://www.example.org',
        SERVICE_FEDERATION_ENABLED: 'true',
        SERVICE_FEDERATION_BASE_URL: 'https://Git.example.org/',
      },
    });
    await on.modules.accounts.addPerson({ username: 'alice' });
    const web = { port: Number(new URL(on.url).port) };
    const requestHeaders: Record<string, string>[] = [
      { Host: 'git.example.org' },
      { Host: 'evil.example' },
      { Host: 'git.example.org', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http' },
    ];
    for (const headers of requestHeaders) {
      t.match(JSON.parse((await sendRequest(web, '/ap/users/alice', { headers })).body), {
        id: 'https://git.example.org/ap/users/alice',
      });
    }
    t.match(JSON.parse((await sendRequest(web, '/.well-known/webfinger?resource=acct:alice@git.example.org')).body), {
      subject: 'acct:alice@git.example.org',
    });
  },
);

t.test('a profile tells the website, the handle and the clone address as fields, and leads nowhere else', async (t) => {
  const field = (name: string, value: string) => ({ type: 'PropertyValue', name, value });
  const link = (url: string) => `<a href="${url}" rel="nofollow">${url}</a>`;
  const fieldsOf = async (path: string) => (await read(path))['attachment'];
  await add('alice', 'with-fields');
  const fixed = [
    field('Handle', `Alice/with-fields@127.0.0.1:${port}`),
    field('Clone', link(`${hearth.origin}/git/Alice/with-fields.git`)),
  ];
  t.strictSame(await fieldsOf('/ap/repos/Alice/with-fields'), fixed);
  t.equal(await fieldsOf('/ap/users/Alice'), undefined);
  await repositories.edit(localAdministrator, 'alice', 'with-fields', { website: 'https://example.org/?a=1&b="2"' });
  const website = field('Website', link('https://example.org/?a=1&amp;b=&quot;2&quot;'));
  t.strictSame(await fieldsOf('/ap/repos/Alice/with-fields'), [...fixed, website]);
  await accounts.updateProfile(alice.id, { website: 'https://alice.example.org' });
  t.match(await fieldsOf('/ap/users/Alice'), [{ name: 'Website', value: /^<a href="https:\/\/alice\.example\.org/ }]);
});
