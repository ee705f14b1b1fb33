import { noMergeConditions } from '../../access/index.ts';
import type { ApprovalsSurvive, MergeConditions, NamedByRule, RuleGrant } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';

/** Who may perform an action; omitted fields stay, or get defaults in a new rule. */
export interface GrantInput {
  /** `write`, `admin`, `owner` or `nobody`. */
  level?: string | undefined;
  /** Handles. */
  people?: readonly string[] | undefined;
  tasks?: boolean | undefined;
  deployKeys?: boolean | undefined;
  /** Teams of the owning organisation, as `organisation/team` or by name. */
  teams?: readonly string[] | undefined;
}

/** People and teams whose approvals alone count; omitted fields stay. */
export type ApproversInput = { isOn?: boolean | undefined } & Pick<GrantInput, 'people' | 'teams'>;

/** Conditions for merging pull requests from a form or an API call; omitted fields stay. */
export interface MergeConditionsInput {
  grant?: GrantInput | undefined;
  /** A number, or a string of digits. */
  approvals?: number | string | undefined;
  /** Whose approvals alone count; a name switches it on, `isOn: false` lets everyone with write access count. */
  approvers?: ApproversInput | undefined;
  ownersApprove?: boolean | undefined;
  /** `nothing`, `rebase` or `anything`. */
  approvalsSurvive?: string | undefined;
  threadsResolved?: boolean | undefined;
  checks?: readonly string[] | undefined;
  /** Whether the head must contain the tip of the branch: `no`, `yes`, or `queue` for a merge queue. */
  upToDate?: boolean | string | undefined;
  /** `merge`, `squash`, `rebase`, `forward`, ignoring case. */
  styles?: readonly string[] | undefined;
  adminsToo?: boolean | undefined;
}

const survivals: readonly ApprovalsSurvive[] = ['nothing', 'rebase', 'anything'];
export const ruleStyles = noMergeConditions.styles;

/** Limits: no team gives more approvals, and no reader of the page takes in more checks. */
const most = { approvals: 20, checks: 30, contextLength: 255 };

/**
 * Parses merge conditions, except for the people they name. Throws `invalid_approvals`, `invalid_survive`,
 * `invalid_checks`, `invalid_up_to_date`, `invalid_styles`.
 * @param grant who may merge
 * @param approvers whose approvals count; null for everyone with write access
 */
export function parseMergeConditions(
  input: MergeConditionsInput,
  before: MergeConditions,
  grant: RuleGrant,
  approvers: NamedByRule | null,
): MergeConditions {
  const { ownersApprove, threadsResolved, adminsToo, upToDate } = input;
  return {
    grant,
    approvals: input.approvals === undefined ? before.approvals : readApprovals(input.approvals),
    approvers,
    ownersApprove: ownersApprove ?? before.ownersApprove,
    approvalsSurvive:
      input.approvalsSurvive === undefined ? before.approvalsSurvive : readSurvival(input.approvalsSurvive),
    threadsResolved: threadsResolved ?? before.threadsResolved,
    checks: input.checks === undefined ? before.checks : readChecks(input.checks),
    upToDate: upToDate === undefined ? before.upToDate : readUpToDate(upToDate),
    styles: input.styles === undefined ? before.styles : readStyles(input.styles),
    adminsToo: adminsToo ?? before.adminsToo,
  };
}

function readApprovals(given: number | string): number {
  const text = String(given).trim();
  const approvals = text === '' ? 0 : /^\d{1,3}$/.test(text) ? Number(text) : -1;
  if (approvals >= 0 && approvals <= most.approvals) return approvals;
  throw invalid('invalid_approvals', `Enter a number from 0 to ${most.approvals}.`, { field: 'approvals' });
}

function readSurvival(given: string): ApprovalsSurvive {
  const found = survivals.find((each) => each === given.trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalid('invalid_survive', 'Choose nothing, rebase or anything.', { field: 'approvals_survive' });
}

function readUpToDate(given: boolean | string): MergeConditions['upToDate'] {
  if (typeof given === 'boolean') return given ? 'yes' : 'no';
  const found = (['no', 'yes', 'queue'] as const).find((each) => each === given.trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalid('invalid_up_to_date', 'Choose no, yes or queue.', { field: 'up_to_date' });
}

/** Allows `*` only at the end of a context. */
function readChecks(given: readonly string[]): string[] {
  const checks = [...new Set(given.map((check) => check.trim()).filter((check) => check !== ''))];
  const refuse = (message: string) => invalid('invalid_checks', message, { field: 'checks' });
  if (checks.length > most.checks) throw refuse(`At most ${most.checks} checks are required.`);
  for (const check of checks) {
    if (check.length > most.contextLength || /\p{Cc}/u.test(check)) throw refuse('A check is a name in one line.');
    if (check.slice(0, -1).includes('*')) throw refuse(`In ${check}, the * may only stand at the end.`);
  }
  return checks;
}

function readStyles(given: readonly string[]): string[] {
  const wanted = given.map((style) => style.trim().toUpperCase()).filter((style) => style !== '');
  const styles = ruleStyles.filter((style) => wanted.includes(style));
  if (styles.length > 0 && wanted.every((style) => ruleStyles.includes(style))) return styles;
  throw invalid('invalid_styles', 'Choose at least one of merge, squash, rebase and forward.', { field: 'styles' });
}

/** Whether a rule adds no merge conditions to the defaults. */
export const isMergingFree = ({ grant, styles, ...asked }: MergeConditions): boolean =>
  grant.level === 'write' &&
  styles.length === ruleStyles.length &&
  asked.approvals === 0 &&
  asked.approvers === null &&
  asked.checks.length === 0 &&
  asked.upToDate === 'no' &&
  !asked.ownersApprove &&
  !asked.threadsResolved;
