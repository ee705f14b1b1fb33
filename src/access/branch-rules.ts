import { accessGrantsOf } from './access-grants.ts';
import { allows } from './level.ts';
import { readRefPattern } from './ref-pattern.ts';
import type { RefPattern } from './ref-pattern.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** Kinds of refs to which rules apply. */
export type RuleTarget = 'BRANCH' | 'TAG';

/**
 * Actions that a rule decides about: `push` moves a branch forward, `force` moves a branch or tag anywhere else,
 * `create` and `delete` concern the name.
 */
export type RuleAct = 'push' | 'force' | 'create' | 'delete';

/** The role that an action requires. `owner` is the owning user, or an OWNER of the owning organisation. */
export type RuleLevel = 'nobody' | 'owner' | 'admin' | 'write';

export const ruleActs: readonly RuleAct[] = ['push', 'force', 'create', 'delete'];
export const ruleLevels: readonly RuleLevel[] = ['write', 'admin', 'owner', 'nobody'];

/**
 * Who may perform an action: everyone with the role, these people and teams; with `tasks`, CI tasks; with `deployKeys`,
 * deploy keys with write access.
 */
export interface RuleGrant {
  level: RuleLevel;
  /** UUIDs of users. They also need push access to the repository: a rule does not grant access. */
  people: readonly string[];
  /** Teams of the owning organisation whose members are also allowed. */
  teams?: readonly RuleTeam[];
  tasks: boolean;
  /** Defaults to false. */
  deployKeys?: boolean;
}

/** A team named by a rule, by its UUID, with its current members. */
export interface RuleTeam {
  id: string;
  people: readonly string[];
}

/** The conditions of a rule without merge conditions. */
export const noMergeConditions: MergeConditions = {
  grant: { level: 'write', people: [], tasks: false },
  approvals: 0,
  approvers: null,
  ownersApprove: false,
  approvalsSurvive: 'rebase',
  threadsResolved: false,
  checks: [],
  upToDate: 'no',
  styles: ['MERGE', 'SQUASH', 'REBASE', 'FORWARD'],
  adminsToo: true,
};

/** People and teams that a rule names; an empty list names nobody. */
export type NamedByRule = Required<Pick<RuleGrant, 'people' | 'teams'>>;

/** Facts about a rule that the policy needs. */
export interface BranchRule {
  target: RuleTarget;
  /** `main`, `release/*`, or `~DEFAULT_BRANCH`. */
  pattern: string;
  grants: Readonly<Record<RuleAct, RuleGrant>>;
  /** Whether merge commits are forbidden. */
  linear: boolean;
  /** Whether commits need a verified signature. */
  signed: boolean;
  /** Conditions for merging a pull request into the branch. */
  merging: MergeConditions;
}

/** Which approvals of earlier rounds count: none, those followed only by rebases, or all. */
export type ApprovalsSurvive = 'nothing' | 'rebase' | 'anything';

/** The merge conditions of a rule. */
export interface MergeConditions {
  /** Who may merge. */
  grant: RuleGrant;
  /** Number of required approvals, and whether owners of the changed code must be among them. */
  approvals: number;
  /** Whose approvals alone count for that number; null for everyone with write access. */
  approvers: NamedByRule | null;
  ownersApprove: boolean;
  approvalsSurvive: ApprovalsSurvive;
  threadsResolved: boolean;
  /** Contexts of statuses that must be successful; a trailing `*` matches any ending. */
  checks: readonly string[];
  /** Whether the head must contain the tip of the branch, or is merged by the queue, which tests it on the tip. */
  upToDate: 'no' | 'yes' | 'queue';
  styles: readonly string[];
  /** Whether the conditions also apply to administrators. */
  adminsToo: boolean;
}

/** The pattern that matches the current default branch. No branch can have this name. */
export const defaultBranchPattern = '~DEFAULT_BRANCH';

const folders: Readonly<Record<RuleTarget, string>> = { BRANCH: 'refs/heads/', TAG: 'refs/tags/' };

/** Thrown if matching so many refs against such patterns takes too long. */
export class TooManyRefs extends Error {}

/** Limit of matcher steps for all names of one push: about 0.1 s. */
const maxSteps = 2_000_000;

/**
 * The rules of a repository, compiled to find the one that decides about a ref. If several match, exactly one decides:
 * the rule whose pattern is the exact name, else that of the default branch, else the first in order.
 */
export class RuleSet<Rule extends BranchRule> {
  readonly #exact = new Map<string, Rule>();
  readonly #patterns: { folder: string; pattern: RefPattern; rule: Rule }[] = [];
  #steps = 0;

  /**
   * @param rules in order
   */
  constructor(rules: readonly Rule[], defaultBranch: string) {
    for (const rule of rules.filter(({ pattern }) => pattern === defaultBranchPattern))
      this.#exact.set(folders[rule.target] + defaultBranch, rule);
    for (const rule of rules) {
      const folder = folders[rule.target];
      const pattern = rule.pattern === defaultBranchPattern ? 'empty' : readRefPattern(rule.pattern);
      if (typeof pattern === 'string') continue;
      if (pattern.isExact) this.#exact.set(folder + rule.pattern, rule);
      else this.#patterns.push({ folder, pattern, rule });
    }
  }

