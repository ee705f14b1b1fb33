import type { Commit, NamedRef, RefListing } from '../../git/index.ts';
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

const heads = 'refs/heads/';
const perPage = 30;
/** Above this number, branches are sorted by name: reading all their commits would take too long. */
const maxSorted = 2_000;
const staleAfterMs = 90 * 86_400_000;

interface Row extends NamedRef {
  commit: Commit;
}

const byTime = (a: Row, b: Row): number => b.commit.committer.at - a.commit.committer.at || (a.name < b.name ? -1 : 1);

/** The values of a refused form for a new branch, with the reason. */
interface RefusedForm {
  name: string;
  from: string;
  refusal: FormRefusal;
}

/** A page of the branches besides the default one; too many are sorted by name, without reading commits. */
async function pageOfOthers(
  refs: RefListing,
  { branch, after }: { branch: string | null; after: string | null },
  commitsOf: (refs: readonly NamedRef[]) => Promise<Row[]>,
): Promise<{ rows: NamedRef[]; hasMore: boolean }> {
  const isOther = ({ name }: NamedRef): boolean => name !== branch;
  const total = refs.count(heads);
  if (total <= maxSorted + 1) {
    const ordered = (await commitsOf(refs.page(heads, 0, total).filter(isOther))).sort(byTime);
    const start = after === null ? 0 : ordered.findIndex(({ name }) => name === after) + 1;
    return { rows: ordered.slice(start, start + perPage), hasMore: ordered.length > start + perPage };
  }
  // One for the default branch, which may be among them, and one to detect a next page.
  const rows = refs.page(heads, after === null ? 0 : refs.upTo(heads, after), perPage + 2).filter(isOther);
  return { rows: rows.slice(0, perPage), hasMore: rows.length > perPage };
}

/** `B/branches`: the default branch first, then the others by their last commit. */
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
  const [{ branch, oid }, refs, protection] = await Promise.all([
    git.refs.head(found.path),
    git.queries.cachedRefs(found.path),
    readRefProtection(context, deps, 'refs/heads/'),
  ]);
  const commitsOf = (refs: readonly NamedRef[]): Promise<Row[]> =>
    Promise.all(refs.map(async (ref) => ({ ...ref, commit: await git.queries.keptCommit(found.path, ref.oid) })));
  const total = refs.count(heads);
  const defaultOid = branch === null ? undefined : refs.get(heads + branch);
  const after = query.get('after');
  const { rows: others, hasMore } = await pageOfOthers(refs, { branch, after }, commitsOf);
  const isFirst = after === null;
  const shown = await commitsOf([
    ...(isFirst && branch !== null && defaultOid !== undefined ? [{ name: branch, oid: defaultOid }] : []),
    ...others,
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
  const tips = [...new Set(shown.map((row) => row.oid))];
  const distances = oid === null ? null : await git.queries.distances(found.path, oid, tips);
  const rows = shown.map((row) => ({
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
    distance: row.name === branch ? null : (distances?.get(row.oid) ?? null),
    pull: row.name === branch ? null : newPullUrl(found, row.name),
    compare:
      branch === null || row.name === branch ? null : `${url}/compare/${encodeRef(branch)}...${encodeRef(row.name)}`,
  }));
  const last = others.at(-1);
  return page(
    'code/branches',
    {
      repository,
      form:
        mayChange && branch !== null
          ? { name: refused?.name ?? '', from: refused?.from ?? branch, refusal: refused?.refusal ?? null }
          : null,
      count: viewCount(total, 'branch'),
      active: rows.filter(({ isStale }) => !isStale),
      stale: rows.filter(({ isStale }) => isStale),
      more: last && hasMore ? `${url}/branches?${new URLSearchParams({ after: last.name })}` : null,
      isFirst,
    },
    { restsOn: [authors.dependency, statuses.dependency, references.dependency, protection.dependency] },
  );
}
