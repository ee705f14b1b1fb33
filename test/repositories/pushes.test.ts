import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import type { Viewer } from '../../src/access/index.ts';
import type { Found, PushListener } from '../../src/repositories/index.ts';
import { localAdministrator } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { gitSync } from '../git/git-fixture.ts';
import { packOf } from '../git/push-fixture.ts';
import {
  headOf,
  recordingListener,
  openModules,
  push,
  pushTo,
  reasonOf,
  sampleHistory,
  zeroId,
} from './repositories-fixture.ts';
import type { TestModules } from './repositories-fixture.ts';
import { rowOrder } from '../fixtures/test-database.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const main = 'refs/heads/main';

async function openWork(t: Owner, options: Parameters<typeof openModules>[1] = {}) {
  const modules = await openModules(t, options);
  const repository = await modules.repositories.create(modules.alice, { name: 'work', visibility: 'PUBLIC' });
  return {
    ...modules,
    repository,
    path: modules.git.storage.pathOf(modules.alice.id, repository.id),
    history: sampleHistory(modules.folder),
  };
}

interface JournalRow {
  id: string;
  user_id: string | null;
  via: string;
  settled: number;
  announced: number;
  ref: string;
  result: string | null;
  reason: string | null;
}

/** The journal, one line per command, oldest push first. */
function journal({ db }: Pick<TestModules, 'db'>): Promise<JournalRow[]> {
  return db.read.query(
    `SELECT p.id, p.user_id, p.via, p.settled_at IS NOT NULL AS settled, p.announced_at IS NOT NULL AS announced, u.ref, u.result, u.reason
     FROM pushes p JOIN push_updates u ON u.push_id = p.id ORDER BY p.${rowOrder(db)}, u.position`,
  );
}

t.test('an accepted push moves the refs, is journalled with its results, and is announced once', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, git, path, history, clock } = modules;
  const [listener, other] = [recordingListener('one'), recordingListener('two')];
  repositories.pushes.onPush(listener);
  repositories.pushes.onPush(other);
  clock.advance(5000);
  const response = await push(
    modules,
    alice,
    'alice/work',
    [`${zeroId} ${history.commits[3]} ${main}`, `${zeroId} ${history.aside} refs/heads/x`],
    {
      pack: history.pack,
      via: 'ssh',
    },
  );
  t.same(response.report, [`ok ${main}`, 'ok refs/heads/x']);
  t.same(
    [...(await git.refs.list(path))],
    [
      [main, history.commits[3]],
      ['refs/heads/x', history.aside],
    ],
  );
  await repositories.stop();
  const rows = await journal(modules);
  t.match(rows, [
    { user_id: alice.id, via: 'ssh', settled: 1, announced: 1, ref: main, result: 'ok' },
    { ref: 'refs/heads/x', result: 'ok' },
  ]);
  t.same([listener.received, other.received], [[rows[0]!.id], [rows[0]!.id]]);
  const { repository } = await repositories.find(alice, 'alice', 'work');
  t.equal(repository.pushedAt, clock.now());
  t.equal(repository.updatedAt, clock.now());
});

