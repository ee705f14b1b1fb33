import { defaultBranchPattern } from '../../access/index.ts';
import type { BranchRule, RuleAct, RuleTarget } from '../../access/index.ts';

/**
 * A rule's name in error messages: `branch rule "release/*"`. That of the default branch has the pattern by which the
 * command line and the API know it.
 */
function nameOfRule({ target, pattern }: Pick<BranchRule, 'target' | 'pattern'>): string {
  const name = pattern === defaultBranchPattern ? `"default branch" (${pattern})` : `"${pattern}"`;
  return `${target === 'TAG' ? 'tag' : 'branch'} rule ${name}`;
}

/** The way that stays open. */
const byPull = '; push another branch and open a pull request';

/** Messages for an action forbidden to everyone, and for one forbidden to the user. */
const refusals: Readonly<Record<RuleTarget, Record<RuleAct, [nobody: string, you: string]>>> = {
  BRANCH: {
    push: [`pushes are not allowed${byPull}`, `you may not push to it${byPull}`],
    force: [
      'force pushes are not allowed; fetch, then merge or rebase',
      'you may not force push to it; fetch, then merge or rebase',
    ],
    create: ['branches of this name may not be created', 'you may not create it'],
    delete: ['deleting is not allowed', 'you may not delete it'],
  },
  TAG: {
    push: ['pushes are not allowed', 'you may not push to it'],
    force: ['a tag that exists may not be moved', 'you may not move a tag that exists'],
    create: ['tags of this name may not be created', 'you may not create it'],
    delete: ['deleting is not allowed', 'you may not delete it'],
  },
};

/** The reason why a rule forbids an action, in one line for the user who pushes. */
export function refusalByRule(rule: BranchRule, act: RuleAct): string {
  const { level, people, teams = [], tasks, deployKeys = false } = rule.grants[act];
  const [nobody, you] = refusals[rule.target][act];
  return `${nameOfRule(rule)}: ${level === 'nobody' && people.length + teams.length === 0 && !tasks && !deployKeys ? nobody : you}`;
}

export const mergesRefused = (rule: BranchRule): string =>
  `${nameOfRule(rule)}: merge commits are not allowed; rebase instead`;

export const mergesUnknown = (rule: BranchRule): string =>
  `${nameOfRule(rule)}: too many commits to look for merges; push in parts`;

/**
 * @param why reason from `VerifyCommits`
 */
export const unsignedRefused = (rule: BranchRule, oid: string, why: string): string => {
  const commit = `commit ${oid.slice(0, 10)}`;
  if (why === 'unavailable') return `${nameOfRule(rule)}: the signatures could not be verified in time; push again`;
  const says = why === 'unsigned' ? `${commit} is not signed` : `${commit} has no verified signature (${why})`;
  return `${nameOfRule(rule)}: ${says}`;
};

export const signaturesUnknown = (rule: BranchRule): string =>
  `${nameOfRule(rule)}: too many commits to verify their signatures; push in parts`;

/** The reason as a sentence. */
export const sentence = (reason: string): string => `${reason[0]!.toUpperCase()}${reason.slice(1)}.`;
