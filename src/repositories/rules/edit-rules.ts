import type { EntityManager } from 'typeorm';
import { noMergeConditions, ruleActs, viewerForLog } from '../../access/index.ts';
import type { BranchRule, NamedByRule, RuleAct, RuleGrant, RuleTarget, Viewer } from '../../access/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { branchRulePersonSchema, branchRuleSchema, branchRuleTeamSchema } from '../schema/branch-rule-schema.ts';
import type { NamedAct } from '../schema/branch-rule-schema.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { usualGrants } from './default-rule.ts';
import { grantColumns, loadRules, mergeColumns, namedByAct } from './load-rules.ts';
import type { StoredRule } from './load-rules.ts';

import { maxRulePeople, readPeople, readTeams, tooManyPeople } from './read-people.ts';
import { isManyNames, parseLevel, parsePattern, parseTarget } from './parse-rule.ts';
import { parseMergeConditions } from './parse-merge-conditions.ts';
import type { ApproversInput, GrantInput, MergeConditionsInput } from './parse-merge-conditions.ts';

/** Limit for readability. */
const maxRules = 50;

/** Rule fields from a form or an API call. */
export interface RuleInput {
  pattern?: string | undefined;
  grants?: Partial<Record<RuleAct, GrantInput>> | undefined;
  linear?: boolean | undefined;
  signed?: boolean | undefined;
  /** For branches only. */
  merging?: MergeConditionsInput | undefined;
}

export interface NewRule extends RuleInput {
  /** `branch` or `tag`, ignoring case. */
  target: string;
  pattern: string;
}

const ruleNotFound = () => notFound('rule_not_found', 'There is no such rule.');

/**
 * Appends a rule. Throws `repository_not_found` unless the viewer administers the repository; `invalid_rule_target`,
 * `invalid_pattern`, `invalid_rule_level`, `rule_exists`, `too_many_rules`, what `readMerging` throws, and for people
 * and teams `no_such_person`, `no_such_team`, `person_may_not_push`, `too_many_people`.
 * @param leavesOutUnknown whether people and teams that are unknown here are left out, for an import
 * @returns the id
 */
export async function addRule(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  input: NewRule,
  { leavesOutUnknown = false }: { leavesOutUnknown?: boolean } = {},
): Promise<string> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const target = parseTarget(input.target);
  const blank = { target, grants: usualGrants, linear: false, signed: false, merging: noMergeConditions };
  const wanted = await readInput(deps, repository, blank, input, { leavesOutUnknown });
  const id = deps.random.uuid();
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    const rules = await loadRules(tx.before, repository.id);
    if (rules.length >= maxRules) throw conflict('too_many_rules', `A repository can have at most ${maxRules} rules.`);
    refuseTaken(rules, wanted);
    await tx.manager.insert(branchRuleSchema, {
      id,
      repositoryId: repository.id,
      position: 1 + Math.max(0, ...rules.map(({ position }) => position)),
      ...columnsOf(wanted),
      createdAt: tx.now,
      updatedAt: tx.now,
    });
    await insertPeople(tx.manager, id, wanted);
    await touch(tx, repository.id);
  });
  log(deps, 'repository.rule_added', viewer, repository.id, wanted);
  return id;
}

/**
 * Changes a rule; omitted fields stay. Throws `rule_not_found`, and what `addRule` throws. People already named may
 * stay after losing their access.
 */
export async function changeRule(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  id: string,
  input: RuleInput,
): Promise<void> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const present = (await loadRules(deps.db.read, repository.id)).find((rule) => rule.id === id);
  if (present === undefined) throw ruleNotFound();
  const wanted = await readInput(deps, repository, present, { ...input, pattern: input.pattern ?? present.pattern });
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    const rules = await loadRules(tx.before, repository.id);
    if (!rules.some((rule) => rule.id === id)) throw ruleNotFound();
    refuseTaken(
      rules.filter((rule) => rule.id !== id),
      wanted,
    );
    await tx.manager.update(branchRuleSchema, { id }, { ...columnsOf(wanted), updatedAt: tx.now });
    await tx.manager.delete(branchRulePersonSchema, { ruleId: id });
    await tx.manager.delete(branchRuleTeamSchema, { ruleId: id });
    await insertPeople(tx.manager, id, wanted);
    await touch(tx, repository.id);
  });
  log(deps, 'repository.rule_changed', viewer, repository.id, wanted);
}

/** Removes a rule. Throws `repository_not_found` unless the viewer administers the repository, `rule_not_found`. */
export async function removeRule(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  id: string,
): Promise<void> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const removed = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    const rule = (await loadRules(tx.before, repository.id)).find((each) => each.id === id);
    if (rule === undefined) throw ruleNotFound();
    await tx.manager.delete(branchRuleSchema, { id });
    await touch(tx, repository.id);
    return rule;
  });
  log(deps, 'repository.rule_removed', viewer, repository.id, removed);
}

