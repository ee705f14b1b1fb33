import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { clientGit, commandLinesBelow, gitSync, sampleRepository } from '../git/git-fixture.ts';
import { startGitServer } from './git-server.ts';
import { rowOrder } from '../fixtures/test-database.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const idOf = (revision: string, cwd = sample) => gitSync(['rev-parse', revision], { cwd });
const server = await startGitServer(t);
const versions = ['0', '1', '2'] as const;
const speaking = (version: string) => ['-c', `protocol.version=${version}`];

/** A client that must succeed; returns what it printed on stderr, where git talks. */
async function must(args: readonly string[], cwd = server.folder): Promise<string> {
  const { code, stderr } = await clientGit(args, { cwd });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stderr;
}

const work = (name: string) => path.join(server.folder, name);

/** The commands of every push of a repository that the journal holds, oldest first. */
async function journal(name: string): Promise<string[]> {
  const rows: unknown = await server.app.modules.db.read.query(
    `SELECT u.ref, u.result, p.options, p.via, p.settled_at FROM push_updates u JOIN pushes p ON p.id = u.push_id
     JOIN repositories r ON r.id = p.repository_id WHERE r.name = ? ORDER BY p.created_at, p.${rowOrder(server.app.modules.db)}, u.position`,
    [name],
  );
  return (rows as { ref: string; result: string; options: string; via: string; settled_at: number | null }[]).map(
    ({ ref, result, options, via, settled_at }) =>
      `${ref} ${result} ${options} ${via} ${settled_at === null ? 'open' : 'settled'}`,
  );
}

