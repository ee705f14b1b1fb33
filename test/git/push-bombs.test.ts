// time limit: 300 s Pushes that are small to send and large to read: git's memory, CPU time and disk use stay bounded.
// HEARTH_BOMB_MIB: size of the streamed file in MiB (192).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { clientEnvironment, gitSync, openGit, processesBelow, sampleRepository } from './git-fixture.ts';
import { openPush, packOf, pushBytes, readResponse, sendPush, zeroId } from './push-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

type Checks = Pick<typeof t, 'same' | 'match'>;
const mebibyte = 1024 * 1024;
const types = { commit: 1, tree: 2, blob: 3, tag: 4, idDelta: 7 } as const;

/** The header of an object in a pack: type and inflated size. */
function objectHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

/** Deflated zeros of this many MiB, without deflating each of them. */
function deflatedZeros(mebibytes: number): Buffer {
  const chunk = deflateRawSync(Buffer.alloc(mebibyte), { level: 9, finishFlush: 3 /* Z_FULL_FLUSH */ });
  const checksum = Buffer.alloc(4);
  // Adler-32 of zeros: the first sum stays 1, the second counts.
  checksum.writeUInt16BE((mebibytes * mebibyte) % 65_521, 0);
  checksum.writeUInt16BE(1, 2);
  return Buffer.concat([
    Buffer.from([0x78, 0xda]),
    ...Array.from({ length: mebibytes }, () => chunk),
    Buffer.from([0x03, 0x00]),
    checksum,
  ]);
}

const packHead = (objects: number): Buffer => {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(objects, 8);
  return head;
};
function packWith(...objects: Buffer[]): Buffer {
  const body = Buffer.concat([packHead(objects.length), ...objects]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** A number in the size encoding of deltas. */
function deltaSize(size: number): number[] {
  return size < 128 ? [size] : [(size % 128) | 0x80, ...deltaSize(Math.floor(size / 128))];
}

/** A base of 15 MiB, and deltas that each repeat the whole base many times. */
function deltaBomb(changes: number, times: number): Buffer {
  const size = 15 * mebibyte;
  const id = createHash('sha1').update(`blob ${size}\0`).update(Buffer.alloc(size)).digest();
  const copy = [0xf0, 0x00, 0x00, 0xf0];
  const deltas = Array.from({ length: changes }, (_, at) => {
    const all = [
      ...deltaSize(size),
      ...deltaSize(size * times + 4),
      ...Array.from({ length: times }, () => copy).flat(),
      4,
    ];
    const delta = Buffer.concat([Buffer.from(all), Buffer.from([at & 255, at >> 8, 0, 0])]);
    return Buffer.concat([objectHead(types.idDelta, delta.length), id, deflateSync(delta)]);
  });
  return packWith(Buffer.concat([objectHead(types.blob, size), deflatedZeros(15)]), ...deltas);
}

const commands = [`${zeroId} ${'1'.repeat(40)} refs/heads/main`];

/** Peak memory of all git processes below a folder, in MiB, until `stop`. */
function watchMemory(folder: string): { stop(): Promise<number> } {
  let most = 0;
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      for (const id of await processesBelow(folder)) {
        try {
          const [, kilobytes = '0'] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'latin1')) ?? [];
          most = Math.max(most, Number(kilobytes) / 1024);
        } catch {
          // The process has exited.
        }
      }
    }
  })();
  return {
    async stop() {
      isOver = true;
      await looking;
      return most;
    },
  };
}

const bytesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + statSync(path.join(folder, name)).size,
    0,
  );

/** A refused push leaves nothing, and the next one works. */
async function isWellAfterwards(
  t: Checks,
  git: Awaited<ReturnType<typeof openGit>>['git'],
  repository: string,
): Promise<void> {
  t.same([...(await git.refs.list(repository)).keys()], []);
  t.same(
    readdirSync(path.join(repository, 'objects'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => !/^(?:info|pack)$/.test(name),
    ),
    [],
  );
  const sample = sampleRepository();
  const main = gitSync(['rev-parse', 'main'], { cwd: sample });
  const { outcome } = await sendPush(
    git,
    repository,
    pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack: packOf(sample, 'main') }),
  );
  t.match(outcome, { kind: 'reported', results: [{ ok: true }] }, 'the next push works');
}

