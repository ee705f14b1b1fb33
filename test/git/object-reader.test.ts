import t from 'tap';
import { createHash } from 'node:crypto';
import { defaultLimits } from '../../src/git/limits.ts';
import type { GitObject } from '../../src/git/objects/object-reader.ts';
import { createObjectReaders } from '../../src/git/objects/object-readers.ts';
import { launchDirectly } from '../../src/git/processes/child.ts';
import { createGitRunner } from '../../src/git/processes/git-runner.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { clientEnvironment, gitSync } from './git-fixture.ts';

/** Sizes around those of a pipe's chunks, of pooled buffers and of nothing. */
const sizes = [0, 1, 100, 4_095, 4_096, 8_191, 8_192, 65_500, 65_536, 70_000, 200_000, 1_000_000];
const idOf = (object: GitObject | null): string =>
  object === null
    ? 'none'
    : createHash('sha1').update(`blob ${object.content.length}\0`).update(object.content).digest('hex');

t.test('content of an object stays as it is while that of others is read and given back', async (t) => {
  const repository = `${temporaryFolder(t)}/r.git`;
  gitSync(['init', '--quiet', '--bare', repository]);
  const blobs = sizes.map((size, at) => {
    // Text that differs from blob to blob, so that a byte in the wrong place is noticed.
    const content = Buffer.from(`${at}-`.repeat(Math.ceil(size / 2))).subarray(0, size);
    return gitSync(['-C', repository, 'hash-object', '-w', '--stdin'], { input: content });
  });
  const settings = { environment: clientEnvironment, home: temporaryFolder(t), file: '' };
  const runner = createGitRunner('/usr/bin/git', settings, silentLogger, launchDirectly);
  const readers = createObjectReaders(runner, defaultLimits);
  t.teardown(async () => {
    await readers.close();
    await runner.close(0);
  });

  const random = seededRandom(5);
  const kept: [oid: string, object: GitObject | null][] = [];
  await readers.use(repository, async (reader) => {
    const requests: Promise<unknown>[] = [];
    for (let round = 0; round < 200; round += 1) {
      const names = Array.from({ length: 1 + random.below(4) }, () => random.pick(blobs));
      if (random.chance(0.5)) {
        const limited = random.chance(0.2);
        const maxBytes = limited ? 5_000 : Infinity;
        requests.push(
          reader
            .mapObjects(names, (object) => (object!.size > maxBytes ? object!.oid : idOf(object)), { maxBytes })
            .then((ids) => t.strictSame(ids, names)),
        );
      } else for (const oid of names) requests.push(reader.object(oid).then((object) => void kept.push([oid, object])));
      // Some requests wait for the responses before them, others are in flight with them.
      if (random.chance(0.3)) await Promise.all(requests);
    }
    await Promise.all(requests);
    t.ok(kept.length > 50);
    for (const [oid, object] of kept) t.equal(idOf(object), oid);

    await t.rejects(
      reader.mapObjects([blobs[3]!, 'f'.repeat(40)], (object) => {
        if (object === null) throw new Error('no such object');
      }),
      { message: 'no such object' },
    );
    t.strictSame(await reader.mapObjects([blobs[5]!], idOf), [blobs[5]], 'and goes on after it');
  });
});