for (const version of versions) {
  t.test(`protocol version ${version}: push, clone, fetch, delete`, async (t) => {
    const url = await server.newRepository(`v${version}`, version === '1' ? 'PRIVATE' : 'PUBLIC');
    const git = (...args: string[]) => must([...speaking(version), ...args], sample);
    await git('push', url, 'main~1:refs/heads/main');
    await must([...speaking(version), 'clone', '--quiet', url, `c${version}`]);
    await git('push', url, 'main', 'topic', '--tags', 'main:refs/notes/x');
    await must([...speaking(version), 'fetch', '--quiet'], work(`c${version}`));
    t.equal(idOf('origin/topic', work(`c${version}`)), idOf('topic'));
    t.equal(idOf('v1', work(`c${version}`)), idOf('v1'));
    await git('push', url, '+main~1:topic', ':refs/notes/x');
    const listed = await clientGit([...speaking(version), 'ls-remote', url]);
    t.equal(
      listed.stdout,
      [
        `${idOf('main')}\tHEAD`,
        `${idOf('main')}\trefs/heads/main`,
        `${idOf('main~1')}\trefs/heads/topic`,
        `${idOf('light')}\trefs/tags/light`,
        `${idOf('v1')}\trefs/tags/v1`,
        `${idOf('v1^{}')}\trefs/tags/v1^{}\n`,
      ].join('\n'),
    );
    gitSync(['fsck', '--full', '--strict'], { cwd: await server.pathOf(`v${version}`) });
    gitSync(['fsck', '--full', '--strict'], { cwd: work(`c${version}`) });
    t.same(await journal(`v${version}`), [
      'refs/heads/main ok [] http settled',
      'refs/heads/main ok [] http settled',
      'refs/heads/topic ok [] http settled',
      'refs/notes/x ok [] http settled',
      'refs/tags/light ok [] http settled',
      'refs/tags/v1 ok [] http settled',
      'refs/heads/topic ok [] http settled',
      'refs/notes/x ok [] http settled',
    ]);
  });

  t.test(`protocol version ${version}: shallow, deepened, partial and sparse clones`, async (t) => {
    const url = await server.newRepository(`partial${version}`);
    await must(['push', url, 'main', 'topic', '--tags'], sample);
    const clone = async (name: string, ...args: string[]) => {
      await must([...speaking(version), 'clone', '--quiet', ...args, url, `${name}${version}`]);
      return work(`${name}${version}`);
    };
    const shallow = await clone('shallow', '--depth=1');
    t.equal(gitSync(['rev-list', '--count', 'HEAD'], { cwd: shallow }), '1');
    await must([...speaking(version), 'fetch', '--quiet', '--deepen=1'], shallow);
    t.equal(gitSync(['rev-list', '--count', 'HEAD'], { cwd: shallow }), '2');
    await must([...speaking(version), 'fetch', '--quiet', '--unshallow'], shallow);
    t.equal(gitSync(['rev-list', '--count', 'HEAD'], { cwd: shallow }), '3');
    await clone('since', '--shallow-since=2020-01-01');
    await clone('single', '--single-branch', '--branch=topic');

    const blobless = await clone('blobless', '--filter=blob:none', '--no-checkout');
    t.match(gitSync(['rev-list', '--objects', '--all', '--missing=print'], { cwd: blobless }), /^\?/m);
    if (version === '2') {
      await must(['checkout', '--quiet', 'main'], blobless);
      t.equal(readFileSync(path.join(blobless, 'docs/guide.txt'), 'utf8'), 'three\n');
    } else {
      const { code, stderr } = await clientGit([...speaking(version), 'checkout', 'main'], { cwd: blobless });
      t.not(code, 0, 'SECURITY 2.1: before version 2 only what refs name can be asked for');
      t.match(stderr, /unadvertised object/);
    }
    await clone('treeless', '--filter=tree:0', '--no-checkout');
    const small = await clone('small', '--filter=blob:limit=3', '--no-checkout');
    t.match(gitSync(['rev-list', '--objects', '--all', '--missing=print'], { cwd: small }), /^\?/m);
    await clone('combined', '--filter=combine:blob:none+tree:0', '--no-checkout');
    await clone('commits', '--filter=object:type=commit', '--no-checkout');
    const { code, stderr } = await clientGit(
      [...speaking(version), 'clone', '--filter=tree:3', url, `deep${version}`],
      { cwd: server.folder },
    );
    t.not(code, 0, 'SECURITY 2.1: deeper trees are off');
    t.match(stderr, /filter/);

    // A shallow clone pushes, too: its commands come with "shallow" lines.
    const again = await clone('again', '--depth=1');
    gitSync(['commit', '--quiet', '--allow-empty', '--message=from a shallow clone'], { cwd: again });
    await must([...speaking(version), 'push', '--quiet', url, `HEAD:refs/heads/shallow${version}`], again);
  });
}

t.test('a push with an upload that is compressed, and one that is chunked', async (t) => {
  const url = await server.newRepository('sizes');
  const folder = work('large');
  mkdirSync(folder);
  gitSync(['init', '--quiet', '--initial-branch=main'], { cwd: folder });
  writeFileSync(path.join(folder, 'noise'), randomBytes(3_000_000));
  gitSync(['add', '.'], { cwd: folder });
  gitSync(['commit', '--quiet', '--message=noise'], { cwd: folder });
  await must(['push', '--quiet', url, 'main'], folder);
  t.same(await journal('sizes'), ['refs/heads/main ok [] http settled'], 'the probe before a large push leaves no row');
  // Fetches of many haves are compressed by the client.
  const commits = Array.from(
    { length: 60 },
    (_, n) =>
      `commit refs/heads/main\ncommitter A <a@example.org> ${n} +0000\ndata 1\nx\n${n === 0 ? 'from refs/heads/main^0\n' : ''}`,
  );
  gitSync(['fast-import', '--quiet'], { cwd: folder, input: commits.join('') });
  await must(['push', '--quiet', url, 'main:later'], sample);
  await must([...speaking('0'), 'fetch', '--quiet', url, 'later'], folder);
  t.equal(idOf('FETCH_HEAD', folder), idOf('main'));
});

