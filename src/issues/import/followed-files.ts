import { In } from 'typeorm';
import { invalid } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import { storeAttachment } from '../attachments/add-attachment.ts';
import { objectKey, parseFileName } from '../attachments/attachment.ts';
import type { IssueDeps } from '../deps.ts';
import { insertOrIgnore } from '../insert-or-ignore.ts';
import { attachmentSchema, attachmentUseSchema } from '../schema/classification-schema.ts';
import type { AttachmentRow } from '../schema/classification-schema.ts';
import { derivedId } from './derived-id.ts';
import { importLimits } from './import-source.ts';

/** A file shown in texts of another forge. */
interface FollowedFile {
  /** Key of the file within the repository. */
  key: string;
  /** Read only once the file is open. */
  nameOf(): string;
  createdAt: number;
  /** Entries that show it, by the number and origin of their issue. */
  shown: readonly (readonly [number: number, origin: string])[];
}

const idOf = (repositoryId: string, key: string): string => derivedId('attachment', repositoryId, key);

/** Ids of the files from another forge that exist here, by key. No access check. */
export async function findFollowedFiles(
  { db }: Pick<IssueDeps, 'db'>,
  repositoryId: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const ids = new Map(keys.map((key) => [idOf(repositoryId, key), key]));
  if (ids.size === 0) return new Map();
  const rows = await db.read.find(attachmentSchema, { where: { id: In([...ids.keys()]) }, select: { id: true } });
  return new Map(rows.map(({ id }) => [ids.get(id)!, id]));
}

/**
 * Stores a file of another forge, and records the entries that show it: viewers who can read one of their issues see
 * it. Does not fetch an existing file again; discards a file that no entry shows. Throws upload errors about its bytes,
 * and `attachment_quota`. No access check.
 */
export async function storeFollowedFile(
  deps: IssueDeps,
  { id: repositoryId }: Pick<Repository, 'id'>,
  { key, nameOf, createdAt, shown }: FollowedFile,
  open: () => Promise<AsyncIterable<Uint8Array>>,
): Promise<void> {
  const id = idOf(repositoryId, key);
  const places = await placesOf(deps, repositoryId, shown);
  if (places.length === 0) return;
  const isHere = await deps.db.read.existsBy(attachmentSchema, { id });
  const kept = isHere ? null : await fetchFile(deps, id, open);
  try {
    await deps.db.write(async (tx) => {
      const { manager } = tx;
      if (kept !== null) {
        const [sum]: { bytes: number | null }[] = await manager.query(
          'SELECT sum(a.bytes) AS bytes FROM attachments a WHERE a.repository_id = ?',
          [repositoryId],
        );
        if (Number(sum?.bytes ?? 0) + kept.bytes > deps.settings.attachmentsPerRepositoryBytes)
          throw invalid('attachment_quota', 'This repository has used up its file quota.', {
            field: 'files',
          });
        const fixed = { id, repositoryId, issueId: places[0]!.issueId, uploaderId: null, createdAt };
        await manager.insert(attachmentSchema, { ...fixed, name: parseFileName(nameOf()), ...kept });
      }
      for (const place of places) await insertOrIgnore(tx, attachmentUseSchema, { attachmentId: id, ...place });
    });
  } catch (error) {
    if (kept !== null) await deps.objects.remove(objectKey(id));
    throw error;
  }
}

async function fetchFile(deps: IssueDeps, id: string, open: () => Promise<AsyncIterable<Uint8Array>>) {
  // Left by an interrupted run: it has no row.
  await deps.objects.remove(objectKey(id));
  const settings = { ...deps.settings, attachmentBytes: importLimits.attachmentBytes };
  const { stored, contentType } = await storeAttachment({ ...deps, settings }, objectKey(id), await open());
  return { ...stored, contentType };
}

/** The entries that exist here. */
async function placesOf(
  { db }: Pick<IssueDeps, 'db'>,
  repositoryId: string,
  shown: FollowedFile['shown'],
): Promise<{ issueId: string; position: number }[]> {
  const places: { issueId: string; position: number }[] = [];
  for (const [number, origin] of shown) {
    const rows: { issueId: string; position: number }[] = await db.read.query(
      `SELECT e.issue_id AS "issueId", e.position AS position FROM issues i JOIN issue_entries e ON e.issue_id = i.id
       WHERE i.repository_id = ? AND i.number = ? AND e.origin = ?`,
      [repositoryId, number, origin],
    );
    places.push(...rows.map(({ issueId, position }) => ({ issueId, position: Number(position) })));
  }
  return places;
}

/** A file of another forge, with the entry that shows it. */
interface PlacedFile extends Pick<AttachmentRow, 'id' | 'name'> {
  position: number;
}

/** Limit of files listed below the texts of an issue's page. */
const mostListed = 500;

/**
 * Files of another forge shown in entries of an issue, sorted by position and name. The text need not contain them:
 * some forges list them below it. The caller has checked access to the issue.
 */
export async function listFollowedFiles(
  { db }: Pick<IssueDeps, 'db'>,
  issueId: string,
  { from, limit }: { from: number; limit: number },
): Promise<PlacedFile[]> {
  const rows: PlacedFile[] = await db.read.query(
    `SELECT a.id AS id, a.name AS name, u.position AS position
     FROM attachment_uses u JOIN attachments a ON a.id = u.attachment_id
     WHERE u.issue_id = ? AND u.position >= ? AND u.position < ? AND a.uploader_id IS NULL LIMIT ?`,
    [issueId, from, from + limit, mostListed],
  );
  return rows
    .map(({ id, name, position }) => ({ id, name, position: Number(position) }))
    .sort((one, other) => one.position - other.position || (one.name < other.name ? -1 : 1));
}

/** Positions of entries of another forge by `number origin`, for those that exist here. */
export async function findFollowedEntries(
  { db }: Pick<IssueDeps, 'db'>,
  repositoryId: string,
  entries: FollowedFile['shown'],
): Promise<Map<string, number>> {
  if (entries.length === 0) return new Map();
  const marks = (values: ReadonlySet<unknown>): string => [...values].map(() => '?').join(', ');
  const [numbers, origins] = [new Set(entries.map(([number]) => number)), new Set(entries.map(([, origin]) => origin))];
  const rows: { number: number; origin: string; position: number }[] = await db.read.query(
    `SELECT i.number AS number, e.origin AS origin, e.position AS position
     FROM issues i JOIN issue_entries e ON e.issue_id = i.id
     WHERE i.repository_id = ? AND i.number IN (${marks(numbers)}) AND e.origin IN (${marks(origins)})`,
    [repositoryId, ...numbers, ...origins],
  );
  return new Map(rows.map(({ number, origin, position }) => [`${number} ${origin}`, Number(position)]));
}
