import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict, invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullInWrite, requireOpen } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { headForWriting, moveHead } from '../lifecycle/move-head.ts';
import { limits } from '../limits.ts';
import { pathBytes } from '../encode-path.ts';
import type { CommentPlace } from '../reviews/add-comment.ts';
import { commentIn } from '../reviews/review-write.ts';
import { roundChanged } from '../rounds/record-round.ts';
import { reviewCommentSchema, threadSchema } from '../schema/review-schema.ts';
import type { ReviewCommentRow, ThreadRow } from '../schema/review-schema.ts';
import { placesIn } from '../threads/thread-positions.ts';
import { parseSuggestion } from './parse-suggestion.ts';
import { replaceLines } from './replace-lines.ts';
import type { LineReplacement } from './replace-lines.ts';

interface AppliedSuggestions {
  /** Comments with one suggestion each. */
  comments: readonly CommentPlace[];
  /** The round shown on the page. */
  round: number;
  /** Subject of the commit; a default one if omitted. */
  title?: string | undefined;
}

/** A suggestion with its position in the last round. */
interface Suggestion extends LineReplacement {
  comment: ReviewCommentRow;
  path: string;
}

/**
 * Applies suggestions as one commit on the head, which creates a round, with their authors as co-authors. Resolves the
 * threads. Throws `pull_closed`, `round_changed`, `head_not_yours`, `head_gone`, `comment_not_found`, `no_suggestion`,
 * `suggestion_applied`, `suggestion_outdated` if the lines have changed, `suggestions_overlap`, `nothing_to_apply`,
 * `too_many_suggestions`, `branch_protected`, `git_busy`, and permission errors.
 */
export async function applySuggestions(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { comments, round, title }: AppliedSuggestions,
): Promise<{ oid: string }> {
  if (comments.length === 0) throw invalid('no_suggestion', 'Choose a suggestion.', { field: 'comments' });
  if (comments.length > limits.suggestionsAtOnce)
    throw invalid('too_many_suggestions', `At most ${limits.suggestionsAtOnce} suggestions can be applied at a time.`);
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const context = await findCurrentPull(deps, viewer, at);
  const { issue, pull } = context;
  requireOpen(context);
  if (pull.lastRound !== round) throw roundChanged();
  const there = await headForWriting(deps, viewer, found, context);
  const suggestions = await findSuggestions(deps, viewer, found.path, context, comments);
  const files = [];
  for (const [path, own] of Map.groupBy(suggestions, (suggestion) => suggestion.path)) {
    const file = await fileWith(deps, there.path, pull.headOid, path, own);
    if (file !== null) files.push({ path: pathBytes(path), file });
  }
  if (files.length === 0) throw conflict('nothing_to_apply', 'The lines already match the suggestion.');
  const identity = {
    ...(await deps.accounts.addresses.identityOrServer(personIdOf(viewer))),
    at: deps.clock.now(),
    offsetMinutes: 0,
  };
  const { oid } = await deps.git.merges.commitFiles(there.path, {
    onto: pull.headOid,
    files,
    message: await messageOf(deps, viewer, title, suggestions),
    author: identity,
    committer: identity,
    sign: deps.signCommit,
  });
  await moveHead(deps, viewer, found, context, there, oid);
  await recordApplied(deps, viewer, issue, suggestions, oid);
  return { oid };
}

