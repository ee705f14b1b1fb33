import {
  accessGrantsOf,
  allows,
  judgeRefMove,
  mayByGrant,
  mayByRule,
  RuleSet,
  TooManyRefs,
} from '../../access/index.ts';
import type { RuleAct, RuleGrant, Viewer } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import { notFound, shortRef } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository, repositoryFacts } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import type { NamedAct } from '../schema/branch-rule-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { isDefaultBranchProtected } from './default-rule.ts';
import { loadRules, loadRulesOf, namedByAct } from './load-rules.ts';
import type { StoredRule } from './load-rules.ts';

/** A user named by a rule. */
interface NamedPerson {
  person: Person;
  /** Whether the user can push to the repository now; otherwise the rule has no effect for them. */
  counts: boolean;
}

export interface ListedRule extends StoredRule {
  /** The people named for each action, for merging and as approvers, by handle. */
  named: Readonly<Record<NamedAct, NamedPerson[]>>;
  /** The teams, as `organisation/team`. */
  teams: Readonly<Record<NamedAct, string[]>>;
}

/** The repository's rules in order. Throws `repository_not_found` unless the viewer administers the repository. */
export async function listRules(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<ListedRule[]> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const rules = await loadRules(deps.db.read, repository.id);
  const ids = new Set(rules.flatMap((rule) => Object.values(namedByAct(rule)).flatMap(({ people }) => people)));
  const people = await deps.accounts.peopleById([...ids]);
  const known = new Map<string, NamedPerson>();
  for (const [id, person] of people) {
    const facts = await repositoryFacts(deps, deps.db.lookup, id, repository);
    const level = accessGrantsOf(id, facts)[0]?.level ?? 'none';
    known.set(id, { person, counts: person.disabledAt === null && allows(level, 'write') });
  }
  const teamIds = rules.flatMap((rule) => Object.values(namedByAct(rule)).flatMap(({ teams = [] }) => teams));
  const teams = await deps.organisations.teams.byId([...new Set(teamIds.map(({ id }) => id))]);
  const namesOf = ({ teams: of = [] }: Pick<RuleGrant, 'teams'>): string[] =>
    of
      .flatMap(({ id }) => {
        const found = teams.get(id);
        return found === undefined ? [] : [`${found.organisation.name}/${found.team.name}`];
      })
      .sort();
  const key = ({ person }: NamedPerson): string => (person.username ?? '').toLowerCase();
  return rules.map((rule) => {
    const peopleOf = ({ people }: Pick<RuleGrant, 'people'>): NamedPerson[] =>
      people.flatMap((id) => known.get(id) ?? []).sort((a, b) => (key(a) < key(b) ? -1 : 1));
    const all = namedByAct(rule);
    return { ...rule, teams: ofEach((act) => namesOf(all[act])), named: ofEach((act) => peopleOf(all[act])) };
  });
}

const ofEach = <T>(of: (act: NamedAct) => T): Record<NamedAct, T> => ({
  push: of('push'),
  force: of('force'),
  create: of('create'),
  delete: of('delete'),
  merge: of('merge'),
  approve: of('approve'),
});

/** A single rule. Throws `rule_not_found`, and what `listRules` throws. */
export async function findRule(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  id: string,
): Promise<ListedRule> {
  const rule = (await listRules(deps, viewer, at)).find((each) => each.id === id);
  if (rule === undefined) throw notFound('rule_not_found', 'There is no such rule.');
  return rule;
}

/** Existing names that rules decide about. */
export interface DecidedNames {
  /** The first names, sorted. */
  names: string[];
  total: number;
}

/**
 * Existing branches and tags that each rule decides about, by rule id; another rule may decide about a name that a
 * pattern matches. Null if there are too many names.
 * @param limit names per rule
 */