t.test(
  'refs that git refuses are settled as refused, the others as accepted, and listeners get only those',
  async (t) => {
    const modules = await openWork(t);
    const { repositories, alice, history } = modules;
    const received: string[][] = [];
    repositories.pushes.onPush({
      name: 'refs',
      record: async (_tx, { updates }) => void received.push(updates.map(({ ref }) => ref)),
    });
    await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[1]} ${main}`], { pack: history.pack });
    const stale = await push(
      modules,
      alice,
      'alice/work',
      [`${history.commits[0]} ${history.commits[2]} ${main}`, `${zeroId} ${history.commits[2]} refs/heads/new`],
      { pack: history.pack },
    );
    t.match(stale.report, [/^ng refs\/heads\/main /, 'ok refs/heads/new']);
    const none = await push(modules, alice, 'alice/work', [`${history.commits[0]} ${history.commits[2]} ${main}`], {
      pack: history.pack,
    });
    t.match(none.report, [/^ng /]);
    await repositories.stop();
    t.match(
      (await journal(modules)).slice(1),
      [
        { settled: 1, announced: 1, result: 'rejected', reason: /\w/ },
        { result: 'ok', reason: null },
        { settled: 1, announced: 1, result: 'rejected' },
      ],
      'a push without any effect has nothing to announce',
    );
    t.same(received, [[main], ['refs/heads/new']]);
  },
);

t.test('the journal has no name for the command line and deleted accounts', async (t) => {
  const modules = await openWork(t);
  await push(modules, localAdministrator, 'alice/work', [`${zeroId} ${modules.history.commits[0]} ${main}`], {
    pack: modules.history.pack,
  });
  t.match(await journal(modules), [{ user_id: null, result: 'ok' }]);
});

t.test(
  'access lost between the advertisement and the push refuses it, with the reason and without a trace',
  async (t) => {
    const modules = await openWork(t);
    const { repositories, organisations, alice, bob, carol, history, path, git } = modules;
    await organisations.create(alice, { name: 'example' });
    const open = async (): Promise<Found> => repositories.openForPush(bob, 'alice', 'work');
    const give = () => repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'write' });
    const changes: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['you may no longer write here', () => repositories.collaborators.remove(alice, 'alice', 'work', 'bob'), give],
      [
        'you may no longer write here',
        () => repositories.collaborators.changeRole(alice, 'alice', 'work', { username: 'bob', role: 'read' }),
        () => repositories.collaborators.changeRole(alice, 'alice', 'work', { username: 'bob', role: 'write' }),
      ],
      [
        'this repository is archived and read-only',
        () => repositories.setArchived(alice, 'alice', 'work', true),
        () => repositories.setArchived(alice, 'alice', 'work', false),
      ],
      [
        'this repository has a new owner; push to its new address',
        () => repositories.transfers.start(alice, 'alice', 'work', 'example'),
        () => repositories.transfers.start(alice, 'example', 'work', 'alice'),
      ],
      ['repository not found', () => repositories.trash.move(alice, 'alice', 'work'), async () => {}],
    ];
    await give();
    const opened = await open();
    for (const [reason, change, undo] of changes) {
      await change();
      const { report } = await pushTo(modules, bob, opened, [`${zeroId} ${history.commits[0]} ${main}`], {
        pack: history.pack,
      });
      t.same(report, [`ng ${main} ${reason}`]);
      await undo();
    }
    t.same(await journal(modules), []);
    t.same([...(await git.refs.list(path))], []);
    t.equal(await reasonOf(repositories.openForPush(carol, 'alice', 'work')), 'repository_not_found');
  },
);

t.test('what a team gave and was lost during a push refuses it, without a trace', async (t) => {
  const modules = await openWork(t);
  const { repositories, organisations, alice, bob, history } = modules;
  const { teams } = organisations;
  await organisations.create(alice, { name: 'example' });
  await repositories.transfers.start(alice, 'alice', 'work', 'example');
  const team = { organisation: 'example', name: 'writers' };
  const work = { owner: 'example', name: 'work' };
  await teams.create(alice, 'example', { name: 'writers' });
  await teams.addMember(alice, team, 'bob');
  const give = (role = 'write') => repositories.teams.setRole(alice, team, work, role);
  await give();
  const changes: [() => Promise<unknown>, () => Promise<unknown>][] = [
    [() => teams.removeMember(alice, team, 'bob'), () => teams.addMember(alice, team, 'bob')],
    [() => give('read'), () => give()],
    [() => repositories.teams.removeRole(alice, team, work), () => give()],
    [() => teams.delete(alice, team), async () => {}],
  ];
  for (const [change, undo] of changes) {
    const opened = await repositories.openForPush(bob, 'example', 'work');
    await change();
    const { report } = await pushTo(modules, bob, opened, [`${zeroId} ${history.commits[0]} ${main}`], {
      pack: history.pack,
    });
    t.same(report, [`ng ${main} you may no longer write here`]);
    await undo();
  }
  t.same(await journal(modules), []);
});

t.test('a refusal to push gives the reason to people who may read', async (t) => {
  const { repositories, alice, bob } = await openWork(t);
  t.equal(await reasonOf(repositories.openForPush(bob, 'alice', 'work')), 'read_only_access');
  t.equal(
    await reasonOf(repositories.openForPush({ ...alice, via: 'token', scope: 'read' }, 'alice', 'work')),
    'read_only_access',
  );
  for (const [viewer, why] of [
    [bob, /^You can read this repository/],
    [{ ...bob, via: 'token', scope: 'write' }, /^You can read this repository/],
    [{ ...bob, via: 'token', scope: 'read' }, /^This access token can only read/],
    [{ ...alice, via: 'token', scope: 'read' }, /^This access token can only read/],
  ] as [Viewer, RegExp][])
    await t.rejects(repositories.openForPush(viewer, 'alice', 'work'), { message: why } as never);
  await repositories.setArchived(alice, 'alice', 'work', true);
  t.equal(await reasonOf(repositories.openForPush(alice, 'alice', 'work')), 'repository_archived');
  await repositories.changeVisibility(alice, 'alice', 'work', 'PRIVATE');
  t.equal(await reasonOf(repositories.openForPush(bob, 'alice', 'work')), 'repository_not_found');
});

t.test('a full disk refuses pushes and images, but not reads', async (t) => {
  const modules = await openWork(t, { settings: { lowDiskFloorBytes: Number.MAX_SAFE_INTEGER } });
  const { report } = await push(
    modules,
    modules.alice,
    'alice/work',
    [`${zeroId} ${modules.history.commits[0]} ${main}`],
    {
      pack: modules.history.pack,
    },
  );
  t.match(report, [/low on disk space; reading still works/]);
  const png = { declaredType: 'image/png', bytes: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') };
  t.equal(await reasonOf(modules.repositories.images.replace(modules.alice, 'alice', 'work', png)), 'low_disk_space');
});

t.test('the first push sets the default branch when the configured one is missing', async (t) => {
  const { repositories, alice, git, history } = await openWork(t);
  const first = async (name: string, refs: string[], again: string[] = [], at: Record<string, string> = {}) => {
    const { id } = await repositories.create(alice, { name, visibility: 'PUBLIC' });
    for (const some of [refs, again].filter((list) => list.length > 0)) {
      await push(
        { repositories },
        alice,
        `alice/${name}`,
        some.map((ref) => `${zeroId} ${at[ref] ?? history.commits[0]} ${ref}`),
        { pack: history.pack },
      );
    }
    const { repository } = await repositories.find(alice, 'alice', name);
    const head = headOf(git.storage.pathOf(alice.id, id));
    t.equal(head, `ref: refs/heads/${repository.defaultBranch}`, 'git and the row say the same');
    return repository.defaultBranch;
  };
  t.equal(await first('a', ['refs/heads/topic', main]), 'main');
  t.equal(await first('b', ['refs/heads/a', 'refs/heads/master']), 'master');
  t.equal(await first('c', ['refs/heads/zebra', 'refs/heads/apple']), 'zebra', 'else the first in the push');
  t.equal(
    await first('g', ['refs/heads/2.2', 'refs/heads/unstable', 'refs/heads/x'], [], {
      'refs/heads/unstable': history.commits[3]!,
    }),
    'unstable',
    'or where the newest commit is',
  );
  t.equal(await first('d', ['refs/tags/v1']), 'main', 'a tag is no branch');
  t.equal(await first('e', ['refs/tags/v1'], ['refs/heads/trunk']), 'trunk', 'after a push without branches, too');
  t.equal(await first('f', [main], ['refs/heads/topic']), 'main');
});

t.test('the size of a repository follows its pushes and its packing', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history, git, path } = modules;
  const size = async () => (await repositories.find(alice, 'alice', 'work')).repository.sizeBytes;
  t.equal(await size(), 0);
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[3]} ${main}`], { pack: history.pack });
  t.equal(await repositories.statistics.updateDue(), 1);
  const loose = await size();
  t.equal(loose, await git.storage.size(path));
  t.ok(loose > 400, `${loose} bytes`);
  await git.maintenance.pack(path);
  t.equal(await repositories.statistics.measureAll(), 1);
  t.not(await size(), loose);
  t.equal(await repositories.statistics.measureAll(), 0, 'what did not change is not written');
  t.equal(await git.storage.size(`${path}.gone`), 0);

  const folders = [];
  for (const name of ['damaged', 'later']) {
    await repositories.create(alice, { name, visibility: 'PRIVATE' });
    folders.push((await repositories.find(alice, 'alice', name)).path);
  }
  rmSync(`${folders[0]}/objects`, { recursive: true });
  writeFileSync(`${folders[0]}/objects`, 'no folder');
  writeFileSync(`${folders[1]}/objects/pack/pack-x.pack`, 'ten bytes.');
  t.equal(
    await repositories.statistics.measureAll(),
    1,
    'one that cannot be read does not keep the others from being measured',
  );
  t.equal((await repositories.find(alice, 'alice', 'later')).repository.sizeBytes, 10);
});

