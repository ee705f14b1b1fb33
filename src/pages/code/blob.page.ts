import { policyWithObjects, repositoryUrl } from '../../http/index.ts';
import { movedTo, page, type Reply } from '../app/reply.ts';
import { noReferences } from '../markdown/reference-links.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { tableSeparator } from './csv-table.view.ts';
import { isNotebook } from './media-types.ts';
import { documentKindOf } from './readme.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { editingLinks } from './editing-links.ts';
import { readCodeNavigation, resolveLocation } from './resolve-location.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';
import { entryOrTarget } from './entry-or-target.ts';
import { readFileContent } from './read-file-content.ts';

/** `B/blob/{ref}/{path}`: a file. */
export const showBlob: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found } = context;
  const url = repositoryUrl(found.canonical);
  const at = await resolveLocation(context, deps);
  if (at.file.length === 0) return movedTo(codeUrl(url, 'tree', at.ref));
  const entry = await entryOrTarget(context, deps, at, 'blob');
  if (entry.kind === 'redirect') return entry;
  if (entry.type !== 'blob') return movedTo(codeUrl(url, 'tree', at.ref, at.file));
  const [frame, content, commit] = await Promise.all([
    readCodeNavigation(context, deps, at, 'blob'),
    readFileContent({ context, deps, at, entry }),
    deps.git.queries.lastChange(found.path, at.oid, at.file),
  ]);
  const authors = await authorsOfCommits(deps, commit === null ? [] : [commit]);
  const statuses = await readCommitStatuses(context, deps, commit === null ? [] : [commit.oid]);
  const references = await readCommitReferences(context, deps, commit === null ? [] : [commit.subject]);
  const { dependency: ofDocument = noReferences.dependency } = content;
  return page(
    'code/blob',
    {
      ...frame,
      content,
      commit: commit && viewCommitLine(commit, url, deps.clock.now(), authors, statuses.of(commit.oid), references),
      hasSource:
        documentKindOf(entry.name) !== null ||
        'table' in content ||
        /\.svg$/i.test(entry.name) ||
        isNotebook(entry.name) ||
        (tableSeparator(entry.name) !== null && context.query.get('plain') === '1'),
      isRendered: !('code' in content),
      links: {
        raw: codeUrl(url, 'raw', at.ref, at.file),
        blame: content.hasBlame === true ? codeUrl(url, 'blame', at.ref, at.file) : null,
        self: codeUrl(url, 'blob', at.ref, at.file),
        ...editingLinks(context, at, entry),
      },
    },
    {
      ...('pdf' in content ? { headers: { 'Content-Security-Policy': policyWithObjects } } : {}),
      restsOn:
        content.isFinal === false ? null : [authors.dependency, statuses.dependency, references.dependency, ofDocument],
    },
  );
};
