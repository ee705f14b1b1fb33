import { compareReleaseCounts, orphanedReleaseObjects, recountReleases, releaseFileKey } from '../../releases/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, dayMs, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** Release files with their sizes, orphaned contents, and counts. */
export const checkReleases: CheckGroup = async (deps) => {
  // The group `objects` checks buckets.
  const isHere = deps.objects.place === 'folder';
  const { findings, files } = isHere ? await checkFiles(deps) : { findings: [], files: 0 };
  return {
    area: 'releases',
    findings: [...findings, ...(isHere ? await checkOrphans(deps) : []), ...(await checkCounts(deps))],
    summary: `${counted(files, 'release file', 'release files')} checked`,
  };
};

async function checkFiles(deps: CheckContext): Promise<{ findings: CheckResult[]; files: number }> {
  const rows = await rowsOf(deps, 'SELECT id, name, bytes FROM release_files');
  const findings: CheckResult[] = [];
  for (const { id, name, bytes } of rows) {
    const key = releaseFileKey(String(id));
    const found = await deps.objects.stat(key);
    if (found?.bytes === Number(bytes)) continue;
    const isMissing = found === null;
    findings.push(
      problem(
        isMissing ? 'releases.file_missing' : 'releases.file_damaged',
        `The release file ${String(name)} ${isMissing ? 'is missing' : `has ${found.bytes} bytes instead of ${Number(bytes)}`}.`,
        { remedy: `restore objects/${key} from a backup` },
      ),
    );
  }
  return { findings, files: rows.length };
}

async function checkOrphans(deps: CheckContext): Promise<CheckResult[]> {
  let orphans = 0;
  // The nightly job removes files after a day; one that is two days old was left behind.
  for await (const { storedAt } of orphanedReleaseObjects(deps)) if (deps.now - storedAt > 2 * dayMs) orphans += 1;
  if (orphans === 0) return [];
  return [
    warning('releases.file_orphan', `${counted(orphans, 'file does', 'files do')} not belong to any release.`, {
      remedy: 'hearth cron run releases.remove-files',
    }),
  ];
}

async function checkCounts(deps: CheckContext): Promise<CheckResult[]> {
  const ids = (await rowsOf(deps, compareReleaseCounts)).map(({ id }) => String(id));
  if (ids.length === 0) return [];
  const what = `releases of ${counted(ids.length, 'repository', 'repositories')}`;
  return [
    warning('releases.counts', `The counts of ${what} are wrong.`, {
      remedy: 'hearth doctor --fix counts anew',
      fix: async () => {
        for (const id of ids) await deps.db.write((tx) => recountReleases(tx, id));
        return `recalculated the ${what}`;
      },
    }),
  ];
}
