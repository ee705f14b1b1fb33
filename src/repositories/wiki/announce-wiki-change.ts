import type { RepositoryDeps } from '../deps.ts';
import { isPageFile, titleOfFile } from './page-names.ts';
import type { WikiChange, WikiPageChange } from '../ports/wiki-port.ts';

/** Limit of pages reported to listeners per push. */
const maxPages = 100;
const maxFiles = 10_000;

const actions = { added: 'created', copied: 'created', deleted: 'deleted' } as const;

/** Page changes by a push. @param from null for a first push */
export async function changedPages(
  { git }: Pick<RepositoryDeps, 'git'>,
  wikiPath: string,
  from: string | null,
  to: string,
): Promise<WikiPageChange[]> {
  if (from === null) {
    const { files } = await git.queries.listFiles(wikiPath, to, { limit: maxFiles });
    return files
      .map(({ path }) => path.toString())
      .filter(isPageFile)
      .slice(0, maxPages)
      .map((path) => ({ action: 'created', title: titleOfFile(path) }));
  }
  const { files } = await git.queries.listDiff(wikiPath, { from, to });
  return files
    .map(({ status, oldPath, newPath }): [string, WikiPageChange['action']] => [
      (status === 'deleted' ? oldPath : newPath).toString(),
      (actions as Partial<Record<typeof status, WikiPageChange['action']>>)[status] ?? 'edited',
    ])
    .filter(([path]) => isPageFile(path))
    .slice(0, maxPages)
    .map(([path, action]) => ({ action, title: titleOfFile(path) }));
}

/** Notifies the listeners; logs their errors, which never reach the writer. */
export async function announceWikiChange(
  { wikiListeners, logger }: Pick<RepositoryDeps, 'wikiListeners' | 'logger'>,
  change: WikiChange,
): Promise<void> {
  if (change.pages.length === 0) return;
  for (const listener of wikiListeners) {
    await listener(change).catch((error: unknown) =>
      logger.error('wiki.listener_failed', { repositoryId: change.found.repository.id, error }),
    );
  }
}
