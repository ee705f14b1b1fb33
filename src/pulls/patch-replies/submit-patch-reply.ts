import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { limits } from '../limits.ts';
import { addComments } from '../reviews/add-comments.ts';
import { submitReview } from '../reviews/submit-review.ts';
import { getRoundRow } from '../get-round-row.ts';
import { readPatch } from '../rounds/read-patch.ts';
import type { ReviewRow, Verdict } from '../schema/review-schema.ts';
import { parsePatch } from './parse-patch.ts';
import { parsePatchReply } from './parse-reply.ts';

/** A review in the form of a reply to a patch. */
interface PatchReplyInput {
  /** `.patch` or `.diff` of the round with `> ` before each line, and replies in between. */
  text: string;
  verdict: Verdict;
  /** The round of the patch; the last one if omitted. */
  round?: number | undefined;
}

/**
 * Submits a review from a reply to a patch: text below a quoted line becomes a comment on it, text below the name of a
 * file a comment on the file, and all other text the body of the review. All or nothing. Throws `text_too_long`,
 * `patch_too_long`, `quote_unknown`, and the errors of comments and reviews.
 */
export async function submitPatchReply(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { text, verdict, round: wanted }: PatchReplyInput,
): Promise<ReviewRow> {
  if (Buffer.byteLength(text) > limits.answeredPatchBytes)
    throw invalid('text_too_long', `An annotated patch can be at most ${limits.answeredPatchBytes / 1024} KiB.`);
  const { issue, pull } = await findCurrentPull(deps, viewer, at);
  const round = await getRoundRow(deps.db.read, issue.id, wanted ?? pull.lastRound);
  const format = /^> ?From [0-9a-f]{40,64} /m.test(text) ? 'patch' : 'diff';
  const patch = await readPatch(deps, viewer, at, { format, round: round.round });
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of patch.text as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > limits.quotedPatchBytes)
      throw invalid('patch_too_long', 'The patch of this round is too long for a reply. Review it on its page.');
    parts.push(part);
  }
  const lines = parsePatch(Buffer.concat(parts).toString('utf8'));
  const answers = parsePatchReply(text, lines, { headOid: round.headOid, isSingle: round.commitCount === 1 });
  await addComments(
    deps,
    viewer,
    at,
    answers.comments.map((comment) => ({ ...comment, round: round.round })),
  );
  const confirm = wanted !== undefined;
  return submitReview(deps, viewer, at, { verdict, body: answers.body, round: round.round, confirm });
}
