import type { EntityManager } from 'typeorm';
import { RuleSet } from '../../access/index.ts';
import type { BranchRule, MergeConditions, NamedByRule, RuleAct, RuleGrant, RuleTeam } from '../../access/index.ts';
import { branchRulePersonSchema, branchRuleSchema, branchRuleTeamSchema } from '../schema/branch-rule-schema.ts';
import type { BranchRulePersonRow, BranchRuleRow, NamedAct } from '../schema/branch-rule-schema.ts';

/** A rule as stored. Times are milliseconds since the epoch. */
export interface StoredRule extends BranchRule {
  id: string;
  repositoryId: string;
  position: number;
  createdAt: number;
  updatedAt: number;
}

/**
 * The repository's rules in order.
 * @param source the read connection, or the connection of the dependent transaction
 */
export async function loadRules(source: EntityManager, repositoryId: string): Promise<StoredRule[]> {
  return (await loadRulesOf(source, [repositoryId])).get(repositoryId) ?? [];
}

/** The rule that decides about a branch; null if there is none. Throws `internal` for rules that cost too much. */
export async function decidingRule(
  source: EntityManager,
  { id, defaultBranch }: { id: string; defaultBranch: string },
  branch: string,
): Promise<StoredRule | null> {
  return new RuleSet(await loadRules(source, id), defaultBranch).ruleFor(`refs/heads/${branch}`);
}

/** The rules of several repositories; one without rules has no entry. */
export async function loadRulesOf(
  source: EntityManager,
  repositoryIds: readonly string[],
): Promise<Map<string, StoredRule[]>> {
  if (repositoryIds.length === 0) return new Map();
  const [rows, people, teams] = await Promise.all([
    source
      .createQueryBuilder(branchRuleSchema, 'r')
      .where('r.repository_id IN (:...repositoryIds)', { repositoryIds })
      .getMany(),
    source
      .createQueryBuilder(branchRulePersonSchema, 'p')
      .innerJoin('branch_rules', 'r', 'r.id = p.rule_id')
      .where('r.repository_id IN (:...repositoryIds)', { repositoryIds })
      .getMany(),
    loadTeams(source, repositoryIds),
  ]);
  const teamsOf = Map.groupBy(teams, ({ rule_id: id }) => id);
  const peopleOf = Map.groupBy(people, ({ ruleId }) => ruleId);
  const rules = rows.map((row) => toRule(row, peopleOf.get(row.id) ?? [], teamsOf.get(row.id) ?? []));
  rules.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
  return Map.groupBy(rules, ({ repositoryId }) => repositoryId);
}

interface NamedTeamRow {
  rule_id: string;
  act: string;
  team_id: string;
  /** Null for a team without members. */
  user_id: string | null;
}

/** The teams that rules name, with their members. */
const loadTeams = (source: EntityManager, repositoryIds: readonly string[]): Promise<NamedTeamRow[]> =>
  source
    .createQueryBuilder(branchRuleTeamSchema, 't')
    .innerJoin('branch_rules', 'r', 'r.id = t.rule_id')
    .leftJoin('team_members', 'm', 'm.team_id = t.team_id')
    .select('t.rule_id', 'rule_id')
    .addSelect('t.act', 'act')
    .addSelect('t.team_id', 'team_id')
    .addSelect('m.user_id', 'user_id')
    .where('r.repository_id IN (:...repositoryIds)', { repositoryIds })
    .getRawMany();

function teamsFor(act: string, rows: readonly NamedTeamRow[]): RuleTeam[] {
  const byTeam = Map.groupBy(
    rows.filter((row) => row.act === act),
    ({ team_id: id }) => id,
  );
  return [...byTeam].map(([id, of]) => ({ id, people: of.flatMap(({ user_id: userId }) => userId ?? []).sort() }));
}

function toRule(
  row: BranchRuleRow,
  people: readonly BranchRulePersonRow[],
  teams: readonly NamedTeamRow[],
): StoredRule {
  const namedFor = (act: NamedAct): NamedByRule => ({
    people: people.filter((each) => each.act === act).map(({ userId }) => userId),
    teams: teamsFor(act, teams),
  });
  const grant = (act: RuleAct | 'merge'): RuleGrant => ({
    level: row[`${act}Level`],
    tasks: row[`${act}Tasks`],
    // Deploy keys push, but never merge pull requests.
    ...(act !== 'merge' && { deployKeys: row[`${act}DeployKeys`] }),
    ...namedFor(act),
  });
  const merging: MergeConditions = {
    grant: grant('merge'),
    approvals: row.approvals,
    approvers: row.approversNamed ? namedFor('approve') : null,
    ownersApprove: row.ownersApprove,
    approvalsSurvive: row.approvalsSurvive,
    threadsResolved: row.threadsResolved,
    checks: JSON.parse(row.checks) as string[],
    upToDate: row.upToDate,
    styles: JSON.parse(row.styles) as string[],
    adminsToo: row.adminsToo,
  };
  const { id, repositoryId, target, position, pattern, linear, signed, createdAt, updatedAt } = row;
  return {
    id,
    repositoryId,
    target,
    position,
    pattern,
    grants: { push: grant('push'), force: grant('force'), create: grant('create'), delete: grant('delete') },
    linear,
    signed,
    merging,
    createdAt,
    updatedAt,
  };
}

/** Whom a rule names, by what for. */
export const namedByAct = ({
  grants,
  merging,
}: Pick<BranchRule, 'grants' | 'merging'>): Record<NamedAct, Pick<RuleGrant, 'people' | 'teams'>> => ({
  ...grants,
  merge: merging.grant,
  approve: merging.approvers ?? { people: [], teams: [] },
});

/** The columns of a rule's merge conditions, except for the people it names. */
export function mergeColumns({ grant, approvers, checks, styles, ...conditions }: MergeConditions) {
  return {
    mergeLevel: grant.level,
    mergeTasks: grant.tasks,
    approversNamed: approvers !== null,
    checks: JSON.stringify(checks),
    styles: JSON.stringify(styles),
    ...conditions,
  };
}

/** The columns of a rule's grants. */
export function grantColumns(grants: BranchRule['grants']) {
  const { push, force, create, delete: remove } = grants;
  return {
    pushLevel: push.level,
    pushTasks: push.tasks,
    pushDeployKeys: push.deployKeys ?? false,
    forceLevel: force.level,
    forceTasks: force.tasks,
    forceDeployKeys: force.deployKeys ?? false,
    createLevel: create.level,
    createTasks: create.tasks,
    createDeployKeys: create.deployKeys ?? false,
    deleteLevel: remove.level,
    deleteTasks: remove.tasks,
    deleteDeployKeys: remove.deployKeys ?? false,
  };
}
