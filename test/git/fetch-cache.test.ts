import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import t from 'tap';
import { createGit, encodePacket, flushPacket } from '../../src/git/index.ts';
import { followSpool } from '../../src/git/fetches/follow-spool.ts';
import { requestKey } from '../../src/git/fetches/request-key.ts';
import { Spool } from '../../src/git/fetches/spool.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { gitConfig, gitSync, openGit, recordingLogger, sampleRepository } from './git-fixture.ts';
import type { TestGit } from './git-fixture.ts';
import { createHookRecorder, packOf, pushBytes, sendPush } from './push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const main = gitSync(['rev-parse', 'main'], { cwd: sample });
const topic = gitSync(['rev-parse', 'topic'], { cwd: sample });
const delimiter = Buffer.from('0001');

const fetchOf = (want: string, agent = 'git/test', more: string[] = []) =>
  Buffer.concat([
    encodePacket('command=fetch'),
    encodePacket(`agent=${agent}`),
    encodePacket('object-format=sha1'),
    delimiter,
    ...more.map((word) => encodePacket(word)),
    encodePacket(`want ${want}\n`),
    encodePacket('done\n'),
    flushPacket,
  ]);

interface Fetch {
  outcome: Promise<{ exitCode: number; cutShort: boolean; bytes: number }>;
  output: Writable;
  gone: AbortController;
  response(): Buffer;
}

/** A fetch with one stream for the request and one for the response, as HTTP has them. */
function fetchPack({ git }: TestGit, repository: string, body: Buffer, output = new PassThrough()): Fetch {
  const chunks: Buffer[] = [];
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  const gone = new AbortController();
  const outcome = git.transfers.uploadPack({
    path: repository,
    protocol: 'version=2',
    stateless: true,
    input: Readable.from([body], { objectMode: false }),
    output,
    signal: gone.signal,
  });
  outcome.catch(() => {});
  return { outcome, output, gone, response: () => Buffer.concat(chunks) };
}

async function filled(deps: TestGit, branches: string[] = ['main', 'topic']): Promise<string> {
  const repository = await deps.newRepository();
  gitSync(['push', '--quiet', repository, ...branches], { cwd: sample });
  return repository;
}

/** Objects in the pack of a response, as git counts them. */
function objectsIn(response: Buffer): number {
  const start = response.indexOf('PACK');
  return start === -1 ? 0 : response.readUInt32BE(start + 8);
}

/** Counts git processes that serve fetches, through a wrapper that records each start. */
async function counting(t: Owner, limits = {}): Promise<{ deps: TestGit; started(): number }> {
  const folder = temporaryFolder(t);
  const [program, notes] = [path.join(folder, 'git'), path.join(folder, 'notes')];
  writeFileSync(notes, '');
  writeFileSync(
    program,
    `#!/bin/sh\ncase "$1 $*" in upload-pack*http-backend*) ;; upload-pack*) echo x >> ${notes}; test -e ${folder}/slow && sleep 0.3; test -e ${folder}/dead && kill -9 $$;; esac\nexec git "$@"\n`,
    { mode: 0o755 },
  );
  const { logger, log } = recordingLogger();
  const git = await createGit({ config: gitConfig(folder, program), logger, limits });
  t.teardown(() => git.stop(0));
  const newRepository = async () => {
    const target = git.storage.pathOf(randomUUID(), randomUUID());
    await git.storage.create(target, { defaultBranch: 'main' });
    return target;
  };
  const started = () => execFileSync('cat', [notes]).length / 2;
  return { deps: { git, folder, log, newRepository }, started };
}

const slowDown = ({ folder }: TestGit) => writeFileSync(path.join(folder, 'slow'), '');

t.test('equal requests share one git process, while it runs and afterwards', async (t) => {
  const { deps, started } = await counting(t);
  const repository = await filled(deps);
  slowDown(deps);
  const burst = Array.from({ length: 8 }, (_, at) => fetchPack(deps, repository, fetchOf(main, `git/${at}`)));
  const outcomes = await Promise.all(burst.map(({ outcome }) => outcome));
  t.equal(started(), 1);
  for (const [at, { exitCode, cutShort, bytes }] of outcomes.entries()) {
    t.same([exitCode, cutShort, bytes], [0, false, burst[at]!.response().length]);
    t.ok(burst[at]!.response().equals(burst[0]!.response()));
  }
  const later = fetchPack(deps, repository, fetchOf(main));
  await later.outcome;
  t.equal(started(), 1, 'and a later one is answered from what was kept');
  t.ok(later.response().equals(burst[0]!.response()));
  t.equal(objectsIn(later.response()), Number(gitSync(['rev-list', '--objects', '--count', 'main'], { cwd: sample })));
  const other = fetchPack(deps, repository, fetchOf(topic));
  await other.outcome;
  t.equal(started(), 2, 'another request is another answer');
  t.same(
    readdirSync(path.join(deps.folder, 'data', 'cache', 'answers')),
    [],
    'no file has a name that could be left behind',
  );
});

