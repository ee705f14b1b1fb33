/** The lock file is complete: `npm ci` refuses one that omits the packages of other platforms. */
import { readFileSync } from 'node:fs';
import t from 'tap';

interface LockEntry {
  version?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const packages: Record<string, LockEntry> = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;

/** Node's resolution: the folder's own `node_modules`, then those of the folders above. */
function resolves(folder: string, name: string): boolean {
  const ends = [...folder.matchAll(/\/node_modules\//g)].map((match) => match.index);
  const above = ['', ...ends.map((end) => `${folder.slice(0, end)}/`), ...(folder === '' ? [] : [`${folder}/`])];
  return above.some((at) => packages[`${at}node_modules/${name}`] !== undefined);
}

t.test('each dependency of a package in the lock file has an entry, those of other platforms too', async (t) => {
  const missing = Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => !resolves(path, name))
      .map((name) => `${path} needs ${name}`),
  );
  t.same(missing, []);
});
