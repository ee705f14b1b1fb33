import { hash } from 'node:crypto';
import { content, page, seeOther, type Reply } from '../app/reply.ts';
import { feedAuthor, writeFeed } from './atom.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewHistoryDays } from './history-days.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { readCodeNavigation, resolveLocationBytes } from './resolve-location.ts';
import { rawPath } from './raw-path.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readSignatures, signedCommit } from './signatures.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

const perPage = 50;
const perFeed = 30;
const maxTextLength = 100;
const dayMs = 86_400_000;
const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The filter of a history. Days are in UTC; invalid days are ignored. */
function readHistoryFilter(query: URLSearchParams) {
  const text = (name: string): string =>
    (query.get(name) ?? '')
      .replace(/[\0\n]/g, ' ')
      .trim()
      .slice(0, maxTextLength);
  const day = (name: string): string => {
    const value = query.get(name) ?? '';
    return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : '';
  };
  return { message: text('message'), author: text('author'), since: day('since'), until: day('until') };
}

const feedEnding = Buffer.from('.atom');

/** The location in the URL, and whether it requests the feed: a ref whose own name ends in `.atom` has priority. */
async function readAddress({ found, path }: RepositoryContext, { git }: CodeDeps) {
  const rest = rawPath(path);
  if (!rest.subarray(-feedEnding.length).equals(feedEnding))
    return { at: await resolveLocationBytes(found, rest, git), isFeed: false };
  const whole = await resolveLocationBytes(found, rest, git).catch(() => null);
  if (whole !== null && whole.file.length === 0) return { at: whole, isFeed: false };
  return { at: await resolveLocationBytes(found, rest.subarray(0, -feedEnding.length), git), isFeed: true };
}

/** `B/commits/{ref}/{path}`: commits, newest first; the suffix `.atom` requests a feed. */
export const showHistory: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found, query } = context;
  const { at, isFeed } = await readAddress(context, deps);
  if (isFeed) return feed(context, deps, at);
  const filter = readHistoryFilter(query);
  const chosen = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  const url = repositoryUrl(found.canonical);
  const self = codeUrl(url, 'commits', at.ref, at.file);
  const wanted = query.get('path')?.replace(/^[\s/]+|[\s/]+$|\0/g, '');
  // The filter form sends the path as a query; redirects to the URL of its history.
  if (wanted !== undefined) {
    const there = codeUrl(url, 'commits', at.ref, Buffer.from(wanted));
    return seeOther(chosen.size === 0 ? there : `${there}?${chosen}`);
  }
  const time = {
    ...(filter.since === '' ? {} : { since: Date.parse(filter.since) }),
    ...(filter.until === '' ? {} : { until: Date.parse(filter.until) + dayMs - 1000 }),
  };
  const after = objectId.test(query.get('after') ?? '') ? query.get('after') : null;
  const [frame, history] = await Promise.all([
    readCodeNavigation(context, deps, at, 'commits'),
    deps.git.queries.history(found.path, {
      oid: at.oid,
      file: at.file,
      author: filter.author,
      message: filter.message,
      ...time,
      after,
      limit: perPage,
    }),
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
  const last = history.entries.at(-1)?.commit.oid;
  const more = new URLSearchParams([...chosen, ['after', last ?? '']]);
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
      filter: { ...filter, path: at.file.toString() },
      isFiltered: chosen.size > 0,
      self,
      newest: chosen.size === 0 ? self : `${self}?${chosen}`,
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
  at: Awaited<ReturnType<typeof resolveLocationBytes>>,
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
    title: t('code.history.owner_name_commits_to_where', {
      owner: found.canonical.owner,
      name: found.canonical.name,
      where,
    }),
    self: `${codeUrl(url, 'commits', at.ref, at.file)}.atom`,
    page: codeUrl(url, 'commits', at.ref, at.file),
    updatedAt: entries[0]?.commit.committer.at ?? clock.now(),
    entries: entries.map(({ commit }) => ({
      id: `${url}/commit/${commit.oid}`,
      url: `${url}/commit/${commit.oid}`,
      title: commit.subject || t('code.history.no_message'),
      author: feedAuthor(authors, commit.author, origin),
      at: commit.committer.at,
      text: commit.message,
    })),
  });
  return content('application/atom+xml; charset=utf-8', xml, { headers: { ETag: `"${hash('sha256', xml)}"` } });
}
