import { maxBlameBytes } from '../../git/index.ts';
import { isDomainError, yieldToEventLoop } from '../../kernel/index.ts';
import { movedTo, page, type Reply } from '../app/reply.ts';
import { partOfBlame } from './blame-parts.ts';
import { viewBlame } from './blame-table.view.ts';
import { codeUrl } from '../app/code-urls.ts';
import { readLineRange } from './code-lines.view.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { viewPart } from './text-part.view.ts';
import { readPartNumber } from './text-parts.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { readCodeNavigation, resolveLocation } from './resolve-location.ts';
import { authorsOfCommits } from './commit-authors.ts';
import type { CodeDeps } from './deps.ts';
import { readTabClasses } from './read-editor-configs.ts';

/** `B/blame/{ref}/{path}`: the author and time of each line; for a long file the part with `?lines=`, or `?part=`. */
export const showBlame: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found } = context;
  const { git, highlighting, clock } = deps;
  const url = repositoryUrl(found.canonical);
  const at = await resolveLocation(context, deps);
  const blobUrl = codeUrl(url, 'blob', at.ref, at.file);
  if (at.file.length === 0) return movedTo(blobUrl);
  const entry = await git.objects.entryAt(found.path, at.oid, at.file);
  const { content } =
    entry.type === 'blob'
      ? await git.objects.blob(found.path, entry.oid, { maxBytes: maxBlameBytes })
      : { content: null };
  await yieldToEventLoop();
  const text = content && decodeFileText(content);
  // The path has no lines, or too many of them: the page of the file shows the reason.
  if (!text || text.encoding === 'UTF-16' || content.length === 0 || entry.kind === 'symlink') return movedTo(blobUrl);
  const path = at.file.toString();
  const [frame, coloured, blame, tabs] = await Promise.all([
    readCodeNavigation(context, deps, at, 'blame'),
    highlighting.highlight({ oid: entry.oid, fileName: entry.name, text: text.text, client: found.path }),
    git.queries.blame(found.path, at.oid, at.file).catch((error: unknown) => {
      if (isDomainError(error) && error.reason === 'blame_too_long') return null;
      throw error;
    }),
    readTabClasses(context, deps, at.oid, [path]),
  ]);
  const authors = await authorsOfCommits(deps, blame === null ? [] : [...blame.commits.values()]);
  const { query } = context;
  const range = readLineRange(query.get('lines'));
  const wanted = range === null ? { number: readPartNumber(query.get('part')) } : { line: range.first };
  await yieldToEventLoop();
  const { groups, part } = partOfBlame(blame?.groups ?? [], wanted);
  const rows = { number: part.number, groups };
  return page(
    'code/blame',
    {
      ...frame,
      blame: blame && viewBlame(blame, rows, coloured, { repositoryUrl: url, now: clock.now(), authors }),
      tabs: tabs(path),
      part: viewPart(part, false),
      links: {
        blob: blobUrl,
        raw: codeUrl(url, 'raw', at.ref, at.file),
        self: codeUrl(url, 'blame', at.ref, at.file),
      },
    },
    { restsOn: blame === null ? null : [authors.dependency] },
  );
};
