// Files of owners: patterns, faults, whom they name; owners are asked once and approve.
import t from 'tap';
import { createMatchedOwnersCache, matchOwners } from '../../src/pulls/code-owners-file/match-owners.ts';
import { parseOwners } from '../../src/pulls/code-owners-file/parse-owners.ts';
import { readOwnerPattern } from '../../src/pulls/code-owners-file/owner-pattern.ts';
import { policyGroups } from '../../src/pulls/code-owners/owner-groups.ts';
import { announced, at, base, openReviews, roof } from './reviews-fixture.ts';

t.test('patterns', async (t) => {
  const cases: Record<string, [matches: string[], others: string[]]> = {
    '*': [['a', 'a/b/c.ts'], []],
    '**': [['a', 'a/b/c.ts'], []],
    '*.ts': [
      ['a.ts', 'src/a.ts', 'src/deep/a.ts'],
      ['a.tsx', 'ts', 'a.ts.md'],
    ],
    '/*.ts': [['a.ts'], ['src/a.ts']],
    'docs/': [
      ['docs/a', 'x/docs/a/b'],
      ['docs', 'docsx/a'],
    ],
    '/docs/': [
      ['docs/a', 'docs/a/b'],
      ['x/docs/a', 'docs'],
    ],
    '/docs': [['docs', 'docs/a/b'], ['x/docs']],
    'docs/*': [['docs/a'], ['docs/a/b', 'x/docs/a']],
    'docs/**': [
      ['docs/a', 'docs/a/b'],
      ['docs', 'x/docs/a'],
    ],
    'docs/**/api': [['docs/api', 'docs/a/b/api', 'docs/a/api/x'], ['docs/apis']],
    '**/logs': [['logs', 'a/b/logs', 'a/logs/x'], ['logs2']],
    'src/a?c.ts': [['src/abc.ts'], ['src/ac.ts', 'src/a/c.ts']],
    'a\\ b.txt': [['a b.txt', 'x/a b.txt'], ['a']],
    Makefile: [
      ['Makefile', 'sub/Makefile'],
      ['makefile', 'Makefile.am'],
    ],
  };
  for (const [pattern, [matches, others]] of Object.entries(cases)) {
    const read = readOwnerPattern(pattern)!;
    for (const path of matches)
      t.ok(
        read.matches(path.split('/'), () => {}),
        `${pattern} matches ${path}`,
      );
    for (const path of others)
      t.notOk(
        read.matches(path.split('/'), () => {}),
        `${pattern} does not match ${path}`,
      );
  }
  for (const pattern of ['', '/', '!a', '[ab]', '.*\\.go', '(a|b)', '^a$', 'a//b', '../a', 'x'.repeat(401)])
    t.equal(readOwnerPattern(pattern), null, pattern.slice(0, 20));
});

t.test('a pattern and a path that are made to hurt take steps of their product at most', async (t) => {
  const read = readOwnerPattern(`${'*a'.repeat(100)}b`)!;
  let steps = 0;
  t.notOk(read.matches(['a'.repeat(4_000)], (count) => (steps += count)));
  t.ok(steps < 2_000_000, String(steps));
  const deep = readOwnerPattern(`${'**/a/'.repeat(60)}b`)!;
  steps = 0;
  t.notOk(deep.matches('a/'.repeat(2_000).split('/'), (count) => (steps += count)));
  t.ok(steps < 2_000_000, String(steps));
});

t.test('lines, comments and faults', async (t) => {
  const { rules, faults } = parseOwners(
    [
      '# all',
      '*  @alice @bob # both',
      '',
      'docs/ carol@example.org',
      '/free',
      '[Section]',
      '!x @alice',
      '*.go @org/team @org/team/x',
      'a @@x',
    ].join('\r\n'),
  );
  t.same(
    rules.map(({ line, text, owners }) => [line, text, owners]),
    [
      [2, '*', ['@alice', '@bob']],
      [4, 'docs/', ['carol@example.org']],
      [5, '/free', []],
      [8, '*.go', ['@org/team']],
    ],
  );
  t.same(
    faults.map(({ line, kind }) => [line, kind]),
    [
      [6, 'section'],
      [7, 'pattern'],
      [8, 'owner'],
      [9, 'owner'],
    ],
  );
  const long = parseOwners('a @alice\n'.repeat(5_000));
  t.equal(long.rules.length, 1_000);
  t.match(long.faults, [{ kind: 'too_many' }]);
});

