// runs alone: it measures the memory of its process
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Git, PatchLimits } from '../../src/git/index.ts';
import { makeEdgeCaseRepository, notUtf8 } from '../fixtures/edge-case-repository.ts';
import { errorWithReason, clientEnvironment, gitSync, openGit } from './git-fixture.ts';

const none = Buffer.alloc(0);
const limits: PatchLimits = { files: 100, linesPerFile: 1_000, bytesPerLine: 5_000, bytes: 1024 * 1024 };

let git: Git;
let path: string;
let tip: string;

t.before(async () => {
  const deps = await openGit(t);
  git = deps.git;
  path = await deps.newRepository();
  await makeEdgeCaseRepository(path);
  tip = (await git.refs.head(path)).oid!;
});

/** git's own output. */
const runGit = (...args: string[]): string => gitSync(['-C', path, ...args], { env: { GIT_LITERAL_PATHSPECS: '1' } });
const rawTree = (commit: string, folder: string): Buffer[] =>
  execFileSync('git', ['-C', path, 'ls-tree', '-z', '--name-only', `${commit}:${folder}`], {
    env: clientEnvironment,
    maxBuffer: 1e8,
  })
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '')
    .map((name) => Buffer.from(name, 'latin1'));
const locate = (text: string | Buffer) => git.queries.resolveRefPath(path, Buffer.from(text as string));

t.test('in a URL the longest existing ref wins, and the rest is the path', async (t) => {
  const cases: [string, kind: string, ref: string, file: string][] = [
    ['main', 'branch', 'main', ''],
    ['main/src/core.ts', 'branch', 'main', 'src/core.ts'],
    ['feature/deep/er/branch/src', 'branch', 'feature/deep/er/branch', 'src'],
    ['odd/README.md', 'branch', 'odd/README.md', ''],
    ['v1.1/README.md', 'tag', 'v1.1', 'README.md'],
    ['HEAD/src', 'head', 'HEAD', 'src'],
    [`${'TIP'}/a//b`, 'commit', 'TIP', 'a/b'],
    ['<script>alert(1)</script>/x', 'branch', '<script>alert(1)</script>', 'x'],
  ];
  for (const [text, kind, ref, file] of cases) {
    const found = await locate(text.replace('TIP', tip));
    t.match({ ...found, file: found.file.toString() }, { kind, ref: ref.replace('TIP', tip), file }, text);
  }
  t.equal((await locate(`${tip.slice(0, 8)}/x`)).oid, tip, 'a short id');
  t.same((await locate(Buffer.concat([Buffer.from('main/'), notUtf8]))).file, notUtf8, 'names are bytes');
  for (const text of [
    'nowhere',
    'main^',
    'main~1/x',
    'main:README.md',
    '--all',
    'refs/hearth/x',
    '',
    '@{0}',
    'main@{1}',
    '../main',
  ]) {
    await t.rejects(locate(text), errorWithReason('revision_not_found'), text);
  }
});

t.test('the last commit of every entry is the one that git log -1 names', async (t) => {
  for (const commit of [tip, runGit('rev-parse', 'topic'), runGit('rev-parse', 'main~2')]) {
    for (const folder of ['', 'src', 'docs', 'many', 'odd', 'images']) {
      const names = rawTree(commit, folder);
      const { rows, isComplete } = await git.queries.lastCommits(path, {
        oid: commit,
        folder: Buffer.from(folder),
        names,
        waitMs: 30_000,
      });
      t.ok(isComplete);
      for (const name of names) {
        const text = name.toString();
        // A name that is not text cannot be an argument of a process.
        if (!Buffer.from(text).equals(name)) continue;
        const file = folder === '' ? text : `${folder}/${text}`;
        t.equal(
          rows.get(name.toString('latin1'))?.oid,
          runGit('log', '-1', '--format=%H', commit, '--', file),
          `${commit.slice(0, 8)} ${JSON.stringify(file)}`,
        );
      }
      t.equal(rows.size, names.length);
    }
  }
});

