// `git push origin HEAD:refs/for/main`: people who may only read open pull requests with stock git.
import t from 'tap';
import { randomBytes } from 'node:crypto';
import { localAdministrator, personViewer } from '../../src/access/index.ts';
import { clientGit } from '../git/git-fixture.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import { baseUrl, remoteLines, startPullServer } from './pull-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const server = await startPullServer(t);
const page = (name: string, rest: string) => `${baseUrl}/repos/alice/${name}/pulls/${rest}`;

t.test('a reader opens a pull request, and adds a round', async (t) => {
  await server.repository('first');
  const bob = await server.clone('first', 'bob');
  const head = await bob.commit('a.txt', 'one\n', 'Add a file\n\nIt was missing.\n\nChange-Id: I0123456789abcdef');
  const first = await bob.push('origin', 'HEAD:refs/for/main');
  t.equal(first.code, 0, first.stderr);
  t.match(first.stderr, /\* \[new reference\] +HEAD -> refs\/pull\/1\/head/);
  t.same(remoteLines(first), [`New pull request #1: ${page('first', '1')}`]);
  t.match(await server.opened('first'), [
    {
      number: 1,
      title: 'Add a file',
      body: 'It was missing.',
      state: 'OPEN',
      author: 'bob',
      base: 'main',
      topic: null,
      isDraft: false,
      source: 'PUSH',
      head,
      rounds: [{ head, change: 'first', commits: 1 }],
    },
  ]);
  t.same(await server.pullRefs('first'), { 'refs/pull/1/head': head });

  // The same change, amended: found by its Change-Id.
  await bob.git(
    'commit',
    '--quiet',
    '--amend',
    '--date=now',
    '-m',
    'Add a file\n\nOn purpose.\n\nChange-Id: I0123456789abcdef',
  );
  const second = await bob.push('origin', 'HEAD:refs/for/main');
  t.equal(second.code, 0, second.stderr);
  t.match(second.stderr, /[0-9a-f]+\.\.[0-9a-f]+ +HEAD -> refs\/pull\/1\/head/);
  t.same(remoteLines(second), [
    `Pull request #1: ${page('first', '1')}`,
    'round 2: 1 commit, 1 new or changed since round 1',
  ]);
  const amended = await bob.git('rev-parse', 'HEAD');
  t.match(await server.opened('first'), [
    { number: 1, head: amended, rounds: [{ head }, { head: amended, change: 'edited' }] },
  ]);

  const again = await bob.push('origin', 'HEAD:refs/for/main');
  t.equal(again.code, 0, again.stderr);
  t.same(remoteLines(again), [`Pull request #1: ${page('first', '1')}`, 'nothing new']);
  t.equal((await server.opened('first'))[0]?.rounds.length, 2);
  // What is fetched and what a mirror of the refs would push back.
  t.equal(await bob.git('ls-remote', 'origin', 'refs/pull/*'), `${amended}\trefs/pull/1/head`);
  t.equal((await server.db.read.query('SELECT count(*) AS n FROM pull_pushes'))[0].n, 0);
});

