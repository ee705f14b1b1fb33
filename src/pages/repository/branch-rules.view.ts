import { defaultBranchPattern, namesOfGrant, ruleActs, usernamesOf } from '../../access/index.ts';
import type { RuleAct, RuleLevel, RuleTarget } from '../../access/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { DecidedNames, Found, ListedRule, RuleInput } from '../../repositories/index.ts';
import { isManyNames } from '../../repositories/index.ts';
import type { Form } from '../../http/index.ts';
import { t, translated } from '../../translation/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';
import {
  mergingFormOf,
  mergingInputOf,
  newMergingForm,
  readMergingForm,
  viewMergeRules,
  viewMergingForm,
} from './merge-rules.view.ts';
import type { MergingForm } from './merge-rules.view.ts';

/** Labels of the roles that a rule can require, in the order of the drop-down. */
export const levelTexts: readonly { value: RuleLevel; text: string; short: string }[] = translated([
  {
    value: 'write',
    text: 'repository.branch_rules.everyone_with_write_access',
    short: 'repository.branch_rules.everyone',
  },
  {
    value: 'admin',
    text: 'repository.branch_rules.repository_administrators',
    short: 'repository.branch_rules.administrators',
  },
  { value: 'owner', text: 'repository.branch_rules.owners', short: 'repository.branch_rules.owners_2' },
  { value: 'nobody', text: 'repository.branch_rules.nobody', short: 'repository.branch_rules.nobody_2' },
]);

interface ActText {
  act: RuleAct;
  label: string;
  hint: string;
}

const actTexts: Readonly<Record<RuleTarget, readonly ActText[]>> = translated({
  BRANCH: [
    { act: 'push', label: 'repository.branch_rules.push', hint: 'repository.branch_rules.add_commits_to_the_branch' },
    {
      act: 'force',
      label: 'repository.branch_rules.force_push',
      hint: 'repository.branch_rules.rewrite_its_history_also_requires_push',
    },
    {
      act: 'create',
      label: 'repository.branch_rules.create',
      hint: 'repository.branch_rules.create_a_branch_with_this_name',
    },
    {
      act: 'delete',
      label: 'repository.branch_rules.delete',
      hint: 'repository.branch_rules.the_default_branch_cannot_be_deleted',
    },
  ],
  TAG: [
    {
      act: 'create',
      label: 'repository.branch_rules.create',
      hint: 'repository.branch_rules.create_a_tag_with_this_name',
    },
    {
      act: 'force',
      label: 'repository.branch_rules.move',
      hint: 'repository.branch_rules.point_an_existing_tag_to_another',
    },
    { act: 'delete', label: 'repository.branch_rules.delete', hint: 'repository.branch_rules.remove_a_tag' },
  ],
});

const handles = (rule: ListedRule, act: keyof ListedRule['named']): string[] => [
  ...usernamesOf(rule.named[act]),
  ...rule.teams[act],
];

/** The display name of a rule: its pattern, or a phrase for the default branch. */
export function viewPattern(pattern: string, defaultBranch: string): { text: string; note: string | null } {
  return pattern === defaultBranchPattern
    ? { text: t('repository.branch_rules.default_branch'), note: viewName(defaultBranch) }
    : { text: viewName(pattern), note: null };
}

/** A row of the list. @param decided null where there are too many names to match */
export function viewRule(
  rule: ListedRule,
  found: Found,
  decided: DecidedNames | null,
  place: { isFirst: boolean; isLast: boolean },
) {
  const url = `${repositoryUrl(found.canonical)}/settings/branches/${rule.id}`;
  return {
    ...viewPattern(rule.pattern, found.repository.defaultBranch),
    url,
    acts: [
      ...actTexts[rule.target].map(({ act, label }) => ({ label, who: describeGrant(rule, act) })),
      ...(rule.target === 'BRANCH'
        ? [{ label: t('repository.branch_rules.merge'), who: describeGrant(rule, 'merge') }]
        : []),
    ],
    linear: rule.linear,
    signed: rule.signed,
    merging: rule.target === 'BRANCH' ? viewMergeRules(rule) : [],
    decided: decided === null ? null : viewDecided(rule.target, decided),
    mayMoveUp: isManyNames(rule.pattern) && !place.isFirst,
    mayMoveDown: isManyNames(rule.pattern) && !place.isLast,
  };
}