t.test(
  'a generated history with merges, reverts and mode changes gives the same last commits as git, and so does a walk that starts at a stored table',
  async (t) => {
    const deps = await openGit(t);
    const repository = await deps.newRepository();
    gitSync(['-C', repository, 'fast-import', '--quiet', '--done'], { input: tangledHistory() });
    const gitThere = (...args: string[]) => gitSync(['-C', repository, ...args]);
    const tips = gitThere('rev-list', '--reverse', '--topo-order', 'main').split('\n');
    const compare = async (commits: string[], folders: string[]) => {
      for (const commit of commits) {
        for (const folder of folders) {
          const names = gitThere('ls-tree', '--name-only', `${commit}:${folder}`).split('\n');
          const { rows } = await deps.git.queries.lastCommits(repository, {
            oid: commit,
            folder: Buffer.from(folder),
            names: names.map((name) => Buffer.from(name)),
            waitMs: 30_000,
          });
          const differing = names.filter(
            (name) =>
              rows.get(name)?.oid !==
              gitThere('log', '-1', '--format=%H', commit, '--', folder === '' ? name : `${folder}/${name}`),
          );
          t.same(differing, [], `${folder || 'root'} at ${commit.slice(0, 8)}`);
        }
      }
    };
    const at = (share: number): string => tips[Math.floor((tips.length - 1) * share)]!;
    await compare([at(0.5), tips.at(-2)!, tips.at(-1)!], ['', 'd0']);
    t.equal(await deps.git.maintenance.run(), 1, 'a repository without a commit-graph was noticed');
    t.match(gitThere('commit-graph', 'verify'), '');
    // Older commits have no use for tables of newer ones: these walks use the graph and its filters alone.
    await compare([at(0.45), at(0.3), at(0.1)], ['', 'd0', 'd1']);
    const [tree, tip] = gitThere('log', '-1', '--format=%T %H', 'main').split(' ') as [string, string];
    gitThere(
      'update-ref',
      'refs/heads/main',
      gitThere('commit-tree', tree, '-p', tip, '-p', at(0.2), '-m', 'Beyond the graph'),
    );
    await compare([gitThere('rev-parse', 'main')], ['', 'd0', 'd1']);

    // git.read_commit_graph = false: no stored table helps this instance either.
    const without = await openGit(t, { limits: { readCommitGraph: false } });
    const names = gitThere('ls-tree', '--name-only', 'main').split('\n');
    const copy = await without.newRepository();
    gitSync(['-C', copy, 'fetch', '--quiet', repository, 'main:main']);
    gitSync(['-C', copy, 'commit-graph', 'write', '--reachable', '--changed-paths']);
    const { rows } = await without.git.queries.lastCommits(copy, {
      oid: gitThere('rev-parse', 'main'),
      folder: Buffer.from(''),
      names: names.map((name) => Buffer.from(name)),
      waitMs: 30_000,
    });
    for (const name of names)
      t.equal(rows.get(name)?.oid, gitThere('log', '-1', '--format=%H', 'main', '--', name), name);
  },
);