t.test('the default branch is neither deleted nor rewritten; rewriting can be allowed', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history, git, path } = modules;
  const { commits, aside, work } = history;
  await push(
    modules,
    alice,
    'alice/work',
    [`${zeroId} ${commits[3]} ${main}`, `${zeroId} ${commits[3]} refs/heads/topic`],
    { pack: history.pack },
  );
  const before = await git.refs.list(path);
  const deletions = [`${commits[3]} ${zeroId} ${main}`, `${commits[3]} ${zeroId} refs/heads/topic`];
  const atomic = await push(modules, alice, 'alice/work', deletions, {
    capabilities: 'report-status side-band-64k atomic',
  });
  const reason = 'main is the default branch and cannot be deleted; choose another one first';
  t.same(atomic.report, [`ng ${main} ${reason}`, 'ng refs/heads/topic atomic push failure'], 'all or nothing');
  t.same(await git.refs.list(path), before);
  t.equal((await journal(modules)).length, 2, 'nothing of it is journalled');
  const deletion = await push(modules, alice, 'alice/work', deletions);
  t.same(deletion.report, [`ng ${main} ${reason}`, 'ok refs/heads/topic'], 'the other one goes');
  t.match((await journal(modules)).slice(2), [{ ref: 'refs/heads/topic', settled: 1, result: 'ok' }]);
  t.equal((await journal(modules)).length, 3, 'the journal has what was accepted');
  await push(modules, alice, 'alice/work', [`${zeroId} ${commits[3]} refs/heads/topic`], { pack: history.pack });
  const rewrite = await push(modules, alice, 'alice/work', [`${commits[3]} ${aside} ${main}`], {
    pack: packOf(work, aside, `^${commits[2]}`),
  });
  t.same(rewrite.report, [
    `ng ${main} branch rule "default branch" (~DEFAULT_BRANCH): force pushes are not allowed; fetch, then merge or rebase`,
  ]);
  t.match((await journal(modules)).slice(-1), [{ settled: 1, announced: 1, result: 'rejected' }]);
  t.same(await git.refs.list(path), before);

  const topic = await push(modules, alice, 'alice/work', [`${commits[3]} ${aside} refs/heads/topic`], {
    pack: history.pack,
  });
  t.same(topic.report, ['ok refs/heads/topic'], 'other branches are free');
  await repositories.edit(alice, 'alice', 'work', { defaultBranchProtected: false });
  t.same(
    (await push(modules, alice, 'alice/work', [`${commits[3]} ${aside} ${main}`], { pack: history.pack })).report,
    [`ok ${main}`],
  );
  t.match((await push(modules, alice, 'alice/work', [`${aside} ${zeroId} ${main}`])).report, [
    /^ng .* cannot be deleted/,
  ]);
});

