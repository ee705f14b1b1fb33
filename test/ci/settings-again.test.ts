import { statfsSync } from 'node:fs';
import t from 'tap';
import { refuseLowDisk } from '../../src/ci/artifacts/upload-artifact.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { openCi, reasonOf } from './ci-fixture.ts';

t.test('a variable that is set again has its new value, and no other one changes', async (t) => {
  const { ci, found } = await openCi(t);
  const scopes = [{ kind: 'repository', id: found.repository.id }, { kind: 'instance' }] as const;
  for (const scope of scopes)
    for (const [name, value] of [
      ['COLOUR', 'green'],
      ['SIZE', 'small'],
    ] as const)
      await ci.variables.set(scope, { name, value });
  await ci.variables.set(scopes[0], { name: 'colour', value: 'red' });
  const valuesIn = async (scope: (typeof scopes)[number]) =>
    (await ci.variables.list(scope)).map(({ name, value }) => `${name}=${value}`);
  t.strictSame(await valuesIn(scopes[0]), ['COLOUR=red', 'SIZE=small']);
  t.strictSame(await valuesIn(scopes[1]), ['COLOUR=green', 'SIZE=small']);
});

t.test('artifacts are refused below the floor of free bytes, and taken at it', async (t) => {
  const folder = temporaryFolder(t);
  const { bavail, bsize } = statfsSync(folder);
  // Other programs write to the same disk meanwhile.
  const free = bavail * bsize;
  const reasonAt = (lowDiskFloorBytes: number): Promise<string> =>
    reasonOf(refuseLowDisk({ settings: { folder, lowDiskFloorBytes } as never }));
  t.equal(await reasonAt(free * 0.9), 'nothing');
  t.equal(await reasonAt(free * 1.1), 'low_disk_space');
  t.equal(await reasonAt(0), 'nothing');
});
