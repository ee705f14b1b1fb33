import { personIdOf, refusalOnRelease } from '../access/index.ts';
import type { ReleaseAct, ReleaseRefusal, ReleaseRepositoryFacts, Viewer } from '../access/index.ts';
import { rowBy } from '../db/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import type { Found, Repository } from '../repositories/index.ts';
import type { ReleaseDeps } from './deps.ts';
import { refuse, releaseNotFound } from './release-errors.ts';
import { releaseSchema } from './schema/release-schema.ts';
import type { ReleaseRow } from './schema/release-schema.ts';

/** `{owner}/{name}` as spelled in a request. */
export interface RepositoryAt {
  owner: string;
  name: string;
}

/** A release by its tag, by its UUID or number (see `numberOf`), or the latest one. */
export type ReleaseKey = { tag: string } | { id: string } | 'latest';

export interface ReleaseContext {
  found: Found;
  facts: ReleaseRepositoryFacts;
}

type FindDeps = Pick<ReleaseDeps, 'db' | 'repositories'>;

/**
 * Number of a release or file for clients of Gitea's API: the first 48 bits of its UUID, because JSON parsers keep only
 * 53 bits.
 */
export const numberOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

async function factsOf(
  deps: Pick<ReleaseDeps, 'repositories'>,
  source: RowSource | undefined,
  viewer: Viewer,
  repository: Repository,
): Promise<ReleaseRepositoryFacts> {
  const facts = await deps.repositories.factsOf(personIdOf(viewer), repository, source);
  return { ...facts, archived: repository.archivedAt !== null };
}

/** Finds a repository for access to its releases. Throws `repository_not_found`, and the errors of the policy. */
export async function findContext(
  deps: FindDeps,
  viewer: Viewer,
  { owner, name }: RepositoryAt,
  act: ReleaseAct = 'read',
): Promise<ReleaseContext> {
  const found = await deps.repositories.find(viewer, owner, name);
  const facts = await factsOf(deps, undefined, viewer, found.repository);
  refuse(refusalOnRelease(viewer, facts, null, act));
  return { found, facts };
}

/** Finds a release that the viewer can read. Throws `repository_not_found`, `release_not_found`. */
export async function findRelease(
  deps: FindDeps,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  act: ReleaseAct = 'read',
): Promise<ReleaseContext & { release: ReleaseRow }> {
  const context = await findContext(deps, viewer, at);
  const release = await rowOf(deps, context.found.repository.id, key);
  if (release === null) throw releaseNotFound();
  refuse(refusalOnRelease(viewer, context.facts, { draft: release.isDraft }, act));
  return { ...context, release };
}

/** Permissions of the viewer on the releases of a readable repository; null allows an action. */
export async function rightsIn(
  deps: FindDeps,
  viewer: Viewer,
  at: RepositoryAt,
): Promise<(act: ReleaseAct) => ReleaseRefusal | null> {
  const { facts } = await findContext(deps, viewer, at);
  return (act) => refusalOnRelease(viewer, facts, null, act);
}

async function rowOf({ db }: FindDeps, repositoryId: string, key: ReleaseKey): Promise<ReleaseRow | null> {
  if (key === 'latest') return latestOf({ db }, repositoryId);
  if ('tag' in key) return rowBy(db.lookup, releaseSchema, { repositoryId, tag: key.tag });
  const start = uuidStart(key.id);
  if (start === null) return null;
  return db.read
    .createQueryBuilder(releaseSchema, 'r')
    .where('r.repository_id = :repositoryId AND substr(r.id, 1, :length) = :start', {
      repositoryId,
      length: start.length,
      start,
    })
    .getOne();
}

/** The start of the UUID for a number or a UUID; null for any other text. */
export function uuidStart(text: string): string | null {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number < 2 ** 48)) return null;
  const digits = number.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The newest release that may be the latest; null if there is none. Does not check access. */
export function latestOf({ db }: Pick<ReleaseDeps, 'db'>, repositoryId: string): Promise<ReleaseRow | null> {
  return db.read
    .createQueryBuilder(releaseSchema, 'r')
    .where('r.repository_id = :repositoryId AND r.is_draft = 0 AND r.is_prerelease = 0 AND r.stays_behind = 0', {
      repositoryId,
    })
    .orderBy('r.listed_at', 'DESC')
    .addOrderBy('r.id', 'DESC')
    .limit(1)
    .getOne();
}

/** Reads the repository inside a write, and checks the permission of the viewer with the data of the write. */
export async function repositoryInWrite(
  deps: Pick<ReleaseDeps, 'repositories'>,
  tx: Tx,
  viewer: Viewer,
  repositoryId: string,
): Promise<Repository> {
  const repository = await repositoryOf(tx, repositoryId);
  if (repository === null) throw releaseNotFound();
  refuse(refusalOnRelease(viewer, await factsOf(deps, tx.manager, viewer, repository), null, 'write'));
  return repository;
}

/** Does the same for a release. Throws `release_not_found` if it was deleted since. */
export async function releaseInWrite(
  deps: Pick<ReleaseDeps, 'repositories'>,
  tx: Tx,
  viewer: Viewer,
  { id, repositoryId }: Pick<ReleaseRow, 'id' | 'repositoryId'>,
): Promise<{ repository: Repository; release: ReleaseRow }> {
  const repository = await repositoryInWrite(deps, tx, viewer, repositoryId);
  const release = await tx.manager.findOneBy(releaseSchema, { id });
  if (release === null) throw releaseNotFound();
  return { repository, release };
}
