import { namesOfGrant } from '../../access/index.ts';
import type { Form } from '../../http/index.ts';
import { ruleStyles } from '../../repositories/index.ts';
import type { ListedRule, MergeConditionsInput } from '../../repositories/index.ts';

/** What the form of a rule holds about merging pull requests, as it was typed. */
export interface MergingForm {
  level: string;
  people: string;
  approvals: string;
  survive: string;
  ownersApprove: boolean;
  threadsResolved: boolean;
  /** One a line. */
  checks: string;
  /** `no`, `yes` or `queue`. */
  upToDate: string;
  styles: readonly string[];
  /** Whether administrators may merge in spite of the conditions. */
  adminsPass: boolean;
}

export const styleTexts: Readonly<Record<string, { text: string; hint: string }>> = {
  MERGE: { text: 'Merge commit', hint: 'All commits, joined by a commit with two parents.' },
  SQUASH: { text: 'Squash', hint: 'One commit with all changes.' },
  REBASE: { text: 'Rebase', hint: 'Each commit again on top of the branch.' },
  FORWARD: { text: 'Fast-forward', hint: 'The branch moves to the head as it is; only where it is not behind.' },
};

const surviveTexts = [
  { value: 'nothing', text: 'No push: each needs a new approval' },
  { value: 'rebase', text: 'A push that only changes the base' },
  { value: 'anything', text: 'Every push' },
];

const upToDateTexts = [
  { value: 'no', text: 'May be merged' },
  { value: 'yes', text: 'Must be updated first' },
  { value: 'queue', text: 'Waits in a merge queue' },
];

export const newMergingForm: MergingForm = {
  level: 'write',
  people: '',
  approvals: '0',
  survive: 'rebase',
  ownersApprove: false,
  threadsResolved: false,
  checks: '',
  upToDate: 'no',
  styles: ruleStyles,
  adminsPass: false,
};

export const mergingFormOf = ({ merging }: ListedRule, people: readonly string[]): MergingForm => ({
  level: merging.grant.level,
  people: people.join(', '),
  approvals: String(merging.approvals),
  survive: merging.approvalsSurvive,
  ownersApprove: merging.ownersApprove,
  threadsResolved: merging.threadsResolved,
  checks: merging.checks.join('\n'),
  upToDate: merging.upToDate,
  styles: merging.styles,
  adminsPass: !merging.adminsToo,
});

/**
 * Fields `merge_level`, `merge_people`, `approvals`, `approvals_survive`, `owners_approve`, `threads_resolved`,
 * `checks`, `up_to_date`, `styles` (several) and `admins_pass`.
 */
export const readMergingForm = (form: Form): MergingForm => ({
  level: form.text('merge_level'),
  people: form.text('merge_people'),
  approvals: form.text('approvals').trim(),
  survive: form.text('approvals_survive'),
  ownersApprove: form.text('owners_approve') !== '',
  threadsResolved: form.text('threads_resolved') !== '',
  checks: form.text('checks'),
  upToDate: form.text('up_to_date') || 'no',
  styles: form.all('styles'),
  adminsPass: form.text('admins_pass') !== '',
});

/** What the use-case takes of it. */
export const mergingInputOf = ({ level, people, survive, adminsPass, ...form }: MergingForm): MergeConditionsInput => ({
  grant: { level, ...namesOfGrant(people.split(/[\s,]+/)), tasks: false },
  approvals: form.approvals,
  approvalsSurvive: survive,
  ownersApprove: form.ownersApprove,
  threadsResolved: form.threadsResolved,
  checks: form.checks.split(/\r?\n/),
  upToDate: form.upToDate,
  styles: form.styles,
  adminsToo: !adminsPass,
});

/** The form as the template needs it. */
export const viewMergingForm = ({ styles, survive, upToDate, ...form }: MergingForm) => ({
  ...form,
  upToDate: upToDateTexts.map((each) => ({ ...each, isChosen: each.value === upToDate })),
  survivals: surviveTexts.map((each) => ({ ...each, isChosen: each.value === survive })),
  styles: ruleStyles.map((value) => ({ value, ...styleTexts[value]!, isOn: styles.includes(value) })),
});

/** What a rule asks of merges, in words for its row in the list. */
export function viewMergeRules({ merging }: ListedRule): string[] {
  const { approvals, checks, styles } = merging;
  return [
    approvals > 0 && (approvals === 1 ? '1 approval' : `${approvals} approvals`),
    merging.ownersApprove && 'Owners approve',
    merging.threadsResolved && 'Threads resolved',
    checks.length > 0 && (checks.length === 1 ? '1 check' : `${checks.length} checks`),
    merging.upToDate === 'yes' && 'Up to date',
    merging.upToDate === 'queue' && 'Merge queue',
    styles.length < ruleStyles.length && styles.map((style) => styleTexts[style]?.text ?? style).join(' or '),
  ].filter((word) => typeof word === 'string');
}