t.test(
  'owners by the file of the base branch, asked once, with a turn; who may not write does not count',
  async (t) => {
    const { pulls, issues, deps, repositories, openPull, nextRound, alice, bob, carol } = await openReviews(t, {
      files: {
        ...base,
        '.github/CODEOWNERS': '* @alice\n*.txt @bob @carol @nowhere\ndocs/ dave@example.org\n',
        CODEOWNERS: '* @carol\n',
      },
    });
    await repositories.collaborators.add(alice, roof.owner, roof.name, { username: 'bob', role: 'write' });
    await openPull(alice, { 'a.txt': 'other\n', 'docs/read.md': 'x\n', '.github/CODEOWNERS': '* @alice\n' });
    const found = await pulls.owners.of(alice, at(1));
    t.equal(found.file, '.github/CODEOWNERS', 'the first place counts, as the base branch has it');
    t.same(
      found.groups.map(({ pattern, owners, userIds, files }) => [pattern, owners, userIds, files]),
      [
        ['*', ['@alice'], [alice.id], 1],
        ['*.txt', ['@bob', '@carol', '@nowhere'], [bob.id, carol.id], 1],
      ],
    );
    t.same(
      found.faults.map(({ line, text, kind }) => [line, text, kind]),
      [
        [2, '@nowhere', 'unknown_owner'],
        [3, 'dave@example.org', 'unknown_owner'],
      ],
    );
    t.same(policyGroups(found), [
      { pattern: '*', userIds: [alice.id] },
      { pattern: '*.txt', userIds: [bob.id] },
    ]);
    await announced(issues, deps.db);
    const asked = await pulls.attention.requested(alice, at(1));
    t.same(
      asked.map(({ userId, reason }) => [userId, reason]).sort(),
      [
        [bob.id, 'owner'],
        [carol.id, 'owner'],
      ].sort(),
    );
    t.match((await pulls.attention.waitingFor(bob, { limit: 10 })).rows, [{ reason: 'owner', issue: { number: 1 } }]);
    t.same(
      (await issues.listEntries(alice, at(1))).entries.map(({ kind }) => kind),
      ['opened', 'asked', 'asked'],
    );
    await pulls.attention.request(alice, at(1), { remove: ['carol'] });
    await nextRound(alice, 1, { 'b.txt': 'y\n' });
    await announced(issues, deps.db);
    t.equal(
      (await pulls.attention.requested(alice, at(1))).filter(({ userId }) => userId === bob.id).length,
      1,
      'once',
    );
  },
);

t.test('a renamed file has the owners of both names; owners follow the tip of the base branch', async (t) => {
  const { pulls, branch, openPull, alice, bob, carol, repositories } = await openReviews(t, {
    files: { ...base, '.github/CODEOWNERS': 'docs/ @bob\nattic/ @carol\n' },
  });
  for (const username of ['bob', 'carol'])
    await repositories.collaborators.add(alice, roof.owner, roof.name, { username, role: 'write' });
  await openPull(alice, { 'docs/read.md': null, 'attic/read.md': '# Read\n' });
  const owners = async () =>
    (await pulls.owners.of(alice, at(1))).groups.map(({ pattern, userIds }) => [pattern, userIds]).sort();
  t.strictSame(await owners(), [
    ['attic/', [carol.id]],
    ['docs/', [bob.id]],
  ]);
  branch('main', { '.github/CODEOWNERS': 'docs/ @carol\n' });
  t.strictSame(await owners(), [['docs/', [carol.id]]], 'of the same round');
});

t.test('what is kept of matched owners depends on base and head, each alone', async (t) => {
  const { branch, git, repositories, alice } = await openReviews(t, {
    files: { ...base, CODEOWNERS: 'a.txt @alice\nb.txt @bob\n' },
  });
  const { path } = await repositories.find(alice, roof.owner, roof.name);
  const start = (await git.refs.head(path)).oid!;
  const [one, two] = [branch('topic', { 'a.txt': 'other\n' }), branch('topic', { 'b.txt': 'other\n' })];
  const matchedOwners = createMatchedOwnersCache();
  const between = async (baseOid: string, headOid: string): Promise<string[]> => {
    const matched = await matchOwners({ git, matchedOwners }, path, { baseBranch: 'main', baseOid, headOid });
    return matched.rules.map(({ text }) => text);
  };
  for (let round = 0; round < 2; round += 1) {
    t.strictSame(await between(start, two), ['a.txt', 'b.txt']);
    t.strictSame(await between(one, two), ['b.txt'], 'another base');
    t.strictSame(await between(start, one), ['a.txt'], 'another head');
  }
});

t.test('a team of the owning organisation owns files: its people count, and none of them is named', async (t) => {
  const { pulls, organisations, repositories, openPull, alice, bob, carol } = await openReviews(t, {
    files: { ...base, CODEOWNERS: '*.txt @guild/Glazers @guild/nothing @other/glazers\n' },
  });
  await openPull(alice, { 'a.txt': 'other\n' });
  await organisations.create(alice, { name: 'guild' });
  await organisations.create(alice, { name: 'other' });
  for (const organisation of ['guild', 'other']) {
    await organisations.teams.create(alice, organisation, { name: 'glazers' });
    const member = organisation === 'guild' ? 'bob' : 'carol';
    await organisations.teams.addMember(alice, { organisation, name: 'glazers' }, member);
  }
  await repositories.transfers.start(alice, roof.owner, roof.name, 'guild');
  const there = { ...at(1), owner: 'guild' };
  const at1 = { organisation: 'guild', name: 'glazers' };
  await repositories.teams.setRole(alice, at1, { owner: 'guild', name: roof.name }, 'write');
  const found = await pulls.owners.of(alice, there);
  t.match(found.groups, [{ pattern: '*.txt', userIds: [], writerIds: [bob.id] }]);
  t.same(policyGroups(found), [{ pattern: '*.txt', userIds: [bob.id] }]);
  t.notOk(JSON.stringify(found).includes(carol.id), 'a team of another organisation owns nothing here');
  t.same(
    found.faults.map(({ text, kind }) => [text, kind]),
    [
      ['@guild/nothing', 'unknown_owner'],
      ['@other/glazers', 'unknown_owner'],
    ],
  );
  await organisations.teams.removeMember(alice, at1, 'bob');
  t.same(policyGroups(await pulls.owners.of(alice, there)), []);
});
