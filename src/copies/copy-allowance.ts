import { rows } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import type { CopyAllowance } from '../mirrors/index.ts';
import type { CopyDeps } from './deps.ts';
import { keptCopySchema } from './kept-copy-schema.ts';

/** Bytes of kept copies by the last measurement, those in the trash included: they are on disk. */
async function bytesOfCopies(
  { db }: Pick<CopyDeps, 'db'>,
  { userId, besides = '' }: { userId?: string; besides?: string },
): Promise<number> {
  const [found] = await rows<{ bytes: number | string | null }>(
    db.read,
    `SELECT sum(coalesce((SELECT r.size_bytes FROM repositories r WHERE r.id = c.repository_id), 0)
        + coalesce((SELECT l.bytes FROM lfs_repositories l WHERE l.repository_id = c.repository_id), 0)) AS bytes
       FROM kept_copies c
      WHERE ${userId === undefined ? '' : 'c.user_id = ? AND'} c.repository_id <> ?`,
    [...(userId === undefined ? [] : [userId]), besides],
  );
  return Number(found?.bytes ?? 0);
}

/** How much a kept copy may have: its own limit, or what the others leave of the quotas. */
export async function allowanceOf(deps: CopyDeps, repositoryId: string): Promise<CopyAllowance> {
  const { maxBytes, userQuotaBytes, totalQuotaBytes } = deps.settings;
  const row = await deps.db.read.findOneBy(keptCopySchema, { repositoryId });
  const [ofUser, ofAll] = await Promise.all([
    row === null ? 0 : bytesOfCopies(deps, { userId: row.userId, besides: repositoryId }),
    bytesOfCopies(deps, { besides: repositoryId }),
  ]);
  const limits: CopyAllowance[] = [
    { bytes: maxBytes, limit: `the limit of ${readableSize(maxBytes)} for one copy` },
    { bytes: userQuotaBytes - ofUser, limit: `the quota of ${readableSize(userQuotaBytes)} for all your copies` },
    { bytes: totalQuotaBytes - ofAll, limit: `the quota of ${readableSize(totalQuotaBytes)} for all copies here` },
  ];
  return limits.reduce((least, each) => (each.bytes < least.bytes ? each : least));
}

/** Throws `copies_off` while nobody may keep copies, `copy_quota` when the copies of the person or of all are full. */
export async function refuseFullQuota(deps: CopyDeps, userId: string): Promise<void> {
  const { maxBytes, userQuotaBytes, totalQuotaBytes } = deps.settings;
  if (Math.min(maxBytes, userQuotaBytes, totalQuotaBytes) <= 0)
    throw conflict('copies_off', 'This server does not keep copies of followed repositories.');
  if ((await bytesOfCopies(deps, { userId })) >= userQuotaBytes)
    throw conflict('copy_quota', `Your copies have reached their quota of ${readableSize(userQuotaBytes)}.`);
  if ((await bytesOfCopies(deps, {})) >= totalQuotaBytes)
    throw conflict(
      'copy_quota',
      `The copies on this server have reached their quota of ${readableSize(totalQuotaBytes)}.`,
    );
}

function readableSize(bytes: number): string {
  const [unit, name] = bytes >= 1e9 ? [1e9, 'GB'] : bytes >= 1e6 ? [1e6, 'MB'] : [1e3, 'kB'];
  return `${Number((bytes / (unit as number)).toFixed(1))} ${name}`;
}
