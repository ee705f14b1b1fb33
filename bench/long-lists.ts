// Lists of what there is much of: the API's list of issues at its first and its sixtieth page (2,000 issues), branches
// and tags of a repository of 100,000 refs by API and as pages, each also the first after a start, and the storage page
// of administrators with 100,000 repositories. CPU time of the whole process tree.
// usage: bench/long-lists [--issues N] [--refs N] [--repositories N] [--requests N] [--executable PATH]
import { appendFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { addPerson, openBareDatabase, openModulesIn } from './data-folder.ts';
import { formatRow, readNumberOption } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import { cpuMsOfThreads } from './process-usage.ts';
import { fillRepository } from './sample-history.ts';
import { fillTracker } from './sample-issues.ts';
import { fillNames } from './sample-names.ts';

const issues = readNumberOption('issues', 2_000);
const refs = readNumberOption('refs', 100_000);
const repositories = readNumberOption('repositories', 100_000);
const requests = readNumberOption('requests', 20);

let session = '';
const hearth = await startHearthServer(
  { SERVICE_SEARCH_CODE_INDEX_BUDGET: '0B', SERVICE_LOG_LEVEL: 'error' },
  async (dataFolder) => {
    const modules = await openModulesIn(dataFolder);
    session = (await addPerson(modules, 'carol', true)).session;
    await modules.close();
    const db = await openBareDatabase(dataFolder);
    await fillNames(db, repositories);
    // Nothing is due: the repositories have no folders.
    await db.write(({ manager }) =>
      manager.query(
        `INSERT INTO language_counts (repository_id, counted_at) SELECT id, 4000000000000 FROM repositories`,
      ),
    );
    await db.close();
  },
);
await fillRepository(hearth.repository);
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', hearth.repository, ...args])
    .toString()
    .trim();
const commits = git('rev-list', '--max-count=1000', 'HEAD').split('\n');
git('pack-refs', '--all');
appendFileSync(
  path.join(hearth.repository, 'packed-refs'),
  Array.from({ length: refs }, (_, at) => {
    const name = at % 2 === 0 ? `heads/many/b${at}` : `tags/v${at % 9}.${at}`;
    return `${commits[at % commits.length]} refs/${name}\n`;
  })
    // In the order that the header of the file states.
    .sort((one, other) => (one.slice(41) < other.slice(41) ? -1 : 1))
    .join(''),
);
const database = new DatabaseSync(path.join(hearth.folder, 'data/hearth.db'));
const [repository] = database.prepare("SELECT id FROM repositories WHERE name = 'bench'").all() as { id: string }[];
database.close();
const db = await openBareDatabase(path.join(hearth.folder, 'data'));
await fillTracker(db, repository!.id, { issues, entries: issues * 3 });
await db.close();

async function settle(): Promise<void> {
  for (let before = cpuMsOfThreads(hearth.pid), waits = 0; waits < 180; waits += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const now = cpuMsOfThreads(hearth.pid);
    if (now - before < 20) return;
    before = now;
  }
}

async function view(address: string): Promise<number> {
  const before = cpuMsOfThreads(hearth.pid);
  const headers: Record<string, string> = address.startsWith('/api/')
    ? { Authorization: `Bearer ${hearth.token}` }
    : { Cookie: `hearth_session=${session}` };
  const response = await fetch(hearth.url + address, { headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${address} answers ${response.status}`);
  return cpuMsOfThreads(hearth.pid) - before;
}

const api = '/api/v1/repos/alice/bench';
await settle();
console.log(formatRow(['Address', 'First, CPU ms', 'Median of the next, CPU ms']));
console.log(formatRow(['---', '---:', '---:']));
for (const address of [
  '/repos/alice/bench/branches',
  '/repos/alice/bench/tags',
  '/repos/alice/bench',
  `${api}/branches?limit=30`,
  `${api}/branches?limit=30&page=1000`,
  `${api}/tags?limit=30`,
  `${api}/tags?limit=30&page=1000`,
  `${api}/issues?state=all&limit=30`,
  `${api}/issues?state=all&limit=30&page=10`,
  `${api}/issues?state=all&limit=30&page=60`,
  '/admin/usage',
]) {
  const first = await view(address);
  const next: number[] = [];
  for (let at = 0; at < requests; at += 1)
    next.push(await view(`${address}${address.includes('?') ? '&' : '?'}x=${at}`));
  next.sort((one, other) => one - other);
  console.log(formatRow([`\`${address}\``, first.toFixed(1), next[Math.trunc(next.length / 2)]!.toFixed(1)]));
}
await hearth.stop();
