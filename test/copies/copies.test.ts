// Three Hearths: bob's repository away, alice who follows and keeps it at home, carol elsewhere who clones the copy.
import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { createCopies } from '../../src/copies/index.ts';
import { gitClient } from '../e2e/git-client.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import type { TestPerson } from '../fixtures/start-hearth.ts';
import { startPeer } from '../federation/two-instances.ts';
import type { Peer } from '../federation/two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const dayMs = 86_400_000;
const viewerOf = ({ id, username }: TestPerson): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

interface Stage {
  away: Peer;
  home: Peer;
  alice: TestPerson;
  bob: TestPerson;
  clock: ReturnType<typeof fixedClock>;
  git: ReturnType<typeof gitClient>;
  work: string;
  /** The follow of alice. */
  followId: string;
  commit(message: string): Promise<string>;
  push(...more: string[]): Promise<void>;
  /** Delivers what is queued away, and does what is due at home. */
  settle(): Promise<void>;
  copy(): Promise<NonNullable<Awaited<ReturnType<Peer['modules']['copies']['ofRepository']>>>>;
}

/** bob's `tool` with one commit, followed by alice. */
async function setStage(
  t: Owner,
  { env = {}, keep = true }: { env?: Record<string, string>; keep?: boolean } = {},
): Promise<Stage> {
  const clock = fixedClock(Date.now());
  const port = await freePort('127.0.0.2');
  const away = await startPeer(t, { host: '127.0.0.2', port, allow: ['127.0.0.1'], clock });
  const home = await startPeer(t, {
    host: '127.0.0.1',
    allow: ['127.0.0.2'],
    clock,
    env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.2:${port}`, ...env },
  });
  const [alice, bob] = [await home.addPerson('alice'), await away.addPerson('bob')];
  await away.modules.repositories.create(viewerOf(bob), { name: 'tool', visibility: 'PUBLIC', defaultBranch: 'trunk' });
  const folder = temporaryFolder(t);
  const git = gitClient(folder);
  const work = `${folder}/work`;
  await git.expect(folder, 'init', '--quiet', '-b', 'trunk', work);
  const commit = async (message: string) => {
    await git.expect(work, 'commit', '--quiet', '--allow-empty', '-m', message);
    return (await git.expect(work, 'rev-parse', 'HEAD')).trim();
  };
  const push = (...more: string[]) =>
    git
      .expect(work, 'push', '--quiet', `${away.url.replace('://', `://x:${bob.token}@`)}/git/bob/tool.git`, ...more)
      .then(() => {});
  await commit('one');
  await push('trunk');
  const { id: followId } = await home.modules.federation.follow(alice.id, `bob/tool@${away.host}`);
  await home.modules.federation.drain();
  await waitUntil(async () => {
    await away.modules.federation.drain();
    const [follow] = (await home.modules.federation.followingOf(alice.id)).repositories;
    return follow?.status.state === 'ACCEPTED';
  }, 'the follow is accepted');
  const stage = {
    away,
    home,
    alice,
    bob,
    clock,
    git,
    work,
    followId,
    commit,
    push,
    async settle() {
      await away.modules.federation.drain();
      await home.modules.copies.tend();
      await home.modules.mirrors.runDue();
    },
    async copy() {
      return (await home.modules.copies.list({ after: null, limit: 10 })).rows[0]!;
    },
  };
  if (keep) {
    await home.modules.copies.keep(viewerOf(alice), alice, followId);
    await home.modules.mirrors.runDue();
  }
  return stage;
}

t.test('a followed repository is kept, follows pushes at most once a minute, and outlives its origin', async (t) => {
  const stage = await setStage(t);
  const { away, home, alice, clock, commit, push, settle, copy } = stage;
  const one = (await stage.git.expect(stage.work, 'rev-parse', 'HEAD')).trim();
  t.match(await copy(), {
    place: { owner: 'alice', name: 'tool' },
    state: 'current',
    completeTo: one,
    handle: `bob/tool@${away.host}`,
    endsAt: null,
    since: null,
  });
  const found = await home.modules.repositories.find(anonymous, 'alice', 'tool');
  t.match(found.repository, {
    visibility: 'PUBLIC',
    defaultBranch: 'trunk',
    copiedFrom: `${away.origin}/ap/repos/bob/tool`,
  });

  const two = await commit('two');
  await push('trunk', 'trunk:refs/heads/topic', 'trunk:refs/tags/v1');
  await waitUntil(async () => {
    await away.modules.federation.drain();
    return (await home.modules.federation.followedNews(alice.id, 1)).pushes.length > 0;
  }, 'the Push has arrived');
  await settle();
  t.equal((await copy()).completeTo, one, 'not before a minute has passed since the last transfer');
  clock.advance(61_000);
  await settle();
  t.match(await copy(), { completeTo: two, state: 'current' });
  const before = await copy();
  clock.advance(10 * 60_000);
  await settle();
  t.equal((await copy()).lastOkAt, before.lastOkAt, 'without a Push nothing is fetched');

  // The origin is lost.
  const awayUrl = away.url;
  await away.stop();
  clock.advance(9 * 3_600_000);
  await settle();
  const lost = await copy();
  t.match(lost, { state: 'unreachable', completeTo: two, since: clock.now() });
  for (let turn = 0; turn < 12; turn += 1) {
    clock.advance(3_700_000);
    await home.modules.mirrors.runDue();
  }
  t.match(await copy(), { state: 'unreachable', since: lost.since }, 'it tries on, and remembers since when');

  // Carol browses, searches and clones.
  const page = await fetch(`${home.url}/repos/alice/tool`).then((answer) => answer.text());
  t.match(page, `bob/tool@${new URL(awayUrl).host}`);
  t.match(page, /unreachable since/);
  t.match(page, two.slice(0, 10));
  t.equal((await fetch(`${home.url}/repos/alice/tool/commits/trunk`)).status, 200);
  await stage.git.expect(home.folder, 'clone', '--quiet', `${home.url}/git/alice/tool.git`, `${home.folder}/clone`);
  t.equal((await stage.git.expect(`${home.folder}/clone`, 'rev-parse', 'HEAD')).trim(), two);
  t.match(await stage.git.expect(`${home.folder}/clone`, 'tag'), 'v1');
});

t.test('a copy is no actor, takes no pushes and stays what it is until it is made one’s own', async (t) => {
  const { home, alice, git, work, away } = await setStage(t);
  const { copies, federation, repositories, mirrors, issues } = home.modules;
  const viewer = viewerOf(alice);
  for (const path of ['/ap/repos/alice/tool', '/ap/repos/alice/tool/outbox', '/ap/repos/alice/tool/followers'])
    t.equal((await fetch(`${home.url}${path}`)).status, 404, path);
  t.equal((await fetch(`${home.url}/.well-known/webfinger?resource=acct:alice/tool@${home.host}`)).status, 404);
  t.match(await federation.publications.collection('/ap/users/alice', 'repositories', null), { totalItems: 0 });
  const refused = await git.run(
    work,
    'push',
    `${home.url.replace('://', `://x:${alice.token}@`)}/git/alice/tool.git`,
    'trunk:new',
  );
  t.not(refused.code, 0);
  t.match(refused.stderr, `this repository is a copy of ${away.origin}/git/bob/tool.git; push there`);
  const { repositoryId } = (await copies.list({ after: null, limit: 10 })).rows[0]!;
  const found = await repositories.find(viewer, 'alice', 'tool');
  for (const [what, act] of [
    ['private', () => repositories.changeVisibility(viewer, 'alice', 'tool', 'PRIVATE')],
    ['unarchived', () => repositories.setArchived(viewer, 'alice', 'tool', false)],
    ['transferred', () => repositories.transfers.start(viewer, 'alice', 'tool', 'alice')],
  ] as const)
    t.equal(await reasonOf(act() as Promise<unknown>), 'repository_is_copy', what);
  t.equal(await reasonOf(mirrors.end(viewer, found)), 'mirror_is_copy');
  const other = { direction: 'push', address: 'https://git.example.org/y', intervalMs: 3_600_000, prune: true };
  t.equal(await reasonOf(mirrors.save(viewer, found, other)), 'mirror_is_copy');
  t.equal(await reasonOf(issues.open(viewer, { owner: 'alice', name: 'tool' }, { title: 'x' })), 'repository_archived');

  const carol = await home.addPerson('carol');
  t.equal(await reasonOf(copies.drop(viewerOf(carol), carol.id, repositoryId)), 'unknown_copy');
  t.equal(await reasonOf(copies.makeOwn(viewerOf(carol), carol.id, repositoryId)), 'unknown_copy');
  const api = async (person: TestPerson, method: string, path: string) => {
    const answer = await fetch(`${home.url}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${person.token}` },
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  t.match(await api(alice, 'GET', '/user/copies'), {
    status: 200,
    body: [{ id: repositoryId, repository: { owner: 'alice', name: 'tool' }, state: 'current', endsAt: null }],
  });
  t.match(await api(alice, 'GET', `/user/copies/${repositoryId}`), { status: 200, body: { id: repositoryId } });
  t.strictSame((await api(carol, 'GET', '/user/copies')).body, []);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/own'],
  ] as const)
    t.match(await api(carol, method, `/user/copies/${repositoryId}${path}`), { status: 404 }, `${method} ${path}`);
  const following = await fetch(`${home.url}/following`, { headers: { Cookie: `hearth_session=${alice.session}` } });
  t.match(await following.text(), '<a href="/repos/alice/tool">alice/tool</a>, up to date');
  t.equal((await api(alice, 'POST', `/user/copies/${repositoryId}/own`)).status, 204);
  t.equal(await mirrors.find(repositoryId), null);
  t.equal((await fetch(`${home.url}/ap/repos/alice/tool`)).status, 200, 'now it speaks for itself');
  await git.expect(
    work,
    'push',
    '--quiet',
    `${home.url.replace('://', `://x:${alice.token}@`)}/git/alice/tool.git`,
    'trunk:new',
  );
});

t.test('an origin that rewrites everything leaves its overwritten tips for thirty days', async (t) => {
  const stage = await setStage(t);
  const { home, git, work, clock, commit, push, settle, copy } = stage;
  const one = (await git.expect(work, 'rev-parse', 'HEAD')).trim();
  await git.expect(work, 'checkout', '--quiet', '--orphan', 'other');
  const other = await commit('another beginning');
  await stage.away.modules.repositories.edit(viewerOf(stage.bob), 'bob', 'tool', { defaultBranchProtected: false });
  await push('--force', 'other:trunk');
  clock.advance(61_000);
  await settle();
  await waitUntil(async () => {
    await settle();
    clock.advance(61_000);
    return (await copy()).completeTo === other;
  }, 'the rewritten history is here');
  const { repository } = await home.modules.repositories.find(anonymous, 'alice', 'tool');
  const path = home.modules.git.storage.pathOf(repository.ownerUserId!, repository.id);
  const isRecorded = async () =>
    (await home.modules.db.read.query('SELECT 1 FROM push_updates WHERE kept_until IS NOT NULL')).length > 0;
  const kept = async () =>
    (await git.expect(path, 'for-each-ref', '--format=%(objectname)', 'refs/hearth/undo'))
      .split('\n')
      .filter((oid) => oid === one).length;
  await waitUntil(isRecorded, 'the tip is preserved');
  t.equal((await git.run(path, 'cat-file', '-e', one)).code, 0);
  clock.advance(29 * dayMs);
  await home.modules.repositories.pushes.releaseOverwrittenTips();
  t.equal(await kept(), 1);
  clock.advance(2 * dayMs);
  await home.modules.repositories.pushes.releaseOverwrittenTips();
  t.equal(await kept(), 0);
});

t.test('an origin that grows past a limit stops at it, and the copy stays complete to what it had', async (t) => {
  const stage = await setStage(t, { env: { SERVICE_FEDERATION_COPY_MAX_SIZE: '400KiB' } });
  const { home, git, work, clock, push, settle, copy } = stage;
  const one = (await copy()).completeTo;
  const { randomBytes } = await import('node:crypto');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${work}/large`, randomBytes(700_000));
  await git.expect(work, 'add', 'large');
  await stage.commit('large');
  await push('trunk');
  await waitUntil(async () => {
    await settle();
    clock.advance(61_000);
    return (await copy()).state === 'full';
  }, 'the limit is met');
  const full = await copy();
  t.match(full, { completeTo: one, state: 'full' });
  t.match(
    full.error,
    'The copy would exceed the limit of 409.6 kB for one copy. Hearth does not update it until it fits.',
  );
  const before = await home.modules.mirrors.find(full.repositoryId);
  await push('trunk:more');
  clock.advance(10 * 61_000);
  await settle();
  t.equal(
    (await home.modules.mirrors.find(full.repositoryId))?.lastStartedAt,
    before?.lastStartedAt,
    'not tried again by itself',
  );
  const { repository } = await home.modules.repositories.find(anonymous, 'alice', 'tool');
  const path = home.modules.git.storage.pathOf(repository.ownerUserId!, repository.id);
  t.equal(await home.modules.git.refs.tip(path, 'refs/heads/trunk'), one);
  t.equal((await git.expect(path, 'for-each-ref', 'refs/hearth/mirror')).includes('more'), false);
});

