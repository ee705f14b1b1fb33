import { conflict } from '../../kernel/index.ts';
import { maxTreeBytes, readObject } from '../objects/browse.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import { parseTree } from '../objects/parse-objects.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** An entry at a path, `null` to remove the existing one. */
export interface TreeChange {
  /** The remaining names of the path, the topmost first. */
  names: readonly Buffer[];
  entry: { mode: string; oid: string } | null;
}

interface Entry {
  /** As printed by git: `040000`, `100644`. */
  mode: string;
  name: Buffer;
  oid: string;
}

const folderMode = '040000';

/**
 * Rewrites a tree with some entries added, replaced and removed; creates and removes folders with their files. Throws
 * `file_not_found` if the entry to remove is absent or a folder, `file_in_the_way` if a file and a folder would have
 * the same path.
 * @param root null for none
 * @returns the id of the new tree; null if it would be empty
 */
export async function rewriteTree(
  reader: ObjectReader,
  workspace: MergeWorkspace,
  root: string | null,
  changes: readonly TreeChange[],
  idLength: number,
): Promise<string | null> {
  const entries = new Map((await entriesOf(reader, root)).map((entry) => [entry.name.toString('latin1'), entry]));
  for (const [key, own] of Map.groupBy(changes, ({ names }) => names[0]!.toString('latin1'))) {
    const entry = await changed(reader, workspace, entries.get(key) ?? null, own, idLength);
    if (entry === null) entries.delete(key);
    else entries.set(key, { ...entry, name: own[0]!.names[0]! });
  }
  if (entries.size === 0) return null;
  const ordered = [...entries.values()].sort((one, other) => Buffer.compare(sortKey(one), sortKey(other)));
  const content = Buffer.concat(
    ordered.flatMap(({ mode, name, oid }) => [
      Buffer.from(`${mode.replace(/^0/, '')} `),
      name,
      Buffer.from([0]),
      Buffer.from(oid, 'hex'),
    ]),
  );
  return workspace.writeObject('tree', content, idLength);
}

/** git sorts folders as if their names ended with a slash. */
const sortKey = ({ mode, name }: Entry): Buffer =>
  mode === folderMode ? Buffer.concat([name, Buffer.from('/')]) : name;

async function entriesOf(reader: ObjectReader, oid: string | null): Promise<Entry[]> {
  if (oid === null) return [];
  const { content } = await readObject(reader, oid, 'tree', maxTreeBytes);
  // The reader may reuse its memory for the next object.
  return parseTree(Buffer.from(content), oid.length / 2, Infinity).entries.map(({ mode, rawName, oid }) => ({
    mode,
    name: rawName,
    oid,
  }));
}

/** The entry of one name after the changes at and below it; null for none. */
async function changed(
  reader: ObjectReader,
  workspace: MergeWorkspace,
  known: Entry | null,
  changes: readonly TreeChange[],
  idLength: number,
): Promise<Pick<Entry, 'mode' | 'oid'> | null> {
  const below = changes.filter(({ names }) => names.length > 1);
  const here = changes.filter(({ names }) => names.length === 1);
  const isRemoved = here.some(({ entry }) => entry === null);
  const added = here.find(({ entry }) => entry !== null)?.entry ?? null;
  const isFolder = known?.mode === folderMode;
  if (isRemoved && (known === null || isFolder)) throw notThere();
  if (below.length > 0 && known !== null && !isFolder && !isRemoved) throw inTheWay();
  const folder = isFolder ? known.oid : null;
  const next = below.map(({ names, entry }) => ({ names: names.slice(1), entry }));
  const left = below.length === 0 ? folder : await rewriteTree(reader, workspace, folder, next, idLength);
  if (left !== null && added !== null) throw inTheWay();
  if (left !== null) return { mode: folderMode, oid: left };
  if (added !== null) return added;
  return isRemoved || isFolder ? null : known;
}

const notThere = () => conflict('file_not_found', 'A file no longer exists.');
const inTheWay = () => conflict('file_in_the_way', 'A file and a folder cannot have the same name.', { field: 'path' });