t.test('push options arrive, and unknown ones get a remark', async (t) => {
  const url = await server.newRepository('options');
  const output = await must(['push', '-o', 'ci.skip', '-o', 'title=ä', url, 'main'], sample);
  t.match(output, /remote: ci\.skip: this push starts no workflow/);
  t.match(output, /remote: push option ignored: title=/);
  t.same(await journal('options'), ['refs/heads/main ok ["ci.skip","title=ä"] http settled']);
});

t.test('a push of several refs where some are refused says which', async (t) => {
  const url = await server.newRepository('mixed');
  await must(['push', '--quiet', url, 'main'], sample);
  const clone = work('mixed');
  await must(['clone', '--quiet', url, 'mixed']);
  await must(['push', '--quiet', url, 'topic:main'], sample);
  gitSync(['commit', '--quiet', '--allow-empty', '--message=diverge'], { cwd: clone });
  const { code, stderr } = await clientGit(['push', url, 'HEAD:main', 'HEAD:fresh'], { cwd: clone });
  t.not(code, 0);
  t.match(stderr, /! \[rejected\] +HEAD -> main/);
  t.match(stderr, /\* \[new branch\] +HEAD -> fresh/);
  const atomic = await clientGit(
    ['push', '--atomic', url, 'HEAD:fresh2', '+HEAD~1:refs/heads/fresh', ':refs/heads/absent'],
    { cwd: clone },
  );
  t.equal(atomic.code, 0, atomic.stderr);
});

