import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { IssueDeps } from '../deps.ts';
import { exportNames } from '../export/export-issues.ts';
import { hasValidMac } from '../export/export-mac.ts';
import { importLimits, readJson, unreadable } from './import-source.ts';
import type { ImportFile, ImportSource } from './import-source.ts';
import {
  indexFile,
  issueFile,
  issuePartFile,
  labelsFile,
  milestonesFile,
  pullEntryKinds,
} from './export-file-schemas.ts';
import type { ImportedIndex, ImportedIssue, ImportedLabels, ImportedMilestones } from './export-file-schemas.ts';

/** An exported issue with its whole log. */
interface ReadIssue {
  issue: ImportedIssue;
  /** Whether this instance wrote the files: then it trusts the user ids in them. */
  isOwn: boolean;
}

/** An export whose files were all read once: each is well-formed, and numbers are unique. */
export interface CheckedExport {
  index: ImportedIndex;
  labels: ImportedLabels;
  milestones: ImportedMilestones;
  /** Numbers in ascending order. */
  numbers: readonly number[];
  /** Those that are pull requests. */
  pulls: readonly number[];
  /** Reads an issue again, so that only one is in memory at a time. */
  read(number: number): Promise<ReadIssue>;
}

/** The files of each log, in order. */
type LogFiles = ReadonlyMap<number, readonly LogFile[]>;

interface LogFile extends ImportFile {
  path: string;
}

const pathOf = ({ kind, number }: Pick<ImportedIssue, 'kind' | 'number'>): string =>
  `${kind === 'pull' ? exportNames.pulls : exportNames.folder}/${number}.json`;

const logName = /^([1-9]\d{0,9})(?:-([2-9]|[1-9]\d{1,3}))?\.json$/;

/**
 * Reads a whole export to find errors before anything is written; null for a bundle without issues. Throws
 * `parcel_unreadable`, with the file and the error.
 */
export async function checkExport(deps: IssueDeps, source: ImportSource): Promise<CheckedExport | null> {
  const index = await optional(source, exportNames.index, indexFile);
  if (index === null) return null;
  const labels = (await optional(source, exportNames.labels, labelsFile)) ?? [];
  const milestones = (await optional(source, exportNames.milestones, milestonesFile)) ?? [];
  const [ofIssues, ofPulls] = [await findLogs(source, exportNames.folder), await findLogs(source, exportNames.pulls)];
  const both = [...ofPulls.keys()].find((number) => ofIssues.has(number));
  if (both !== undefined)
    throw unreadable(`${exportNames.pulls}/${both}.json`, `has the number of ${exportNames.folder}/${both}.json`);
  const logs: LogFiles = new Map([...ofIssues, ...ofPulls]);
  const numbers = [...logs.keys()].sort((a, b) => a - b);
  let entries = 0;
  for (const number of numbers) {
    const { issue } = await readIssue(deps, logs, number);
    if (issue.repository !== index.repository) throw unreadable(pathOf(issue), 'is of another repository');
    if ((issue.kind === 'pull') !== ofPulls.has(number)) throw unreadable(pathOf(issue), 'is of the other kind');
    await checkAttachments(source, issue);
    entries += issue.entries.length;
    if (entries > importLimits.entries)
      throw unreadable(exportNames.folder, `has more than ${importLimits.entries} entries`);
  }
  const pulls = [...ofPulls.keys()].sort((a, b) => a - b);
  return { index, labels, milestones, numbers, pulls, read: (number) => readIssue(deps, logs, number) };
}

/** Only existing attachments of a log are read. */
async function checkAttachments(source: ImportSource, { attachments }: ImportedIssue): Promise<void> {
  for (const { id, bytes, sha256 } of attachments) {
    const path = `${exportNames.attachments}/${id}`;
    const file = await source.file(path);
    if (file === null) continue;
    const content = bytes > importLimits.attachmentBytes ? null : await file.read(bytes);
    if (content?.length !== bytes) throw unreadable(path, 'has another size');
    const digest = createHash('sha256').update(content).digest('hex');
    if (digest !== sha256) throw unreadable(path, 'has another content');
  }
}

async function optional<T>(source: ImportSource, path: string, schema: z.ZodType<T>): Promise<T | null> {
  const file = await source.file(path);
  return file === null ? null : check(schema, (await readJson(file, path)).value, path);
}

async function findLogs(source: ImportSource, folder: string): Promise<LogFiles> {
  const found = new Map<number, Map<number, LogFile>>();
  for (const file of await source.files(folder, importLimits.files)) {
    const [, number, part = '1'] = logName.exec(file.name) ?? [];
    if (number === undefined) continue;
    const parts = found.get(Number(number)) ?? new Map<number, LogFile>();
    const path = `${folder}/${file.name}`;
    found.set(Number(number), parts.set(Number(part), { name: file.name, path, read: (bytes) => file.read(bytes) }));
    if (found.size > importLimits.issues) throw unreadable(folder, `has more than ${importLimits.issues} issues`);
  }
  return new Map(
    [...found].map(([number, parts]) => {
      const inOrder = Array.from({ length: parts.size }, (_, at) => parts.get(at + 1));
      if (inOrder.includes(undefined)) throw unreadable(`${folder}/${number}.json`, 'lacks a part');
      return [number, inOrder as LogFile[]] as const;
    }),
  );
}

async function readIssue(deps: IssueDeps, logs: LogFiles, number: number): Promise<ReadIssue> {
  const [first, ...more] = logs.get(number)!;
  const path = (file: LogFile): string => file.path;
  const head = await readJson(first!, path(first!));
  const issue = check(issueFile, head.value, path(first!));
  if (issue.number !== number) throw unreadable(path(first!), `has the number ${issue.number}`);
  let isOwn = hasValidMac(deps, head.bytes);
  for (const [at, file] of more.entries()) {
    const { value, bytes } = await readJson(file, path(file));
    const part = check(issuePartFile, value, path(file));
    if (part.number !== number || part.part !== at + 2 || part.repository !== issue.repository)
      throw unreadable(path(file), 'does not belong to the parts before it');
    isOwn &&= hasValidMac(deps, bytes);
    for (const entry of part.entries) issue.entries.push(entry);
    if (issue.entries.length > importLimits.entriesPerIssue) throw unreadable(path(file), 'goes on for too long');
  }
  checkOrder(issue, path(first!));
  return { issue, isOwn };
}

/** Positions ascend from 0, which is the issue text and the only one of its kind. */
function checkOrder({ kind: subject, state, entries }: ImportedIssue, path: string): void {
  if (subject === 'issue' && state === 'merged') throw unreadable(path, 'is merged and no pull request');
  if (entries.length > importLimits.entriesPerIssue) throw unreadable(path, 'has too many entries');
  let last = -1;
  for (const { position, kind } of entries) {
    if (position <= last) throw unreadable(path, `has the entry ${position} twice, or out of order`);
    if ((position === 0) !== (kind === 'opened')) throw unreadable(path, `has no text of the issue at its beginning`);
    if (subject === 'issue' && pullEntryKinds.some((known) => known === kind))
      throw unreadable(path, `has an entry of pull requests, ${position}`);
    last = position;
  }
  if (entries[0]?.position !== 0) throw unreadable(path, 'has no text of the issue at its beginning');
}

const maxWhy = 200;

/** Parses a value by its schema. Throws `parcel_unreadable`, with the path of the error. */
export function check<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [problem] = result.error.issues;
  const at = problem!.path.map(String).join('.');
  throw unreadable(
    path,
    `is not as it should be at ${`${at || 'its top'}: ${problem!.message}`.slice(0, maxWhy).toWellFormed()}`,
  );
}