function describeGrant(rule: ListedRule, act: RuleAct | 'merge'): string {
  const { level, tasks, deployKeys = false } = act === 'merge' ? rule.merging.grant : rule.grants[act];
  const people = handles(rule, act);
  const others = [
    ...people,
    ...(tasks ? [t('repository.branch_rules.ci_jobs')] : []),
    ...(level !== 'write' && deployKeys ? [t('repository.branch_rules.deploy_keys')] : []),
  ];
  if (level === 'nobody' && others.length > 0) return others.join(', ');
  // Deploy keys with write access are included in everyone who may push.
  const isWithoutKeys = act !== 'merge' && level === 'write' && !deployKeys;
  const role = levelTexts.find(({ value }) => value === level)!.short;
  return [isWithoutKeys ? t('repository.branch_rules.role_except_deploy_keys', { role }) : role, ...others].join(', ');
}

/** The names that a rule matches now, in one line. */
function viewDecided(target: RuleTarget, { names, total }: DecidedNames): string {
  const count = target === 'TAG' ? viewCount(total, 'tag') : viewCount(total, 'branch');
  if (total === 0)
    return t(target === 'TAG' ? 'repository.branch_rules.no_tag_now' : 'repository.branch_rules.no_branch_now');
  const more = total > names.length ? ' …' : '';
  return t('repository.branch_rules.applies_now', { count, names: names.map(viewName).join(', ') + more });
}

/** Links to the names that a rule matches. */
export function viewDecidedLinks({ canonical }: Found, { names, total }: DecidedNames) {
  return {
    names: names.map((name) => ({ text: viewName(name), url: codeUrl(repositoryUrl(canonical), 'tree', name) })),
    more: total - names.length,
  };
}

/** The values in the form of a rule. */
export interface RuleForm {
  target: RuleTarget;
  pattern: string;
  acts: { act: RuleAct; level: string; people: string; tasks: boolean; deployKeys: boolean }[];
  linear: boolean;
  signed: boolean;
  /** Null for tags. */
  merging: MergingForm | null;
}

/** The form for the template. */
export function viewForm({ target, pattern, acts, linear, signed, merging }: RuleForm) {
  return {
    isTag: target === 'TAG',
    target: target.toLowerCase(),
    pattern,
    linear,
    signed,
    merging: merging && viewMergingForm(merging),
    acts: actTexts[target].map((text) => ({ ...text, ...acts.find(({ act }) => act === text.act)! })),
  };
}

export const newForm = (target: RuleTarget): RuleForm => ({
  target,
  pattern: '',
  linear: false,
  signed: false,
  merging: target === 'TAG' ? null : newMergingForm,
  acts: ruleActs.map((act) => {
    const isUsual = act === 'push' || act === 'create';
    return { act, level: isUsual ? 'write' : 'nobody', people: '', tasks: isUsual, deployKeys: isUsual };
  }),
});

export const formOf = (rule: ListedRule): RuleForm => ({
  target: rule.target,
  pattern: rule.pattern,
  linear: rule.linear,
  signed: rule.signed,
  merging:
    rule.target === 'TAG'
      ? null
      : mergingFormOf(rule, {
          people: handles(rule, 'merge'),
          approvers: handles(rule, 'approve'),
        }),
  acts: ruleActs.map((act) => ({
    act,
    level: rule.grants[act].level,
    people: handles(rule, act).join(', '),
    tasks: rule.grants[act].tasks,
    deployKeys: rule.grants[act].deployKeys ?? false,
  })),
});

/**
 * Reads the fields of the form: `pattern`, `linear`, `signed`, for each action `<act>_level`, `<act>_people`,
 * `<act>_tasks` and `<act>_deploy_keys`, and those of `readMergingForm`.
 */
export const readForm = (target: RuleTarget, form: Form): RuleForm => ({
  target,
  pattern: form.text('pattern').trim(),
  linear: form.text('linear') !== '',
  signed: form.text('signed') !== '',
  merging: target === 'TAG' ? null : readMergingForm(form),
  acts: actTexts[target].map(({ act }) => ({
    act,
    level: form.text(`${act}_level`),
    people: form.text(`${act}_people`),
    tasks: form.text(`${act}_tasks`) !== '',
    deployKeys: form.text(`${act}_deploy_keys`) !== '',
  })),
});

/** The input of the use-case. */
export const inputOf = ({ pattern, linear, signed, acts, merging }: RuleForm): RuleInput & { pattern: string } => ({
  pattern,
  merging: merging === null ? undefined : mergingInputOf(merging),
  linear,
  signed,
  grants: Object.fromEntries(
    acts.map(({ act, level, people, tasks, deployKeys }) => [
      act,
      { level, ...namesOfGrant(people.split(/[\s,]+/)), tasks, deployKeys },
    ]),
  ),
});
