import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { isBuilt, readTable } from '../../scripts/compare-gitea-operations.ts';
import { projectFolder } from '../architecture/source-files.ts';

t.test('the table of Gitea’s operations says which are here', async (t) => {
  const { operations, version } = readTable();
  t.ok(operations.length > 450);
  t.match(version, /^\d+\.\d+\.\d+$/);
  const wrong = operations.filter((one) => isBuilt(one) !== (one.state === 'built'));
  t.strictSame(
    wrong.map(({ method, path, state }) => `${method} ${path} is ${state} in the table`),
    [],
    'run scripts/compare-gitea-operations.ts',
  );
  for (const { state, note, id } of operations) if (state !== 'built') t.ok(note, `${id} has a reason`);
  const page = readFileSync(path.join(projectFolder, 'docs/gitea-operations.md'), 'utf8');
  const built = operations.filter(({ state }) => state === 'built').length;
  t.match(page, new RegExp(`\\b${built} are built here`));
});
