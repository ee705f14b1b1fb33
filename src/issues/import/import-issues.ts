import { conflict, internal } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { insertOrIgnore } from '../insert-or-ignore.ts';
import { foldName } from '../parse-texts.ts';
import { raiseNumber } from '../numbers/next-number.ts';
import { issueLinkSchema, labelSchema, milestoneSchema } from '../schema/classification-schema.ts';
import type { LinkKind } from '../schema/classification-schema.ts';
import { issueSchema, movedIssueSchema } from '../schema/issue-schema.ts';
import { storeFiles, rewriteAttachmentUrls } from './import-attachments.ts';
import { findPeople } from './imported-people.ts';
import type { ImportSource } from './import-source.ts';
import { issueOrigin } from './issue-rows.ts';
import { noPartIds } from './pull-importer.ts';
import type { PullImporter } from './pull-importer.ts';
import type { CheckedExport } from './read-export.ts';
import { writeIssue } from './write-issue.ts';
import type { PreparedIssue } from './write-issue.ts';

export interface ImportedIssues {
  added: number;
  updated: number;
}

/** Entries per transaction: some tens of milliseconds. */
const entriesPerWrite = 500;
const linksPerWrite = 1_000;

/** The repository's issue with a number. */
interface Taken {
  id: string;
  origin: string | null;
}

/**
 * Throws `issue_number_taken` if an issue of the repository has the number of another exported issue; checked before
 * anything is written.
 */
export async function refuseTakenNumbers(
  deps: IssueDeps,
  repositoryId: string,
  { index, numbers }: CheckedExport,
): Promise<Map<number, Taken>> {
  const taken = await takenNumbers(deps, repositoryId);
  for (const number of numbers) {
    const there = taken.get(number);
    if (there !== undefined && there.origin !== issueOrigin(index.repository, number))
      throw conflict('issue_number_taken', `The repository has another issue #${number}. Nothing was imported.`);
  }
  return taken;
}

async function takenNumbers({ db }: IssueDeps, repositoryId: string): Promise<Map<number, Taken>> {
  const taken = new Map<number, Taken>();
  for (const { number, issueId } of await db.read.findBy(movedIssueSchema, { repositoryId }))
    taken.set(number, { id: issueId, origin: null });
  for (let after = 0; ; ) {
    const rows = await db.read
      .createQueryBuilder(issueSchema, 'i')
      .where('i.repository_id = :repositoryId AND i.number > :after', { repositoryId, after })
      .orderBy('i.number')
      .limit(1_000)
      .getMany();
    for (const { number, id, origin } of rows) taken.set(number, { id, origin });
    if (rows.length < 1_000) return taken;
    after = rows.at(-1)!.number;
  }
}

/**
 * Imports the issues of an export into a repository, with their numbers, times and order; a repeated import updates
 * them. Notifies no person and no listener. For administrators: no access check. Throws `issue_number_taken`, and then
 * changes nothing. A repeated import completes one that a crash interrupted.
 * @param pulls imports the code of pull requests; without it they are omitted
 */