t.test('SECURITY A05: hostile names that git would take and Hearth does not are refused in words', async (t) => {
  const url = await server.newRepository('hostile');
  const refused = async (spec: string, words: RegExp) => {
    const { code, stderr } = await clientGit(['push', '--atomic', url, 'main:refs/heads/fine', spec], { cwd: sample });
    t.not(code, 0, spec);
    t.match(stderr, words, spec);
    t.match(stderr, /main -> fine \(atomic push fail/, 'the others are refused with it');
  };
  await refused('main:refs/heads/-x', /remote rejected.*may not start with "-"/);
  await refused('main:refs/heads/HEAD', /remote rejected/);
  await refused(`main:refs/heads/${'0'.repeat(40)}`, /remote rejected.*object id/);
  await refused('main:refs/stash', /only refs\/heads\//);
  await refused('main:refs/hearth/x', /reserved for the server/);
  t.same(await journal('hostile'), []);
  const names = [
    'a$(touch${IFS}x)',
    'a;b',
    "a'b",
    'a`b`',
    'a|b',
    'a&b',
    '<b>',
    '%2e%2e',
    '\u202egpj',
    'ü'.repeat(60),
    '0'.repeat(39),
  ];
  await must(['push', '--quiet', url, ...names.map((name) => `main:refs/heads/${name}`)], sample);
  await must(['clone', '--quiet', '--mirror', url, 'hostile']);
  t.equal(gitSync(['for-each-ref'], { cwd: work('hostile') }).split('\n').length, names.length);
  t.notOk(existsSync(path.join(await server.pathOf('hostile'), 'x')));
});

t.test('SECURITY A03: objects that attack clients are refused by name', async (t) => {
  const url = await server.newRepository('objects');
  const folder = work('evil');
  gitSync(['init', '--quiet', '--initial-branch=main', folder]);
  const blob = gitSync(['hash-object', '-w', '--stdin'], {
    cwd: folder,
    input: '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n',
  });
  const pushTree = async (line: string) => {
    const tree = gitSync(['mktree', '--missing'], { cwd: folder, input: line });
    const commit = gitSync(['commit-tree', tree, '-m', 'x'], { cwd: folder });
    return clientGit(['push', url, `${commit}:refs/heads/of-${commit}`], { cwd: folder });
  };
  for (const [line, words] of [
    [`120000 blob ${blob}\t.gitmodules\n`, /gitmodulesSymlink|SYMLINK/i],
    [`120000 blob ${blob}\t.gitattributes\n`, /gitattributesSymlink|SYMLINK/i],
    [`100644 blob ${blob}\t.gitmodules\n`, /gitmodules/i],
    [`100644 blob ${blob}\t.git\n`, /hasDotgit/i],
  ] as const) {
    const { code, stderr } = await pushTree(line);
    t.not(code, 0, line);
    t.match(stderr, words);
  }
  t.equal((await pushTree(`100644 blob ${blob}\tfine\n`)).code, 0);
  t.same(
    (await journal('objects')).map((row) => row.split(' ')[1]),
    ['rejected', 'rejected', 'rejected', 'rejected', 'ok'],
  );
});

t.test('eight clients push distinct branches of one repository at once, while others clone it', async (t) => {
  const url = await server.newRepository('busy');
  await must(['push', '--quiet', url, 'main'], sample);
  const pushes = Array.from({ length: 8 }, (_, n) => must(['push', '--quiet', url, `topic:refs/heads/b${n}`], sample));
  const clones = Array.from({ length: 4 }, (_, n) => must(['clone', '--quiet', '--bare', url, `busy${n}`]));
  await Promise.all([...pushes, ...clones]);
  t.equal((await server.app.modules.git.queries.cachedRefs(await server.pathOf('busy'))).count('refs/heads/'), 9);
  t.equal((await journal('busy')).filter((row) => row.includes('ok')).length, 9);
});

t.test('what clients asked is counted, with what came of it and the bytes that moved', async (t) => {
  const url = await server.newRepository('counted', 'PRIVATE');
  const blob = gitSync(['hash-object', '-w', '--stdin'], { cwd: sample, input: randomBytes(200_000) });
  const tree = gitSync(['mktree'], { cwd: sample, input: `100644 blob ${blob}\tlarge\n` });
  const commit = gitSync(['commit-tree', '-m', 'Large', tree], { cwd: sample });
  const sum = (service: string, result: string) => {
    const found = [...server.app.modules.git.traffic.series()].filter(
      (each) => each.service === service && each.result === result && each.transport === 'http',
    );
    return (
      found.map(({ seconds: { count }, receivedBytes, sentBytes }) => [count, receivedBytes, sentBytes]).at(0) ?? [
        0, 0, 0,
      ]
    );
  };
  const counted = async (service: string, result: string, act: () => Promise<unknown>) => {
    const before = sum(service, result);
    await act();
    await waitUntil(() => sum(service, result)[0]! > before[0]!);
    return sum(service, result).map((value, at) => value - before[at]!);
  };
  const [, received = 0, sent = 0] = await counted('receive-pack', 'ok', () =>
    must(['push', '--quiet', url, `${commit}:refs/heads/main`], sample),
  );
  t.ok(
    received > 200_000 && received < 300_000 && sent > 0 && sent < 10_000,
    `a push brought ${received} bytes and got ${sent}`,
  );
  const [, requested = 0, served = 0] = await counted('upload-pack', 'ok', () =>
    must(['clone', '--quiet', '--bare', url, 'counted']),
  );
  t.ok(served > 200_000 && requested > 0 && requested < 20_000, `a clone brought ${requested} bytes and got ${served}`);
  const [refused] = await counted('upload-pack', 'refused', () =>
    fetch(`${server.url('counted')}/git-upload-pack`, { method: 'POST' }).then((response) => response.text()),
  );
  t.equal(refused, 1);
});

t.test('in the end no git process is left but idle object readers', async (t) => {
  await waitUntil(() => {
    const { reads, writes, short } = server.app.modules.git.load();
    return [reads, writes, short].every(({ running, waiting }) => running === 0 && waiting === 0);
  });
  // A process that has responded may still be on its way out; one that hangs would stay.
  let left = ['not read yet'];
  await waitUntil(async () => {
    left = await commandLinesBelow(path.join(server.folder, 'data'));
    return left.every((commandLine) => commandLine.includes('cat-file'));
  }).catch(() => undefined);
  t.same(
    left.filter((commandLine) => !commandLine.includes('cat-file')),
    [],
  );
});
