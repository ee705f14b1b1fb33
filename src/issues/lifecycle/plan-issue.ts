import { invalid } from '../../kernel/index.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { limits } from '../limits.ts';
import { parseDate } from '../milestones/manage-milestones.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** When an issue is due, and the branch it is about. */
interface IssuePlan {
  /** A day, `YYYY-MM-DD`; null or empty for none. */
  dueOn?: string | null;
  /** Empty for none. */
  ref?: string;
}

/** Before the write. Refuses `invalid_date`, `invalid_ref`. */
export function checkPlan({ dueOn, ref = '' }: IssuePlan): void {
  parseDate(dueOn);
  if (ref.length > limits.refLength || /[\x00-\x20\x7f~^:?*[\\]/.test(ref) || !ref.isWellFormed())
    throw invalid('invalid_ref', 'This is not a valid name of a branch or tag.', { field: 'ref' });
}

/** Inside a write whose right is asked already; what is left out stays. */
export async function plan(
  { tx }: EntryLog,
  issue: Issue,
  { dueOn = issue.dueOn, ref = issue.ref }: IssuePlan,
): Promise<void> {
  const change = { dueOn: parseDate(dueOn), ref, updatedAt: tx.now };
  await tx.manager.update(issueSchema, { id: issue.id }, change);
  Object.assign(issue, change);
}
