import type { ReviewListener } from '../../ci/index.ts';
import { deploymentSubject } from '../schema/notification-schema.ts';
import { addBatch } from './batches.ts';
import type { BatchDrain } from './batches.ts';
import { detailsOf } from './on-run-finished.ts';

/**
 * Subscribes to deployments that wait for reviewers, inside the transaction that makes one wait or continue. Reviewers
 * are looked up when it is announced, so a deployment decided before that notifies nobody.
 */
export function onDeploymentReview(batchDrain: Pick<BatchDrain, 'scheduleDrain'>): ReviewListener {
  return async (tx, { kind, run, environment }) => {
    const { repositoryId, number } = run;
    const subject = deploymentSubject(repositoryId, number, environment);
    if (kind === 'asked') {
      const event = {
        subject,
        repositoryId,
        issueId: null,
        firstPosition: tx.now,
        lastPosition: tx.now,
        details: JSON.stringify({ ...detailsOf(run), environment }),
        context: '',
      };
      await addBatch(tx, { kind: 'deployment-waits', event, run: number, environment });
      // A deployment requested and decided in the same millisecond counts as decided.
    } else await addBatch(tx, { kind: 'deployment-settled', subject, context: '', position: tx.now + 1 });
    batchDrain.scheduleDrain();
  };
}
