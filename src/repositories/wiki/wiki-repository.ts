import path from 'node:path';
import { allows } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { createKeyedMutex, forbidden } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository, repositoryNotFound } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';

/** Suffix that a wiki's git repository adds to the name of its parent. */
export const wikiSuffix = '.wiki';

/** Its folder is inside the parent's, so that it is moved, trashed and deleted with it. */
const folderName = 'wiki.git';

const wikiName = /^(.+)\.wiki$/i;

/** The parent's name if a name is a wiki's; null for other names. */
export const parentOfWiki = (name: string): string | null => wikiName.exec(name)?.[1] ?? null;

/** @param parent the bare repository of the parent */
export const wikiPathOf = (parent: string): string => path.join(parent, folderName);

export const isWikiPath = (repository: string): boolean => path.basename(repository) === folderName;

/** A wiki as available to a viewer. */
export interface Wiki {
  /** The repository that it belongs to; its permissions also apply to the wiki. */
  parent: Found;
  /** The wiki's bare repository; exists once there is a page. */
  path: string;
  /** The branch that contains the pages. */
  branch: string;
  /** The newest commit; null for a wiki without pages. */
  tip: string | null;
}

const defaultBranch = 'main';

/** Finds the wiki of a repository, even without pages. Throws `repository_not_found`. */
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

/** Throws `repository_archived`. */
export function requireOpen({ repository }: Pick<Found, 'repository'>): void {
  if (repository.archivedAt !== null)
    throw forbidden('repository_archived', 'This repository is archived and read-only.');
}

/** Two concurrent first pages create one repository. */
const making = createKeyedMutex();

export function ensureWiki({ git }: Pick<RepositoryDeps, 'git'>, wikiPath: string): Promise<void> {
  return making(wikiPath, async () => {
    if (!(await git.storage.exists(wikiPath))) await git.storage.create(wikiPath, { defaultBranch });
  });
}

/**
 * For the transports: opens the wiki for reading as a repository of its own, with the access of its parent. Throws
 * `repository_not_found`, also for a wiki without pages.
 */
export async function openWikiForRead(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  const { parent, path: wikiPath, tip } = await findWiki(deps, viewer, at);
  if (tip === null && !allows(parent.level, 'write')) throw repositoryNotFound();
  // Users with write access can clone an empty wiki to start it.
  if (tip === null) await ensureWiki(deps, wikiPath);
  return { ...parent, path: wikiPath };
}

/** Opens the wiki for a push; the first push creates it. Also throws `read_only_access`, `repository_archived`. */
export async function openWikiForPush(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<Found> {
  const { parent, path: wikiPath } = await findWiki(deps, viewer, at);
  if (!allows(parent.level, 'write'))
    throw forbidden('read_only_access', 'You can read this wiki, but you cannot push to it.');
  requireOpen(parent);
  await ensureWiki(deps, wikiPath);
  return { ...parent, path: wikiPath };
}
