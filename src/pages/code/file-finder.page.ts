import { formatNumber } from '../../translation/index.ts';
import { page, type Reply } from '../app/reply.ts';
import { codeUrl } from '../app/code-urls.ts';
import { rankPaths } from './rank-paths.ts';
import { viewName } from '../app/printable-names.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { readCodeNavigation, resolveLocation } from './resolve-location.ts';
import type { CodeDeps } from './deps.ts';

const maxFiles = 50_000;
const maxShown = 50;
const maxQuery = 200;

/** `B/find/{ref}?q=`: files whose path contains the letters in this order. */
export const showFind: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found, query } = context;
  const url = repositoryUrl(found.canonical);
  const located = await resolveLocation(context, deps);
  const at = { ...located, file: Buffer.alloc(0) };
  const wanted = (query.get('q') ?? '').trim().slice(0, maxQuery);
  const [frame, { files, truncated }] = await Promise.all([
    readCodeNavigation(context, deps, at, 'find'),
    deps.git.queries.listFiles(found.path, at.oid, { limit: maxFiles }),
  ]);
  const ranked = await rankPaths(
    files.map(({ path }) => path),
    wanted,
    maxShown,
  );
  return page(
    'code/file-finder',
    {
      ...frame,
      wanted,
      self: codeUrl(url, 'find', at.ref),
      total: formatNumber(files.length),
      rows: ranked.paths.map((path) => ({ path: viewName(path.toString()), url: codeUrl(url, 'blob', at.ref, path) })),
      hidden: ranked.total - ranked.paths.length,
      truncated,
    },
    { restsOn: [] },
  );
};