/**
 * Moves a rule by one place among the patterns of its kind; a rule for a single name has no order. Throws what
 * `removeRule` throws.
 */
export async function moveRule(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  id: string,
  direction: 'up' | 'down',
): Promise<void> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const moved = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    const rules = await loadRules(tx.before, repository.id);
    const rule = rules.find((each) => each.id === id);
    if (rule === undefined) throw ruleNotFound();
    const kind = rules.filter(({ target, pattern }) => target === rule.target && isManyNames(pattern));
    const from = kind.indexOf(rule);
    if (from === -1) return null;
    const other = kind[direction === 'up' ? from - 1 : from + 1];
    if (other === undefined) return null;
    await tx.manager.update(branchRuleSchema, { id }, { position: other.position });
    await tx.manager.update(branchRuleSchema, { id: other.id }, { position: rule.position });
    await touch(tx, repository.id);
    return rule;
  });
  if (moved !== null) log(deps, 'repository.rule_changed', viewer, repository.id, moved);
}

/**
 * Reorders the rules of one kind; rules not named follow in their current order. Throws what `removeRule` throws, and
 * `rule_named_twice`.
 */
export async function orderRules(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  target: RuleTarget,
  ids: readonly string[],
): Promise<void> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  if (new Set(ids).size < ids.length)
    throw invalid('rule_named_twice', 'A rule can appear only once in the order.', { field: 'ids' });
  const moved = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    const rules = (await loadRules(tx.before, repository.id)).filter((rule) => rule.target === target);
    const named = ids.map((id) => rules.find((rule) => rule.id === id));
    const first = named.filter((rule) => rule !== undefined);
    if (first.length < named.length) throw ruleNotFound();
    const ordered = [...first, ...rules.filter(({ id }) => !ids.includes(id))];
    const places = rules.map(({ position }) => position);
    const changed = ordered.filter((rule, place) => rule.position !== places[place]);
    for (const rule of changed)
      await tx.manager.update(branchRuleSchema, { id: rule.id }, { position: places[ordered.indexOf(rule)]! });
    if (changed.length > 0) await touch(tx, repository.id);
    return changed;
  });
  for (const rule of moved) log(deps, 'repository.rule_changed', viewer, repository.id, rule);
}

/**
 * Checks a rule without creating it. Throws `invalid_rule_target`, `invalid_pattern`, `invalid_rule_level`,
 * `too_many_people`, and what `readMerging` throws.
 */
export function checkRule({ target, pattern, grants = {}, merging = {} }: NewRule): void {
  parsePattern(pattern, parseTarget(target));
  parseMergeConditions(merging, noMergeConditions, noMergeConditions.grant, null);
  if (merging.grant?.level !== undefined) parseLevel(merging.grant.level, 'merge_level');
  const { people: approving = [], teams: ofApprovers = [] } = merging.approvers ?? {};
  if (Math.max(approving.length, ofApprovers.length) > maxRulePeople) throw tooManyPeople('approvers');
  for (const act of ruleActs) {
    const { level, people = [], teams = [] } = grants[act] ?? {};
    if (level !== undefined) parseLevel(level, `${act}_level`);
    if (Math.max(people.length, teams.length) > maxRulePeople) throw tooManyPeople(`${act}_people`);
  }
}

/** Replaces all rules of a repository, for an import. Omits people without an account here. */
export async function replaceRules(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  rules: readonly NewRule[],
): Promise<void> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const wanted: BranchRule[] = [];
  for (const input of rules.slice(0, maxRules)) {
    const blank = {
      target: parseTarget(input.target),
      grants: usualGrants,
      linear: false,
      signed: false,
      merging: noMergeConditions,
    };
    wanted.push(await readInput(deps, repository, blank, input, { leavesOutUnknown: true }));
  }
  await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    await tx.manager.delete(branchRuleSchema, { repositoryId: repository.id });
    for (const [position, rule] of wanted.entries()) {
      const id = deps.random.uuid();
      const times = { createdAt: tx.now, updatedAt: tx.now };
      const row = { id, repositoryId: repository.id, position: position + 1, ...columnsOf(rule), ...times };
      await tx.manager.insert(branchRuleSchema, row);
      await insertPeople(tx.manager, id, rule);
    }
    await touch(tx, repository.id);
  });
  for (const rule of wanted) log(deps, 'repository.rule_added', viewer, repository.id, rule);
}

function refuseTaken(rules: readonly StoredRule[], { target, pattern }: BranchRule): void {
  if (!rules.some((rule) => rule.target === target && rule.pattern === pattern)) return;
  throw conflict('rule_exists', 'A rule for this pattern already exists.', { field: 'pattern' });
}

