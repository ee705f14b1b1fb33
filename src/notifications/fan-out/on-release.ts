import type { ReleaseListener } from '../../releases/index.ts';
import type { ReleaseDetails, Subject } from '../schema/notification-schema.ts';
import { addBatch } from './batches.ts';
import type { BatchDrain } from './batches.ts';

/**
 * Subscribes to releases, inside the transaction that publishes one; announces it later. Withdrawing or deleting a
 * release deletes its notifications.
 */
export function onRelease(batchDrain: Pick<BatchDrain, 'scheduleDrain'>): ReleaseListener {
  return async (tx, { action, repository, release, actorId }) => {
    const subject: Subject = `release:${release.id}`;
    if (action === 'published') {
      const details: ReleaseDetails = { id: release.id, tag: release.tag, title: release.title };
      const event = {
        subject,
        repositoryId: repository.id,
        issueId: null,
        firstPosition: release.listedAt,
        lastPosition: release.listedAt,
        details: JSON.stringify(details),
        context: '',
      };
      await addBatch(tx, { kind: 'released', event, actorId });
      batchDrain.scheduleDrain();
    }
    if (action === 'withdrawn' || action === 'deleted')
      await tx.manager.query(
        'DELETE FROM notifications WHERE subject = ? AND issue_id IS NULL AND resolved_at IS NULL',
        [subject],
      );
  };
}