  /** The rule for a full ref name; null if none matches. Throws `TooManyRefs`. */
  ruleFor(ref: string): Rule | null {
    const exact = this.#exact.get(ref);
    if (exact !== undefined) return exact;
    for (const { folder, pattern, rule } of this.#patterns) {
      if (!ref.startsWith(folder)) continue;
      if (pattern.matches(ref.slice(folder.length), (steps) => this.#count(steps))) return rule;
    }
    return null;
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > maxSteps) throw new TooManyRefs('The rules cost too much to evaluate.');
  }
}

/**
 * Whether a rule allows a viewer an action. The role counts, not the credential's scope, which only needs to allow
 * writing here. `nobody` includes the command line; CI tasks and deploy keys have no role and need their own
 * permission.
 */
export function mayByRule(viewer: Viewer, facts: RepositoryFacts, { grants }: BranchRule, act: RuleAct): boolean {
  return mayByGrant(viewer, facts, grants[act]);
}

/** The same for one grant. */
export function mayByGrant(
  viewer: Viewer,
  facts: RepositoryFacts,
  { level, people, teams = [], tasks, deployKeys = false }: RuleGrant,
): boolean {
  if (!allows(repositoryLevel(viewer, facts), 'write')) return false;
  if (viewer.kind === 'task') return tasks;
  if (viewer.kind === 'deployKey') return deployKeys;
  if (viewer.kind !== 'person') return false;
  if (!isLocalAdministrator(viewer) && isNamedIn({ people, teams }, viewer.id)) return true;
  if (level === 'nobody') return false;
  if (isLocalAdministrator(viewer)) return true;
  if (level === 'owner') return facts.ownerUserId === viewer.id || facts.organisationRole === 'OWNER';
  return allows(accessGrantsOf(viewer.id, facts)[0]?.level ?? 'none', level);
}

/** Whether a rule names a user, or a team that they are a member of. @param id UUID of the user */
export const isNamedIn = ({ people, teams }: NamedByRule, id: string): boolean =>
  [people, ...teams.map((team) => team.people)].some((ids) => ids.includes(id));

/** A requested ref move, by its ids only. */
export type RefMoveKind = 'create' | 'update' | 'delete';

/**
 * The reason for a refused move: the action that the rule forbids, or the one restriction that applies without a rule.
 */
type RuleRefusal = RuleAct | 'default_branch';

/** The policy's result for one move. */
type RuleVerdict =
  | { refusal: RuleRefusal }
  /** Allowed, subject to the commits: only fast-forwards; no new merge commits; all new commits signed. */
  | { refusal: null; onlyForward: boolean; linear: boolean; signed: boolean };

const free: RuleVerdict = { refusal: null, onlyForward: false, linear: false, signed: false };

/**
 * The policy of branch and tag rules for one ref. The default branch is never deleted, whatever a rule says, because
 * clones would come without files. Moving an existing tag requires `force`; moving a branch requires `push`, and also
 * `force` unless the move is a fast-forward.
 * @param rule the deciding rule, from `RuleBook`; null for none
 */
export function judgeRefMove(
  viewer: Viewer,
  facts: RepositoryFacts,
  rule: BranchRule | null,
  { kind, isDefaultBranch }: { kind: RefMoveKind; isDefaultBranch: boolean },
): RuleVerdict {
  if (kind === 'delete' && isDefaultBranch) return { refusal: 'default_branch' };
  if (rule === null) return free;
  const may = (act: RuleAct): boolean => mayByRule(viewer, facts, rule, act);
  if (kind !== 'update' && !may(kind)) return { refusal: kind };
  const { linear, signed } = rule;
  if (kind === 'delete') return free;
  if (kind === 'create') return { refusal: null, onlyForward: false, linear, signed };
  if (rule.target === 'TAG') return may('force') ? free : { refusal: 'force' };
  if (!may('push')) return { refusal: 'push' };
  return { refusal: null, onlyForward: !may('force'), linear, signed };
}

/** Usernames of the people whom a listed rule names for an action; not of accounts without one. */
export const usernamesOf = (named: readonly { person: { username: string | null } }[]): string[] =>
  named.flatMap(({ person }) => person.username ?? []);

/** The name of a team without its organisation: `reviewers` of `acme/reviewers`. */
export const teamNameOf = (name: string): string => name.slice(name.indexOf('/') + 1);

/** Names as used by forms and the command line: users by handle, teams as `organisation/team`. */
export const namesOfGrant = (words: readonly string[]): { people: string[]; teams: string[] } => {
  const names = words.filter((word) => word !== '');
  return { people: names.filter((word) => !word.includes('/')), teams: names.filter((word) => word.includes('/')) };
};
