import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { conflict } from '../kernel/index.ts';
import { mirrorSchema } from './mirror-schema.ts';
import type { MirrorDeps } from './deps.ts';
import { hostKeyFingerprint } from './ssh-key.ts';

/**
 * Trusts the host key that the remote currently presents, and resumes the mirror. Throws `no_offered_host_key`,
 * `host_key_differs` if it is not the confirmed one.
 * @param confirmed the fingerprint that the user has confirmed, with or without the key type before it
 */
export async function acceptHostKey(
  { db, logger }: MirrorDeps,
  viewer: Viewer,
  repositoryId: string,
  confirmed: string,
): Promise<void> {
  const fingerprint = await db.write(async ({ manager, now }) => {
    const row = await manager.findOneBy(mirrorSchema, { repositoryId });
    if (row === null || row.offeredHostKey === null)
      throw conflict('no_offered_host_key', 'The remote presents no host key other than the trusted one.');
    const offered = hostKeyFingerprint(row.offeredHostKey);
    if (confirmed.trim() !== offered && confirmed.trim() !== offered.split(' ')[1])
      throw conflict(
        'host_key_differs',
        `The remote presents ${offered}, which is not the fingerprint that you confirmed.`,
      );
    await manager.update(
      mirrorSchema,
      { repositoryId },
      {
        hostKey: row.offeredHostKey,
        offeredHostKey: null,
        isPaused: false,
        failures: 0,
        lastError: null,
        nextAt: now,
        updatedAt: now,
      },
    );
    return offered;
  });
  logger.info('mirror.host_key_accepted', { repositoryId, fingerprint, by: viewerForLog(viewer) });
}
