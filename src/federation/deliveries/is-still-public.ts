import type { FederationDeps } from '../deps.ts';

/** Whether a repository is currently public. */
export type IsStillPublic = (repositoryId: string) => Promise<boolean>;

/** Cached while the database is unchanged: a push goes to thousands of inboxes, with a check before each delivery. */
export function createIsStillPublic({ db, repositories }: Pick<FederationDeps, 'db' | 'repositories'>): IsStillPublic {
  const results = new Map<string, Promise<boolean>>();
  let state: number | null = null;
  return async (repositoryId) => {
    const now = await db.state();
    if (now !== state) results.clear();
    state = now;
    let result = results.get(repositoryId);
    if (result === undefined) results.set(repositoryId, (result = repositories.isPublic(db.read, repositoryId)));
    return result;
  };
}
