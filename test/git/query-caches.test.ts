import t from 'tap';
import { cachedBytes, cachedBytesLimit, limitCachedBytes } from '../../src/kernel/index.ts';
import { weighBlame, weighFolder, weighList } from '../../src/git/queries/weigh-results.ts';
import { makeEdgeCaseRepository } from '../fixtures/edge-case-repository.ts';
import { openGit } from './git-fixture.ts';

const usual = cachedBytesLimit();
t.teardown(() => limitCachedBytes(usual));

t.test('results of git are cached by their bytes, and asked for again when they had to give way', async (t) => {
  const { git, newRepository } = await openGit(t);
  const path = await newRepository();
  await makeEdgeCaseRepository(path);
  const oid = (await git.refs.head(path)).oid!;
  const root = Buffer.alloc(0);
  const results = async () => ({
    folder: await git.queries.folder(path, oid, root, { maxEntries: 1_000 }),
    blame: await git.queries.blame(path, oid, Buffer.from('README.md')),
    diff: await git.queries.listDiff(path, { from: null, to: oid }),
  });
  limitCachedBytes(0);
  const before = await results();
  t.equal(cachedBytes(), 0, 'nothing fits');
  limitCachedBytes(usual);
  t.same(await results(), before);
  const { folder, blame, diff } = before;
  const weight = weighFolder(folder) + weighBlame(blame) + weighList(diff);
  t.ok(cachedBytes() >= weight, `${cachedBytes()} bytes for results of ${weight}`);
  t.equal((await results()).folder, (await results()).folder, 'the same object: it was cached');
  limitCachedBytes(weight - 1);
  t.ok(cachedBytes() < weight, 'something had to leave');
  t.same(await results(), before);
});

t.test('a result weighs at least its text, and more with every object in it', async (t) => {
  const line = Buffer.alloc(1_000);
  const group = { oid: '', previous: null, firstLine: 1, lines: [line, line] };
  const one = weighBlame({ groups: [group], commits: new Map() });
  t.ok(one > 2_000);
  t.ok(weighBlame({ groups: [group, group], commits: new Map() }) > one + 2_000);
  t.ok(weighFolder({ entries: new Array(10) }) > weighFolder({ entries: new Array(9) }));
});
