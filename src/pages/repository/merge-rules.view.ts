import { namesOfGrant } from '../../access/index.ts';
import type { Form } from '../../http/index.ts';
import { ruleStyles } from '../../repositories/index.ts';
import type { ListedRule, MergeConditionsInput } from '../../repositories/index.ts';
import { formatOptions, t, translated } from '../../translation/index.ts';

/** The submitted merge conditions in the form of a rule. */
export interface MergingForm {
  level: string;
  people: string;
  approvals: string;
  /** Whether only approvals of those who are named count, and their names. */
  approversOnly: boolean;
  approvers: string;
  survive: string;
  ownersApprove: boolean;
  threadsResolved: boolean;
  /** One per line. */
  checks: string;
  /** `no`, `yes` or `queue`. */
  upToDate: string;
  styles: readonly string[];
  /** Whether administrators may bypass the conditions. */
  adminsPass: boolean;
}

const styleTexts: Readonly<Record<string, { text: string; hint: string }>> = translated({
  MERGE: { text: 'repository.merge_rules.merge_commit', hint: 'repository.merge_rules.all_commits_joined_by_a_commit' },
  SQUASH: { text: 'repository.merge_rules.squash', hint: 'repository.merge_rules.one_commit_with_all_changes' },
  REBASE: { text: 'repository.merge_rules.rebase', hint: 'repository.merge_rules.each_commit_reapplied_on_top_of' },
  FORWARD: { text: 'repository.merge_rules.fast_forward', hint: 'repository.merge_rules.the_branch_moves_to_the_head' },
});

const surviveTexts = translated([
  { value: 'nothing', text: 'repository.merge_rules.no_push_each_needs_a_new' },
  { value: 'rebase', text: 'repository.merge_rules.a_push_that_only_changes_the' },
  { value: 'anything', text: 'repository.merge_rules.every_push' },
]);

const upToDateTexts = translated([
  { value: 'no', text: 'repository.merge_rules.can_be_merged' },
  { value: 'yes', text: 'repository.merge_rules.must_be_updated_first' },
  { value: 'queue', text: 'repository.merge_rules.waits_in_a_merge_queue' },
]);

export const newMergingForm: MergingForm = {
  level: 'write',
  people: '',
  approvals: '0',
  approversOnly: false,
  approvers: '',
  survive: 'rebase',
  ownersApprove: false,
  threadsResolved: false,
  checks: '',
  upToDate: 'no',
  styles: ruleStyles,
  adminsPass: false,
};

/** @param people handles of those who may merge, `approvers` of those whose approvals count */
export const mergingFormOf = (
  { merging }: ListedRule,
  { people, approvers }: { people: readonly string[]; approvers: readonly string[] },
): MergingForm => ({
  level: merging.grant.level,
  people: people.join(', '),
  approvals: String(merging.approvals),
  approversOnly: merging.approvers !== null,
  approvers: approvers.join(', '),
  survive: merging.approvalsSurvive,
  ownersApprove: merging.ownersApprove,
  threadsResolved: merging.threadsResolved,
  checks: merging.checks.join('\n'),
  upToDate: merging.upToDate,
  styles: merging.styles,
  adminsPass: !merging.adminsToo,
});

/**
 * Fields `merge_level`, `merge_people`, `approvals`, `approvers_only`, `approvers`, `approvals_survive`,
 * `owners_approve`, `threads_resolved`, `checks`, `up_to_date`, `styles` (several) and `admins_pass`.
 */
export const readMergingForm = (form: Form): MergingForm => ({
  level: form.text('merge_level'),
  people: form.text('merge_people'),
  approvals: form.text('approvals').trim(),
  approversOnly: form.text('approvers_only') !== '',
  approvers: form.text('approvers'),
  survive: form.text('approvals_survive'),
  ownersApprove: form.text('owners_approve') !== '',
  threadsResolved: form.text('threads_resolved') !== '',
  checks: form.text('checks'),
  upToDate: form.text('up_to_date') || 'no',
  styles: form.all('styles'),
  adminsPass: form.text('admins_pass') !== '',
});

/** The input of the use-case. */
export const mergingInputOf = ({ level, people, survive, adminsPass, ...form }: MergingForm): MergeConditionsInput => ({
  grant: { level, ...namesOfGrant(people.split(/[\s,]+/)), tasks: false },
  approvals: form.approvals,
  approvers: { isOn: form.approversOnly, ...namesOfGrant(form.approvers.split(/[\s,]+/)) },
  approvalsSurvive: survive,
  ownersApprove: form.ownersApprove,
  threadsResolved: form.threadsResolved,
  checks: form.checks.split(/\r?\n/),
  upToDate: form.upToDate,
  styles: form.styles,
  adminsToo: !adminsPass,
});

/** The form for the template. */
export const viewMergingForm = ({ styles, survive, upToDate, ...form }: MergingForm) => ({
  ...form,
  upToDate: upToDateTexts.map((each) => ({ ...each, isChosen: each.value === upToDate })),
  survivals: surviveTexts.map((each) => ({ ...each, isChosen: each.value === survive })),
  styles: ruleStyles.map((value) => ({ value, ...styleTexts[value]!, isOn: styles.includes(value) })),
});

/** The merge conditions of a rule, as text for its row in the list. */
export function viewMergeRules({ merging }: ListedRule): string[] {
  const { approvals, checks, styles } = merging;
  return [
    approvals > 0 && t('repository.merge_rules.approvals', { count: approvals }),
    merging.approvers !== null && t('repository.merge_rules.by_named_people'),
    merging.ownersApprove && t('repository.merge_rules.code_owner_approval'),
    merging.threadsResolved && t('repository.merge_rules.threads_resolved'),
    checks.length > 0 && t('repository.merge_rules.checks', { count: checks.length }),
    merging.upToDate === 'yes' && t('repository.merge_rules.up_to_date'),
    merging.upToDate === 'queue' && t('repository.merge_rules.merge_queue'),
    styles.length < ruleStyles.length && formatOptions(styles.map((style) => styleTexts[style]?.text ?? style)),
  ].filter((word) => typeof word === 'string');
}
