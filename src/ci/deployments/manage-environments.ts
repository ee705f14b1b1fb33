import { personViewer, repositoryLevel, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, isDomainError } from '../../kernel/index.ts';
import type { Found, Repository } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { refuseArchived, requireLevel } from '../require-level.ts';
import { changeRuns } from '../runs/change-runs.ts';
import {
  environmentRefSchema,
  environmentReviewerSchema,
  environmentSchema,
  refPolicies,
} from '../schema/environment-schema.ts';
import type { EnvironmentRow, RefPolicy } from '../schema/environment-schema.ts';
import { jobSchema } from '../schema/job-schema.ts';
import { maxEnvironments, openEnvironment } from '../environments/deployments.ts';
import { faultOfPattern } from '../environments/environment-refs.ts';
import { parseEnvironmentName } from '../workflows/environment-name.ts';
import { environmentNamed, findEnvironment, requireEnvironment } from '../environments/find-environment.ts';
import type { Environment } from '../environments/find-environment.ts';

/** Changes to the rules of an environment; omitted fields stay. */
export interface EnvironmentChange {
  waitMinutes?: number | undefined;
  /** Usernames and `organisation/team`; an empty list requires no review. */
  reviewers?: readonly string[] | undefined;
  preventsSelfReview?: boolean | undefined;
  needsWrite?: boolean | undefined;
  adminsBypass?: boolean | undefined;
  refPolicy?: RefPolicy | undefined;
  /** Patterns of the policy `custom`. */
  refs?: readonly { kind: 'branch' | 'tag'; pattern: string }[] | undefined;
}

/** Thirty days, as on GitHub. */
const maxWaitMinutes = 43_200;
const maxReviewers = 6;
const maxRefs = 100;

type Who = { userId: string; teamId: null } | { userId: null; teamId: string };

/**
 * Creates or changes an environment. Jobs that already wait for it follow the new rules. Throws `repository_not_found`
 * unless the viewer administers the repository, `repository_archived`, `invalid_environment_name`, `invalid_wait`,
 * `no_such_reviewer`, `too_many_reviewers`, `invalid_ref_policy`, `invalid_ref_pattern`, `too_many_environments`.
 */
export async function setEnvironment(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  name: string,
  change: EnvironmentChange,
): Promise<Environment> {
  requireLevel(found, 'admin');
  refuseArchived(found);
  const parsed = parseEnvironmentName(name);
  check(change);
  const reviewers = change.reviewers === undefined ? undefined : await readReviewers(deps, found, change.reviewers);
  await changeRuns(deps, async (tx, after) => {
    const row = await openEnvironment(tx, found.repository.id, parsed);
    if (row === null) throw conflict('too_many_environments', `There are already ${maxEnvironments} environments.`);
    await apply(tx, row, change, reviewers);
    for (const runId of await runsThatWait(tx, row.id)) after.toAdvance.add(runId);
  });
  deps.logger.info('ci.environment_changed', {
    repository: found.repository.id,
    environment: parsed,
    by: viewerForLog(viewer),
  });
  return findEnvironment(deps, found, parsed);
}

async function apply(
  { manager, now }: Tx,
  { id }: EnvironmentRow,
  { waitMinutes, preventsSelfReview, needsWrite, adminsBypass, refPolicy, refs }: EnvironmentChange,
  reviewers: readonly Who[] | undefined,
): Promise<void> {
  const given = {
    waitMinutes,
    preventsSelfReview,
    needsWrite,
    adminsBypass,
    refPolicy,
    needsReview: reviewers === undefined ? undefined : reviewers.length > 0,
  };
  const columns = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  await manager.update(environmentSchema, { id }, { ...columns, updatedAt: now });
  if (reviewers !== undefined) {
    await manager.delete(environmentReviewerSchema, { environmentId: id });
    for (const who of reviewers) await manager.insert(environmentReviewerSchema, { environmentId: id, ...who });
  }
  if (refs !== undefined) {
    await manager.delete(environmentRefSchema, { environmentId: id });
    for (const { kind, pattern } of refs)
      await manager.insert(environmentRefSchema, { environmentId: id, kind, pattern });
  }
}

function check({ waitMinutes, refPolicy, refs }: EnvironmentChange): void {
  if (waitMinutes !== undefined && (!Number.isInteger(waitMinutes) || waitMinutes < 0 || waitMinutes > maxWaitMinutes))
    throw invalid('invalid_wait', `Enter a waiting time from 0 to ${maxWaitMinutes} minutes.`, { field: 'wait_timer' });
  if (refPolicy !== undefined && !refPolicies.includes(refPolicy))
    throw invalid('invalid_ref_policy', 'Choose all, protected or custom.', { field: 'ref_policy' });
  if (refs === undefined) return;
  if (refs.length > maxRefs)
    throw invalid('invalid_ref_pattern', `An environment can have at most ${maxRefs} patterns.`, { field: 'refs' });
  const seen = new Set<string>();
  for (const { kind, pattern } of refs) {
    const fault = seen.has(`${kind} ${pattern}`) ? 'The pattern is there twice.' : faultOfPattern(pattern);
    if (fault !== null) throw invalid('invalid_ref_pattern', `“${pattern}”: ${fault}`, { field: 'refs' });
    seen.add(`${kind} ${pattern}`);
  }
}