t.test('which pull request: the option, the topic, else one without a doubt', async (t) => {
  const alice = await server.repository('which');
  await alice.git('branch', 'release/1');
  await alice.push('--quiet', 'origin', 'release/1');
  const bob = await server.clone('which', 'bob');
  await bob.commit('a', '1\n');
  t.equal((await bob.push('origin', 'HEAD:refs/for/main')).code, 0);
  await bob.commit('b', '1\n', 'Second');

  const unclear = await bob.push('origin', 'HEAD:refs/for/main');
  t.equal(unclear.code, 1);
  t.match(unclear.stderr, /! \[remote rejected\] HEAD -> refs\/for\/main \(you have an open pull request for main: #1/);
  t.match(unclear.stderr, /-o pull=1/);
  t.match(unclear.stderr, /refs\/for\/main\/<topic>/);

  t.equal((await bob.push('-o', 'pull=1', 'origin', 'HEAD:refs/for/main')).code, 0);
  t.equal((await bob.push('origin', 'HEAD:refs/for/main/my/topic')).code, 0);
  t.equal((await bob.push('-o', 'topic=other', 'origin', 'HEAD:refs/for/release/1')).code, 0);
  t.match(await server.opened('which'), [
    { number: 1, topic: null, rounds: { length: 2 } },
    { number: 2, topic: 'my/topic', title: 'my/topic', base: 'main' },
    { number: 3, topic: 'other', base: 'release/1', rounds: [{ commits: 2 }] },
  ]);
  await bob.commit('c', '1\n', 'Third');
  t.equal((await bob.push('origin', 'HEAD:refs/for/main/my/topic')).code, 0);
  t.match(await server.opened('which'), [{}, { number: 2, rounds: { length: 2 } }, {}]);

  const refusals: [args: string[], words: RegExp][] = [
    [['HEAD:refs/for/mian'], /there is no branch mian; there are main, release\/1/],
    [['-o', 'pull=9', 'HEAD:refs/for/main'], /there is no pull request #9 here/],
    [['-o', 'pull=3', 'HEAD:refs/for/main'], /pull request #3 is for release\/1, not for main/],
    [['-o', 'pull=x', 'HEAD:refs/for/main'], /pull takes a number/],
    [['-o', 'topic=x', 'HEAD:refs/for/main/y'], /two topics: y and x/],
    [['-o', 'merge=fast', 'HEAD:refs/for/main'], /merge takes merge, squash, rebase, forward/],
    [['origin/main:refs/for/main'], /main has this commit already/],
    [['HEAD:refs/for/main', 'HEAD:refs/for/main/z'], /refs\/for\/ is pushed by itself/],
    [[':refs/for/main'], /nothing that could be deleted|remote ref does not exist/],
  ];
  for (const [args, words] of refusals) {
    const options = args.filter((each, at) => each === '-o' || args[at - 1] === '-o');
    const refs = args.filter((each) => !options.includes(each));
    const refused = await bob.push(...options, 'origin', ...refs);
    t.not(refused.code, 0, args.join(' '));
    t.match(refused.stderr, words, args.join(' '));
  }
  await bob.git('tag', '-a', '-m', 'note', 'noted');
  const tag = await bob.push('origin', 'noted:refs/for/main/tag');
  t.match(tag.stderr, /only commits can be proposed/);
  t.equal((await server.opened('which')).length, 3);

  // Those of others.
  await alice.git('fetch', '--quiet', 'origin', 'refs/pull/1/head');
  await alice.git('checkout', '--quiet', 'FETCH_HEAD');
  await alice.commit('d', '1\n', 'By alice');
  t.equal((await alice.push('-o', 'pull=1', 'origin', 'HEAD:refs/for/main')).code, 0);
  t.match(await server.opened('which'), [{ number: 1, author: 'bob', rounds: { length: 3 } }, {}, {}]);
  t.equal((await alice.push('origin', 'HEAD:refs/for/main')).code, 0);
  await server.announced();
  const foreign = await bob.push('-o', 'pull=4', 'origin', 'HEAD:refs/for/main');
  t.match(foreign.stderr, /pull request #4 is not yours/);
});

t.test('everything else of a reader is refused; hidden and absent look alike', async (t) => {
  await server.repository('others');
  const bob = await server.clone('others', 'bob');
  await bob.commit('a', '1\n');
  const line = /you may not write here; to propose a change: git push origin HEAD:refs\/for\/main/;
  for (const ref of ['refs/heads/main', 'refs/heads/new', 'refs/tags/v1']) {
    const refused = await bob.push('origin', `HEAD:${ref}`);
    t.equal(refused.code, 1, ref);
    t.match(refused.stderr, line, ref);
  }
  t.match((await bob.push('origin', 'HEAD:refs/pull/7/head')).stderr, /reserved for the server/);
  const mixed = await bob.push('origin', 'HEAD:refs/for/main', 'HEAD:refs/heads/new');
  t.match(mixed.stderr, /refs\/for\/ is pushed by itself/);
  t.same(await server.opened('others'), []);
  t.same(await server.pullRefs('others'), {});

  await server.repository('hidden', 'PRIVATE');
  const url = (name: string) => server.url(name).replace('http://', `http://bob:${server.tokens.bob}@`);
  const [hidden, absent] = [
    await bob.push(url('hidden'), 'HEAD:refs/for/main'),
    await bob.push(url('absent'), 'HEAD:refs/for/main'),
  ];
  t.equal(hidden.stderr.replaceAll('hidden', 'absent'), absent.stderr);
  const nameless = await fetch(`${server.url('others')}/info/refs?service=git-receive-pack`);
  t.equal(nameless.status, 401);
  const reading = server.url('others').replace('http://', `http://alice:${server.tokens.aliceReads}@`);
  t.not((await bob.push(reading, 'HEAD:refs/for/main')).code, 0, 'a token that only reads');
  t.same(await server.opened('others'), []);
});

t.test('the owner decides who may; members still push', async (t) => {
  const alice = await server.repository('closed');
  const bob = await server.clone('closed', 'bob');
  await bob.commit('a', '1\n');
  await alice.git('checkout', '--quiet', '-b', 'work');
  await alice.commit('b', '1\n');
  for (const pullsFrom of ['members', 'nobody']) {
    await server.db.write(async ({ manager }) => {
      await manager.query(
        `INSERT INTO issue_settings (repository_id, pulls_from) SELECT id, ? FROM repositories WHERE name = 'closed'
         ON CONFLICT (repository_id) DO UPDATE SET pulls_from = excluded.pulls_from`,
        [pullsFrom],
      );
    });
    const refused = await bob.push('origin', 'HEAD:refs/for/main');
    t.not(refused.code, 0, pullsFrom);
    const own = await alice.push('origin', `HEAD:refs/for/main/${pullsFrom}`);
    t.equal(own.code, pullsFrom === 'members' ? 0 : 1, own.stderr);
    await server.announced();
  }
  t.match(await server.opened('closed'), [{ author: 'alice', topic: 'members' }]);
});

t.test('options', async (t) => {
  const alice = await server.repository('options');
  await alice.commit('a', '1\n');
  await alice.commit('b', '1\n', 'Second\n\nThe body.');
  const base64 = Buffer.from('Ein Titel — größer').toString('base64');
  const options = [
    `title={base64}${base64}`,
    'description=One.\\n\\nTwo \\\\n.',
    'draft',
    'note=First try',
    'label=nowhere',
    'what=ever',
  ].flatMap((option) => ['-o', option]);
  const first = await alice.push(...options, 'origin', 'HEAD:refs/for/main/x');
  t.equal(first.code, 0, first.stderr);
  t.same(remoteLines(first), [
    `New pull request #1: ${page('options', '1')}`,
    'label nowhere: there is no such label here',
    'push option ignored: what=ever',
  ]);
  t.match(await server.opened('options'), [
    {
      title: 'Ein Titel — größer',
      body: 'One.\n\nTwo \\n.',
      isDraft: true,
      rounds: [{ note: 'First try', commits: 2 }],
    },
  ]);
  await alice.commit('c', '1\n', 'Third');
  const second = await alice.push(
    '-o',
    'title=New title',
    '-o',
    'ready',
    '-o',
    'label=x',
    'origin',
    'HEAD:refs/for/main/x',
  );
  t.equal(second.code, 0, second.stderr);
  t.match(remoteLines(second), [
    `Pull request #1: ${page('options', '1')}`,
    'round 2: 3 commits, 1 new or changed since round 1',
  ]);
  await server.announced();
  await waitUntil(async () => !(await server.opened('options'))[0]?.isDraft);
  t.match(await server.opened('options'), [{ title: 'New title', isDraft: false }]);

  // Several commits without a topic: the newest names it, and their texts follow.
  const other = await server.repository('texts');
  await other.commit('a', '1\n');
  await other.commit('b', '1\n', 'Second\n\nThe body.\n\nChange-Id: I0123456789abcdef');
  await other.commit('c', '1\n', 'Third');
  t.equal((await other.push('origin', 'HEAD:refs/for/main')).code, 0);
  t.match(await server.opened('texts'), [{ title: 'Third', body: '**Second**\n\nThe body.' }]);

  // The template of the base branch follows the text; that of the pull request itself does not count.
  await other.git('checkout', '--quiet', '-B', 'main', 'origin/main');
  await other.commit('.hearth/pull_request.md', '---\nname: x\n---\n- [ ] It is tested\n');
  t.equal((await other.push('--quiet', 'origin', 'main')).code, 0);
  await other.commit('.hearth/pull_request.md', 'Nothing to say\n', 'Other template\n\nThe body.');
  t.equal((await other.push('origin', 'HEAD:refs/for/main/y')).code, 0);
  await other.commit('z', '1\n', 'Fifth');
  t.equal((await other.push('-o', 'description=All said', 'origin', 'HEAD:refs/for/main/z')).code, 0);
  t.match((await server.opened('texts')).slice(1), [
    { title: 'Other template', body: 'The body.\n\n- [ ] It is tested' },
    { body: 'All said' },
  ]);
});

t.test('a new branch gets the address that opens a pull request', async (t) => {
  const alice = await server.repository('branches');
  await alice.git('checkout', '--quiet', '-b', 'fix/a&b');
  await alice.commit('a', '1\n');
  const pushed = await alice.push('origin', 'HEAD');
  t.same(remoteLines(pushed), [`Open a pull request for fix/a&b: ${page('branches', 'new?head=fix%2Fa%26b')}`]);
  await alice.commit('b', '1\n');
  t.same(remoteLines(await alice.push('origin', 'HEAD')), []);
  t.same(remoteLines(await alice.push('origin', 'HEAD:refs/heads/c', 'HEAD:refs/heads/d')), []);
});

t.test('reports: --atomic, without side band, without version 2', async (t) => {
  const alice = await server.repository('reports');
  await alice.commit('a', '1\n');
  const atomic = await alice.push('--atomic', 'origin', 'HEAD:refs/for/main/atomic');
  t.equal(atomic.code, 0, atomic.stderr);
  t.match(atomic.stderr, /HEAD -> refs\/pull\/1\/head/);
  const url = await alice.git('remote', 'get-url', 'origin');
  const porcelain = await clientGit(['push', '--porcelain', url, 'HEAD:refs/for/main/porcelain'], {
    cwd: alice.folder,
  });
  t.match(porcelain.stdout, /^\*\tHEAD:refs\/pull\/2\/head\t\[new reference\]$/m);
});

t.test('two first pushes of one topic at once make one pull request', async (t) => {
  await server.repository('at-once');
  const bob = await server.clone('at-once', 'bob');
  await bob.commit('a', '1\n');
  const pushes = await Promise.all(Array.from({ length: 4 }, () => bob.push('origin', 'HEAD:refs/for/main/one')));
  t.ok(
    pushes.some(({ code }) => code === 0),
    'one lands',
  );
  for (const { code, stderr } of pushes)
    if (code !== 0)
      t.match(stderr, /another push to pull request #1 is under way|failed to update ref|reference already exists/);
  t.match(await server.opened('at-once'), [{ number: 1, topic: 'one', rounds: { length: 1 } }]);
  t.equal((await server.opened('at-once')).length, 1);
});

t.test('a commit is known again by the header of jj', async (t) => {
  const alice = await server.repository('jj');
  const bob = await server.clone('jj', 'bob');
  /** The commit at HEAD with a header as jj writes it. */
  const withChangeId = async (changeId: string): Promise<string> => {
    const text = (await bob.git('cat-file', 'commit', 'HEAD')).replace('\n\n', `\nchange-id ${changeId}\n\n`);
    const { stdout } = await clientGit(['hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: bob.folder,
      input: `${text}\n`,
    });
    await bob.git('reset', '--quiet', '--hard', stdout.trim());
    return stdout.trim();
  };
  const [one, two] = ['k'.repeat(32), 'qpvuntsmwlqtqpvuntsmwlqtqpvuntsm'];
  await bob.commit('a.txt', 'one\n');
  await withChangeId(one);
  t.equal((await bob.push('origin', 'HEAD:refs/for/main/first')).code, 0);
  await bob.git('reset', '--quiet', '--hard', 'origin/main');
  await bob.commit('b.txt', 'two\n');
  await withChangeId(two);
  t.equal((await bob.push('origin', 'HEAD:refs/for/main/second')).code, 0);
  await bob.commit('b.txt', 'two, amended\n');
  await bob.git('reset', '--quiet', '--soft', 'origin/main');
  await bob.git('commit', '--quiet', '-m', 'Amended');
  t.match((await bob.push('origin', 'HEAD:refs/for/main')).stderr, /you have open pull requests for main/);
  const amended = await withChangeId(two);
  const pushed = await bob.push('origin', 'HEAD:refs/for/main');
  t.equal(pushed.code, 0, pushed.stderr);
  t.same(remoteLines(pushed), [
    `Pull request #2: ${page('jj', '2')}`,
    'round 2: 1 commit, 1 new or changed since round 1',
  ]);
  t.match(await server.opened('jj'), [{ rounds: { length: 1 } }, { head: amended, rounds: { length: 2 } }]);
  const { pulls, repositories } = server.app.modules;
  const [commit] = await pulls.rounds.commits(localAdministrator, { owner: 'alice', name: 'jj', number: 2 });
  t.equal(commit!.changeId, two);

  await alice.commit('README', 'Hello again\n');
  await alice.push('--quiet', 'origin', 'main');
  await server.announced();
  await pulls.updateBranch(
    localAdministrator,
    { owner: 'alice', name: 'jj', number: 2 },
    { style: 'REBASE', round: 2 },
  );
  const [rebased] = await pulls.rounds.commits(localAdministrator, { owner: 'alice', name: 'jj', number: 2 });
  t.not(rebased!.oid, amended);
  t.equal(rebased!.changeId, two, 'a commit that the server rebases keeps it');

  const { repository } = await repositories.find(localAdministrator, 'alice', 'jj');
  const { pushes } = await repositories.pushes.listActivity({ repository }, { limit: 50 });
  t.same(
    [...new Set(pushes.flatMap(({ updates }) => updates.map(({ ref }) => ref)))],
    ['refs/heads/main'],
    'rounds of pull requests are no branches',
  );
});

t.test('the pack of a person who may not write has a limit of its own', async (t) => {
  const small = await startPullServer(t, { SERVICE_PULLS_CONTRIBUTED_PUSH_SIZE: '1MiB' });
  const alice = await small.repository('small');
  const bob = await small.clone('small', 'bob');
  const noise = randomBytes(1024 * 1024).toString('base64');
  await bob.commit('large.txt', noise);
  const refused = await bob.push('origin', 'HEAD:refs/for/main');
  t.equal(refused.code, 1);
  t.match(refused.stderr, /pack exceeds maximum allowed size/);
  t.notMatch(refused.stderr, /New pull request/, 'nothing is said of what did not come');
  t.same(await small.opened('small'), []);
  t.same(await small.pullRefs('small'), {});
  await alice.commit('large.txt', noise);
  t.equal((await alice.push('origin', 'HEAD:refs/for/main')).code, 0, 'who may write is not limited by it');
  await bob.git('reset', '--quiet', '--hard', 'origin/main');
  await bob.commit('small.txt', 'x\n');
  t.equal((await bob.push('origin', 'HEAD:refs/for/main')).code, 0);
});

t.test('limits of people who may not write', async (t) => {
  await server.repository('limits');
  const bob = await server.clone('limits', 'bob');
  await bob.commit('a', '1\n');
  for (let n = 0; n < 20; n += 1) {
    const { code, stderr } = await bob.push('origin', `HEAD:refs/for/main/t${n}`);
    t.equal(code, 0, stderr);
  }
  const one = await bob.push('origin', 'HEAD:refs/for/main/more');
  t.match(one.stderr, /you have 20 open pull requests here/);
  t.equal((await bob.push('origin', 'HEAD:refs/for/main/t3')).code, 0, 'a known one goes on');
});

t.test(
  'options that a crash has left unset are set later, once each, and nothing that a later push has set',
  async (t) => {
    const { pulls, issues } = server.app.modules;
    await server.repository('crash');
    const bob = await server.clone('crash', 'bob');
    const push = async (...options: string[]) => {
      await bob.commit('a', `${options.join()}\n`);
      const { code, stderr } = await bob.push(
        ...options.flatMap((each) => ['-o', each]),
        'origin',
        'HEAD:refs/for/main/x',
      );
      t.equal(code, 0, stderr);
      await server.announced();
      const [row] = await server.db.read.query(
        'SELECT push_id FROM pull_rounds ORDER BY created_at DESC, round DESC LIMIT 1',
      );
      await waitUntil(async () => (await rows()) === 0);
      return row.push_id as string;
    };
    const rows = async () => Number((await server.db.read.query('SELECT count(*) AS n FROM pull_pushes'))[0].n);
    const first = await push('title=First');
    const second = await push('title=Second', 'ready');
    t.match(await server.opened('crash'), [{ title: 'Second', isDraft: false, rounds: { length: 2 } }]);

    const [{ repository_id: repositoryId, author_id: userId }] = await server.db.read.query(
      "SELECT repository_id, author_id FROM issues WHERE title = 'Second'",
    );
    /** As a process leaves it that dies between the write of the round and the options. */
    const leave = (pushId: string, number = 1) =>
      server.db.write(({ manager, now }) =>
        manager.query(
          'INSERT INTO pull_pushes (push_id, repository_id, number, base_branch, topic, user_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
          [pushId, repositoryId, number, 'main', 'x', userId, now - 1],
        ),
      );
    const bobViewer = personViewer(userId, 'admin');
    const at = { owner: 'alice', name: 'crash', number: 1 };
    await issues.update(bobViewer, at, { title: 'Lost' });
    await pulls.edit(bobViewer, at, { isDraft: true });
    await leave(second);
    await pulls.finishPushOptions({ olderThanMs: 60_000 });
    t.match(await server.opened('crash'), [{ title: 'Lost', isDraft: true }], 'a young push is left to its process');
    await pulls.finishPushOptions({ olderThanMs: 0 });
    t.match(await server.opened('crash'), [{ title: 'Second', isDraft: false }]);
    t.equal(await rows(), 0);
    const { entries } = await issues.listEntries(bobViewer, at);
    await leave(second);
    await pulls.finishPushOptions({ olderThanMs: 0 });
    t.equal((await issues.listEntries(bobViewer, at)).entries.length, entries.length, 'twice is as once');

    await leave(first);
    await pulls.finishPushOptions({ olderThanMs: 0 });
    t.match(await server.opened('crash'), [{ title: 'Second' }], 'a later push has set it');
    await leave(second, 77);
    await pulls.finishPushOptions({ olderThanMs: 0 });
    t.equal(await rows(), 0, 'the row of what never became a pull request goes, too');
  },
);

t.test('what the rounds of a person take has a limit in each repository, and is free again with them', async (t) => {
  const small = await startPullServer(t, { SERVICE_PULLS_CONTRIBUTED_SIZE: '1MiB' });
  const { pulls, issues, repositories } = small.app.modules;
  const alice = await small.repository('budget');
  await small.repository('other');
  const bob = await small.clone('budget', 'bob');
  const noise = (kib = 300) => randomBytes(kib * 1024).toString('base64');
  const push = async (topic: string) => {
    await bob.commit(`${topic}.txt`, noise());
    const pushed = await bob.push('origin', `HEAD:refs/for/main/${topic}`);
    await small.announced();
    return pushed;
  };
  t.equal((await push('one')).code, 0);
  t.equal((await push('one')).code, 0, 'the next round');
  const taken = await small.db.read.query('SELECT bytes FROM pull_rounds ORDER BY round');
  for (const { bytes } of taken) t.ok(bytes > 300 * 1024 && bytes < 420 * 1024, `each round takes its own: ${bytes}`);
  const over = await push('one');
  t.equal(over.code, 1);
  t.match(over.stderr, /pack exceeds maximum allowed size/);
  await bob.git('reset', '--quiet', '--hard', 'HEAD~1');
  const elsewhere = await small.clone('other', 'bob');
  await elsewhere.commit('a.txt', noise());
  t.equal((await elsewhere.push('origin', 'HEAD:refs/for/main')).code, 0, 'another repository has its own');
  for (const round of [1, 2, 3]) {
    await alice.commit('large.txt', noise());
    t.equal((await alice.push('origin', 'HEAD:refs/for/main/x')).code, 0, `who may write has none: ${round}`);
  }
  await small.announced();
  t.same(
    await small.db.read.query(
      "SELECT count(*) AS n FROM pull_rounds r JOIN pulls p ON p.issue_id = r.issue_id WHERE p.topic = 'x' AND r.bytes > 0",
    ),
    [{ n: 0 }],
  );

  // A fork: what does not fit is refused when it is opened, and no round when it is pushed later.
  const people = await small.db.read.query('SELECT id, username FROM users');
  const viewer = (name: string) => {
    const id = people.find(({ username }: { username: string }) => username === name).id as string;
    return { ...personViewer(id, 'admin'), username: name };
  };
  const [asBob, asAlice] = [viewer('bob'), viewer('alice')];
  await repositories.forks.create(asBob, 'alice', 'budget', {});
  const fork = await repositories.find(asBob, 'bob', 'budget');
  await waitUntil(async () => (await small.app.modules.git.refs.list(fork.path)).has('refs/heads/main'));
  const toFork = small
    .url('budget', undefined)
    .replace('http://', `http://bob:${small.tokens.bob}@`)
    .replace('/alice/', '/bob/');
  await bob.git('checkout', '--quiet', '-B', 'mine', 'origin/main');
  const commitAndPush = async (text: string) => {
    const oid = await bob.commit('mine.txt', text);
    const { code, stderr } = await bob.push('--quiet', toFork, 'mine');
    t.equal(code, 0, stderr);
    await small.announced();
    return oid;
  };
  const at = { owner: 'alice', name: 'budget' };
  await commitAndPush(noise(600));
  t.equal(await reasonOf(pulls.open(asBob, at, { title: 'Mine', head: 'bob:mine' })), 'contributed_too_much');
  await bob.git('reset', '--quiet', '--hard', 'HEAD~1');
  await bob.commit('small.txt', 'small\n');
  await bob.push('--quiet', '--force', toFork, 'mine');
  await small.announced();
  const { issue } = await pulls.open(asBob, at, { title: 'Mine', head: 'bob:mine' });
  const large = await commitAndPush(noise(600));
  const ofFork = { ...at, number: issue.number };
  t.match((await pulls.find(asBob, ofFork)).pull, { lastRound: 1 });
  const page = await fetch(
    `${new URL(small.url('budget', undefined)).origin}/repos/alice/budget/pulls/${issue.number}`,
  );
  t.match(await page.text(), /newer commits that are not a round yet/);

  await issues.trash(asAlice, { ...at, number: 1 });
  await small.db.write(({ manager }) =>
    manager.query('UPDATE issues SET deleted_at = 1 WHERE number = 1 AND deleted_at > 0'),
  );
  t.equal(await issues.emptyTrash(), 1);
  pulls.reconsider([issue.id]);
  await waitUntil(async () => (await pulls.find(asBob, ofFork)).pull.lastRound !== 1);
  t.match(
    (await pulls.find(asBob, ofFork)).pull,
    { lastRound: 2, headOid: large },
    'with what was deleted there is space',
  );

  await bob.git('checkout', '--quiet', '-B', 'later', 'origin/main');
  await bob.commit('later.txt', noise(600));
  const later = () => bob.push('origin', 'HEAD:refs/for/main/later');
  t.match(await later(), { code: 1, stderr: /pack exceeds maximum allowed size/ });
  await pulls.merge(asAlice, ofFork, { style: 'merge', round: 2 });
  const fitting = await later();
  t.equal(fitting.code, 0, `and with what was merged: ${fitting.stderr}`);
});