t.test('a copy ends with the follow, after the time of grace, and goes on when it is followed again', async (t) => {
  const { home, away, alice, clock, copy, settle, followId } = await setStage(t, {
    env: { SERVICE_FEDERATION_COPY_GRACE: '3d' },
  });
  const { copies, federation, repositories } = home.modules;
  await federation.unfollow(alice.id, followId);
  await copies.tend();
  t.match(await copy(), { state: 'ending', endsAt: clock.now() + 3 * dayMs });
  clock.advance(2 * dayMs);
  await copies.tend();
  await federation.follow(alice.id, `bob/tool@${away.host}`);
  await copies.tend();
  t.match(await copy(), { endsAt: null, state: 'current' });
  const [again] = (await federation.followingOf(alice.id)).repositories;
  await federation.unfollow(alice.id, again!.id);
  await copies.tend();
  clock.advance(3 * dayMs + 1);
  t.equal(await copies.tend(), 1);
  t.same((await copies.list({ after: null, limit: 10 })).rows, []);
  await t.rejects(repositories.find(viewerOf(alice), 'alice', 'tool'), { code: 'not_found' });
  await settle();
});

t.test('what cannot be kept says why, and nothing is made', async (t) => {
  const { home, alice, followId, away } = await setStage(t, { keep: false });
  const { copies, db, repositories } = home.modules;
  const limited = (limits: Partial<typeof home.config.federation>) =>
    createCopies({ ...home.modules, config: { federation: { ...home.config.federation, ...limits } } });
  const viewer = viewerOf(alice);
  const carol = await home.addPerson('carol');
  const keep = (by = copies) => reasonOf(by.keep(viewer, alice, followId));
  const setState = (state: string) =>
    db.write(({ manager }) => manager.query('UPDATE remote_follows SET state = ?', [state]));
  t.equal(await reasonOf(copies.keep(viewerOf(carol), carol, followId)), 'unknown_follow', 'of another person');
  await setState('PENDING');
  t.equal(await keep(), 'follow_pending');
  await setState('ACCEPTED');
  for (const limit of ['copyMaxSizeBytes', 'copyUserQuotaBytes', 'copyTotalQuotaBytes'])
    t.equal(await keep(limited({ [limit]: 0 })), 'copies_off', limit);
  t.equal((await repositories.countAll()).count, 0);

  await repositories.create(viewer, { name: 'tool', visibility: 'PUBLIC' });
  const { copy } = await copies.keep(viewer, alice, followId);
  t.match(copy.place?.name, /^tool-127\.0\.0\.2-\d+$/, 'a name that is taken gets the host');
  t.equal((await copies.keep(viewer, alice, followId)).isNew, false, 'a second time it is the same');
  await db.write(({ manager }) =>
    manager.query('UPDATE repositories SET size_bytes = 2000 WHERE id = ?', [copy.repositoryId]),
  );
  const full = limited({ copyUserQuotaBytes: 1024 });
  t.match(await full.allowanceOf(copy.repositoryId), { bytes: 1024, limit: 'the quota of 1 kB for all your copies' });
  t.equal((await full.keep(viewer, alice, followId)).isNew, false, 'the one that is there goes on');
  await db.write(({ manager }) => manager.query("UPDATE kept_copies SET actor_id = 'https://x.example/other'"));
  t.equal(await keep(full), 'copy_quota');
  t.equal(await keep(limited({ copyTotalQuotaBytes: 2000 })), 'copy_quota');
  t.match(await limited({ copyTotalQuotaBytes: 5000 }).allowanceOf('another'), { bytes: 3000 });
  await away.stop();
  t.equal(await keep(), 'unresolvable_handle');
  t.equal((await repositories.countAll()).count, 2);
});