/** Resolves reviewers: users with read access to the repository, and teams of its owner. */
async function readReviewers(deps: CiDeps, { repository }: Found, names: readonly string[]): Promise<Who[]> {
  const wanted = [...new Map(names.map((name) => [name.trim().toLowerCase(), name.trim()])).values()];
  if (wanted.length > maxReviewers)
    throw invalid('too_many_reviewers', `An environment can have at most ${maxReviewers} reviewers.`, {
      field: 'reviewers',
    });
  const who: Who[] = [];
  for (const name of wanted) {
    const found = name.includes('/') ? await teamOf(deps, repository, name) : await personOf(deps, repository, name);
    if (found === null)
      throw invalid('no_such_reviewer', `No user named ${name} can read this repository.`, {
        field: 'reviewers',
      });
    who.push(found);
  }
  return who;
}

async function personOf(deps: CiDeps, repository: Repository, name: string): Promise<Who | null> {
  const person = await deps.accounts.personByUsername(name).catch((error: unknown) => {
    if (isDomainError(error) && error.code === 'not_found') return null;
    throw error;
  });
  if (person === null) return null;
  const facts = await deps.repositories.factsOf(person.id, repository);
  return repositoryLevel(personViewer(person.id, 'admin'), facts) === 'none'
    ? null
    : { userId: person.id, teamId: null };
}

async function teamOf(deps: CiDeps, repository: Repository, name: string): Promise<Who | null> {
  const { ownerOrganisationId } = repository;
  const [organisation = '', team = ''] = name.split('/');
  if (ownerOrganisationId === null) return null;
  const owner = await deps.owners.resolve(organisation);
  if (owner?.id !== ownerOrganisationId) return null;
  const row = await deps.organisations.teams.named(ownerOrganisationId, team);
  return row === null ? null : { userId: null, teamId: row.id };
}

async function runsThatWait({ manager }: Tx, environmentId: number): Promise<number[]> {
  const jobs = await manager
    .createQueryBuilder(jobSchema, 'j')
    .select('j.run_id', 'runId')
    .where("j.environment_id = :environmentId AND j.environment_state = 'waiting'", { environmentId })
    .getRawMany<{ runId: number }>();
  return [...new Set(jobs.map(({ runId }) => runId))];
}

/**
 * Deletes an environment with its secrets. Waiting jobs fail; deployments stay. Throws the errors of `setEnvironment`
 * and `environment_not_found`.
 */
export async function removeEnvironment(deps: CiDeps, viewer: Viewer, found: Found, name: string): Promise<void> {
  requireLevel(found, 'admin');
  await changeRuns(deps, async (tx, after) => {
    const { id } = await requireEnvironment(tx.manager, found, name);
    for (const runId of await runsThatWait(tx, id)) after.toAdvance.add(runId);
    await tx.manager
      .createQueryBuilder()
      .update(jobSchema)
      .set({ environmentId: null })
      .where("environment_id = :id AND environment_state = 'waiting'", { id })
      .execute();
    await tx.manager.delete(environmentSchema, { id });
  });
  deps.logger.info('ci.environment_removed', {
    repository: found.repository.id,
    environment: name,
    by: viewerForLog(viewer),
  });
}

/** Whether the repository has an environment of this name. */
export const hasEnvironment = async ({ db }: Pick<CiDeps, 'db'>, found: Found, name: string): Promise<boolean> =>
  (await environmentNamed(db.read, found.repository.id, name)) !== null;

/** Current names of users and teams. */
export async function namesOfReviewers(
  deps: Pick<CiDeps, 'accounts' | 'organisations'>,
  { reviewers }: Pick<Environment, 'reviewers'>,
): Promise<string[]> {
  const people = await deps.accounts.peopleById(reviewers.flatMap(({ userId }) => userId ?? []));
  const teams = await deps.organisations.teams.byId(reviewers.flatMap(({ teamId }) => teamId ?? []));
  return reviewers.flatMap(({ userId, teamId }) => {
    const team = teams.get(teamId ?? '');
    const name =
      team === undefined ? people.get(userId ?? '')?.username : `${team.organisation.name}/${team.team.name}`;
    return name ?? [];
  });
}
