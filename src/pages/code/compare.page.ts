import { allows } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { page, seeOther, type Reply } from '../app/reply.ts';
import { encodeRef } from '../app/code-urls.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { newPullUrl } from '../app/new-pull-url.ts';
import { viewName } from '../app/printable-names.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { readComparison } from './read-comparison.ts';
import { rawPath } from './raw-path.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

const maxCommits = 100;
/** Suggestions in the two boxes; users may type any other name. */
const maxSuggested = 200;

interface Range {
  base: string;
  head: string;
  /** `...` compares with the merge base, `..` compares the two directly. */
  dots: '..' | '...';
}

/** Ref names cannot contain two consecutive dots, so the first ones are the separator. */
function readRange(text: string): Range | null {
  const [, base = '', dots = '...', head = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(text) ?? [];
  return base === '' || head === '' ? null : { base, head, dots: dots as Range['dots'] };
}

/** The commit of a name, or null if it does not exist: the page shows that beside the boxes. */
function resolveName({ found }: RepositoryContext, { git }: CodeDeps, name: string): Promise<string | null> {
  return git.refs.resolve(found.path, name, { includeUnreachable: allows(found.level, 'write') }).catch(nullIfNotFound);
}

async function suggest({ found }: RepositoryContext, { git }: CodeDeps): Promise<string[]> {
  const refs = await git.queries.cachedRefs(found.path);
  const named = ['refs/heads/', 'refs/tags/'].flatMap((folder) => refs.page(folder, 0, maxSuggested));
  return named.slice(0, maxSuggested).map(({ name }) => name);
}

/** URL that opens a pull request from this comparison; null unless both sides are branches. */
async function newPullOf(
  { found }: RepositoryContext,
  { git }: CodeDeps,
  { base, head }: { base: string; head: string },
): Promise<string | null> {
  const refs = await git.queries.cachedRefs(found.path);
  const areBranches = [base, head].every((name) => refs.has(`refs/heads/${name}`));
  return areBranches && base !== head ? newPullUrl(found, head, base) : null;
}

async function compareCommits(
  context: RepositoryContext,
  deps: CodeDeps,
  range: Range,
  [base, head]: [string, string],
) {
  const { queries } = deps.git;
  const { path, canonical } = context.found;
  const url = repositoryUrl(canonical);
  const self = `${url}/compare/${encodeRef(range.base)}${range.dots}${encodeRef(range.head)}`;
  const [parted, distance, commits] = await Promise.all([
    queries.mergeBase(path, base, head),
    queries.distance(path, base, head),
    queries.commitsBetween(path, base, head, { limit: maxCommits }),
  ]);
  const authors = await authorsOfCommits(deps, commits);
  const statuses = await readCommitStatuses(
    context,
    deps,
    commits.map(({ oid }) => oid),
  );
  const references = await readCommitReferences(
    context,
    deps,
    commits.map(({ subject }) => subject),
  );
  const from = range.dots === '..' ? base : (parted ?? base);
  return {
    ...distance,
    isUnrelated: parted === null,
    isSame: base === head,
    commits: commits.map((commit) =>
      viewCommitLine(commit, url, deps.clock.now(), authors, statuses.of(commit.oid), references),
    ),
    dependencies: [authors.dependency, statuses.dependency, references.dependency],
    diff: await readComparison(context, deps, { from, to: head }, self),
    swap: `${url}/compare/${encodeRef(range.head)}${range.dots}${encodeRef(range.base)}`,
    other: `${url}/compare/${encodeRef(range.base)}${range.dots === '..' ? '...' : '..'}${encodeRef(range.head)}`,
  };
}

/**
 * `B/compare/{base}...{head}`: the commits and changes of one side that the other lacks. The boxes submit
 * `?base=&head=`.
 */
export const showComparison: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found, query } = context;
  const url = repositoryUrl(found.canonical);
  const chosen = { base: query.get('base')?.trim(), head: query.get('head')?.trim() };
  if (chosen.base && chosen.head)
    return seeOther(`${url}/compare/${encodeRef(chosen.base)}...${encodeRef(chosen.head)}`);
  const range = readRange(rawPath(context.path).toString());
  const { branch } = await deps.git.refs.head(found.path);
  const exact = { base: range?.base ?? chosen.base ?? branch ?? '', head: range?.head ?? chosen.head ?? '' };
  const names = { base: viewName(exact.base), head: viewName(exact.head) };
  const frame = {
    repository: viewRepositoryHeader(found),
    names,
    exact,
    dots: range?.dots ?? '...',
    suggestions: (await suggest(context, deps)).map(viewName),
    newPull: await newPullOf(context, deps, exact),
  };
  if (range === null) return page('code/compare', { ...frame, missing: null, comparison: null });
  const [base, head] = await Promise.all([
    resolveName(context, deps, range.base),
    resolveName(context, deps, range.head),
  ]);
  if (base === null || head === null)
    return page(
      'code/compare',
      { ...frame, missing: viewName(base === null ? range.base : range.head), comparison: null },
      { status: 404 },
    );
  const comparison = await compareCommits(context, deps, range, [base, head]);
  return page(
    'code/compare',
    { ...frame, missing: null, comparison },
    { restsOn: comparison.diff.isComplete ? comparison.dependencies : null },
  );
};
