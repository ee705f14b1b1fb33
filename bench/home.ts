// Home page of a person who is signed in, on instances of 5,000 and of 100,000 repositories, half of which are theirs;
// CPU time of the whole process tree.
// usage: bench/home [--rows N] [--requests N] [--executable PATH]
import { addPerson, openBareDatabase, openModulesIn } from './data-folder.ts';
import { startHearthServer } from './hearth-server.ts';
import { cpuMsOfThreads } from './process-usage.ts';
import { formatRow, formatSpread, readNumberOption } from './harness.ts';
import { fillNames } from './sample-names.ts';

const requests = readNumberOption('requests', 200);
const given = readNumberOption('rows', 0);
const rounds = 5;

/** @returns the secret of bob's session */
async function furnish(dataFolder: string, count: number): Promise<string> {
  const modules = await openModulesIn(dataFolder);
  const { id, session } = await addPerson(modules, 'bob');
  await modules.close();
  const db = await openBareDatabase(dataFolder);
  await fillNames(db, count);
  await db.write(async ({ manager }) => {
    await manager.query(
      `UPDATE repositories SET owner_user_id = '${id}', name = name || rowid, name_folded = name_folded || rowid WHERE rowid % 2 = 0`,
    );
    await manager.query(
      `UPDATE repositories SET pushed_at = 1700000000000 + rowid, updated_at = 1700000000000 + rowid`,
    );
    // Nothing is due: the repositories have no folders.
    await manager.query(
      `INSERT INTO language_counts (repository_id, counted_at) SELECT id, 4000000000000 FROM repositories`,
    );
  });
  await db.close();
  return session;
}

async function measure(count: number): Promise<string> {
  let cookie = '';
  const hearth = await startHearthServer(
    { SERVICE_SEARCH_CODE_INDEX_BUDGET: '0B', SERVICE_LOG_LEVEL: 'error' },
    async (dataFolder) => {
      cookie = `hearth_session=${await furnish(dataFolder, count)}`;
    },
  );
  const view = async () => {
    const response = await fetch(`${hearth.url}/`, { headers: { cookie } });
    if (response.status !== 200) throw new Error(`the home page answers ${response.status}`);
    return (await response.arrayBuffer()).byteLength;
  };
  // The index of names is made after the start.
  for (let before = cpuMsOfThreads(hearth.pid), waits = 0; waits < 120; waits += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = cpuMsOfThreads(hearth.pid);
    if (now - before < 20) break;
    before = now;
  }
  for (let warm = 0; warm < requests; warm += 1) await view();
  const taken: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = cpuMsOfThreads(hearth.pid);
    for (let request = 0; request < requests; request += 1) bytes = await view();
    taken.push((cpuMsOfThreads(hearth.pid) - before) / requests);
  }
  await hearth.stop();
  return formatRow([count.toLocaleString('en'), formatSpread(taken, 2), (bytes / 1000).toFixed(1)]);
}

console.log(formatRow(['Repositories', 'CPU ms of a view (min–max)', 'kB']));
console.log(formatRow(['---:', '---:', '---:']));
for (const count of given > 0 ? [given] : [5_000, 100_000]) console.log(await measure(count));
