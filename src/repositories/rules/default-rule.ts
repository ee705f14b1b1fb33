import type { EntityManager } from 'typeorm';
import { defaultBranchPattern, noMergeConditions, ruleActs, RuleSet } from '../../access/index.ts';
import type { BranchRule } from '../../access/index.ts';
import type { Random } from '../../kernel/index.ts';
import { branchRuleSchema } from '../schema/branch-rule-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { grantColumns, loadRules, mergeColumns } from './load-rules.ts';
import type { StoredRule } from './load-rules.ts';
import { isMergingFree } from './parse-merge-conditions.ts';

type Grants = BranchRule['grants'];

/** Defaults of a new rule: allows pushing and creating, but neither rewriting nor deleting. */
export const usualGrants: Grants = {
  push: { level: 'write', people: [], tasks: true, deployKeys: true },
  force: { level: 'nobody', people: [], tasks: false },
  create: { level: 'write', people: [], tasks: true, deployKeys: true },
  delete: { level: 'nobody', people: [], tasks: false },
};

/** Adds the rule that protects a repository's default branch from rewriting. */
export async function addDefaultRule(
  manager: EntityManager,
  { random, now }: { random: Random; now: number },
  repositoryId: string,
  { grants = usualGrants, position = 1 }: { grants?: Grants; position?: number } = {},
): Promise<string> {
  const id = random.uuid();
  await manager.insert(branchRuleSchema, {
    id,
    repositoryId,
    target: 'BRANCH',
    position,
    pattern: defaultBranchPattern,
    ...grantColumns(grants),
    ...mergeColumns(noMergeConditions),
    linear: false,
    signed: false,
    ...mergeColumns(noMergeConditions),
    createdAt: now,
    updatedAt: now,
  });
  return id;
}

/** Whether a rule is the unchanged initial rule of every repository. */
export const isUsualRule = ({ pattern, grants, merging, linear, signed }: StoredRule): boolean =>
  pattern === defaultBranchPattern &&
  !linear &&
  !signed &&
  isMergingFree(merging) &&
  ruleActs.every((act) => {
    const [{ level, people, teams = [], tasks, deployKeys = false }, usual] = [grants[act], usualGrants[act]];
    const isSame = level === usual.level && tasks === usual.tasks && deployKeys === (usual.deployKeys ?? false);
    return isSame && people.length + teams.length === 0;
  });

/** The rule that decides about the default branch. */
const defaultBranchRule = (rules: readonly StoredRule[], defaultBranch: string): StoredRule | null =>
  new RuleSet(rules, defaultBranch).ruleFor(`refs/heads/${defaultBranch}`);

/** Whether a rule forbids rewriting the default branch to users who push. */
export function isDefaultBranchProtected(rules: readonly StoredRule[], defaultBranch: string): boolean {
  const rule = defaultBranchRule(rules, defaultBranch);
  return rule !== null && rule.grants.force.level !== 'write';
}

/** Whether a rule allows everything to everyone who pushes. The default branch can never be deleted. */
const isFree = ({ grants, linear, signed, merging }: BranchRule): boolean =>
  !linear &&
  !signed &&
  isMergingFree(merging) &&
  ruleActs.every(
    (act) =>
      act === 'delete' || (grants[act].level === 'write' && grants[act].tasks && grants[act].deployKeys === true),
  );

/**
 * Sets whether the default branch may be rewritten, in the rule that decides about it. Leaves a pattern that also
 * matches other branches unchanged: the default branch gets its own rule.
 * @returns whether anything changed
 */
export async function protectDefaultBranch(
  manager: EntityManager,
  { random, now }: { random: Random; now: number },
  { id: repositoryId, defaultBranch }: Pick<Repository, 'id' | 'defaultBranch'>,
  isProtected: boolean,
): Promise<boolean> {
  const rules = await loadRules(manager, repositoryId);
  if (isDefaultBranchProtected(rules, defaultBranch) === isProtected) return false;
  const rule = defaultBranchRule(rules, defaultBranch);
  const before = rule?.grants ?? usualGrants;
  const force = isProtected ? usualGrants.force : usualGrants.push;
  const grants: Grants = { ...before, force: { ...force, people: before.force.people } };
  const isOwn = rule?.pattern === defaultBranchPattern || rule?.pattern === defaultBranch;
  if (rule === null || !isOwn) {
    const position = 1 + Math.max(0, ...rules.map((each) => each.position));
    await addDefaultRule(manager, { random, now }, repositoryId, { grants, position });
  } else if (isFree({ ...rule, grants })) await manager.delete(branchRuleSchema, { id: rule.id });
  else await manager.update(branchRuleSchema, { id: rule.id }, { ...grantColumns(grants), updatedAt: now });
  return true;
}
