// What a user follows as one feed, beside a plain model of it; following of things here, and from here elsewhere.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { feedKinds } from '../../src/federation/index.ts';
import type { FeedEntry } from '../../src/federation/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { startFakePeer } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';

const hearth = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' },
});
const { federation, accounts, organisations, repositories, db } = hearth.modules;
const [alice, bob, carol] = [
  await hearth.addPerson('alice'),
  await hearth.addPerson('bob'),
  await hearth.addPerson('carol'),
];
const acme = await organisations.create(localAdministrator, { name: 'acme', owner: 'bob' });
const create = async (owner: string, name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC') =>
  (await repositories.create(localAdministrator, { owner, name, visibility })).id;
const ids = {
  'bob/one': await create('bob', 'one'),
  'bob/two': await create('bob', 'two'),
  'bob/secret': await create('bob', 'secret', 'PRIVATE'),
  'carol/tool': await create('carol', 'tool'),
  'carol/other': await create('carol', 'other'),
  'acme/lib': await create('acme', 'lib'),
  'acme/inner': await create('acme', 'inner', 'PRIVATE'),
};
type Name = keyof typeof ids;
const aliceViewer: PersonViewer = {
  ...localAdministrator,
  id: alice.id,
  username: 'alice',
  via: 'session',
  isAdministrator: false,
};

interface Made {
  kind: string;
  name: string;
  at: number;
  id: string;
}

/** Rows as these modules write them, at times of a test's choice. */
async function make(name: Name, kind: string, at: number): Promise<Made> {
  const id = randomUUID();
  const repositoryId = ids[name];
  await db.write(async ({ manager }) => {
    if (kind === 'push') {
      await manager.query(
        `INSERT INTO pushes (id, repository_id, user_id, via, created_at, settled_at, announced_at, moved, first_moves)
         VALUES (?, ?, ?, 'http', ?, ?, ?, 1, ?)`,
        [
          id,
          repositoryId,
          bob.id,
          at,
          at,
          at,
          JSON.stringify([[0, 'refs/heads/main', '0'.repeat(40), 'a'.repeat(40)]]),
        ],
      );
    } else if (kind === 'release') {
      await manager.query(
        `INSERT INTO releases (id, repository_id, tag, target, tag_message, title, body, is_draft, is_prerelease, author_id, revision, created_at, updated_at, published_at, listed_at)
         VALUES (?, ?, ?, 'main', '', '', '', 0, 0, ?, 1, ?, ?, ?, ?)`,
        [id, repositoryId, id, bob.id, at, at, at, at],
      );
    } else {
      const isMerged = kind === 'merged';
      const opened = isMerged ? 1 : at;
      await manager.query(
        `INSERT INTO issues (id, repository_id, number, kind, title, author_id, state, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [id, repositoryId, at, isMerged ? 'PULL' : 'ISSUE', id, bob.id, isMerged ? 'MERGED' : 'OPEN', opened, at],
      );
      if (isMerged)
        await manager.query(
          `INSERT INTO pulls (issue_id, repository_id, is_open, base_branch, source, head_oid, base_oid, merged_at, merged_by)
           VALUES (?, ?, 0, 'main', 'PUSH', ?, ?, ?, ?)`,
          [id, repositoryId, 'a'.repeat(40), 'b'.repeat(40), at, carol.id],
        );
    }
  });
  return { kind, name, at, id };
}

async function makeRemote(at: number): Promise<Made> {
  const id = randomUUID();
  await db.write(({ manager }) =>
    manager.query(
      `INSERT INTO received_pushes (id, actor_id, activity_id, branch, commit_count, commits, pushed_at, received_at)
       VALUES (?, 'https://forge.example/r', ?, 'main', 0, '[]', ?, ?)`,
      [id, id, at, at],
    ),
  );
  return { kind: 'remote-push', name: 'x/y@forge.example', at, id };
}

async function makeRemoteEvent(kind: string, at: number): Promise<Made> {
  const id = randomUUID();
  await db.write(({ manager }) =>
    manager.query(
      `INSERT INTO received_events (id, actor_id, note_id, kind, is_pull, number, tag, title, happened_at, received_at)
       VALUES (?, 'https://forge.example/r', ?, ?, 0, 7, 'v1', 'x', ?, ?)`,
      [id, id, kind, at, at],
    ),
  );
  return { kind: `remote-${kind}`, name: 'x/y@forge.example', at, id };
}

const shown = (entry: FeedEntry): [string, string, number] => {
  if (entry.kind === 'remote-push') return [entry.kind, entry.push.handle, entry.at];
  if (entry.kind === 'remote-event') return [`remote-${entry.event.kind}`, entry.event.handle, entry.at];
  const { owner, name } =
    entry.kind === 'push'
      ? { owner: entry.push.repository.owner.handle, name: entry.push.repository.name }
      : entry.repository;
  return [entry.kind, `${owner}/${name}`, entry.at];
};

t.test('the feed is what a plain list of everything would be, page by page, for every filter', async (t) => {
  const random = seededRandom(7);
  const kinds = ['push', 'release', 'opened', 'merged'] as const;
  const names = Object.keys(ids) as Name[];
  const all: Made[] = [];
  await db.write(({ manager, now }) =>
    manager.query(
      `INSERT INTO remote_follows (id, user_id, remote_actor_id, remote_inbox, host, handle, follow_id, state, created_at)
       VALUES ('f', ?, 'https://forge.example/r', 'https://forge.example/i', 'forge.example', 'x/y@forge.example', 'i', 'ACCEPTED', ?)`,
      [alice.id, now],
    ),
  );
  for (let index = 0; index < 120; index += 1) {
    const at = 1_000 + index * 10 + (random.bytes(1)[0]! % 3);
    const where = random.bytes(1)[0]! % 6;
    if (where === 0) all.push(await makeRemote(at));
    else if (where === 1) all.push(await makeRemoteEvent(kinds[1 + (random.bytes(1)[0]! % 3)]!, at));
    else all.push(await make(names[random.bytes(1)[0]! % names.length]!, kinds[random.bytes(1)[0]! % 4]!, at));
  }
  const steps: [() => Promise<unknown>, (name: string) => boolean][] = [
    [async () => {}, () => false],
    [() => repositories.stars.add(aliceViewer, 'carol', 'tool'), (name) => name === 'carol/tool'],
    [() => accounts.following.follow(alice.id, bob.id), (name) => ['bob/one', 'bob/two'].includes(name)],
    [() => organisations.follows.add(alice.id, acme.id), (name) => name === 'acme/lib'],
  ];
  const followed = [(name: string) => name.endsWith('@forge.example')];
  for (const [follow, covers] of steps) {
    await follow();
    followed.push(covers);
    for (const place of [null, 'here', 'elsewhere'] as const) {
      for (const wanted of [feedKinds, ['push'], ['opened', 'merged'], ['release']] as const) {
        const expected = all
          .filter(({ name }) => followed.some((each) => each(name)))
          .filter(({ kind }) => place === null || kind.startsWith('remote-') === (place === 'elsewhere'))
          .filter(({ kind }) => (wanted as readonly string[]).includes(kind.replace('remote-', '')))
          .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
          .map(({ kind, name, at }) => [kind, name, at]);
        const got: [string, string, number][] = [];
        for (let after: string | null = null; ; ) {
          const page: Awaited<ReturnType<typeof federation.activityFeed>> = await federation.activityFeed(aliceViewer, {
            kinds: wanted,
            place,
            after,
            limit: 7,
          });
          got.push(...page.entries.map(shown));
          if (page.next === null) break;
          after = page.next;
        }
        // Merged pull requests were opened at the beginning of time.
        const late = got.filter(([kind, , at]) => kind !== 'opened' || at > 1);
        t.strictSame(late, expected, `${place} ${wanted.join()}`);
      }
    }
  }
  await repositories.changeVisibility(localAdministrator, 'carol', 'tool', 'PRIVATE');
  const { entries } = await federation.activityFeed(aliceViewer, { limit: 100 });
  t.notOk(
    entries.some((entry) => shown(entry)[1] === 'carol/tool'),
    'what turned private is not shown',
  );
  await t.rejects(federation.activityFeed(aliceViewer, { limit: 5, after: 'x' }), /page address is not valid/);
});

const web = { port: Number(new URL(hearth.origin).port) };
const ask = (path: string, form?: Record<string, string>, session: string | null = alice.session) =>
  sendRequest(web, path, {
    headers: {
      Host: hearth.host,
      Origin: hearth.origin,
      ...(session === null ? {} : { Cookie: `hearth_session=${session}` }),
    },
    ...(form === undefined ? {} : { form }),
  });

t.test('the page shows the feed with its filters, and takes names of things here', async (t) => {
  const page = (await ask('/following/activity?show=release')).body;
  t.match(page, 'released');
  t.notMatch(page, 'opened the issue');
  t.match((await ask('/following/activity?after=x&show=y')).status, 200);
  t.match(
    (await ask('/following/activity', undefined, bob.session)).body,
    'There is no activity in what you follow yet',
  );
  const targets: [text: string, check: () => Promise<boolean>][] = [
    ['carol/other', async () => repositories.stars.has(bob.id, ids['carol/other'])],
    [`alice@${hearth.host}`, async () => accounts.following.has(bob.id, alice.id)],
    [`${hearth.origin}/orgs/acme`, async () => organisations.follows.has(bob.id, acme.id)],
    [`${hearth.origin}/ap/users/carol`, async () => accounts.following.has(bob.id, carol.id)],
  ];
  for (const [target, check] of targets) {
    t.match(
      await ask('/following', { target }, bob.session),
      { status: 303, headers: { location: /activity/ } },
      target,
    );
    t.ok(await check(), target);
  }
  for (const target of ['nobody', 'nobody/nothing', 'alice/none', `bob/secret@${hearth.host}`]) {
    const { status, body } = await ask('/following', { target }, carol.session);
    t.match([status, body.includes('does not exist on this server')], [422, true], target);
  }
  t.equal((await ask('/orgs/acme/unfollow', {}, bob.session)).status, 303);
  t.notOk(await organisations.follows.has(bob.id, acme.id));
});

t.test('"Follow from another server" leads to the page that one’s own server names', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.3' });
  const rel = 'http://ostatus.org/schema/1.0/subscribe';
  const withTemplate = (template: unknown) =>
    peer.respond('/.well-known/webfinger', { links: [{ rel: 'self' }, { rel, template }] });
  const lookUp = (handle: string, path = '/repos/bob/one') => ask('/following/elsewhere', { handle, path }, null);
  withTemplate(`${peer.origin}/authorize?uri={uri}`);
  const found = await lookUp(`dora@${peer.host}`);
  const uri = encodeURIComponent(`${hearth.origin}/ap/repos/bob/one`);
  t.match(found, { status: 200, body: `${peer.origin}/authorize?uri=${uri}` });
  t.match((await lookUp(`@dora@${peer.host}`, '/users/bob')).body, encodeURIComponent('/ap/users/bob'));
  t.match((await lookUp(`dora@${peer.host}`, '/orgs/acme')).body, encodeURIComponent('/ap/orgs/acme'));
  for (const template of [
    'javascript:alert(1)//{uri}',
    `${peer.origin}/no-place`,
    7,
    'x',
    'https://a:b@x.example/{uri}',
  ]) {
    withTemplate(template);
    t.match(await lookUp(`dora@${peer.host}`), { status: 422, body: /does not have a follow page/ }, String(template));
  }
  const before = peer.connections();
  for (const handle of ['', 'dora', `a/b@${peer.host}`, `dora@${hearth.host}`, peer.origin])
    t.match(await lookUp(handle), { status: 422, body: /your own handle on another server/ }, handle);
  t.equal((await lookUp(`dora@${peer.host}`, '/repos/bob/secret')).status, 404, 'hidden');
  t.equal((await lookUp(`dora@${peer.host}`, '/repos/bob/none')).status, 404, 'and absent alike');
  t.equal(peer.connections(), before, 'nobody was asked for these');
  await federation.addBlock('127.0.0.3', '');
  t.match(await lookUp(`dora@${peer.host}`), { status: 422, body: /does not federate with/ });
  await federation.removeBlock('127.0.0.3');
  withTemplate(`${peer.origin}/authorize?uri={uri}`);
  let busy = 0;
  for (let index = 0; index < 40; index += 1) busy += (await lookUp(`dora@${peer.host}`)).status === 429 ? 1 : 0;
  t.match(busy > 0, true, 'and no server is asked without end');
  const jrd = (await ask(`/.well-known/webfinger?resource=acct:bob@${hearth.host}`)).body;
  t.match(jrd, `${hearth.origin}/following?target={uri}`, 'users of this server come back the same way');
});
