import { z } from 'zod';
import { limits } from '../limits.ts';
import type { PullEntryKind } from '../entry.ts';
import { isValidRef } from '../lifecycle/plan-issue.ts';
import { hideReasons } from '../moderation/hide-entry.ts';
import { reactionKinds } from '../participation/reactions.ts';
import { importLimits } from './import-source.ts';
import { commitId, line, maybe, number, person, text, time, uuid } from './field-schemas.ts';

const labelled = z.object({ name: line(100), colour: z.string().regex(/^[0-9a-f]{6}$/) });

/** Known keys of an entry's details; ignores all others. */
const details = z.object({
  from: line(limits.titleCharacters).optional(),
  to: line(limits.titleCharacters).optional(),
  labels: z.array(labelled).max(limits.labelsPerIssue).optional(),
  people: z.array(person).max(100).optional(),
  milestone: line(limits.milestoneTitleCharacters).nullable().optional(),
  reason: line(1_000).optional(),
  commit: commitId.optional(),
  link: z.enum(['mentions', 'closes', 'needs', 'duplicates']).optional(),
  isIncoming: z.boolean().optional(),
  number: number.optional(),
  // Pull requests only.
  person: person.nullable().optional(),
  team: person.nullable().optional(),
  round: z.int().min(1).max(10_000).optional(),
  change: z.enum(['first', 'added', 'rebased', 'edited', 'unknown']).optional(),
  commits: z.int().min(0).optional(),
  comments: z.int().min(0).optional(),
  headOid: commitId.optional(),
  baseOid: commitId.optional(),
  oid: commitId.nullable().optional(),
  onto: commitId.nullable().optional(),
  base: line(limits.titleCharacters).optional(),
  branch: line(limits.titleCharacters).optional(),
  style: line(20).nullable().optional(),
  verdict: z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES']).nullable().optional(),
  bypassed: z.array(line(500)).max(100).optional(),
  reviewId: uuid.optional(),
  threads: z.array(uuid).max(2_000).optional(),
  place: z.int().min(1).optional(),
  first: z.boolean().optional(),
  failed: z.boolean().optional(),
  candidate: commitId.optional(),
  run: z.int().min(1).optional(),
  withdrawn: z.boolean().optional(),
  removed: z.boolean().optional(),
  cancelled: z.boolean().optional(),
});

const closeReasons = ['completed', 'not_planned', 'duplicate'] as const;

/** Kinds of entries that only pull requests have. */
export const pullEntryKinds = [
  'round',
  'retargeted',
  'draft',
  'ready',
  'review',
  'dismissed',
  'asked',
  'merge_when_ready',
  'merged',
  'branch_deleted',
  'branch_restored',
  'applied',
  'queued',
  'unqueued',
] as const satisfies readonly PullEntryKind[];

const entryKinds = [
  'opened',
  'comment',
  'closed',
  'reopened',
  'titled',
  'labelled',
  'unlabelled',
  'assigned',
  'unassigned',
  'milestoned',
  'mentioned',
  'linked',
  'unlinked',
  'locked',
  'unlocked',
  'pinned',
  'unpinned',
  'moved',
  'board_added',
  'board_moved',
  'board_removed',
  // Not shown in the timeline: an edited text, a deleted comment, a deleted issue.
  'edited',
  'emptied',
  'trashed',
  ...pullEntryKinds,
] as const;

const entryFields = z.object({
  position: z.int().min(0).max(1_000_000_000),
  kind: z.enum(entryKinds),
  author: maybe(person),
  body: maybe(text),
  details,
  createdAt: time,
  editedAt: maybe(time),
  isDeleted: z.boolean().default(false),
  hiddenFor: maybe(z.enum(hideReasons as unknown as [string, ...string[]])),
  reactions: z
    .array(
      z.object({
        kind: z.enum(reactionKinds as unknown as [string, ...string[]]),
        people: z.array(person).max(10_000),
      }),
    )
    .max(reactionKinds.length)
    .default([]),
  revisions: z
    .array(z.object({ body: text, editor: maybe(person), editedAt: time }))
    .max(importLimits.revisionsPerEntry)
    .default([]),
});

const entry = entryFields.refine(
  ({ kind, details: { reason } }) =>
    kind !== 'closed' || reason === undefined || closeReasons.some((known) => known === reason),
  'is closed for an unknown reason',
);

const attachment = z.object({
  id: uuid,
  name: z.string().max(1_000),
  bytes: z.int().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: time,
});

const common = { format: z.literal(1), repository: uuid, number, entries: z.array(entry) };

/** The first file of a log. */
export const issueFile = z.object({
  ...common,
  kind: z.enum(['issue', 'pull']),
  title: line(limits.titleCharacters).refine((title) => title !== '', 'is empty'),
  author: maybe(person),
  state: z.enum(['open', 'closed', 'merged']),
  closeReason: maybe(z.enum(closeReasons)),
  labels: z.array(line(100)).max(limits.labelsPerIssue),
  milestone: maybe(line(limits.milestoneTitleCharacters)),
  assignees: z.array(person).max(limits.assigneesPerIssue),
  dueOn: z.iso.date().nullable().optional(),
  ref: z.string().refine(isValidRef, 'is no name of a branch').optional(),
  isLocked: z.boolean(),
  isPinned: z.boolean(),
  createdAt: time,
  updatedAt: time,
  closedAt: maybe(time),
  links: z.array(z.object({ kind: z.enum(['mentions', 'closes', 'needs', 'duplicates']), number })).max(1_000),
  attachments: z.array(attachment).max(importLimits.attachmentsPerIssue),
});

/** A further file of a long log. */
export const issuePartFile = z.object({ ...common, part: z.int().min(2).max(10_000) });

export const indexFile = z.object({
  format: z.literal(1),
  repository: uuid,
  lastNumber: z.int().min(0).max(importLimits.highestNumber),
});

export const labelsFile = z
  .array(
    z.object({
      name: line(limits.labelNameCharacters).refine((name) => name !== '', 'is empty'),
      colour: z.string().regex(/^[0-9a-f]{6}$/),
      description: line(limits.descriptionCharacters).default(''),
      isExclusive: z.boolean().default(false),
    }),
  )
  .max(importLimits.labels);

export const milestonesFile = z
  .array(
    z.object({
      title: line(limits.milestoneTitleCharacters).refine((title) => title !== '', 'is empty'),
      description: text.default(''),
      dueOn: maybe(z.iso.date()),
      closedAt: maybe(time),
      createdAt: time,
    }),
  )
  .max(importLimits.milestones);

export type ImportedEntry = z.output<typeof entry> & {
  /** Origin id of the source; by default derived from the position. */
  origin?: string;
};
export type ImportedIssue = Omit<z.output<typeof issueFile>, 'entries'> & {
  entries: ImportedEntry[];
  /** Origin id of the source; by default derived from the exported repository and the number. */
  origin?: string;
};
export type ImportedPerson = z.output<typeof person>;
export type ImportedAttachment = z.output<typeof attachment>;
export type ImportedLabels = z.output<typeof labelsFile>;
export type ImportedMilestones = z.output<typeof milestonesFile>;
export type ImportedIndex = z.output<typeof indexFile>;
