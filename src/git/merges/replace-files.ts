import { conflict } from '../../kernel/index.ts';
import { checked, maxTreeBytes, readObject } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import { treeOf } from './compare-rounds.ts';
import type { MergeWorkspace } from './merge-workspace.ts';

/** A file with its new content; its name and mode stay. */
export interface ReplacedFile {
  path: Buffer;
  content: Buffer;
}

export interface ReplaceRequest {
  /** The parent of the new commit: a full id. */
  onto: string;
  files: readonly ReplacedFile[];
  message: string;
  author: Signature;
  committer: Signature;
  sign?: SignCommit | undefined;
}

/**
 * Makes a commit that replaces the content of files that are there, by writing blobs and the trees above them: no index
 * and no work tree. Refuses `file_not_found`.
 * @returns the id of the commit
 */
export async function replaceFiles(
  { readers }: BrowseDeps,
  path: string,
  workspace: MergeWorkspace,
  { onto, files, message, author, committer, sign }: ReplaceRequest,
): Promise<string> {
  const root = await treeOf(workspace, checked(onto));
  const blobs: NewBlob[] = [];
  for (const { path: file, content } of files) {
    const oid = await workspace.writeObject('blob', content, root.length);
    blobs.push({ names: namesOf(file), oid });
  }
  const tree = await readers.use(path, (reader) => rewrite(reader, workspace, root, blobs));
  return workspace.writeCommit(await commitPayload({ tree, parents: [onto], author, committer, message }, sign));
}

/** A blob at the names of its path that are left. */
interface NewBlob {
  names: readonly Buffer[];
  oid: string;
}

function namesOf(path: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at <= path.length; ) {
    const slash = path.indexOf(0x2f, at);
    const end = slash === -1 ? path.length : slash;
    names.push(path.subarray(at, end));
    at = end + 1;
  }
  return names;
}

/** Writes a tree anew with the ids of some entries replaced: no name changes, so their order stays. */
async function rewrite(
  reader: ObjectReader,
  workspace: MergeWorkspace,
  oid: string,
  blobs: readonly NewBlob[],
): Promise<string> {
  const content = Buffer.from((await readObject(reader, oid, 'tree', maxTreeBytes)).content);
  const oidBytes = oid.length / 2;
  const wanted = Map.groupBy(blobs, ({ names }) => names[0]!.toString('latin1'));
  let left = wanted.size;
  for (let at = 0; at < content.length && left > 0; ) {
    const space = content.indexOf(0x20, at);
    const nul = content.indexOf(0, space + 1);
    const isFolder = content.toString('latin1', at, space).endsWith('40000');
    const below = wanted.get(content.toString('latin1', space + 1, nul));
    if (below !== undefined) {
      left -= 1;
      const child = content.toString('hex', nul + 1, nul + 1 + oidBytes);
      const isDeeper = below.some(({ names }) => names.length > 1);
      if (isDeeper !== isFolder) throw notThere();
      const next = isDeeper
        ? await rewrite(
            reader,
            workspace,
            child,
            below.map((blob) => ({ ...blob, names: blob.names.slice(1) })),
          )
        : below[0]!.oid;
      content.write(next, nul + 1, 'hex');
    }
    at = nul + 1 + oidBytes;
  }
  if (left > 0) throw notThere();
  return workspace.writeObject('tree', content, oid.length);
}

const notThere = () => conflict('file_not_found', 'A file is not there any more.');
