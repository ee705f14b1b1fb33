import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid, unauthenticated } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { parseBody } from '../parse-texts.ts';
import { draftSchema } from '../schema/participation-schema.ts';
import type { DraftRow } from '../schema/participation-schema.ts';

/**
 * Saves a text that the viewer has not sent; an empty one deletes the draft. Deletes the oldest drafts above the limit.
 * @param context the form of the draft: `issue:<id>`, `new:<repository id>`, `edit:<id>:<position>`. Throws
 *   `sign_in_required`, `invalid_context`, and what `parseBody` throws.
 */
export async function saveDraft(deps: IssueDeps, viewer: Viewer, context: string, given: unknown): Promise<void> {
  const userId = writerOf(viewer);
  if (context === '' || context.length > limits.draftContextCharacters || !/^[\w:./-]+$/.test(context))
    throw invalid('invalid_context', 'This form does not exist.');
  const body = parseBody(given);
  await deps.db.write(async ({ manager, now }) => {
    if (body === '') return void (await manager.delete(draftSchema, { userId, context }));
    await manager.upsert(draftSchema, { userId, context, body, updatedAt: now }, ['userId', 'context']);
    await manager.query(
      `DELETE FROM drafts WHERE user_id = ? AND updated_at <
         (SELECT d.updated_at FROM drafts d WHERE d.user_id = ? ORDER BY d.updated_at DESC LIMIT 1 OFFSET ?)`,
      [userId, userId, limits.draftsPerPerson - 1],
    );
  });
}

/** The viewer's own draft for a form; null if there is none. */
export async function findDraft(deps: IssueDeps, viewer: Viewer, context: string): Promise<DraftRow | null> {
  const userId = personIdOf(viewer);
  return userId === null ? null : deps.db.read.findOneBy(draftSchema, { userId, context });
}

function writerOf(viewer: Viewer): string {
  const userId = personIdOf(viewer);
  if (userId === null) throw unauthenticated('sign_in_required', 'Sign in to continue.');
  return userId;
}