async function findSuggestions(
  deps: PullDeps,
  viewer: Viewer,
  path: string,
  { issue, pull }: PullContext,
  places: readonly CommentPlace[],
): Promise<Suggestion[]> {
  const personId = personIdOf(viewer);
  const found: { comment: ReviewCommentRow; thread: ThreadRow; lines: string[] }[] = [];
  const unique = new Map(places.map((place) => [`${place.threadId} ${place.position}`, place]));
  for (const place of unique.values()) {
    const { comment } = await commentIn({ manager: deps.db.read }, issue.id, personId, place);
    const thread = await deps.db.read.findOneByOrFail(threadSchema, { id: comment.threadId });
    const lines = comment.deletedAt === null ? parseSuggestion(comment.body) : null;
    if (lines === null || thread.side !== 'NEW' || thread.firstLine === null)
      throw invalid('no_suggestion', 'This comment has no suggestion for lines in the new version.', {
        field: 'comments',
      });
    if (comment.appliedOid !== null) throw conflict('suggestion_applied', 'This suggestion has already been applied.');
    found.push({ comment, thread, lines });
  }
  const threads = [...new Map(found.map(({ thread }) => [thread.id, thread])).values()];
  const now = await placesIn(deps, path, issue.id, threads, pull.lastRound);
  return found.map(({ comment, thread, lines }) => {
    const place = now.get(thread.id);
    const isThere = place !== undefined && (place.state === 'same' || place.state === 'moved');
    if (!isThere || place.path === null || place.firstLine === null || place.lastLine === null)
      throw conflict('suggestion_outdated', 'The suggestion no longer applies because the lines have changed.');
    return { comment, path: place.path, firstLine: place.firstLine, lastLine: place.lastLine, lines };
  });
}

/** A file with its new content; null if it is unchanged. */
async function fileWith(
  { git }: PullDeps,
  folder: string,
  commit: string,
  path: string,
  suggestions: readonly Suggestion[],
): Promise<{ isExecutable: boolean; content: Buffer } | null> {
  const entry = await git.objects.entryAt(folder, commit, pathBytes(path)).catch(nullIfNotFound);
  const isFile = entry?.kind === 'file' || entry?.kind === 'executable';
  const blob = isFile ? await git.objects.blob(folder, entry.oid, { maxBytes: limits.commentedFileBytes }) : null;
  if (blob === null || blob.content === null)
    throw conflict('suggestion_outdated', 'The suggestion no longer applies because the lines have changed.');
  const replaced = replaceLines(blob.content, suggestions);
  if (replaced === null) throw conflict('suggestions_overlap', 'Two of the suggestions change the same line.');
  return replaced.equals(blob.content) ? null : { isExecutable: entry?.kind === 'executable', content: replaced };
}

async function messageOf(
  deps: PullDeps,
  viewer: Viewer,
  title: string | undefined,
  suggestions: readonly Suggestion[],
): Promise<string> {
  const given = (title ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  const subject =
    given || (suggestions.length === 1 ? 'Apply suggestion from review' : 'Apply suggestions from review');
  const authors = new Set(suggestions.flatMap(({ comment }) => comment.authorId ?? []));
  authors.delete(personIdOf(viewer) ?? '');
  const trailers: string[] = [];
  for (const id of authors) {
    const { name, email } = await deps.accounts.addresses.identityOrServer(id);
    trailers.push(`Co-authored-by: ${name.replaceAll(/[<>\r\n]+/g, ' ').trim()} <${email}>`);
  }
  return trailers.length === 0 ? subject : `${subject}\n\n${trailers.join('\n')}`;
}

/** Marks applied suggestions in a separate write: the round exists even if this write fails. */
async function recordApplied(
  deps: PullDeps,
  viewer: Viewer,
  issue: PullContext['issue'],
  suggestions: readonly Suggestion[],
  oid: string,
): Promise<void> {
  const threadIds = [...new Set(suggestions.map(({ comment }) => comment.threadId))];
  await deps.issues.pulls.write(viewer, async (log) => {
    const { manager, now } = log.tx;
    const context = await pullInWrite(deps, log.tx, viewer, issue, 'read');
    for (const { comment } of suggestions)
      await manager.update(
        reviewCommentSchema,
        { threadId: comment.threadId, position: comment.position },
        { appliedOid: oid },
      );
    for (const id of threadIds)
      await manager.update(threadSchema, { id }, { resolvedAt: now, resolvedBy: personIdOf(viewer) });
    await log.append(context.issue, { kind: 'applied', details: { oid, threads: threadIds } });
  });
}
