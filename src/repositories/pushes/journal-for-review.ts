import { personIdOf, recordCredential } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IncomingCommits, PushVerdict } from '../../git/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import { preReceiveRefusal } from './pre-receive-check.ts';
import type { PushJournal, RefUpdate } from './push-journal.ts';
import { pushOptionWarning } from './push-option-warning.ts';
import type { PushForReview, ReviewVerdict } from '../ports/review-port.ts';

interface ReviewCommand {
  /** Id of the push. */
  id: string;
  update: RefUpdate;
  options: readonly string[];
  arriving: IncomingCommits;
}

/**
 * Checks and journals a push to `refs/for/…` in one transaction, under the pull request ref that the port names. Branch
 * rules do not apply, because the push moves no branch.
 */
export async function journalForReview(
  deps: RepositoryDeps,
  journal: PushJournal,
  opened: Found,
  { viewer, via }: { viewer: Viewer; via: 'http' | 'ssh' },
  { id, update, options, arriving }: ReviewCommand,
): Promise<PushVerdict> {
  const port = deps.reviews.port;
  if (port === null) return { accept: false, reason: 'reserved for the server' };
  const push: PushForReview = { id, viewer, opened, ref: update.ref, newId: update.newId, options, arriving };
  const prepared = await port.prepare(push);
  const verdict = await deps.db.write<ReviewVerdict>(async (tx) => {
    const row = await tx.before.findOneBy(repositorySchema, { id: opened.repository.id });
    const reason = row === null ? null : await preReceiveRefusal(deps, tx, viewer, opened, row, 'read');
    if (row === null || reason !== null) return { accept: false, reason: reason ?? 'repository not found' };
    const decided = await port.decide(tx, push, prepared);
    if (!decided.accept) return decided;
    const userId = personIdOf(viewer);
    const credential = recordCredential(viewer);
    const updates = [{ ref: decided.to, oldId: decided.oldId, newId: update.newId }];
    await journal.begin(tx, { id, repositoryId: row.id, userId, via, credential, options, updates });
    await decided.record();
    return decided;
  });
  if (!verdict.accept) return verdict;
  const { to, oldId, maxPackBytes } = verdict;
  const remarks = await verdict.remarks().catch((error: unknown): string[] => {
    deps.logger.warn('push.remarks_failed', { pushId: id, error });
    return [];
  });
  remarks.push(...verdict.others.map((option) => pushOptionWarning(deps, option)));
  return { accept: true, rewritten: { ref: update.ref, to, oldId }, maxPackBytes, remarks };
}
