import type { Commit, NamedRef } from '../../git/index.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { codeUrl, encodeRef } from '../app/code-urls.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { newPullUrl } from '../app/new-pull-url.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readCommitReferences } from './commit-references.ts';
import { readRefProtection } from './ref-protection.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

const perPage = 30;
/**
 * With more branches than this they are sorted by name: reading all their commits would take too long.
 */
const maxSorted = 2_000;
const staleAfterMs = 90 * 86_400_000;

interface Row extends NamedRef {
  commit: Commit;
}

const byTime = (a: Row, b: Row): number => b.commit.committer.at - a.commit.committer.at || (a.name < b.name ? -1 : 1);

/** What a form for a new branch holds when it comes back, and why. */
interface RefusedForm {
  name: string;
  from: string;
  refusal: FormRefusal;
}

/** `B/branches`: the default one first, then by their last commit. */
export const showBranches: Page<RepositoryContext, CodeDeps> = (context, deps) => branchesPage(context, deps, null);

export async function branchesPage(
  context: RepositoryContext,
  deps: Pick<CodeDeps, 'git' | 'clock' | 'accounts' | 'owners' | 'repositories' | 'issues'>,
  refused: RefusedForm | null,
): Promise<PageReply> {
  const { found, query } = context;
  const { git, clock } = deps;
  const url = repositoryUrl(found.canonical);
  const repository = viewRepositoryHeader(found);
  const mayChange = repository.mayWrite && !repository.isArchived;
  const now = clock.now();
  const [{ branch, oid }, all, protection] = await Promise.all([
    git.refs.head(found.path),
    git.refs.branches(found.path),
    readRefProtection(context, deps, 'refs/heads/'),
  ]);
  const commitsOf = (refs: readonly NamedRef[]): Promise<Row[]> =>
    Promise.all(refs.map(async (ref) => ({ ...ref, commit: await git.objects.commit(found.path, ref.oid) })));
  const others = all.filter(({ name }) => name !== branch);
  const isSorted = others.length <= maxSorted;
  const ordered: NamedRef[] = isSorted ? (await commitsOf(others)).sort(byTime) : others;
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex(({ name }) => name === after) + 1;
  const shown = await commitsOf([
    ...all.filter(({ name }) => start === 0 && name === branch),
    ...ordered.slice(start, start + perPage),
  ]);
  const authors = await authorsOfCommits(
    deps,
    shown.map(({ commit }) => commit),
  );
  const statuses = await readCommitStatuses(
    context,
    deps,
    shown.map(({ commit }) => commit.oid),
  );
  const references = await readCommitReferences(
    context,
    deps,
    shown.map(({ commit }) => commit.subject),
  );
  const rows = await Promise.all(
    shown.map(async (row) => ({
      name: viewName(row.name),
      url: codeUrl(url, 'tree', row.name),
      commit: viewCommitLine(row.commit, url, now, authors, statuses.of(row.commit.oid), references),
      isDefault: row.name === branch,
      isProtected: protection.isProtected(row.name),
      deletion:
        mayChange && row.name !== branch && protection.mayDelete(row.name)
          ? `${url}/branches/delete?${new URLSearchParams({ name: row.name })}`
          : null,
      isStale: row.name !== branch && now - row.commit.committer.at > staleAfterMs,
      distance:
        oid === null || row.name === branch
          ? null
          : await git.queries.distance(found.path, oid, row.oid).catch(() => null),
      pull: row.name === branch ? null : newPullUrl(found, row.name),
      compare:
        branch === null || row.name === branch ? null : `${url}/compare/${encodeRef(branch)}...${encodeRef(row.name)}`,
    })),
  );
  const last = ordered[start + perPage - 1];
  return page(
    'code/branches',
    {
      repository,
      form:
        mayChange && branch !== null
          ? { name: refused?.name ?? '', from: refused?.from ?? branch, refusal: refused?.refusal ?? null }
          : null,
      count: viewCount(all.length, 'branch', 'branches'),
      active: rows.filter(({ isStale }) => !isStale),
      stale: rows.filter(({ isStale }) => isStale),
      more:
        last && ordered.length > start + perPage
          ? `${url}/branches?${new URLSearchParams({ after: last.name })}`
          : null,
      isFirst: start === 0,
    },
    { restsOn: [authors.dependency, statuses.dependency, references.dependency, protection.dependency] },
  );
}
