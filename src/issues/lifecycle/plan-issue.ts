import { invalid } from '../../kernel/index.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { limits } from '../limits.ts';
import { parseDate } from '../milestones/manage-milestones.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** Due date of an issue, and its related branch. */
interface IssuePlan {
  /** A date, `YYYY-MM-DD`; null or empty for none. */
  dueOn?: string | null;
  /** Empty for none. */
  ref?: string;
}

/** Parses the fields before the transaction. Throws `invalid_date`, `invalid_ref`. */
export function checkPlan({ dueOn, ref = '' }: IssuePlan): void {
  parseDate(dueOn);
  if (!isValidRef(ref)) throw invalid('invalid_ref', 'This is not a valid branch or tag name.', { field: 'ref' });
}

/** Whether it is empty or the possible name of a branch or tag. */
export const isValidRef = (ref: string): boolean =>
  ref.length <= limits.refLength && !/[\x00-\x20\x7f~^:?*[\\]/.test(ref) && ref.isWellFormed();

/** Runs in a transaction that has checked access; omitted fields stay. */
export async function plan(
  { tx }: EntryLog,
  issue: Issue,
  { dueOn = issue.dueOn, ref = issue.ref }: IssuePlan,
): Promise<void> {
  const change = { dueOn: parseDate(dueOn), ref, updatedAt: tx.now };
  await tx.manager.update(issueSchema, { id: issue.id }, change);
  Object.assign(issue, change);
}