for (const [what, pack] of [
  [
    'a commit of one GiB',
    () => packWith(Buffer.concat([objectHead(types.commit, 1024 * mebibyte), deflatedZeros(1024)])),
  ],
  [
    'a folder of one GiB',
    () => packWith(Buffer.concat([objectHead(types.tree, 1024 * mebibyte), deflatedZeros(1024)])),
  ],
  ['a tag of one GiB', () => packWith(Buffer.concat([objectHead(types.tag, 1024 * mebibyte), deflatedZeros(1024)]))],
  ['a change that makes one GiB out of 15 MiB', () => deltaBomb(1, 69)],
] as const) {
  t.test(`SECURITY I01: ${what} is refused before git takes the memory`, async (t) => {
    const { git, folder, newRepository } = await openGit(t);
    const repository = await newRepository();
    const memory = watchMemory(folder);
    const { outcome, response } = await sendPush(git, repository, pushBytes({ commands, pack: pack() }));
    const most = await memory.stop();
    t.match(outcome, { kind: 'reported', results: [{ ref: 'refs/heads/main', ok: false }] });
    const { remarks, report } = readResponse(response);
    t.match(
      remarks,
      'takes more than 128 MiB of memory to read. A large file goes through whole: git -c core.bigFileThreshold=16m push',
    );
    t.match(report[1], /^ng refs\/heads\/main /);
    t.ok(most < 128, `git had ${most.toFixed(0)} MiB`);
    await isWellAfterwards(t, git, repository);
  });
}

t.test('SECURITY I01: a large file is streamed: neither memory nor disk grow with its inflated size', async (t) => {
  t.setTimeout(200_000);
  const mebibytes = Number(process.env['HEARTH_BOMB_MIB'] ?? 192);
  const { git, folder, newRepository } = await openGit(t);
  const repository = await newRepository();
  const content = deflatedZeros(mebibytes);
  // The id is known without hashing the file as a whole.
  const hash = createHash('sha1').update(`blob ${mebibytes * mebibyte}\0`);
  for (let at = 0; at < mebibytes; at += 1) hash.update(Buffer.alloc(mebibyte));
  const blob = hash.digest();
  const tree = Buffer.concat([Buffer.from('100644 zeros\0'), blob]);
  const idOf = (type: string, bytes: Buffer) =>
    createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
  const who = 'Alice <alice@example.org> 1700000000 +0000';
  const commit = Buffer.from(`tree ${idOf('tree', tree)}\nauthor ${who}\ncommitter ${who}\n\nZeros\n`);
  const pack = packWith(
    Buffer.concat([objectHead(types.commit, commit.length), deflateSync(commit)]),
    Buffer.concat([objectHead(types.tree, tree.length), deflateSync(tree)]),
    Buffer.concat([objectHead(types.blob, mebibytes * mebibyte), content]),
  );
  const memory = watchMemory(folder);
  const { outcome } = await sendPush(
    git,
    repository,
    pushBytes({ commands: [`${zeroId} ${idOf('commit', commit)} refs/heads/main`], pack }),
  );
  const most = await memory.stop();
  t.match(outcome, { kind: 'reported', results: [{ ok: true }] });
  t.ok(most > 0 && most < 128, `git had ${most.toFixed(0)} MiB`);
  t.ok(bytesBelow(repository) < pack.length + 64 * 1024, 'what came is what lies there');
});

t.test('SECURITY I01: a small push that needs minutes of CPU time is aborted', async (t) => {
  const { git, folder, log, newRepository } = await openGit(t, { limits: { pushCpuMs: 300, pushCpuMsPerMiB: 0 } });
  const repository = await newRepository();
  const pack = deltaBomb(400, 8);
  t.ok(pack.length < 64 * 1024, `${pack.length} bytes would become 48 GB`);
  const { outcome, response } = await sendPush(git, repository, pushBytes({ commands, pack }));
  t.match(outcome, { kind: 'unreported', clean: false });
  t.match(readResponse(response).failure, 'reading it takes far more work than its size explains');
  t.ok(log.some(({ event, reason }) => event === 'git.stopped' && reason === 'effort_limit'));
  // A killed process is listed until the kernel has reaped it.
  const below = () => processesBelow(path.join(folder, 'data'));
  await waitUntil(async () => (await below()).length === 0);
  t.same(await below(), [], 'nothing goes on behind it');
  await isWellAfterwards(t, git, repository);
});

