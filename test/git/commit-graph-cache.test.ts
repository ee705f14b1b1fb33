import t from 'tap';
import { statSync, writeFileSync } from 'node:fs';
import { openCommitGraph } from '../../src/git/last-commits/commit-graph.ts';
import { cacheStatistics, cachedBytes, cachedBytesLimit, limitCachedBytes } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { gitSync, sampleRepository } from './git-fixture.ts';

t.test(
  'a commit-graph larger than the limit of all caches is read once, and leaves half of it to others',
  async (t) => {
    const usual = cachedBytesLimit();
    t.teardown(() => limitCachedBytes(usual));
    const repository = `${temporaryFolder(t)}/r.git`;
    gitSync(['clone', '--quiet', '--bare', sampleRepository(), repository]);
    gitSync(['-C', repository, 'commit-graph', 'write', '--reachable']);
    const { size } = statSync(`${repository}/objects/info/commit-graph`);
    limitCachedBytes(Math.floor(size / 2));
    const hits = (): number => cacheStatistics().find(({ name }) => name === 'commit-graph files')!.hits;
    t.ok(await openCommitGraph(repository));
    const before = hits();
    t.ok(await openCommitGraph(repository));
    t.equal(hits(), before + 1, 'from memory');
    t.ok(cachedBytes() <= size / 4, `${cachedBytes()} of ${size} bytes count`);
  },
);

t.test('the commit-graph of a shallow repository is not used, as git does not: it knows what is cut off', async (t) => {
  const repository = `${temporaryFolder(t)}/r.git`;
  gitSync(['clone', '--quiet', '--bare', sampleRepository(), repository]);
  gitSync(['-C', repository, 'commit-graph', 'write', '--reachable']);
  const [tip] = gitSync(['-C', repository, 'rev-list', '-1', '--all']).split('\n');
  t.match((await openCommitGraph(repository))?.find(tip!), { oid: tip });
  writeFileSync(`${repository}/shallow`, `${tip}\n`);
  t.equal(await openCommitGraph(repository), null);
});
