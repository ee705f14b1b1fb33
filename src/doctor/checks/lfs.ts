import { lfsKey, lfsPrefix } from '../../lfs/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, dayMs, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** Files of objects with the sizes in their rows, sums, and scans that found problems. Deletes nothing. */
export const checkLfs: CheckGroup = async (deps) => {
  const { findings, objects } = await checkFiles(deps);
  return {
    area: 'lfs',
    findings: [...findings, ...(await checkSums(deps)), ...(await checkScans(deps))],
    summary: `${counted(objects, 'object', 'objects')} checked`,
  };
};

async function checkFiles(deps: CheckContext): Promise<{ findings: CheckResult[]; objects: number }> {
  if (deps.objects.place === 's3') return { findings: [], objects: 0 };
  const rows = new Map<string, number>();
  for (const { repository_id: id, oid, bytes } of await rowsOf(
    deps,
    'SELECT repository_id, oid, bytes FROM lfs_objects WHERE removing_at IS NULL',
  ))
    rows.set(lfsKey(String(id), String(oid)), Number(bytes));
  const objects = rows.size;
  let [orphans, wrong] = [0, 0];
  for await (const { key, bytes, storedAt } of deps.objects.list(lfsPrefix)) {
    const expected = rows.get(key);
    if (expected === undefined && deps.now - storedAt > 8 * dayMs) orphans += 1;
    else if (expected !== undefined && expected !== bytes) wrong += 1;
    rows.delete(key);
  }
  const findings: CheckResult[] = [];
  const remedy = 'hearth lfs check lists them; --fix looks in the trash, a backup has the rest, or a push of a clone';
  if (rows.size > 0)
    findings.push(
      problem('lfs.missing', `${counted(rows.size, 'Git LFS object has', 'Git LFS objects have')} no file.`, {
        remedy,
      }),
    );
  if (wrong > 0)
    findings.push(
      problem('lfs.damaged', `${counted(wrong, 'Git LFS object is', 'Git LFS objects are')} damaged.`, { remedy }),
    );
  if (orphans > 0)
    findings.push(
      warning('lfs.orphans', `${counted(orphans, 'file does', 'files do')} not belong to any Git LFS object.`, {
        remedy: 'hearth lfs gc --delete',
      }),
    );
  return { findings, objects };
}

const actual = {
  objects: '(SELECT count(*) FROM lfs_objects o WHERE o.repository_id = l.repository_id)',
  bytes:
    '(SELECT coalesce(sum(o.bytes), 0) FROM lfs_objects o WHERE o.repository_id = l.repository_id AND o.shared = 0)',
  shared_bytes:
    '(SELECT coalesce(sum(o.bytes), 0) FROM lfs_objects o WHERE o.repository_id = l.repository_id AND o.shared = 1)',
};

async function checkSums(deps: CheckContext): Promise<CheckResult[]> {
  const differs = Object.entries(actual).map(([column, sum]) => `l.${column} <> ${sum}`);
  const rows = await rowsOf(deps, `SELECT l.repository_id FROM lfs_repositories l WHERE ${differs.join(' OR ')}`);
  if (rows.length === 0) return [];
  const what = counted(rows.length, 'repository', 'repositories');
  const set = Object.entries(actual).map(([column, sum]) => `${column} = ${sum}`);
  return [
    warning('lfs.sums', `The Git LFS storage sizes of ${what} are wrong.`, {
      remedy: 'hearth doctor --fix counts anew',
      fix: async () => {
        for (const { repository_id: id } of rows)
          await deps.db.write(({ manager }) =>
            manager.query(`UPDATE lfs_repositories AS l SET ${set.join(', ')} WHERE l.repository_id = ?`, [id]),
          );
        return `recalculated the Git LFS storage sizes of ${what}`;
      },
    }),
  ];
}

async function checkScans(deps: CheckContext): Promise<CheckResult[]> {
  const [row] = await rowsOf(deps, 'SELECT count(*) AS n FROM lfs_repositories WHERE scan_error IS NOT NULL');
  const failed = Number(row?.['n'] ?? 0);
  if (failed === 0) return [];
  return [
    warning(
      'lfs.scan_failed',
      `git could not read ${counted(failed, 'repository', 'repositories')} completely, so no Git LFS objects are removed from them.`,
      { remedy: 'hearth repo fsck --all, then hearth lfs gc' },
    ),
  ];
}