export async function importIssues(
  deps: IssueDeps,
  repository: Repository,
  at: { owner: string; name: string },
  checked: CheckedExport,
  source: ImportSource,
  pulls?: PullImporter,
): Promise<ImportedIssues> {
  const { db, random } = deps;
  const { index, numbers } = checked;
  const taken = await refuseTakenNumbers(deps, repository.id, checked);
  const ids = new Map(numbers.map((number) => [number, taken.get(number)?.id ?? random.uuid()]));
  await writeClassification(deps, repository.id, checked);
  const labelScopes = [
    { repositoryId: repository.id },
    ...(repository.ownerOrganisationId === null ? [] : [{ organisationId: repository.ownerOrganisationId }]),
  ];
  const links: { from: string; to: string; kind: LinkKind }[] = [];
  let waiting: PreparedIssue[] = [];
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    await db.write(async (tx) => {
      if ((await repositoryOf(tx, repository.id)) === null) throw internal('the repository of an import is gone');
      // Comes first: triggers update the row of the numbers.
      await raiseNumber(tx, repository.id, batch.at(-1)!.issue.number);
      for (const prepared of batch) {
        const { positions } = await writeIssue(tx, prepared);
        await prepared.pull?.write(tx, positions);
      }
    });
    for (const { pull } of batch) await pull?.written();
  };
  const written: number[] = [];
  for (const number of numbers) {
    const { issue, isOwn } = await checked.read(number);
    if (issue.kind === 'pull' && pulls === undefined) continue;
    const files = await storeFiles(deps, source, repository.id, issue.attachments);
    const text = rewriteAttachmentUrls(files.ids, at);
    const isKnown = taken.has(number);
    const context = { id: ids.get(number)!, repositoryId: repository.id, isKnown, text };
    const pull = issue.kind === 'pull' ? await pulls!.prepare(issue, context) : undefined;
    if (pull === null) continue;
    written.push(number);
    waiting.push({
      issue,
      pull,
      files,
      labelScopes,
      isKnown,
      context: {
        id: ids.get(number)!,
        repositoryId: repository.id,
        people: await findPeople(deps, issue, isOwn),
        ids,
        partIds: pull?.ids ?? noPartIds,
        text,
      },
    });
    for (const { kind, number: other } of issue.links)
      if (ids.has(other) && other !== number) links.push({ from: ids.get(number)!, to: ids.get(other)!, kind });
    if (waiting.reduce((sum, { issue: { entries } }) => sum + entries.length, 0) >= entriesPerWrite) await flush();
  }
  await flush();
  await writeLinks(deps, links);
  await db.write((tx) => raiseNumber(tx, repository.id, Math.max(index.lastNumber, numbers.at(-1) ?? 0)));
  const updated = written.filter((number) => taken.has(number)).length;
  deps.logger.info('issues.imported', { repositoryId: repository.id, added: written.length - updated, updated });
  return { added: written.length - updated, updated };
}

/** Labels and milestones by name; existing ones are updated from the export. */
export async function writeClassification(
  { db, random }: IssueDeps,
  repositoryId: string,
  { labels, milestones }: Pick<CheckedExport, 'labels' | 'milestones'>,
): Promise<void> {
  await db.write(async ({ manager }) => {
    const present = new Map(
      (await manager.findBy(labelSchema, { repositoryId })).map((row) => [row.nameFolded, row.id]),
    );
    for (const label of labels) {
      const nameFolded = foldName(label.name);
      const id = present.get(nameFolded);
      if (id !== undefined) await manager.update(labelSchema, { id }, { ...label, nameFolded });
      else {
        const row = { id: random.uuid(), repositoryId, organisationId: null, ...label, nameFolded };
        present.set(nameFolded, row.id);
        await manager.insert(labelSchema, row);
      }
    }
    const titles = new Map(
      (await manager.findBy(milestoneSchema, { repositoryId })).map((row) => [row.titleFolded, row.id]),
    );
    for (const milestone of milestones) {
      const titleFolded = foldName(milestone.title);
      const id = titles.get(titleFolded);
      if (id !== undefined) await manager.update(milestoneSchema, { id }, { ...milestone, titleFolded });
      else {
        const row = { id: random.uuid(), repositoryId, ...milestone, titleFolded, openCount: 0, closedCount: 0 };
        titles.set(titleFolded, row.id);
        await manager.insert(milestoneSchema, row);
      }
    }
  });
}

async function writeLinks(
  { db }: IssueDeps,
  links: readonly { from: string; to: string; kind: LinkKind }[],
): Promise<void> {
  for (let at = 0; at < links.length; at += linksPerWrite)
    await db.write(async (tx) => {
      for (const { from, to, kind } of links.slice(at, at + linksPerWrite))
        await insertOrIgnore(tx, issueLinkSchema, { fromId: from, toId: to, kind, createdAt: tx.now });
    });
}
