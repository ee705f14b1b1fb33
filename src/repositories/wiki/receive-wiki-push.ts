import { isDomainError, shortRef } from '../../kernel/index.ts';
import type { PushVerdict, RefResult } from '../../git/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isDiskLow } from '../disk-space.ts';
import { findAgain } from '../find-repository.ts';
import type { Found } from '../find-repository.ts';
import type { IncomingPush } from '../pushes/receive-push.ts';
import { announceWikiChange, changedPages } from './announce-wiki-change.ts';

const heads = 'refs/heads/';

/**
 * Receives a push to a wiki. It is not a repository push: it does not appear in the activity, feeds or CI, and branch
 * rules do not apply. Checks write access again when the commands are known.
 * @param opened the parent with the path of the wiki
 */
export async function receiveWikiPush(deps: RepositoryDeps, opened: Found, incoming: IncomingPush): Promise<void> {
  const { viewer, protocol, via, ...streams } = incoming;
  const { id } = opened.repository;
  const before = await deps.git.refs.head(opened.path);
  const refuse = (reason: string): PushVerdict => ({ accept: false, reason });
  await deps.git.transfers.receivePack({
    path: opened.path,
    protocol: protocol ?? undefined,
    ...streams,
    client: 'id' in viewer ? viewer.id : undefined,
    stateless: via === 'http',
    hooks: {
      async preReceive() {
        if (await isDiskLow(opened.path, deps.settings.lowDiskFloorBytes))
          return refuse('the server is low on disk space; reading still works');
        return deps.db.write<PushVerdict>(async (tx) => {
          try {
            const row = await findAgain(deps, tx, viewer, id, 'write');
            return row.archivedAt === null ? { accept: true } : refuse('the repository is archived and read-only');
          } catch (error) {
            if (isDomainError(error)) return refuse('repository not found');
            throw error;
          }
        });
      },
      async postReceive(results) {
        await followFirstBranch(deps, opened.path, results);
      },
    },
  });
  const after = await deps.git.refs.head(opened.path);
  if (after.oid === null || after.oid === before.oid) return;
  const pages = await changedPages(deps, opened.path, before.oid, after.oid);
  const { subject } = await deps.git.objects.commit(opened.path, after.oid);
  await announceWikiChange(deps, { found: opened, viewer, pages, commit: after.oid, message: subject });
}

/** A first push may create another branch than the one that HEAD names. */
async function followFirstBranch(
  { git }: RepositoryDeps,
  wikiPath: string,
  results: readonly RefResult[],
): Promise<void> {
  const branches = results.filter(({ ref, ok }) => ok && ref.startsWith(heads));
  const { oid } = await git.refs.head(wikiPath);
  if (oid === null && branches.length === 1) await git.refs.setHead(wikiPath, shortRef(branches[0]!.ref));
}
