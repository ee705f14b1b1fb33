import { z } from 'zod';
import { parseText } from '../../accounts/index.ts';
import { limits } from '../limits.ts';
import { hideReasons } from '../moderation/hide-entry.ts';
import { reactionKinds } from '../participation/reactions.ts';
import { importLimits } from './import-source.ts';

const time = z.iso.datetime().transform((text) => Date.parse(text));
const maybe = <T extends z.ZodType>(type: T) => type.nullable().default(null);
const uuid = z.uuid();

/** One line without control characters and direction marks, as forms take it. */
const line = (maxCharacters: number) =>
  z.string().transform((given, context) => {
    try {
      return parseText(given, { field: 'text', called: 'The text', maxCharacters });
    } catch {
      context.addIssue({ code: 'custom', message: `is no line of at most ${maxCharacters} characters` });
      return z.NEVER;
    }
  });

const text = z.string().transform((given, context) => {
  const plain = given.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(plain) <= limits.bodyBytes) return plain;
  context.addIssue({ code: 'custom', message: 'is longer than 64 KiB' });
  return z.NEVER;
});

const person = z.object({ name: line(100), id: uuid.optional() });
const number = z.int().min(1).max(importLimits.highestNumber);

const labelled = z.object({ name: line(100), colour: z.string().regex(/^[0-9a-f]{6}$/) });

/** What is known of the details of an entry; all else is left out. */
const details = z.object({
  from: line(limits.titleCharacters).optional(),
  to: line(limits.titleCharacters).optional(),
  labels: z.array(labelled).max(limits.labelsPerIssue).optional(),
  people: z.array(person).max(100).optional(),
  milestone: line(limits.milestoneTitleCharacters).nullable().optional(),
  reason: z.enum(['completed', 'not_planned', 'duplicate']).optional(),
  commit: z
    .string()
    .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
    .optional(),
  link: z.enum(['mentions', 'closes', 'needs', 'duplicates']).optional(),
  isIncoming: z.boolean().optional(),
  number: number.optional(),
});

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
] as const;

const entry = z.object({
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
  kind: z.literal('issue'),
  title: line(limits.titleCharacters).refine((title) => title !== '', 'is empty'),
  author: maybe(person),
  state: z.enum(['open', 'closed']),
  closeReason: maybe(z.enum(['completed', 'not_planned', 'duplicate'])),
  labels: z.array(line(100)).max(limits.labelsPerIssue),
  milestone: maybe(line(limits.milestoneTitleCharacters)),
  assignees: z.array(person).max(limits.assigneesPerIssue),
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

export type ImportedIssue = z.output<typeof issueFile>;
export type ImportedEntry = z.output<typeof entry>;
export type ImportedPerson = z.output<typeof person>;
export type ImportedAttachment = z.output<typeof attachment>;
export type ImportedLabels = z.output<typeof labelsFile>;
export type ImportedMilestones = z.output<typeof milestonesFile>;
export type ImportedIndex = z.output<typeof indexFile>;