t.test('SECURITY I01: a pack that declares too many objects is refused', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxPushObjects: 5, maxPushMemoryBytes: 16 * mebibyte } });
  const repository = await newRepository();
  const settled: unknown[] = [];
  const seen = {
    preReceive: async () => ({ accept: true as const }),
    postReceive: async (results: unknown[]) => void settled.push(...results),
  };
  const refused = await sendPush(git, repository, pushBytes({ commands, pack: packHead(6) }), seen);
  t.equal(refused.outcome.kind, 'refused');
  const reason = 'one push may bring at most 5 objects; push in parts';
  t.match(readResponse(refused.response).report[1], `ng refs/heads/main ${reason}`);
  t.match(settled, [{ ref: 'refs/heads/main', ok: false, reason }], 'the journal records it');
});

t.test('a pack that starts a byte at a time is accepted like any other', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const sample = sampleRepository();
  const main = gitSync(['rev-parse', 'main'], { cwd: sample });
  const bytes = pushBytes({ commands: [`${zeroId} ${main} refs/heads/main`], pack: packOf(sample, 'main') });
  const push = openPush(git, repository);
  const head = bytes.indexOf('PACK');
  push.input.write(bytes.subarray(0, head));
  for (let at = head; at < head + 20; at += 1) {
    await new Promise(setImmediate);
    push.input.write(bytes.subarray(at, at + 1));
  }
  push.input.end(bytes.subarray(head + 20));
  t.match(await push.outcome, { kind: 'reported', results: [{ ok: true }] });
});

t.test('SECURITY I01: the table of many small objects may be larger than one object', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxPushMemoryBytes: mebibyte } });
  const repository = await newRepository();
  const who = 'Alice <alice@example.org> 1700000000 +0000';
  const entries: Buffer[] = [];
  const objects: Buffer[] = [];
  for (let at = 0; at < 20_000; at += 1) {
    const content = Buffer.from(`${at}`);
    const id = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest();
    entries.push(Buffer.concat([Buffer.from(`100644 ${String(at).padStart(5, '0')}\0`), id]));
    objects.push(Buffer.concat([objectHead(types.blob, content.length), deflateSync(content, { level: 0 })]));
  }
  const tree = Buffer.concat(entries);
  const idOf = (type: string, bytes: Buffer) =>
    createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
  const commit = Buffer.from(`tree ${idOf('tree', tree)}\nauthor ${who}\ncommitter ${who}\n\nMany\n`);
  const pack = packWith(
    Buffer.concat([objectHead(types.commit, commit.length), deflateSync(commit)]),
    Buffer.concat([objectHead(types.tree, tree.length), deflateSync(tree)]),
    ...objects,
  );
  const { outcome } = await sendPush(
    git,
    repository,
    pushBytes({ commands: [`${zeroId} ${idOf('commit', commit)} refs/heads/main`], pack }),
  );
  t.match(outcome, { kind: 'reported', results: [{ ok: true }] });
});

t.test('a large file whose delta is refused can be pushed undeltified, as the refusal says', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { maxPushMemoryBytes: 17 * mebibyte } });
  const repository = await newRepository();
  const work = temporaryFolder(t);
  const run = (...args: string[]) => gitSync(args, { cwd: work });
  run('init', '--quiet', '--initial-branch=main');
  run('config', 'core.compression', '1');
  const content = Buffer.alloc(18 * mebibyte);
  for (let at = 0; at < content.length; at += 4)
    content.writeUInt32LE(crc32(Buffer.from([at & 255, (at >> 8) & 255]), at), at);
  const ids: string[] = [];
  for (const word of ['one', 'two']) {
    writeFileSync(path.join(work, 'large'), Buffer.concat([Buffer.from(word), content]));
    run('add', '.');
    run('commit', '--quiet', `--message=${word}`);
    ids.push(run('rev-parse', 'HEAD'));
  }
  const packed = (threshold: string) =>
    execFileSync('git', ['-c', `core.bigFileThreshold=${threshold}`, 'pack-objects', '--revs', '--stdout', '--quiet'], {
      cwd: work,
      env: clientEnvironment,
      input: `${ids[1]}\n`,
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 2 ** 30,
    });
  const all = [`${zeroId} ${ids[1]} refs/heads/main`];
  const asChange = await sendPush(git, repository, pushBytes({ commands: all, pack: packed('512m') }));
  t.match(asChange.outcome, { kind: 'reported', results: [{ ok: false }] });
  t.match(readResponse(asChange.response).remarks, 'takes more than 17 MiB of memory to read');
  const whole = await sendPush(git, repository, pushBytes({ commands: all, pack: packed('16m') }));
  t.match(whole.outcome, { kind: 'reported', results: [{ ok: true }] });
});