t.test('protection follows the default branch', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history } = modules;
  const { commits } = history;
  await push(
    modules,
    alice,
    'alice/work',
    [`${zeroId} ${commits[3]} ${main}`, `${zeroId} ${commits[3]} refs/heads/topic`],
    { pack: history.pack },
  );
  await repositories.edit(alice, 'alice', 'work', { defaultBranch: 'topic' });
  t.match((await push(modules, alice, 'alice/work', [`${commits[3]} ${zeroId} refs/heads/topic`])).report, [
    /^ng refs\/heads\/topic topic is the default branch/,
  ]);
  t.same((await push(modules, alice, 'alice/work', [`${commits[3]} ${zeroId} ${main}`])).report, [`ok ${main}`]);
});

t.test('deleting and transferring wait for a running push: 409, whichever process asks', async (t) => {
  const modules = await openWork(t);
  const { repositories, openAgain, alice, organisations, history, git } = modules;
  await organisations.create(alice, { name: 'example' });
  const otherServer = openAgain().repositories;
  const seen: string[] = [];
  const receivePack = git.transfers.receivePack;
  // Asked when the push is journalled and git is about to start.
  git.transfers.receivePack = (request) => {
    const decide: typeof request.hooks.preReceive = async (commands) => {
      const verdict = await request.hooks.preReceive(commands);
      for (const deps of [repositories, otherServer]) {
        seen.push(
          await reasonOf(deps.trash.move(alice, 'alice', 'work')),
          await reasonOf(deps.transfers.start(alice, 'alice', 'work', 'example')),
        );
      }
      await repositories.pushes.finish();
      return verdict;
    };
    return receivePack({ ...request, hooks: { ...request.hooks, preReceive: decide } });
  };
  const response = await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], {
    pack: history.pack,
  });
  t.same(
    seen,
    Array.from({ length: 4 }, () => 'push_in_progress'),
  );
  t.same(response.report, [`ok ${main}`], 'and the job that finishes pushes leaves a running one alone');
  t.match(await journal(modules), [{ settled: 1, result: 'ok' }]);
  t.equal(await reasonOf(repositories.transfers.start(alice, 'alice', 'work', 'example')), 'accepted');
});