function columnsOf({ target, pattern, grants, linear, signed, merging }: BranchRule) {
  return { target, pattern, ...grantColumns(grants), linear, signed, ...mergeColumns(merging) };
}

async function insertPeople(manager: EntityManager, ruleId: string, { grants, merging }: BranchRule): Promise<void> {
  const all = Object.entries(namedByAct({ grants, merging })) as [NamedAct, Pick<RuleGrant, 'people' | 'teams'>][];
  const rows = all.flatMap(([act, { people }]) => people.map((userId) => ({ ruleId, act, userId })));
  if (rows.length > 0) await manager.insert(branchRulePersonSchema, rows);
  const teams = all.flatMap(([act, { teams: of = [] }]) => of.map(({ id: teamId }) => ({ ruleId, act, teamId })));
  if (teams.length > 0) await manager.insert(branchRuleTeamSchema, teams);
}

/** The repository's pages show which branches are protected. */
async function touch({ manager, now }: { manager: EntityManager; now: number }, id: string): Promise<void> {
  await manager.update(repositorySchema, { id }, { updatedAt: now });
}

async function readInput(
  deps: RepositoryDeps,
  repository: Repository,
  present: Pick<BranchRule, 'target' | 'grants' | 'linear' | 'signed' | 'merging'>,
  { pattern, grants = {}, linear = present.linear, signed = present.signed, merging = {} }: RuleInput,
  { leavesOutUnknown = false }: { leavesOutUnknown?: boolean } = {},
): Promise<BranchRule> {
  const { target } = present;
  const named = new Set(Object.values(namedByAct(present)).flatMap(({ people }) => people));
  const readNames = async (
    { people, teams }: Pick<GrantInput, 'people' | 'teams'>,
    before: Pick<RuleGrant, 'people' | 'teams'>,
    field: string,
  ): Promise<NamedByRule> => ({
    people:
      people === undefined
        ? before.people
        : await readPeople(deps, repository, people, { field, named, leavesOutUnknown }),
    teams:
      teams === undefined
        ? (before.teams ?? [])
        : await readTeams(deps, repository, teams, { field, leavesOutUnknown }),
  });
  const readGrant = async (act: RuleAct | 'merge'): Promise<RuleGrant> => {
    const { level, people, teams, tasks, deployKeys } = (act === 'merge' ? merging.grant : grants[act]) ?? {};
    const before = act === 'merge' ? present.merging.grant : present.grants[act];
    return {
      level: level === undefined ? before.level : parseLevel(level, `${act}_level`),
      ...(await readNames({ people, teams }, before, `${act}_people`)),
      tasks: tasks ?? before.tasks,
      ...(act !== 'merge' && { deployKeys: deployKeys ?? before.deployKeys ?? false }),
    };
  };
  const readApprovers = async ({ isOn, people, teams }: ApproversInput): Promise<NamedByRule | null> => {
    const before = present.merging.approvers;
    const isNamed = (people ?? []).length + (teams ?? []).length > 0;
    if (!(isOn ?? (before !== null || isNamed))) return null;
    return readNames({ people, teams }, before ?? { people: [], teams: [] }, 'approvers');
  };
  const read = {
    target,
    pattern: parsePattern(pattern ?? '', target),
    linear: target === 'BRANCH' && linear,
    signed: target === 'BRANCH' && signed,
    merging:
      target === 'TAG'
        ? noMergeConditions
        : parseMergeConditions(
            merging,
            present.merging,
            await readGrant('merge'),
            await readApprovers(merging.approvers ?? {}),
          ),
    grants: {
      push: await readGrant('push'),
      force: await readGrant('force'),
      create: await readGrant('create'),
      delete: await readGrant('delete'),
    },
  };
  return read;
}

function log(
  { logger }: RepositoryDeps,
  event: 'repository.rule_added' | 'repository.rule_changed' | 'repository.rule_removed',
  viewer: Viewer,
  repositoryId: string,
  { target, pattern, grants, linear, signed, merging: all }: BranchRule,
): void {
  const { grant: merge, approvers, ...others } = all;
  const levels = Object.fromEntries(ruleActs.map((act) => [act, grants[act].level]));
  const everyone = Object.values(namedByAct({ grants, merging: all }));
  const people = [...new Set(everyone.flatMap((named) => named.people))];
  const named = everyone.flatMap(({ teams = [] }) => teams.map(({ id }) => id));
  const approving = approvers && { people: approvers.people, teams: approvers.teams.map(({ id }) => id) };
  const merging = { ...others, approvers: approving };
  const teams = named.length === 0 ? {} : { teams: [...new Set(named)] };
  const rule = { target, pattern, ...levels, merge: merge.level, people, ...teams, linear, signed, merging };
  logger.info(event, { repositoryId, ...rule, by: viewerForLog(viewer) });
}
