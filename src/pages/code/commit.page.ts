import { allows } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import { content, movedTo, page, type Reply } from '../app/reply.ts';
import { readAnnotations } from './annotations.view.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { readDeployedAt } from './read-deployments.ts';
import { commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewLinkedText } from '../markdown/linked-text.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { readComparison } from './read-comparison.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readSignatures, signedCommit } from './signatures.ts';
import { readCommitSource } from './commit-source.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

const maxNote = 20_000;
const address = /^([0-9a-f]{4,64})(\.patch|\.diff)?$/;

/**
 * `B/commit/{oid}`: the changes of one commit; `.patch` as a mail, `.diff` plain. A short id redirects to the full one.
 */
export const showCommit: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found, params, query } = context;
  const { git, clock } = deps;
  const [, id, ending = ''] = address.exec(params['id'] ?? '') ?? [];
  if (id === undefined) throw notFound();
  const url = repositoryUrl(found.canonical);
  const { oid } = await git.queries.resolveRefPath(found.path, Buffer.from(id), {
    includeUnreachable: allows(found.level, 'write'),
  });
  const commit = await git.queries.keptCommit(found.path, oid);
  if (!oid.startsWith(id)) throw notFound();
  if (id !== oid) return movedTo(commitUrl(url, oid) + ending + (query.size === 0 ? '' : `?${query}`));
  const range = { from: commit.parents[0] ?? null, to: oid };
  if (ending !== '') {
    // Git creates no mail patch for a merge.
    const body =
      ending === '.patch' && commit.parents.length < 2
        ? await git.queries.mailPatch(found.path, oid)
        : await git.queries.plainDiff(found.path, range);
    return content('text/plain; charset=utf-8', body, { headers: { ETag: `"${oid}${ending}"` } });
  }
  const annotations = await readAnnotations(context, deps, oid);
  const [diff, note] = await Promise.all([
    readComparison(context, deps, range, commitUrl(url, oid), annotations),
    git.queries.note(found.path, oid),
  ]);
  const {
    views: [signature],
    dependency,
  } = await readSignatures(deps, [signedCommit(commit)], found.repository.id);
  const authors = await authorsOfCommits(deps, [commit]);
  const statuses = await readCommitStatuses(context, deps, [oid]);
  const deployedAt = await readDeployedAt(context, deps, [oid]);
  const references = await readCommitReferences(context, deps, [commit.message, note ?? '']);
  const place = await readCommitSource(context, deps, oid);
  const noteText = note === null ? null : note.slice(0, maxNote).split('\n').map(viewName).join('\n');
  return page(
    'code/commit',
    {
      repository: viewRepositoryHeader(found),
      commit: viewCommitLine(commit, url, clock.now(), authors, statuses.of(oid), references),
      signature,
      place,
      note: noteText,
      noteParts: noteText === null ? null : viewLinkedText(noteText, references, true),
      parents: commit.parents.map((parent) => ({ shortId: parent.slice(0, 10), url: commitUrl(url, parent) })),
      isMerge: commit.parents.length > 1,
      revert:
        commit.parents.length === 1 && allows(found.level, 'write') && found.repository.archivedAt === null
          ? `${commitUrl(url, oid)}/revert`
          : null,
      annotations: annotations.views,
      deployments: deployedAt.views,
      diff,
    },
    // The page cache does not track which pull request contains a commit.
    {
      restsOn:
        diff.isComplete && place === null
          ? [
              dependency,
              authors.dependency,
              statuses.dependency,
              references.dependency,
              annotations.dependency,
              deployedAt.dependency,
            ]
          : null,
    },
  );
};
