import path from 'node:path';
import { allows } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { createKeyedMutex, forbidden } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository, repositoryNotFound } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';

/** The git repository of a wiki has the name of its parent with this at the end. */
export const wikiSuffix = '.wiki';

/** Its folder is inside that of the parent, so that it moves, rests and goes with it. */
const folderName = 'wiki.git';

const wikiName = /^(.+)\.wiki$/i;

/** The name of the parent where a name is that of a wiki; null for other names. */
export const parentOfWiki = (name: string): string | null => wikiName.exec(name)?.[1] ?? null;

/** @param parent the bare repository of the parent */
export const wikiPathOf = (parent: string): string => path.join(parent, folderName);

export const isWikiPath = (repository: string): boolean => path.basename(repository) === folderName;

/** A wiki as a viewer may use it. */
export interface Wiki {
  /** The repository that it belongs to; its rights are those of the wiki. */
  parent: Found;
  /** The bare repository of the wiki; it exists once there is a page. */
  path: string;
  /** The branch that the pages are on. */
  branch: string;
  /** The newest commit; null for a wiki without pages. */
  tip: string | null;
}

const defaultBranch = 'main';

/** Finds the wiki of a repository, also one without pages. Refuses `repository_not_found`. */
export async function findWiki(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  needed: 'read' | 'write' = 'read',
): Promise<Wiki> {
  const parent = await findRepository(deps, viewer, at, needed);
  const wikiPath = wikiPathOf(parent.path);
  if (!(await deps.git.storage.exists(wikiPath))) return { parent, path: wikiPath, branch: defaultBranch, tip: null };
  const { branch, oid } = await deps.git.refs.head(wikiPath);
  return { parent, path: wikiPath, branch: branch ?? defaultBranch, tip: oid };
}

/** Refuses `repository_archived`. */
export function requireOpen({ repository }: Pick<Found, 'repository'>): void {
  if (repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
}

/** Two first pages at once make one repository. */
const making = createKeyedMutex();

export function ensureWiki({ git }: Pick<RepositoryDeps, 'git'>, wikiPath: string): Promise<void> {
  return making(wikiPath, async () => {
    if (!(await git.storage.exists(wikiPath))) await git.storage.create(wikiPath, { defaultBranch });
  });
}

/**
 * For the transports: the wiki as a repository of its own, to be read, with the access that its parent gives. Refuses
 * `repository_not_found`, also for a wiki without pages.
 */
export async function openWikiForRead(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  const { parent, path: wikiPath, tip } = await findWiki(deps, viewer, at);
  if (tip === null && !allows(parent.level, 'write')) throw repositoryNotFound();
  // A person who may write clones an empty one, and begins there.
  if (tip === null) await ensureWiki(deps, wikiPath);
  return { ...parent, path: wikiPath };
}

/** The same to be pushed to; the first push makes it. Refuses `read_only_access`, `repository_archived`, too. */
export async function openWikiForPush(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  const { parent, path: wikiPath } = await findWiki(deps, viewer, at);
  if (!allows(parent.level, 'write'))
    throw forbidden('read_only_access', 'You may read this wiki, but not push to it.');
  requireOpen(parent);
  await ensureWiki(deps, wikiPath);
  return { ...parent, path: wikiPath };
}
