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

/** `{owner}/{name}` as a request spells it. */
export interface RepositoryAt {
  owner: string;
  name: string;
}

/** A release by its tag, by its UUID or its number (see `numberOf`), or the latest one. */
export type ReleaseKey = { tag: string } | { id: string } | 'latest';

export interface ReleaseContext {
  found: Found;
  facts: ReleaseRepositoryFacts;
}

type FindDeps = Pick<ReleaseDeps, 'db' | 'repositories'>;

/**
 * The number by which clients of Gitea's API know a release or a file: parsers of JSON take 53 bits, a UUID begins with
 * 48.
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

/** Finds a repository for its releases. Refuses `repository_not_found`, and what the policy refuses. */
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

/** Finds a release that the viewer may read. Refuses `repository_not_found`, `release_not_found`. */
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

/** What the viewer may do with the releases of a repository that they may read; null is yes. */
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

/** The beginning of the UUID that a number or a UUID means; null for any other text. */
export function uuidStart(text: string): string | null {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number < 2 ** 48)) return null;
  const digits = number.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The newest release that is neither a draft nor a pre-release; null when there is none. Asks for no right. */
export function latestOf({ db }: Pick<ReleaseDeps, 'db'>, repositoryId: string): Promise<ReleaseRow | null> {
  return db.read
    .createQueryBuilder(releaseSchema, 'r')
    .where('r.repository_id = :repositoryId AND r.is_draft = 0 AND r.is_prerelease = 0', { repositoryId })
    .orderBy('r.listed_at', 'DESC')
    .addOrderBy('r.id', 'DESC')
    .limit(1)
    .getOne();
}

/** Inside a write: the repository, with the viewer's right judged by what the write sees. */
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

/** The same for a release. Refuses `release_not_found` when it is gone meanwhile. */
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
