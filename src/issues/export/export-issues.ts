import type { Readable } from 'node:stream';
import type { IssueDeps } from '../deps.ts';
import { objectKey } from '../attachments/attachment.ts';
import { withDetails } from '../lists/read-issues.ts';
import { labelSchema, milestoneSchema } from '../schema/classification-schema.ts';
import { issueNumbersSchema, issueSchema } from '../schema/issue-schema.ts';
import type { ListedIssue } from '../lists/read-issues.ts';
import { portableIssue } from './issue-json.ts';
import { issueAsMarkdown } from './issue-markdown.ts';
import { attachmentsOf, iso, isoOrNull, readEntries } from './read-entries.ts';
import { PeopleNames } from './portable-details.ts';
import { appendMac } from './export-mac.ts';

/** A file of an export, written while it is generated. */
export interface ExportedFile {
  name: string;
  /** Size in bytes, if known in advance. */
  size: number | null;
  content: AsyncIterable<Uint8Array>;
}

/** Paths in an export; an import reads the same. */
export const exportNames = {
  index: 'issues.json',
  labels: 'labels.json',
  milestones: 'milestones.json',
  folder: 'issues',
  /** The logs of pull requests. */
  pulls: 'pulls',
  attachments: 'attachments',
} as const;

/** Limit per log file, because an import parses a whole file. A longer log continues in `issues/7-2.json`. */
export const maxLogFileBytes = 16 * 1024 * 1024;

const issuesPerPage = 100;
const isWhole = { isWhole: true };

/**
 * All issues of a repository as export files, for administrators: labels, milestones, each log as JSON and as Markdown,
 * and the files that texts show. Omits trashed issues and held contributions. Keeps one page of a log in memory.
 * @param options.pulls numbers of pull requests whose logs are also exported; another module exports their code
 */
export async function* exportIssues(
  deps: IssueDeps,
  repositoryId: string,
  { pulls = new Set() }: { pulls?: ReadonlySet<number> } = {},
): AsyncGenerator<ExportedFile> {
  const { db } = deps;
  const numbers = await db.read.findOneBy(issueNumbersSchema, { repositoryId });
  if (numbers === null) return;
  yield json(exportNames.index, { format: 1, repository: repositoryId, lastNumber: numbers.last });
  const labels = (await db.read.findBy(labelSchema, { repositoryId })).sort((a, b) =>
    a.nameFolded < b.nameFolded ? -1 : 1,
  );
  yield json(
    exportNames.labels,
    labels.map(({ name, colour, description, isExclusive }) => ({ name, colour, description, isExclusive })),
  );
  const milestones = (await db.read.findBy(milestoneSchema, { repositoryId })).sort(
    (a, b) => a.createdAt - b.createdAt,
  );
  yield json(
    exportNames.milestones,
    milestones.map(({ title, description, dueOn, closedAt, createdAt }) => ({
      title,
      description,
      dueOn,
      closedAt: isoOrNull(closedAt),
      createdAt: iso(createdAt),
    })),
  );
  for (let after = 0; ; ) {
    const rows = await db.read
      .createQueryBuilder(issueSchema, 'i')
      .where('i.repository_id = :repositoryId AND i.number > :after', { repositoryId, after })
      .orderBy('i.number')
      .limit(issuesPerPage)
      .getMany();
    const shown = rows.filter(
      (row) => (row.kind === 'ISSUE' || pulls.has(row.number)) && row.deletedAt === null && row.heldAt === null,
    );
    for (const issue of await withDetails(deps, shown)) yield* filesOf(deps, issue);
    if (rows.length < issuesPerPage) return;
    after = rows.at(-1)!.number;
  }
}

async function* filesOf(deps: IssueDeps, issue: ListedIssue): AsyncGenerator<ExportedFile> {
  const base = `${issue.kind === 'PULL' ? exportNames.pulls : exportNames.folder}/${issue.number}`;
  yield* logFiles(deps, issue, base);
  yield { name: `${base}.md`, size: null, content: encoded(issueAsMarkdown(deps, issue)) };
  for (const { id, bytes } of await attachmentsOf(deps, issue.id)) {
    const opened = await deps.objects.get(objectKey(id));
    // A missing file does not prevent the rest of the export; the doctor reports it.
    if (opened === null || opened.bytes !== bytes) {
      opened?.stream.destroy();
      deps.logger.error('attachment.missing', { id });
      continue;
    }
    yield { name: `${exportNames.attachments}/${id}`, size: bytes, content: opened.stream as Readable };
  }
}

/** Splits the log into files of at most `maxLogFileBytes`, each with a keyed digest. */
async function* logFiles(deps: IssueDeps, issue: ListedIssue, base: string): AsyncGenerator<ExportedFile> {
  const entries = readEntries(deps, issue, new PeopleNames(deps, true), true)[Symbol.asyncIterator]();
  let next = await entries.next();
  const head = await portableIssue(deps, issue, isWhole);
  for (let part = 1; ; part += 1) {
    const first = part === 1 ? head : { format: 1, repository: head.repository, number: head.number, part };
    const text = async function* (): AsyncGenerator<string> {
      yield `${JSON.stringify(first, null, 1).slice(0, -2)},\n "entries": [`;
      let bytes = 0;
      for (let separator = '\n'; next.done !== true && bytes < maxLogFileBytes; separator = ',\n') {
        const line = `${separator}${JSON.stringify(next.value)}`;
        bytes += Buffer.byteLength(line);
        yield line;
        next = await entries.next();
      }
      yield '\n]';
    };
    const name = part === 1 ? `${base}.json` : `${base}-${part}.json`;
    yield { name, size: null, content: appendMac(deps, text()) };
    if (next.done === true) return;
  }
}

function json(name: string, value: unknown): ExportedFile {
  const bytes = Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
  return { name, size: bytes.length, content: one(bytes) };
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of text) yield Buffer.from(chunk);
}