t.test('a throwing listener is retried until it has recorded; the others are not called twice', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history, events, clock } = modules;
  let failures = 3;
  const [before, after] = [recordingListener('before'), recordingListener('after')];
  const prepared: string[] = [];
  const stubborn: PushListener<string> & { received: string[] } = {
    name: 'stubborn',
    received: [],
    async prepare({ id }) {
      prepared.push(id);
      return `prepared ${id}`;
    },
    async record(tx, { id }, text) {
      await tx.manager.query('UPDATE repositories SET description = ?', [text]);
      if (failures-- > 0) throw new Error('not today');
    },
    recorded: ({ id }) => stubborn.received.push(id),
  };
  for (const listener of [before, stubborn, after]) repositories.pushes.onPush(listener as PushListener);
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await repositories.stop();
  t.equal(
    (await repositories.find(alice, 'alice', 'work')).repository.description,
    '',
    'a failed record leaves nothing',
  );
  t.match(await journal(modules), [{ settled: 1, announced: 0 }]);
  t.same([before.received.length, stubborn.received.length, after.received.length], [1, 0, 1]);
  await repositories.pushes.finish();
  await repositories.pushes.finish();
  t.equal(prepared.length, 3, 'the last try waits for a while: load alone parks no push');
  clock.advance(10 * 60_000);
  await repositories.pushes.finish();
  await repositories.pushes.finish();
  t.same([before.received.length, stubborn.received.length, after.received.length], [1, 1, 1]);
  t.equal(prepared.length, 4, 'once with the others, and each time alone');
  t.match(await journal(modules), [{ announced: 1 }]);
  t.equal(events().filter((event) => event === 'push.listener_failed').length, 2);
  t.match((await repositories.find(alice, 'alice', 'work')).repository.description, /^prepared /);
  t.same(await modules.db.read.query('SELECT * FROM push_announcements'), [], 'no marks pile up');
});