t.test('git responds the same without the cache', async (t) => {
  const deps = await openGit(t);
  const repository = await filled(deps);
  const body = fetchOf(main, 'git/x', ['ofs-delta', 'no-progress']);
  const direct = execFileSync('git', ['upload-pack', '--stateless-rpc', repository], {
    input: body,
    env: { PATH: process.env.PATH, GIT_PROTOCOL: 'version=2' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const cached = fetchPack(deps, repository, body);
  await cached.outcome;
  t.equal(objectsIn(cached.response()), objectsIn(direct));
});

t.test('a push, a deletion and a move are seen by the next request', async (t) => {
  const { deps, started } = await counting(t);
  const repository = await filled(deps);
  await fetchPack(deps, repository, fetchOf(topic)).outcome;
  t.equal(started(), 1);
  const { outcome } = await sendPush(
    deps.git,
    repository,
    pushBytes({ commands: [`${main} ${topic} refs/heads/main`], pack: packOf(sample, 'topic', '^main') }),
    createHookRecorder(),
  );
  t.match(outcome, { kind: 'reported', results: [{ ok: true }] });
  await fetchPack(deps, repository, fetchOf(topic)).outcome;
  t.equal(started(), 2, 'after a push nothing older is found');

  for (const branch of ['main', 'topic'])
    gitSync(['--git-dir', repository, 'update-ref', '-d', `refs/heads/${branch}`]);
  const removed = fetchPack(deps, repository, fetchOf(topic));
  await removed.outcome;
  t.match(removed.response().toString('latin1'), 'not our ref', 'a branch that was removed is not answered for');

  const second = await filled(deps);
  await fetchPack(deps, second, fetchOf(topic)).outcome;
  await deps.git.storage.remove(second);
  await t.rejects(fetchPack(deps, second, fetchOf(topic)).outcome);
});

t.test('a response in progress is not shared once refs have moved, not even when they are back', async (t) => {
  const { deps, started } = await counting(t);
  const repository = await filled(deps);
  slowDown(deps);
  const first = fetchPack(deps, repository, fetchOf(main));
  await waitUntil(() => started() === 1);
  gitSync(['--git-dir', repository, 'update-ref', '-d', 'refs/heads/topic']);
  gitSync(['--git-dir', repository, 'update-ref', 'refs/heads/topic', topic]);
  const second = fetchPack(deps, repository, fetchOf(main));
  t.same((await first.outcome).exitCode, 0);
  t.same((await second.outcome).exitCode, 0);
  t.equal(started(), 2);
});

t.test('when refs change during a response, its clients get it and later ones do not', async (t) => {
  const { deps, started } = await counting(t);
  const repository = await filled(deps);
  slowDown(deps);
  const first = fetchPack(deps, repository, fetchOf(main));
  await waitUntil(() => started() === 1);
  gitSync(['--git-dir', repository, 'update-ref', '-d', 'refs/heads/topic']);
  t.same((await first.outcome).exitCode, 0);
  gitSync(['--git-dir', repository, 'update-ref', 'refs/heads/topic', topic]);
  await fetchPack(deps, repository, fetchOf(main)).outcome;
  t.equal(started(), 2, 'even when the refs are what they were again');
});

t.test(
  'SECURITY I12: git is killed when the last reader leaves; earlier leavers do not affect the others',
  async (t) => {
    const { deps, started } = await counting(t);
    const repository = await filled(deps);
    slowDown(deps);
    const [stays, leaves] = [fetchPack(deps, repository, fetchOf(main)), fetchPack(deps, repository, fetchOf(main))];
    await waitUntil(() => started() === 1);
    leaves.output.destroy();
    leaves.gone.abort(new Error('gone'));
    await t.rejects(leaves.outcome);
    t.same((await stays.outcome).cutShort, false);

    const alone = fetchPack(deps, repository, fetchOf(topic));
    await waitUntil(() => started() === 2);
    alone.output.destroy();
    alone.gone.abort(new Error('gone'));
    await t.rejects(alone.outcome);
    await waitUntil(() => deps.git.load().reads.running === 0);
  },
);

t.test('when git dies every reader gets an error, and nothing is cached', async (t) => {
  const { deps, started } = await counting(t);
  const repository = await filled(deps);
  writeFileSync(path.join(deps.folder, 'dead'), '');
  slowDown(deps);
  const readers = [1, 2, 3].map(() => fetchPack(deps, repository, fetchOf(main)));
  for (const { outcome } of readers) await t.rejects(outcome, { code: 'internal' });
  t.equal(started(), 1);
  await t.rejects(fetchPack(deps, repository, fetchOf(main)).outcome);
  t.equal(started(), 2);
});

t.test('a slow client does not keep git running', async (t) => {
  const { deps } = await counting(t);
  const repository = await deps.newRepository();
  const work = path.join(deps.folder, 'work');
  gitSync(['clone', '--quiet', sample, work]);
  writeFileSync(path.join(work, 'big'), randomBytes(3_000_000));
  gitSync(['add', '.'], { cwd: work });
  gitSync(['commit', '--quiet', '--message=big'], { cwd: work });
  gitSync(['push', '--quiet', repository, 'main'], { cwd: work });
  const tip = gitSync(['rev-parse', 'main'], { cwd: work });
  const output = new PassThrough();
  const slow = fetchPack(deps, repository, fetchOf(tip), output);
  output.pause();
  await waitUntil(() => deps.git.load().reads.running === 1 || slow.response().length > 0);
  await waitUntil(() => deps.git.load().reads.running === 0);
  t.ok(slow.response().length < 3_000_000, 'git is done and the client has not read');
  output.resume();
  t.same((await slow.outcome).cutShort, false);
});

t.test('the cache is bounded: the least recently used response is evicted first', async (t) => {
  const { deps, started } = await counting(t, { fetchCacheEntries: 2 });
  const repository = await filled(deps);
  const bodies = ['a', 'b', 'c'].map((word) =>
    fetchOf(main, 'x', word === 'a' ? [] : word === 'b' ? ['ofs-delta'] : ['thin-pack']),
  );
  for (const body of bodies) await fetchPack(deps, repository, body).outcome;
  t.equal(started(), 3);
  await fetchPack(deps, repository, bodies[2]!).outcome;
  await fetchPack(deps, repository, bodies[1]!).outcome;
  t.equal(started(), 3);
  await fetchPack(deps, repository, bodies[0]!).outcome;
  t.equal(started(), 4);
});

t.test('the cache key leaves out the client, and nothing else', async (t) => {
  const key = (body: Buffer, protocol = 'version=2', state = 's') =>
    requestKey(['/path', state, 'git'], body, protocol);
  const body = fetchOf(main);
  t.equal(key(fetchOf(main, 'git/other')), key(body));
  const others = [
    fetchOf(topic),
    fetchOf(main, 'git/test', ['thin-pack']),
    fetchOf(main, 'git/test', ['filter blob:none']),
  ];
  t.equal(
    new Set([key(body), ...others.map((other) => key(other)), key(body, 'version=1'), key(body, 'version=2', 'other')])
      .size,
    6,
  );
  const old = (words: string) =>
    Buffer.concat([encodePacket(`want ${main} ${words}\n`), flushPacket, encodePacket('done\n')]);
  t.equal(key(old('thin-pack agent=git/1'), ''), key(old('thin-pack agent=git/2.9'), ''));
  t.not(key(old('thin-pack'), ''), key(old('ofs-delta'), ''));
});

t.test('readers of any speed, joining and leaving at any time, get the same bytes', async (t) => {
  const spool = new Spool(path.join(temporaryFolder(t), 'answer'));
  const random = seededRandom();
  const whole = Buffer.concat(Array.from({ length: 400 }, () => random.bytes(1 + random.below(9_000))));
  const follow = async (pauseEvery: number, stopAt: number, takesBytesAtOnce: boolean) => {
    const parts: Buffer[] = [];
    let writes = 0;
    const output = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        parts.push(takesBytesAtOnce ? Buffer.from(chunk) : chunk);
        writes += 1;
        if (Buffer.concat(parts).length >= stopAt) this.destroy();
        if (writes % pauseEvery === 0) setTimeout(done, 2);
        else done();
      },
    });
    output.on('error', () => {});
    await followSpool(spool, { output, takesBytesAtOnce, signal: new AbortController().signal, stallMs: 60_000 });
    return Buffer.concat(parts);
  };
  const readers = [
    follow(1_000, Infinity, true),
    follow(1, Infinity, true),
    follow(3, Infinity, false),
    follow(2, 300_000, true),
  ];
  for (let at = 0; at < whole.length; at += 70_000) {
    writeSync(spool.file, whole.subarray(at, at + 70_000));
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (at === 700_000) readers.push(follow(5, Infinity, true));
  }
  spool.end();
  readers.push(follow(1_000, Infinity, true));
  const got = await Promise.all(readers);
  for (const [at, bytes] of got.entries()) {
    if (at === 3) t.ok(bytes.length >= 300_000 && bytes.equals(whole.subarray(0, bytes.length)));
    else t.ok(bytes.equals(whole), `reader ${at}: ${bytes.length} of ${whole.length}`);
  }
  spool.close();
});
