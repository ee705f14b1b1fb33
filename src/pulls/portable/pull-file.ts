import { z } from 'zod';
import type { PortableTypes } from '../../issues/index.ts';
import { limits } from '../limits.ts';

/** Files of an export with the code of a pull request: `reviews/7.json`, then `reviews/7-2.json`, …. */
export function pullFiles({ commitId, line, maybe, number, person, text, time, uuid }: typeof PortableTypes) {
  const round = z.int().min(1).max(limits.rounds);
  const lineNumber = z.int().min(1).max(1_000_000_000);
  // A git path is bytes; it is stored as written.
  const path = z
    .string()
    .min(1)
    .max(4_096)
    .refine((given) => !given.includes('\0'), 'has a NUL');
  const branch = line(255).refine((name) => name !== '', 'is empty');
  const comment = z.object({
    position: z.int().min(1).max(1_000_000),
    review: uuid,
    author: maybe(person),
    body: text,
    appliedOid: maybe(commitId),
    createdAt: time,
    editedAt: maybe(time),
    isDeleted: z.boolean(),
    /** Name at another forge. */
    origin: z.string().max(200).optional(),
  });
  const place = z.object({
    round,
    state: z.enum(['same', 'moved', 'changed', 'gone']),
    path: maybe(path),
    firstLine: maybe(lineNumber),
    lastLine: maybe(lineNumber),
  });
  const thread = z
    .object({
      id: uuid,
      round,
      commitOid: commitId,
      path: maybe(path),
      side: maybe(z.enum(['OLD', 'NEW'])),
      firstLine: maybe(lineNumber),
      lastLine: maybe(lineNumber),
      quoted: z.string().max(limits.quotedBytes),
      createdAt: time,
      resolvedAt: maybe(time),
      resolvedBy: maybe(person),
      comments: z.array(comment).min(1).max(limits.commentsPerThread),
      places: z.array(place).max(limits.rounds),
    })
    .refine(
      ({ path: file, side, firstLine, lastLine }) =>
        firstLine === null
          ? lastLine === null
          : file !== null && side !== null && lastLine !== null && firstLine <= lastLine,
      'has lines that are none',
    );
  const review = z.object({
    id: uuid,
    round,
    author: maybe(person),
    verdict: z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES']),
    body: text,
    position: maybe(z.int().min(1).max(1_000_000_000)),
    createdAt: time,
    submittedAt: time,
    dismissedAt: maybe(time),
    dismissedBy: maybe(person),
    dismissalReason: maybe(line(limits.dismissalReasonLength)),
  });
  const common = { format: z.literal(1), repository: uuid, number, threads: z.array(thread).max(limits.threads) };
  const head = z.object({
    ...common,
    source: z.enum(['BRANCH', 'FORK', 'PUSH', 'PATCH', 'REMOTE']),
    baseBranch: branch,
    headBranch: maybe(branch),
    /** Whether the head branch belongs to the repository. */
    isOwnBranch: z.boolean(),
    topic: maybe(line(255)),
    submitter: maybe(person),
    isDraft: z.boolean(),
    maintainersMayPush: z.boolean(),
    /** Missing in bundles of versions without stacks. */
    stackedOnOid: maybe(commitId),
    mergeStyle: maybe(z.enum(['MERGE', 'SQUASH', 'REBASE', 'FORWARD'])),
    mergedBy: maybe(person),
    mergedOid: maybe(commitId),
    mergedOntoOid: maybe(commitId),
    mergedAt: maybe(time),
    rounds: z
      .array(
        z.object({
          round,
          headOid: commitId,
          baseOid: commitId,
          change: z.enum(['first', 'added', 'rebased', 'edited', 'unknown']),
          note: z.string().max(limits.noteLength),
          submitter: maybe(person),
          createdAt: time,
        }),
      )
      .min(1)
      .max(limits.rounds),
    reviews: z.array(review).max(limits.threads + limits.comments),
    requests: z
      .array(
        z.object({
          person,
          reason: z.enum(['asked', 'owner']),
          askedBy: maybe(person),
          askedAt: time,
          answeredAt: maybe(time),
        }),
      )
      .max(limits.requests),
    /** Missing in bundles of versions without team requests; each is `organisation/team`. */
    teamRequests: z
      .array(
        z.object({
          team: person,
          reason: z.enum(['asked', 'owner']),
          askedBy: maybe(person),
          askedAt: time,
          answeredAt: maybe(time),
        }),
      )
      .max(limits.teamRequests)
      .default([]),
  });
  return { head, part: z.object({ ...common, part: z.int().min(2).max(1_000) }) };
}

export type PullFile = z.output<ReturnType<typeof pullFiles>['head']>;
