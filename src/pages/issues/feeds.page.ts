import { repositoryUrl } from '../../http/index.ts';
import { noFilter } from '../../issues/index.ts';
import type { IssueFilter, IssueKind } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';
import { t } from '../../translation/index.ts';
import { content } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { writeFeed } from '../code/atom.ts';
import type { IssuesDeps } from './deps.ts';
import { readPeople, viewState } from './issue-row.view.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { issueNumber, issueUrl } from './issue-urls.ts';
import { viewAuthor } from './people.view.ts';
import type { PersonView } from './people.view.ts';

const perFeed = 30;
const feedType = 'application/atom+xml; charset=utf-8';

/** `B/issues.atom` and `B/pulls.atom`: the newest ones, for readers of the repository. */
export const listFeed =
  (kind: IssueKind): Page<RepositoryContext, IssuesDeps> =>
  (context, deps) =>
    readListFeed(context, deps, kind);

async function readListFeed(context: RepositoryContext, deps: IssuesDeps, kind: IssueKind): Promise<Reply> {
  const { viewer, found, origin } = context;
  const at = found.canonical;
  const filter: IssueFilter = { ...noFilter, kind: kind === 'PULL' ? 'pull' : 'issue', state: 'all' };
  const { rows } = await deps.issues.list(viewer, at, filter, { limit: perFeed });
  const people = await readPeople(deps, rows);
  const url = `${origin}${repositoryUrl(at)}/${kind === 'PULL' ? 'pulls' : 'issues'}`;
  const entries = rows.map((row) => ({
    id: `${url}/${row.number}`,
    url: `${url}/${row.number}`,
    title: `#${row.number} ${row.title}`,
    author: feedPerson(viewAuthor(row, people), origin),
    at: row.updatedAt,
    text: [viewState(row).title, ...row.labels.map(({ name }) => name)].join(', '),
  }));
  const updatedAt = Math.max(0, ...entries.map((entry) => entry.at)) || found.repository.createdAt;
  const title = `${at.owner}/${at.name}: ${t(kind === 'PULL' ? 'issues.feeds.pull_requests' : 'issues.feeds.issues')}`;
  return content(feedType, writeFeed({ title, self: `${url}.atom`, page: url, updatedAt, entries }));
}

const feedPerson = ({ name, url }: PersonView, origin: string) => ({
  name,
  uri: url === null ? null : `${origin}${url}`,
});

/** Number of entries read from the end of a log; entries without a text are omitted from the feed. */
const readAtOnce = 100;

/** `B/issues/{n}.atom` and `B/pulls/{n}.atom`: the text and the newest comments. */
export const conversationFeed =
  (kind: IssueKind): Page<RepositoryContext, IssuesDeps> =>
  (context, deps) =>
    readConversationFeed(context, deps, kind);

async function readConversationFeed(context: RepositoryContext, deps: IssuesDeps, kind: IssueKind): Promise<Reply> {
  const { viewer, found, origin, params } = context;
  const number = issueNumber(params['number']);
  const at = { ...found.canonical, number };
  const issue = await deps.issues.find(viewer, at);
  if (issue.kind !== kind) throw notFound('issue_not_found', 'Issue not found');
  const from = Math.max(0, issue.lastPosition - readAtOnce + 1);
  const { entries } = await deps.issues.listEntries(viewer, at, { from, limit: readAtOnce });
  const texts = entries
    .filter(
      ({ body, hiddenFor, kind }) => body !== null && hiddenFor === null && (kind === 'opened' || kind === 'comment'),
    )
    .slice(-perFeed)
    .reverse();
  const people = await readPeople(
    deps,
    texts.map(({ authorId }) => ({ authorId, assignees: [] })),
  );
  const url = `${origin}${issueUrl(repositoryUrl(found.canonical), number, kind)}`;
  const title = `${at.owner}/${at.name}#${number}: ${issue.title}`;
  return content(
    feedType,
    writeFeed({
      title,
      self: `${url}.atom`,
      page: url,
      updatedAt: issue.updatedAt,
      entries: texts.map((entry) => {
        const author = viewAuthor(entry, people);
        return {
          id: `${url}#e${entry.position}`,
          url: entry.position === 0 ? url : entryUrl(url, entry.position),
          title: entry.position === 0 ? issue.title : t('issues.feeds.comment_by_name', { name: author.name }),
          author: feedPerson(author, origin),
          at: entry.editedAt ?? entry.createdAt,
          text: entry.body ?? '',
        };
      }),
    }),
  );
}