t.test('listeners with nothing to record are not called again beside one that is retried', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history } = modules;
  const calls: string[] = [];
  const called = (name: string, prepared: string | null): PushListener<string> => ({
    name,
    prepare: async () => (calls.push(name), prepared),
  });
  let failures = 1;
  repositories.pushes.onPush(called('idle', null));
  repositories.pushes.onPush(called('only reads', 'something'));
  repositories.pushes.onPush({
    name: 'failing',
    async prepare() {
      calls.push('failing');
      if (failures-- > 0) throw new Error('not today');
      return null;
    },
  });
  repositories.pushes.onPush(called('later', null));
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await repositories.stop();
  await repositories.pushes.finish();
  t.same(calls, ['idle', 'only reads', 'failing', 'later', 'failing']);
  t.match(await journal(modules), [{ announced: 1 }]);
  t.same(await modules.db.read.query('SELECT * FROM push_announcements'), [], 'no marks pile up');
});

t.test('effects that are ready do not wait for a listener that takes long', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history } = modules;
  const { promise, resolve } = Promise.withResolvers<string>();
  const quick = recordingListener('quick');
  repositories.pushes.onPush(quick);
  repositories.pushes.onPush({ name: 'slow', prepare: () => promise, record: async () => {} });
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await waitUntil(() => quick.received.length !== 0);
  t.match(await journal(modules), [{ announced: 0 }]);
  resolve('at last');
  await repositories.stop();
  t.match(await journal(modules), [{ announced: 1 }]);
});

t.test('a listener that reads a repository during its transfer is retried, and counts no failure', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, history, events } = modules;
  const seen: (string | null)[] = [];
  repositories.pushes.onPush({
    name: 'reader',
    async prepare({ repository }) {
      seen.push(repository.ownerUserId);
      if (seen.length > 1) return null;
      await modules.db.write(({ manager }) => manager.query('UPDATE repositories SET owner_user_id = ?', [bob.id]));
      throw new Error('not a git repository');
    },
  });
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await repositories.stop();
  await modules.db.write(({ manager }) => manager.query('UPDATE repositories SET owner_user_id = ?', [alice.id]));
  await repositories.pushes.finish();
  t.same(seen, [alice.id, alice.id]);
  t.notOk(events().includes('push.listener_failed'));
  t.match(await journal(modules), [{ announced: 1 }]);
});

t.test('effects of listeners are recorded in one write; without effects there is none', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history } = modules;
  const calls: string[] = [];
  const recorded: string[] = [];
  const telling = (name: string, says: string | null, isAwaited = false): PushListener => ({
    name,
    isAwaited,
    prepare: async () => (calls.push(name), says),
    async record(tx, { id }, push) {
      const marks: { listener: string }[] = await tx.manager.query(
        'SELECT listener FROM push_announcements WHERE push_id = ? ORDER BY listener',
        [id],
      );
      recorded.push(`${name}: ${push}; marked ${marks.map(({ listener }) => listener)}; asked ${calls}`);
    },
  });
  repositories.pushes.onPush(telling('silent', null));
  repositories.pushes.onPush(telling('first', 'one'));
  repositories.pushes.onPush(telling('awaited', 'two', true));
  repositories.pushes.onPush(telling('third', 'three'));
  repositories.pushes.onPush(telling('fourth', 'four'));
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await repositories.stop();
  const before = 'silent,first,awaited';
  t.same(recorded, [
    `first: one; marked ; asked ${before}`,
    `awaited: two; marked first; asked ${before}`,
    `third: three; marked awaited,first; asked ${before},third,fourth`,
    `fourth: four; marked awaited,first; asked ${before},third,fourth`,
  ]);
  t.match(await journal(modules), [{ announced: 1 }]);
});

