import { accessGrantsOf } from './access-grants.ts';
import { allows } from './level.ts';
import { readRefPattern } from './ref-pattern.ts';
import type { RefPattern } from './ref-pattern.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** What a rule is about. */
export type RuleTarget = 'BRANCH' | 'TAG';

/**
 * What a rule decides: `push` moves a branch forward, `force` moves a branch or tag anywhere else, `create` and
 * `delete` are about the name.
 */
export type RuleAct = 'push' | 'force' | 'create' | 'delete';

/** The role that an act needs. `owner` is the owning person, or an OWNER of the owning organisation. */
export type RuleLevel = 'nobody' | 'owner' | 'admin' | 'write';

export const ruleActs: readonly RuleAct[] = ['push', 'force', 'create', 'delete'];
export const ruleLevels: readonly RuleLevel[] = ['write', 'admin', 'owner', 'nobody'];

/**
 * Who may do one act: who has the role, and besides them these people, these teams and, when `tasks` is set, tasks of
 * the CI; when `deployKeys` is set, deploy keys that may write.
 */
export interface RuleGrant {
  level: RuleLevel;
  /** UUIDs of people. They need to be able to push to the repository: a rule gives no access. */
  people: readonly string[];
  /** Teams of the owning organisation whose people are named, too. */
  teams?: readonly RuleTeam[];
  tasks: boolean;
  /** False when left out. */
  deployKeys?: boolean;
}

/** A team that a rule names, by its UUID, with those of its people now. */
export interface RuleTeam {
  id: string;
  people: readonly string[];
}

/** The conditions of a rule that says nothing of merges. */
export const noMergeConditions: MergeConditions = {
  grant: { level: 'write', people: [], tasks: false },
  approvals: 0,
  ownersApprove: false,
  approvalsSurvive: 'rebase',
  threadsResolved: false,
  checks: [],
  upToDate: 'no',
  styles: ['MERGE', 'SQUASH', 'REBASE', 'FORWARD'],
  adminsToo: true,
};

/** What the policy needs to know of a rule. */
export interface BranchRule {
  target: RuleTarget;
  /** `main`, `release/*`, or `~DEFAULT_BRANCH`. */
  pattern: string;
  grants: Readonly<Record<RuleAct, RuleGrant>>;
  /** Whether merge commits are refused. */
  linear: boolean;
  /** Whether commits without a verified signature are refused. */
  signed: boolean;
  /** What a merge of a pull request into the branch needs. */
  merging: MergeConditions;
}

/** Which approvals of earlier rounds count: none, those that only a rebase came after, all. */
export type ApprovalsSurvive = 'nothing' | 'rebase' | 'anything';

/** The part of a rule about merging pull requests. */
export interface MergeConditions {
  /** Who may merge. */
  grant: RuleGrant;
  /** How many approvals it takes, and whether owners of the changed code must be among them. */
  approvals: number;
  ownersApprove: boolean;
  approvalsSurvive: ApprovalsSurvive;
  threadsResolved: boolean;
  /** Contexts of statuses that must be successful; a `*` at the end stands for any ending. */
  checks: readonly string[];
  /** Whether the head must contain the tip of the branch, or is merged by the queue, which tests it on the tip. */
  upToDate: 'no' | 'yes' | 'queue';
  styles: readonly string[];
  /** Whether the conditions hold for administrators, too. */
  adminsToo: boolean;
}

/** The pattern of the rule for whichever branch is the default one. No branch can have this name. */
export const defaultBranchPattern = '~DEFAULT_BRANCH';

const folders: Readonly<Record<RuleTarget, string>> = { BRANCH: 'refs/heads/', TAG: 'refs/tags/' };

/** Thrown when finding the rules for so many refs, by such patterns, takes too long. */
export class TooManyRefs extends Error {}

/** Limit of the steps that all names of one push may take, in states of the matcher: some 0.1 s. */
const maxSteps = 2_000_000;

/**
 * The rules of a repository, ready to be asked which one decides for a ref. Where several match, one decides alone: the
 * rule whose pattern is the name itself, else that of the default branch, else the first in the order of the list.
 */
export class RuleSet<Rule extends BranchRule> {
  readonly #exact = new Map<string, Rule>();
  readonly #patterns: { folder: string; pattern: RefPattern; rule: Rule }[] = [];
  #steps = 0;

  /** @param rules in their order */
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

  /** The rule for a full ref name; null where none matches. Throws `TooManyRefs`. */
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
 * Whether a viewer may do an act by a rule. The role counts, not the scope of the credential, which only has to reach
 * far enough to write here. `nobody` includes the command line; a task of the CI and a deploy key have no role and need
 * their own leave.
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
  const isNamed = [people, ...teams.map((team) => team.people)].some((ids) => ids.includes(viewer.id));
  if (!isLocalAdministrator(viewer) && isNamed) return true;
  if (level === 'nobody') return false;
  if (isLocalAdministrator(viewer)) return true;
  if (level === 'owner') return facts.ownerUserId === viewer.id || facts.organisationRole === 'OWNER';
  return allows(accessGrantsOf(viewer.id, facts)[0]?.level ?? 'none', level);
}

/** How a ref is to be moved, by its ids alone. */
export type RefMoveKind = 'create' | 'update' | 'delete';

/** Why a move is refused: the act that the rule does not allow, or the one restriction without a rule. */
type RuleRefusal = RuleAct | 'default_branch';

/** What the policy says of one move. */
type RuleVerdict =
  | { refusal: RuleRefusal }
  /** Allowed where the commits agree: only forward; no merge among the new ones, and all of these signed. */
  | { refusal: null; onlyForward: boolean; linear: boolean; signed: boolean };

const free: RuleVerdict = { refusal: null, onlyForward: false, linear: false, signed: false };

/**
 * The policy of branch and tag rules for one ref. The default branch is never deleted, whatever a rule says: clones
 * would come without files. A tag that exists is only ever moved by `force`; a branch by `push`, and by `force` as well
 * where the move is no fast-forward.
 * @param rule the one that decides, from `RuleBook`; null for none
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

/** Names as a form and the command line take them: people by handle, teams as `organisation/team`. */
export const namesOfGrant = (words: readonly string[]): { people: string[]; teams: string[] } => {
  const names = words.filter((word) => word !== '');
  return { people: names.filter((word) => !word.includes('/')), teams: names.filter((word) => word.includes('/')) };
};