t.test(
  'a long history gives the same last commits as git, by rev-list and by commit-graph, and one process makes many comparisons',
  async (t) => {
    const deps = await openGit(t);
    const repository = await deps.newRepository();
    const lines: string[] = [];
    const files = ['café', 'plain', 'deep/a b/one', 'deep/a b/two', 'deep/other', 'busy'];
    const set = (file: string, text: string) => `M 644 inline ${file}\ndata ${text.length}\n${text}`;
    for (let step = 0; step < 400; step += 1) {
      const changes =
        step === 0
          ? files.map((file) => set(file, 'start'))
          : [set('busy', `${step}`), ...(step % 97 === 0 ? [set(files[(step / 97) % 5]!, `${step}`)] : [])];
      lines.push(
        'commit refs/heads/main',
        `committer Alice <alice@example.org> ${1_700_000_000 + step} +0000`,
        'data 1',
        'x',
        ...changes,
        '',
      );
    }
    gitSync(['-C', repository, 'fast-import', '--quiet', '--done'], { input: `${lines.join('\n')}\ndone\n` });
    const gitThere = (...args: string[]) => gitSync(['-C', repository, '-c', 'core.quotePath=false', ...args]);
    const check = async (commit: string, folder: string, what: string) => {
      const names = gitThere('ls-tree', '--name-only', `${commit}:${folder}`).split('\n');
      const { rows } = await deps.git.queries.lastCommits(repository, {
        oid: commit,
        folder: Buffer.from(folder),
        names: names.map((name) => Buffer.from(name)),
        waitMs: 30_000,
      });
      for (const name of names)
        t.equal(
          rows.get(Buffer.from(name).toString('latin1'))?.oid,
          gitThere('log', '-1', '--format=%H', commit, '--', folder === '' ? name : `${folder}/${name}`),
          `${what}: ${folder}/${name}`,
        );
    };
    for (const folder of ['', 'deep', 'deep/a b']) await check(gitThere('rev-parse', 'main'), folder, 'a list');
    gitThere('commit-graph', 'write', '--reachable', '--changed-paths', '--split');
    for (const folder of ['', 'deep', 'deep/a b']) await check(gitThere('rev-parse', 'main~1'), folder, 'the graph');
    const graphs = `${repository}/objects/info/commit-graphs`;
    const [graph] = readdirSync(graphs).filter((name) => name.endsWith('.graph'));
    const whole = readFileSync(`${graphs}/${graph}`);
    for (const [index, broken] of [whole.subarray(0, 40), Buffer.alloc(0), Buffer.alloc(900, 0xff)].entries()) {
      rmSync(`${graphs}/${graph}`);
      writeFileSync(`${graphs}/${graph}`, broken);
      await check(gitThere('rev-parse', `main~${index + 2}`), 'deep', 'a graph that is damaged is not used');
    }
  },
);

/** Branches that diverge and merge, with either side taken, changes reverted, modes flipped. */
function tangledHistory(): string {
  const lines: string[] = [];
  let mark = 0;
  const commit = (ref: string, parents: number[], changes: string[]): number => {
    mark += 1;
    lines.push(
      `commit refs/heads/${ref}`,
      `mark :${mark}`,
      `committer Alice <alice@example.org> ${1_700_000_000 + ((mark * 37) % 90) * 60} +0000`,
      'data 1',
      'x',
    );
    parents.forEach((parent, at) => lines.push(`${at === 0 ? 'from' : 'merge'} :${parent}`));
    lines.push(...changes, '');
    return mark;
  };
  const set = (file: string, text: string, mode = '644') => `M ${mode} inline ${file}\ndata ${text.length}\n${text}`;
  const files = Array.from({ length: 12 }, (_, index) =>
    index % 3 === 0 ? `d0/f${index}` : index % 3 === 1 ? `d1/f${index}` : `f${index}`,
  );
  let main = commit(
    'main',
    [],
    files.map((file) => set(file, 'start')),
  );
  for (let round = 0; round < 25; round += 1) {
    const file = (step: number) => files[(round * 5 + step) % files.length]!;
    const side = commit('side', [main], [set(file(1), `side ${round}`)]);
    const sideMore = commit('side', [side], [set(file(2), `more ${round}`)]);
    const trunk = commit('main', [main], [set(file(3), `trunk ${round}`, round % 2 ? '755' : '644')]);
    const undone = commit('main', [trunk], [set(file(1), `side ${round}`), set(file(4), 'start')]);
    // The merge takes one change of the side branch and drops the other, sometimes all of it.
    main = commit(
      'main',
      round % 4 === 0 ? [sideMore, undone] : [undone, sideMore],
      round % 3 === 0 ? [set(file(2), `trunk keeps ${round}`)] : [set(file(2), `more ${round}`)],
    );
  }
  return `${lines.join('\n')}\ndone\n`;
}