t.test('pushes to one repository are announced in order', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, history } = modules;
  const received: string[] = [];
  let wait = 30;
  repositories.pushes.onPush({
    name: 'slow',
    // The first takes longest.
    prepare: async () => new Promise<true>((resolve) => setTimeout(resolve, (wait -= 10), true)),
    record: async (_tx, { updates }) => void received.push(updates[0]!.ref),
  });
  for (const name of ['a', 'b', 'c'])
    await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} refs/heads/${name}`], {
      pack: history.pack,
    });
  await repositories.stop();
  t.same(received, ['refs/heads/a', 'refs/heads/b', 'refs/heads/c']);
});

t.test('with concurrent announcers of the same pushes each listener records each push once', async (t) => {
  const modules = await openWork(t);
  const { repositories, openAgain, alice, history } = modules;
  for (const [at, id] of history.commits.entries()) {
    await push(modules, alice, 'alice/work', [`${zeroId} ${id} refs/heads/b${at}`], { pack: history.pack });
  }
  await repositories.stop();
  await modules.db.write((tx) => tx.manager.query('UPDATE pushes SET announced_at = NULL'));
  const received: string[] = [];
  const announcers = Array.from({ length: 4 }, () => openAgain().repositories);
  for (const announcer of [repositories, ...announcers]) {
    announcer.pushes.onPush({
      name: 'same',
      prepare: () => new Promise((resolve) => setTimeout(resolve, 5)),
      record: async (_tx, { id }) => void received.push(id),
    });
  }
  await Promise.all([...announcers, repositories].map((announcer) => announcer.pushes.finish()));
  t.equal(received.length, history.commits.length);
  t.equal(new Set(received).size, received.length);
  await repositories.pushes.finish();
  t.equal(received.length, history.commits.length);
});

t.test('after an exit between two listeners the next start continues with the second', async (t) => {
  const modules = await openWork(t);
  const { repositories, restart, alice, history } = modules;
  const one = recordingListener('one');
  repositories.pushes.onPush(one);
  repositories.pushes.onPush({ name: 'two', record: () => Promise.reject(new Error('the power went')) });
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await repositories.stop();

  const next = (await restart()).repositories;
  const [oneAgain, two] = [recordingListener('one'), recordingListener('two')];
  next.pushes.onPush(oneAgain);
  next.pushes.onPush(two);
  await next.recover();
  await next.pushes.recover();
  t.same([one.received.length, oneAgain.received.length, two.received.length], [1, 0, 1]);
  await next.pushes.finish();
  t.equal(two.received.length, 1);
});

t.test(
  'after a power failure during a push of many refs, refs without a value are removed and the rest is settled',
  async (t) => {
    const modules = await openWork(t);
    const { db, path, restart, alice, history } = modules;
    const refs = Array.from({ length: 60 }, (_, n) => `refs/heads/b${n}`);
    const commands = refs.map((ref) => `${zeroId} ${history.commits[0]} ${ref}`);
    await push(modules, alice, 'alice/work', commands, { pack: history.pack });
    // As if the machine had stopped before git's report: unsettled, and one ref was not on the disk yet.
    await modules.repositories.stop();
    gitSync(['update-ref', '-d', refs[7]!], { cwd: path });
    mkdirSync(`${path}/refs/heads`, { recursive: true });
    writeFileSync(`${path}/${refs[7]}`, '');
    await db.write(async ({ manager }) => {
      await manager.query('UPDATE pushes SET settled_at = NULL, announced_at = NULL');
      await manager.query('UPDATE push_updates SET result = NULL');
    });

    const next = await restart();
    await next.repositories.recover();
    await next.repositories.pushes.recover();
    t.notOk(existsSync(`${path}/${refs[7]}`));
    t.equal((await next.git.refs.list(path)).size, 59);
    const results = (await journal(modules)).map(({ result }) => result);
    t.same(Map.groupBy(results, (result) => result).get('ok')?.length, 59);
    t.equal(results[7], 'rejected');
  },
);
