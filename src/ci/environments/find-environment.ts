import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { notFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { environmentRefSchema, environmentReviewerSchema, environmentSchema } from '../schema/environment-schema.ts';
import type { EnvironmentRefRow, EnvironmentReviewerRow, EnvironmentRow } from '../schema/environment-schema.ts';
import { foldEnvironmentName } from '../workflows/environment-name.ts';

const environmentNotFound = () => notFound('environment_not_found', 'There is no such environment.');

/** An environment with its reviewers and the refs that may deploy to it. */
export interface Environment extends EnvironmentRow {
  reviewers: EnvironmentReviewerRow[];
  refs: EnvironmentRefRow[];
}

/** Whether an environment delays jobs or restricts refs. */
export const isProtectedEnvironment = ({
  needsReview,
  waitMinutes,
  refPolicy,
}: Pick<EnvironmentRow, 'needsReview' | 'waitMinutes' | 'refPolicy'>): boolean =>
  needsReview || waitMinutes > 0 || refPolicy !== 'all';

/** Finds an environment by name, ignoring case; null if there is none. */
export const environmentNamed = (
  manager: EntityManager,
  repositoryId: string,
  name: string,
): Promise<EnvironmentRow | null> =>
  manager.findOneBy(environmentSchema, { repositoryId, nameFolded: foldEnvironmentName(name) });

/** Throws `environment_not_found`. */
export async function requireEnvironment(
  manager: EntityManager,
  { repository }: Pick<Found, 'repository'>,
  name: string,
): Promise<EnvironmentRow> {
  const row = await environmentNamed(manager, repository.id, name);
  if (row === null) throw environmentNotFound();
  return row;
}

export async function withRules(manager: EntityManager, rows: readonly EnvironmentRow[]): Promise<Environment[]> {
  if (rows.length === 0) return [];
  const environmentId = In(rows.map(({ id }) => id));
  const reviewers = await manager.findBy(environmentReviewerSchema, { environmentId });
  const refs = await manager.findBy(environmentRefSchema, { environmentId });
  const ofRow = <One extends { id: number; environmentId: number }>(list: readonly One[], id: number): One[] =>
    list.filter((one) => one.environmentId === id).sort((a, b) => a.id - b.id);
  return rows.map((row) => ({ ...row, reviewers: ofRow(reviewers, row.id), refs: ofRow(refs, row.id) }));
}

/** All environments of a repository, by name. */
export async function listEnvironments({ db }: Pick<CiDeps, 'db'>, found: Found): Promise<Environment[]> {
  const where = { repositoryId: found.repository.id };
  return withRules(db.read, await db.read.find(environmentSchema, { where, order: { nameFolded: 'ASC' } }));
}

/** Throws `environment_not_found`. */
export async function findEnvironment({ db }: Pick<CiDeps, 'db'>, found: Found, name: string): Promise<Environment> {
  const [environment] = await withRules(db.read, [await requireEnvironment(db.read, found, name)]);
  return environment!;
}
