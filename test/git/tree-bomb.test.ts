// A tree that is small to push and endless to read: ten folders in each of ten, ten levels deep.
import t from 'tap';
import { PassThrough } from 'node:stream';
import { encodePacket } from '../../src/git/pkt-line.ts';
import { errorWithReason, gitSync, openGit, processesBelow } from './git-fixture.ts';
import type { TestGit } from './git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

let deps: TestGit;
let path: string;
let base: string;
let bomb: string;

t.before(async () => {
  deps = await openGit(t, { limits: { readMemoryBytes: 48 * 1024 ** 2 } });
  path = await deps.newRepository();
  const make = (args: string[], input?: string) =>
    gitSync(args, { cwd: path, ...(input === undefined ? {} : { input }) });
  const blob = make(['hash-object', '-w', '--stdin'], 'bang\n');
  base = make(['commit-tree', make(['mktree'], `100644 blob ${blob}\ta\n`), '-m', 'Begin']);
  let entry = `100644 blob ${blob}`;
  for (let level = 0; level < 10; level += 1) {
    entry = `040000 tree ${make(['mktree'], Array.from({ length: 10 }, (_, n) => `${entry}\tf${n}\n`).join(''))}`;
  }
  bomb = make(['commit-tree', entry.split(' ')[2]!, '-p', base, '-m', 'Bomb']);
  make(['update-ref', 'refs/heads/main', bomb]);
});

/** Ten thousand million files would need a hundred times the limit; git is killed long before. */
const stopped = () =>
  deps.log.filter(({ event, reason }) => event === 'git.stopped' && reason === 'memory_limit').length;

t.test('SECURITY I01, I05, B08: a command that exceeds the memory limit is refused, and git is killed', async (t) => {
  const { queries } = deps.git;
  const streams = [
    () => queries.archive(path, { oid: bomb, format: 'zip', prefix: 'x' }),
    () => queries.archive(path, { oid: bomb, format: 'tar.gz', prefix: 'x' }),
    () => queries.plainDiff(path, { from: base, to: bomb }),
    () => queries.mailPatch(path, bomb),
  ];
  for (const [index, stream] of streams.entries()) {
    await t.rejects(stream, errorWithReason('too_large_to_stream'));
    t.equal(stopped(), index + 1);
  }
  const input = new PassThrough().end(
    Buffer.concat([encodePacket('argument --format=tar'), encodePacket('argument main'), Buffer.from('0000')]),
  );
  const output = new PassThrough().resume();
  t.match(
    await deps.git.transfers.uploadArchive({ path, input, output, signal: new AbortController().signal }),
    { cutShort: true },
    'git archive --remote',
  );
  t.equal(stopped(), streams.length + 1);
  await t.rejects(deps.git.objects.changedPaths(path, base, bomb, { limit: 300 }), { code: 'internal' });
  t.equal(stopped(), streams.length + 2);
  await waitUntil(async () => (await processesBelow(path)).length <= 1);
});

t.test('SECURITY I05: listings of a tree bomb stop at their limit, or are marked as truncated', async (t) => {
  const { queries } = deps.git;
  const { files, truncated } = await queries.listFiles(path, bomb, { limit: 1_000 });
  t.same([files.length, truncated], [1_000, true]);
  const diff = await queries.listDiff(path, { from: base, to: bomb });
  t.match(diff, { truncated: true });
  t.equal((await queries.folder(path, bomb, Buffer.from('f0/f1'), { maxEntries: 100 })).entries.length, 10);
  t.equal((await queries.history(path, { oid: bomb, file: Buffer.from('f0'), limit: 10 })).entries.length, 1);
});

t.test('an ordinary repository is served as before', async (t) => {
  const chunks: Buffer[] = [];
  for await (const chunk of await deps.git.queries.plainDiff(path, { from: null, to: base }))
    chunks.push(chunk as Buffer);
  t.match(Buffer.concat(chunks).toString(), /^\+bang$/m);
});