export async function namesDecided(
  deps: RepositoryDeps,
  { repository, path }: Pick<Found, 'repository' | 'path'>,
  rules: readonly StoredRule[],
  limit: number,
): Promise<Map<string, DecidedNames> | null> {
  const refs = await deps.git.refs.list(path);
  const book = new RuleSet(rules, repository.defaultBranch);
  const decided = new Map(rules.map(({ id }): [string, DecidedNames] => [id, { names: [], total: 0 }]));
  try {
    for (const ref of refs.keys()) {
      const rule = book.ruleFor(ref);
      const entry = rule === null ? undefined : decided.get(rule.id);
      if (entry === undefined) continue;
      entry.total += 1;
      if (entry.names.length < limit) entry.names.push(shortRef(ref));
    }
  } catch (error) {
    if (error instanceof TooManyRefs) return null;
    throw error;
  }
  return decided;
}

/** Rule results for refs, for pages and the API. */
interface RefRights {
  /** The pattern of the rule that decides about a full ref name; null if there is none. */
  patternOf(ref: string): string | null;
  /** Whether the viewer may perform an action on the ref. */
  may(ref: string, act: RuleAct): boolean;
  /** The rule's conditions for merges into a branch, and whether the viewer may merge under it; null without a rule. */
  mergingOf(ref: string): { approvals: number; checks: readonly string[]; mayMerge: boolean } | null;
}

/** The repository's rules as its pages use them. @param viewer of the page */
export async function rightsIn(deps: RepositoryDeps, viewer: Viewer, repository: Repository): Promise<RefRights> {
  const [rules, facts] = await Promise.all([
    loadRules(deps.db.read, repository.id),
    repositoryFacts(deps, deps.db.lookup, viewer.kind === 'person' ? viewer.id : null, repository),
  ]);
  const book = new RuleSet(rules, repository.defaultBranch);
  /** Undefined if there are too many refs to list. */
  const ruleFor = (ref: string) => {
    try {
      return book.ruleFor(ref);
    } catch (error) {
      if (error instanceof TooManyRefs) return undefined;
      throw error;
    }
  };
  const isDefaultBranch = (ref: string): boolean => ref === `refs/heads/${repository.defaultBranch}`;
  return {
    patternOf: (ref) => ruleFor(ref)?.pattern ?? null,
    may(ref, act) {
      const rule = ruleFor(ref);
      if (rule === undefined) return false;
      if (act === 'delete')
        return (
          judgeRefMove(viewer, facts, rule, { kind: 'delete', isDefaultBranch: isDefaultBranch(ref) }).refusal === null
        );
      return rule === null || mayByRule(viewer, facts, rule, act);
    },
    mergingOf(ref) {
      const merging = ruleFor(ref)?.merging;
      if (merging == null) return null;
      const { approvals, checks, grant } = merging;
      return { approvals, checks, mayMerge: mayByGrant(viewer, facts, grant) };
    },
  };
}

/** Changes with the repository's rules: validator for cached pages that show them. */
export async function fingerprintOf(deps: RepositoryDeps, { id }: Pick<Repository, 'id'>): Promise<string[]> {
  const rules = await loadRules(deps.db.read, id);
  return rules.map((rule) => `${rule.id} ${rule.position} ${rule.updatedAt} ${JSON.stringify(rule.grants)}`);
}

/** Checks whether full ref names are covered by a rule. */
export async function protectedRefs(
  deps: RepositoryDeps,
  { id, defaultBranch }: Pick<Repository, 'id' | 'defaultBranch'>,
): Promise<(ref: string) => boolean> {
  const book = new RuleSet(await loadRules(deps.db.read, id), defaultBranch);
  return (ref) => isDecided(book, ref);
}

/** If there are too many refs to list, they count as protected. */
function isDecided(book: RuleSet<StoredRule>, ref: string): boolean {
  try {
    return book.ruleFor(ref) !== null;
  } catch (error) {
    if (error instanceof TooManyRefs) return true;
    throw error;
  }
}

/** The ids of those repositories whose default branch a rule protects from rewriting. */
export async function protectedDefaults(
  deps: RepositoryDeps,
  repositories: readonly Pick<Repository, 'id' | 'defaultBranch'>[],
): Promise<Set<string>> {
  const rulesOf = await loadRulesOf(
    deps.db.read,
    repositories.map(({ id }) => id),
  );
  const found = repositories.filter(({ id, defaultBranch }) =>
    isDefaultBranchProtected(rulesOf.get(id) ?? [], defaultBranch),
  );
  return new Set(found.map(({ id }) => id));
}