t.test('history follows renames of a file, filters by author and pages', async (t) => {
  const history = (file: string, more: { author?: string; message?: string; after?: string; limit?: number } = {}) =>
    git.queries.history(path, { oid: tip, file: Buffer.from(file), limit: 50, ...more });
  const core = await history('src/core.ts');
  t.same(
    core.entries.map(({ commit }) => commit.oid),
    runGit('log', '--follow', '--format=%H', 'main', '--', 'src/core.ts').split('\n'),
    'as git log --follow',
  );
  t.same([...new Set(core.entries.map(({ file }) => file.toString()))], ['src/core.ts', 'src/main.ts']);
  const first = core.entries.at(-1)!;
  const named = await history('src/core.ts', { message: first.commit.subject.toUpperCase() });
  t.same(
    named.entries.map(({ commit, file }) => [commit.oid, file.toString()]),
    [[first.commit.oid, 'src/main.ts']],
    'a search by message follows them, too',
  );
  t.same(
    (await history('', { author: 'BOB@example' })).entries.map(({ commit }) => commit.author.name),
    ['Bob b'],
  );
  t.same((await history('', { author: '--all' })).entries, []);
  t.same((await history('', { author: '.*' })).entries, [], 'plain text, not a pattern');
  for (const name of ['file-0.c', 'file-5.c', 'file-0.c'])
    t.equal((await history(`many/moved/${name}`)).entries.at(-1)?.file.toString(), `many/part-0/${name}`);
  const all = runGit('rev-list', 'main').split('\n');
  const paged: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await history('', { limit: 2, ...(after ? { after } : {}) });
    paged.push(...page.entries.map(({ commit }) => commit.oid));
    if (!page.hasMore) break;
    after = paged.at(-1);
  }
  t.same(paged, all);
  t.equal(await git.queries.countCommits(path, tip), all.length);
  t.equal((await git.queries.lastChange(path, tip, Buffer.from('empty')))?.subject, 'Begin');
});

