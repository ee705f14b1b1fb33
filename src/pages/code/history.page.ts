import { hash } from 'node:crypto';
import { content, page, type Reply } from '../app/reply.ts';
import { feedAuthor, writeFeed } from './atom.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewHistoryDays } from './history-days.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { frameAt, locateBytes } from './resolve-location.ts';
import { rawPath } from './raw-path.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readSignatures, signedCommit } from './signatures.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

const perPage = 50;
const perFeed = 30;
const maxAuthorLength = 100;
const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const feedEnding = Buffer.from('.atom');

/** What the address names, and whether it asks for the feed: a ref that ends in `.atom` itself wins. */
async function readAddress({ found, path }: RepositoryContext, { git }: CodeDeps) {
  const rest = rawPath(path);
  if (!rest.subarray(-feedEnding.length).equals(feedEnding))
    return { at: await locateBytes(found, rest, git), isFeed: false };
  const whole = await locateBytes(found, rest, git).catch(() => null);
  if (whole !== null && whole.file.length === 0) return { at: whole, isFeed: false };
  return { at: await locateBytes(found, rest.subarray(0, -feedEnding.length), git), isFeed: true };
}

/** `B/commits/{ref}/{path}`: what happened, newest first; `.atom` behind it makes a feed. */
export const showHistory: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found, query } = context;
  const { at, isFeed } = await readAddress(context, deps);
  if (isFeed) return feed(context, deps, at);
  const author = (query.get('author') ?? '').replaceAll('\0', '').trim().slice(0, maxAuthorLength) || null;
  const after = objectId.test(query.get('after') ?? '') ? query.get('after') : null;
  const [frame, history] = await Promise.all([
    frameAt(context, deps, at, 'commits'),
    deps.git.queries.history(found.path, { oid: at.oid, file: at.file, author, after, limit: perPage }),
  ]);
  const { views: signatures, dependency } = await readSignatures(
    deps,
    history.entries.map(({ commit }) => signedCommit(commit)),
    found.repository.id,
  );
  const authors = await authorsOfCommits(
    deps,
    history.entries.map(({ commit }) => commit),
  );
  const statuses = await readCommitStatuses(
    context,
    deps,
    history.entries.map(({ commit }) => commit.oid),
  );
  const references = await readCommitReferences(
    context,
    deps,
    history.entries.map(({ commit }) => commit.message),
  );
  const url = repositoryUrl(found.canonical);
  const self = codeUrl(url, 'commits', at.ref, at.file);
  const last = history.entries.at(-1)?.commit.oid;
  const more = new URLSearchParams({ ...(author ? { author } : {}), after: last ?? '' });
  return page(
    'code/history',
    {
      ...frame,
      days: viewHistoryDays(history.entries, {
        repositoryUrl: url,
        file: at.file,
        now: deps.clock.now(),
        authors,
        signatures,
        commitStatusOf: statuses.of,
        references,
      }),
      author,
      self,
      isFirst: after === null,
      more: history.hasMore && last !== undefined ? `${self}?${more}` : null,
      cutShort: history.cutShort,
      feed: at.kind === 'commit' ? null : `${self}.atom`,
    },
    { restsOn: history.cutShort ? null : [dependency, authors.dependency, statuses.dependency, references.dependency] },
  );
};

async function feed(
  { found, origin }: RepositoryContext,
  deps: CodeDeps,
  at: Awaited<ReturnType<typeof locateBytes>>,
): Promise<Reply> {
  const { git, clock } = deps;
  const { entries } = await git.queries.history(found.path, { oid: at.oid, file: at.file, limit: perFeed });
  const authors = await authorsOfCommits(
    deps,
    entries.map(({ commit }) => commit),
  );
  const url = `${origin}${repositoryUrl(found.canonical)}`;
  const where = [at.ref, at.file.toString()].filter((part) => part !== '').join(': ');
  const xml = writeFeed({
    title: `${found.canonical.owner}/${found.canonical.name}: commits to ${where}`,
    self: `${codeUrl(url, 'commits', at.ref, at.file)}.atom`,
    page: codeUrl(url, 'commits', at.ref, at.file),
    updatedAt: entries[0]?.commit.committer.at ?? clock.now(),
    entries: entries.map(({ commit }) => ({
      id: `${url}/commit/${commit.oid}`,
      url: `${url}/commit/${commit.oid}`,
      title: commit.subject || '(no message)',
      author: feedAuthor(authors, commit.author, origin),
      at: commit.committer.at,
      text: commit.message,
    })),
  });
  return content('application/atom+xml; charset=utf-8', xml, { headers: { ETag: `"${hash('sha256', xml)}"` } });
}
