import { hash } from 'node:crypto';
import { notFound } from '../../kernel/index.ts';
import { queryNumber } from '../../http/index.ts';
import type { WorkerPool } from '../../workers/index.ts';
import { t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, urlOfIssue } from './conversation.reply.ts';
import { entryUrl } from '../app/entry-urls.ts';
import { readPosition } from './issue-urls.ts';
import { viewAuthor, viewPerson } from './people.view.ts';
import type { run } from './text-difference-task.ts';
import type { DiffLine } from './line-diff.ts';

/** Context lines shown around a change. */
const context = 4;

type Part = { lines: DiffLine[] } | { folded: number };

/** The revisions of a text: the author and time of each, and the changes of one of them. Query: `revision`. */
export const showHistory: Page<RepositoryContext, IssuesDeps> = async (visit, { issues, owners, workers, clock }) => {
  const { viewer, found, params, query } = visit;
  const at = issueAt(visit);
  const position = readPosition(params['position'] ?? '');
  const [issue, { entries }, past] = await Promise.all([
    issues.find(viewer, at),
    issues.listEntries(viewer, at, { from: position, limit: 1 }),
    issues.listRevisions(viewer, at, position),
  ]);
  const entry = entries.find((each) => each.position === position);
  if (entry?.body == null || past.length === 0) throw notFound('entry_not_found', 'Comment not found');
  const people = await owners.ownersById(
    [entry.authorId, ...past.map(({ editorId }) => editorId)].flatMap((id) => id ?? []),
  );
  // Each row contains a text and the user who replaced it; they wrote the next text.
  const texts = [
    ...past.map(({ revision, body }) => ({ revision, body })),
    { revision: entry.revision, body: entry.body },
  ];
  const url = `${urlOfIssue(visit)}/history/${position}`;
  const shown = texts.findIndex(({ revision }) => revision === queryNumber(query, 'revision'));
  const chosen = shown === -1 ? texts.length - 1 : shown;
  const revisions = texts.map(({ revision }, index) => {
    const editor = past[index - 1];
    return {
      url: `${url}?revision=${revision}`,
      isShown: index === chosen,
      isFirst: revision === 1,
      author:
        editor === undefined
          ? revision === 1
            ? viewAuthor(entry, people)
            : null
          : editor.editorId === null
            ? viewAuthor({ authorId: null, authorName: null }, people)
            : viewPerson(editor.editorId, people),
      at: viewTime(editor?.editedAt ?? entry.createdAt, clock.now()),
    };
  });
  return page('issues/issue-history', {
    repository: viewRepositoryHeader(found),
    issue: { title: viewName(issue.title), number: issue.number, isPull: issue.kind === 'PULL' },
    entryUrl: entryUrl(urlOfIssue(visit), position),
    what:
      position === 0 ? t('issues.issue_history.the_text') : t('issues.issue_history.comment_position', { position }),
    revisions: revisions.reverse(),
    difference: await compare(workers, found.repository.id, texts[chosen - 1]?.body ?? '', texts[chosen]!.body),
  });
};

/** Null when the two are too large to compare, or the server is busy. */
async function compare(workers: WorkerPool, client: string, before: string, after: string): Promise<Part[] | null> {
  const outcome = await workers.run<typeof run>({
    task: 'text-difference',
    key: `${hash('sha256', before)} ${hash('sha256', after)}`,
    input: () => ({ before, after }),
    client,
    limits: { deadlineMs: 500, maxWaitMs: 3_000, maxInputBytes: 512 * 1024, maxResultBytes: 16 * 1024 * 1024 },
  });
  return outcome.ok ? foldSame(outcome.value) : null;
}

/** Omits lines far from a change. */
function foldSame(lines: readonly DiffLine[]): Part[] {
  const isNear = new Array<boolean>(lines.length).fill(false);
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, index - context), index + context + 1);
  });
  const parts: Part[] = [];
  let start = 0;
  while (start < lines.length) {
    let end = start + 1;
    while (end < lines.length && isNear[end] === isNear[start]) end += 1;
    parts.push(isNear[start]! ? { lines: lines.slice(start, end) } : { folded: end - start });
    start = end;
  }
  return parts;
}