t.test('the last change of a file or folder is what git says, with a commit-graph and without', async (t) => {
  const graph = `${path}/objects/info/commit-graph`;
  const commits = runGit('rev-list', '--max-count=8', 'main').split('\n');
  const compare = async (oid: string): Promise<string[]> => {
    const names = runGit('-c', 'core.quotePath=false', 'ls-tree', '-r', '-t', '--name-only', oid).split('\n');
    const wrong: string[] = [];
    for (const name of names.filter((each) => !/^"|\ufffd/.test(each))) {
      const found = await git.queries.lastChange(path, oid, Buffer.from(name));
      if (found?.oid !== runGit('rev-list', '--max-count=1', oid, '--', name)) wrong.push(name);
    }
    return wrong;
  };
  rmSync(graph, { force: true });
  for (const oid of commits.slice(0, 4)) t.same(await compare(oid), [], `${oid} without a commit-graph`);
  runGit('commit-graph', 'write', '--reachable', '--changed-paths');
  for (const oid of commits.slice(4)) t.same(await compare(oid), [], `${oid} with a commit-graph`);
  rmSync(graph);
});

t.test('diff lists agree with git: renames, modes, types, counts, names of any bytes', async (t) => {
  const at = (name: string) => runGit('rev-parse', name);
  const { files } = await git.queries.listDiff(path, { from: at('main~5'), to: tip });
  const find = (name: string) => files.find(({ newPath }) => newPath.toString() === name)!;
  t.match(find('link'), { status: 'type-changed', oldMode: '120000', newMode: '100644' });
  t.match(find('images/pixel.png'), { added: null, removed: null });
  t.match(find('many/moved/file-0.c'), { status: 'renamed', similarity: 100 });
  t.match(find('lib'), { oldMode: '160000', newMode: '160000' });
  t.match(find('page.html'), { status: 'deleted', removed: 1 });
  const first = await git.queries.listDiff(path, { from: null, to: at('main~7') });
  t.equal(
    first.files.length,
    runGit('ls-tree', '-r', '--name-only', 'v1.0').split('\n').length,
    'a first commit adds everything',
  );
  t.ok(first.files.some(({ newPath }) => newPath.equals(notUtf8)));
});

t.test('a diff of more files than are listed says so', async (t) => {
  const commitOf = (files: number): string => {
    const parts = [`commit refs/heads/files-${files}\ncommitter A <a@example.org> 1 +0000\ndata 0\n`];
    for (let n = 0; n < files; n += 1) parts.push(`M 100644 inline f${n}\ndata ${String(n).length}\n${n}\n`);
    execFileSync('git', [`--git-dir=${path}`, 'fast-import', '--quiet'], { input: parts.join('') });
    return runGit('rev-parse', `files-${files}`);
  };
  const listed = await git.queries.listDiff(path, { from: null, to: commitOf(3_000) });
  t.strictSame([listed.files.length, listed.truncated], [3_000, false]);
  const cut = await git.queries.listDiff(path, { from: null, to: commitOf(3_001) });
  t.strictSame([cut.files.length, cut.truncated], [3_000, true]);
  // Beyond 18,000 fields the list is left before its end, and the patches are a question of their own.
  for (const [files, isTruncated] of [
    [3_000, false],
    [3_001, true],
    [9_500, true],
  ] as const) {
    const read = await git.queries.readDiff(path, { from: null, to: commitOf(files) }, { ...limits, files: 5 });
    t.strictSame(
      [read.files.length, read.truncated, read.patches.length, read.cutShort],
      [3_000, isTruncated, 5, false],
      `${files} files`,
    );
  }
});

t.test('patches are parsed line by line, each for its own file', async (t) => {
  const range = { from: runGit('rev-parse', 'v1.0'), to: tip };
  const { files } = await git.queries.listDiff(path, range);
  const { patches, ...read } = await git.queries.readDiff(path, range, limits);
  t.strictSame(read, { files, truncated: false, cutShort: false }, 'the list is that of a question for it alone');
  t.same(
    patches.map(({ file }) => file.newPath.toString('latin1')),
    files.map(({ newPath }) => newPath.toString('latin1')),
    'one for each, odd names too',
  );
  for (const { file, hunks, isTooLarge, isBinary } of patches) {
    const lines = hunks.flatMap((hunk) => hunk.lines);
    if (isTooLarge || isBinary || file.added === null) continue;
    t.same(
      [lines.filter(({ kind }) => kind === 'added').length, lines.filter(({ kind }) => kind === 'removed').length],
      [file.added, file.removed],
      file.newPath.toString(),
    );
  }
  const byName = (name: string) => patches.find(({ file }) => file.newPath.toString() === name)!;
  t.equal(byName('large.txt').isTooLarge, true);
  t.equal(byName('large.txt').hunks.length, 0, 'what is not shown is not kept');
  t.ok(byName('images/pixel.png').isBinary);
  t.ok(byName('no-newline.txt').hunks[0]!.lines.every(({ isUnended }) => isUnended));
  t.equal(byName('lib').hunks[0]!.lines.length, 2, 'a submodule is two ids');

  const crlf = { from: runGit('rev-parse', 'main~3'), to: runGit('rev-parse', 'main~2'), ignoreWhitespace: true };
  const ignoring = await git.queries.readDiff(path, crlf, limits);
  t.notOk(
    ignoring.patches.some(({ file, hunks }) => file.newPath.toString() === 'crlf.txt' && hunks.length > 0),
    'only whitespace differs',
  );
  for (const wanted of files) {
    const one = await git.queries.readDiff(path, { ...range, only: wanted.newPath }, limits);
    t.same(
      [one.files.length, one.patches],
      [files.length, patches.filter(({ file }) => file.newPath.equals(wanted.newPath))],
      `${wanted.newPath.toString()} alone`,
    );
  }
  t.strictSame(await git.queries.readDiff(path, { from: tip, to: tip }, limits), {
    files: [],
    truncated: false,
    patches: [],
    cutShort: false,
  });
});

t.test('SECURITY I05: a patch of a hundred thousand lines neither grows memory nor blocks others', async (t) => {
  const range = { from: runGit('rev-parse', 'main~3'), to: runGit('rev-parse', 'main~2') };
  global.gc?.();
  const before = process.memoryUsage().rss;
  let [most, last, pause] = [before, performance.now(), 0];
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
    pause = Math.max(pause, performance.now() - last - 5);
    last = performance.now();
  }, 5);
  await git.queries.readDiff(path, range, { ...limits, linesPerFile: 999 });
  clearInterval(watch);
  t.ok(most - before < 50 * 1024 * 1024, `${Math.round((most - before) / 1e6)} MB more`);
  t.ok(pause < 200, `others waited ${Math.round(pause)} ms`);
});

