import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { encodePacket, flushPacket } from '../../src/git/index.ts';
import { Fingerprint } from '../../src/git/ref-cache/fingerprint.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { clientEnvironment, clientGit, gitSync, openGit, sampleRepository } from './git-fixture.ts';
import type { TestGit } from './git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const { git, folder, newRepository, log }: TestGit = await openGit(t);
const config = path.join(folder, 'data', 'run', 'git', 'config');
interface Checks {
  equal(actual: unknown, expected: unknown, name: string): unknown;
}

const delimiter = Buffer.from('0001');

/** git's own response, with the server's settings. */
function gitResponse(repository: string, args: string[], protocol?: string, input = Buffer.alloc(0)): Buffer {
  return execFileSync('git', [...args, repository], {
    env: {
      ...clientEnvironment,
      GIT_CONFIG_GLOBAL: config,
      GIT_NO_REPLACE_OBJECTS: '1',
      ...(protocol === undefined ? {} : { GIT_PROTOCOL: protocol }),
    },
    input,
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}

const lists = (words: string[], capabilities: string[] = ['agent=git/test', 'object-format=sha1']) =>
  Buffer.concat([
    encodePacket('command=ls-refs\n'),
    ...capabilities.map((word) => encodePacket(word)),
    delimiter,
    ...words.map((word) => encodePacket(`${word}\n`)),
    flushPacket,
  ]);

const lsRefsArguments = [
  [],
  ['peel', 'symrefs'],
  ['peel', 'symrefs', 'unborn', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/', 'ref-prefix HEAD'],
  ['symrefs', 'ref-prefix refs/tags/v', 'ref-prefix refs/heads/m', 'ref-prefix refs/heads/main'],
  ['unborn'],
  ['unborn', 'symrefs', 'ref-prefix refs/heads'],
];

async function list(repository: string, body: Buffer): Promise<Buffer> {
  const output = new PassThrough();
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { signal } = new AbortController();
  await git.transfers.uploadPack({
    path: repository,
    protocol: 'version=2',
    stateless: true,
    input: Readable.from([body]),
    output,
    signal,
  });
  return Buffer.concat(chunks);
}

/** Every form of the response, twice: what is learned from git's first response shows in the second. */
async function sameAsGit(t: Checks, repository: string, name: string, format?: string): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    for (const service of ['upload-pack', 'receive-pack'] as const) {
      for (const protocol of [undefined, 'version=1', 'version=2']) {
        if (service === 'receive-pack' && protocol === 'version=2') continue;
        const strict = service === 'upload-pack' ? ['--strict'] : [];
        const expected = gitResponse(
          repository,
          [service, ...strict, '--stateless-rpc', '--http-backend-info-refs'],
          protocol,
        );
        const actual = await git.transfers.advertiseRefs({ path: repository, service, protocol });
        t.equal(
          actual.toString('latin1'),
          expected.toString('latin1'),
          `${name}: ${service} ${protocol ?? 'version 0'}`,
        );
      }
    }
    for (const words of lsRefsArguments) {
      const body = lists(words, format === undefined ? undefined : [`object-format=${format}`]);
      const expected = gitResponse(repository, ['upload-pack', '--strict', '--stateless-rpc'], 'version=2', body);
      t.equal(
        (await list(repository, body)).toString('latin1'),
        expected.toString('latin1'),
        `${name}: ls-refs ${words.join(', ')}`,
      );
    }
  }
}

/** Lets file times become old enough for the snapshot to be cached. */
const settle = () => sleep(25);

async function filled(): Promise<string> {
  const repository = await newRepository();
  gitSync(['push', '--quiet', '--all', repository], { cwd: sampleRepository() });
  gitSync(['push', '--quiet', '--tags', repository], { cwd: sampleRepository() });
  return repository;
}

const bare = (repository: string, ...args: string[]) => gitSync(['--git-dir', repository, ...args]);

t.test('ref listings equal git’s own, byte for byte', async (t) => {
  const empty = await newRepository();
  await settle();
  await sameAsGit(t, empty, 'unborn HEAD');

  const repository = await filled();
  await settle();
  await sameAsGit(t, repository, 'loose refs');
  bare(repository, 'pack-refs', '--all');
  await settle();
  await sameAsGit(t, repository, 'packed refs');
  bare(repository, 'update-ref', 'refs/heads/main', 'topic');
  bare(repository, 'update-ref', 'refs/heads/a/b/c', 'topic');
  bare(repository, 'update-ref', 'refs/hearth/keep', 'topic');
  bare(repository, 'update-ref', 'refs/hearthside', 'topic');
  bare(repository, 'update-ref', 'refs/replace/x', 'topic');
  bare(repository, 'update-ref', 'refs/notes/commits', 'topic');
  bare(repository, 'update-ref', '-d', 'refs/tags/light');
  bare(repository, 'tag', '-a', '-m', 'of a tag', 'nested', 'v1');
  await settle();
  await sameAsGit(t, repository, 'loose over packed, hidden, nested tag');
  bare(repository, 'symbolic-ref', 'HEAD', 'refs/heads/nowhere');
  await settle();
  await sameAsGit(t, repository, 'HEAD at a branch that is not there');
  bare(repository, 'update-ref', '--no-deref', 'HEAD', 'main');
  await settle();
  await sameAsGit(t, repository, 'detached HEAD');
  t.notOk(log.some(({ event }) => event === 'git.refs_differ'));
});

t.test('SECURITY I02: ten thousand refs', async (t) => {
  const repository = await filled();
  const main = bare(repository, 'rev-parse', 'main');
  const tag = bare(repository, 'rev-parse', 'v1');
  const lines = Array.from(
    { length: 10_000 },
    (_, at) => `${at % 5 === 0 ? tag : main} refs/tags/t${10_000 + at}\n${at % 5 === 0 ? `^${main}\n` : ''}`,
  );
  writeFileSync(
    path.join(repository, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`,
  );
  bare(repository, 'update-ref', 'refs/tags/t10077', 'topic');
  await settle();
  await sameAsGit(t, repository, 'ten thousand');
});

t.test('unsupported repositories are left to git', async (t) => {
  const repository = await filled();
  const cases: Record<string, () => void> = {
    'a symbolic ref': () => bare(repository, 'symbolic-ref', 'refs/heads/alias', 'refs/heads/main'),
    'a ref to a missing object': () => writeFileSync(path.join(repository, 'refs/heads/broken'), `${'1'.repeat(40)}\n`),
    'settings of its own': () => bare(repository, 'config', 'transfer.hideRefs', 'refs/heads/topic'),
    'borrowed objects': () =>
      writeFileSync(path.join(repository, 'objects/info/alternates'), `${path.join(folder, 'elsewhere')}\n`),
    'a linked ref': () => {
      mkdirSync(path.join(folder, 'elsewhere'), { recursive: true });
      symlinkSync('main', path.join(repository, 'refs/heads/linked'));
    },
  };
  for (const [name, prepare] of Object.entries(cases)) {
    prepare();
    await settle();
    await sameAsGit(t, repository, name);
  }
});

t.test('SHA-256 repositories', async (t) => {
  const repository = await newRepository();
  rmSync(repository, { recursive: true });
  gitSync(['init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main', repository]);
  await settle();
  await sameAsGit(t, repository, 'empty', 'sha256');
  const tree = bare(repository, 'write-tree');
  const commit = bare(repository, 'commit-tree', '-m', 'one', tree);
  bare(repository, 'update-ref', 'refs/heads/main', commit);
  await settle();
  await sameAsGit(t, repository, 'with a commit', 'sha256');
  await t.rejects(list(repository, lists([], ['object-format=sha1'])), 'a client of the other format');
});

t.test('requests that git would refuse are not served from the cache', async (t) => {
  const repository = await filled();
  await settle();
  for (const body of [
    lists(['peel', 'unknown']),
    lists([], ['object-format=sha256']),
    lists([], ['unknown-capability']),
    lists([]).subarray(0, -4),
  ]) {
    await t.rejects(list(repository, body), { code: 'invalid' });
  }
  const twice = await list(repository, Buffer.concat([lists([]), lists([])]));
  t.equal(
    twice.toString('latin1'),
    (await list(repository, lists([]))).toString('latin1'),
    'only the first of two is answered, as git does',
  );
});

t.test('a change by any process is visible at once', async (t) => {
  const repository = await filled();
  const random = seededRandom(11);
  const [one, two] = [bare(repository, 'rev-parse', 'main'), bare(repository, 'rev-parse', 'topic')];
  const advertise = async () =>
    (await git.transfers.advertiseRefs({ path: repository, service: 'upload-pack' })).toString('latin1');
  for (let round = 0; round < 40; round += 1) {
    const name = `refs/heads/r${random.below(4)}${random.chance(0.5) ? '/deep' : ''}`.replace(
      /r(\d)\/deep/,
      'd$1/deep',
    );
    const act = random.below(5);
    if (act === 0) bare(repository, 'pack-refs', '--all');
    else if (act === 1) bare(repository, 'update-ref', '-d', name);
    else bare(repository, 'update-ref', name, random.chance(0.5) ? one : two);
    if (random.chance(0.3)) await settle();
    const expected = bare(repository, 'for-each-ref', '--format=%(objectname) %(refname)').split('\n');
    const response = await advertise();
    t.ok(
      expected.every((line) => response.includes(line)),
      `round ${round}`,
    );
    t.equal(response.match(/ refs\/heads\//g)!.length, expected.filter((line) => line.includes(' refs/heads/')).length);
  }
});

t.test('beside a writer every listing was true at some moment during the request', async (t) => {
  const repository = await filled();
  const ids = [bare(repository, 'rev-parse', 'main'), bare(repository, 'rev-parse', 'topic')];
  let step = 0;
  let isOver = false;
  const writer = (async () => {
    for (; step < 30; step += 1) {
      const id = ids[step % 2]!;
      await clientGit(['--git-dir', repository, 'update-ref', 'refs/heads/early', id]);
      if (step % 7 === 3) await clientGit(['--git-dir', repository, 'pack-refs', '--all']);
    }
    isOver = true;
  })();
  let responses = 0;
  let missing = 0;
  while (!isOver || responses < 10) {
    const text = (await git.transfers.advertiseRefs({ path: repository, service: 'upload-pack' })).toString('latin1');
    const [, id] = /([0-9a-f]{40}) refs\/heads\/early\n/.exec(text) ?? [];
    if (step > 0 && (id === undefined || !ids.includes(id))) missing += 1;
    if (!text.includes('refs/heads/main') || !text.includes('refs/tags/v1^{}')) missing += 1;
    responses += 1;
    await sleep(1);
  }
  await writer;
  t.equal(missing, 0);
  const text = (await git.transfers.advertiseRefs({ path: repository, service: 'upload-pack' })).toString('latin1');
  t.match(text, `${bare(repository, 'rev-parse', 'early')} refs/heads/early`);
});

t.test('a fingerprint with very recent file times is not trusted', async (t) => {
  const repository = await filled();
  const touched = new Date();
  utimesSync(path.join(repository, 'refs/heads'), touched, touched);
  const fingerprint = Fingerprint.take(repository, ['refs', 'refs/heads']);
  t.notOk(fingerprint.isSettled(touched.getTime() + 5));
  t.ok(fingerprint.isSettled(touched.getTime() + 60_000));
  t.ok(fingerprint.isCurrent());
  utimesSync(path.join(repository, 'refs/heads'), new Date(), new Date(Date.now() + 1_000));
  t.notOk(fingerprint.isCurrent());
});

t.test('cached refs are listed without starting git', async (t) => {
  const repository = await filled();
  await settle();
  for (const service of ['upload-pack', 'receive-pack'] as const)
    await git.transfers.advertiseRefs({ path: repository, service });
  await git.storage.move(repository, `${repository}.gone.git`);
  await t.rejects(
    git.transfers.advertiseRefs({ path: repository, service: 'upload-pack' }),
    'what has moved away is not answered from memory',
  );
  await git.storage.move(`${repository}.gone.git`, repository);
  await git.transfers.advertiseRefs({ path: repository, service: 'upload-pack' });
  await waitUntil(() => git.load().short.running === 0);
});

t.test('what this process moves is seen at once, also within the moment for which refs are trusted', async (t) => {
  const repository = await filled();
  await settle();
  const tip = bare(repository, 'rev-parse', 'refs/heads/main');
  await sameAsGit(t, repository, 'before');
  const { now } = performance;
  t.teardown(() => void (performance.now = now));
  const moment = now.call(performance);
  performance.now = () => moment;
  await list(repository, lists(['ref-prefix refs/']));
  await git.refs.setPull(repository, 7, 'head', tip);
  const shown = await list(repository, lists(['ref-prefix refs/']));
  performance.now = now;
  t.match(shown.toString('latin1'), `${tip} refs/pull/7/head`);
});

t.test('packed refs count as unchanged only when they are older than a step of file times', async (t) => {
  const repository = await filled();
  const file = path.join(repository, 'packed-refs');
  writeFileSync(file, '# pack-refs with: peeled fully-peeled sorted \n');
  utimesSync(file, 1_000, 1_000);
  const [before, later] = [Fingerprint.take(repository, []), Fingerprint.take(repository, [])];
  t.strictSame(
    [1_000_001, 1_000_020, 1_000_021, 2_000_000].map((takenMs) => before.agreesOnPackedRefs(later, takenMs)),
    [false, false, true, true],
  );
  writeFileSync(file, '# pack-refs with: peeled fully-peeled sorted  \n');
  utimesSync(file, 1_000, 1_000);
  t.equal(before.agreesOnPackedRefs(Fingerprint.take(repository, []), 2_000_000), false, 'another size');
});