t.test('compare, blame and tags agree with git', async (t) => {
  const [main, topic, unrelated] = ['main', 'topic', 'unrelated'].map((name) => runGit('rev-parse', name)) as [
    string,
    string,
    string,
  ];
  t.equal(await git.queries.mergeBase(path, main, topic), topic);
  t.equal(await git.queries.mergeBase(path, main, unrelated), null);
  t.same(await git.queries.distance(path, topic, main), { ahead: 6, behind: 0 });
  t.same(
    (await git.queries.commitsBetween(path, topic, main, { limit: 2 })).map(({ oid }) => oid),
    runGit('rev-list', '-2', 'main', '^topic').split('\n'),
  );
  const { groups, commits } = await git.queries.blame(path, tip, Buffer.from('src/core.ts'));
  const lines = runGit('blame', '--porcelain', '--root', 'main', '--', 'src/core.ts')
    .split('\n')
    .filter((line) => /^[0-9a-f]{40} /.test(line))
    .map((line) => line.slice(0, 40));
  t.same(
    groups.flatMap(({ oid, lines: own }) => own.map(() => oid)),
    lines,
    'as git blame',
  );
  t.ok(groups.every(({ oid }) => commits.has(oid)));
  t.ok(groups.some(({ previous }) => previous?.file.toString() === 'src/core.ts'));
  const oids = (await git.queries.cachedRefs(path)).page('refs/tags/', 0, 99).map(({ oid }) => oid);
  t.same(
    (await git.queries.tags(path, oids)).map((note) => note?.message ?? null),
    [null, ...Array.from({ length: 4 }, () => 'Release of <b>it')],
  );
});

t.test('archives and streams are complete, or fail', async (t) => {
  const read = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const tar = await read(await git.queries.archive(path, { oid: tip, format: 'tar.gz', prefix: 'odd-main' }));
  const listed = execFileSync('tar', ['-tzf', '-'], { input: tar }).toString();
  t.match(listed, /^odd-main\/README\.md$/m);
  t.equal(
    (await read(await git.queries.mailPatch(path, runGit('rev-parse', 'main~6')))).toString().slice(0, 5),
    'From ',
  );
  t.equal((await read(await git.queries.streamBlob(path, runGit('rev-parse', 'main:empty')))).length, 0);
  await t.rejects(async () => read(await git.queries.streamBlob(path, '0'.repeat(40))), { code: 'internal' });
  await t.rejects(
    async () => git.queries.archive(path, { oid: '--output=/tmp/x', format: 'zip', prefix: 'x' }),
    errorWithReason('invalid_object_id'),
  );
  const abandoned = await git.queries.archive(path, { oid: tip, format: 'zip', prefix: 'x' });
  abandoned.destroy();
});

t.test('files of a commit are listed with sizes; a missing object is reported', async (t) => {
  const { files, truncated } = await git.queries.listFiles(path, tip, { limit: 10_000 });
  t.equal(truncated, false);
  t.equal(
    files.find((file) => file.path.toString() === 'asset.psd')?.size,
    Number(runGit('cat-file', '-s', 'main:asset.psd')),
  );
  t.equal((await git.queries.listFiles(path, tip, { limit: 3 })).files.length, 3);
  t.same(
    await git.queries
      .lastCommits(path, { oid: tip, folder: none, names: [], waitMs: 1_000 })
      .then(({ rows }) => rows.size > 0),
    true,
  );
});
