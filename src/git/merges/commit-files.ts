import { conflict, internal, invalid } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { Signature } from '../objects/parse-objects.ts';
import { listDiff } from '../queries/list-diff.ts';
import type { ChangedFile } from '../queries/list-diff.ts';
import { readPatches } from '../queries/read-patches.ts';
import type { Patch, PatchLimits } from '../queries/read-patches.ts';
import { commitPayload } from './commit-payload.ts';
import type { SignCommit } from './commit-payload.ts';
import { treeOf } from './merge-trees.ts';
import type { MergeWorkspace } from './merge-workspace.ts';
import { rewriteTree } from './rewrite-tree.ts';
import type { TreeChange } from './rewrite-tree.ts';

/** A file to write or remove in a commit. */
export interface CommittedFile {
  path: Buffer;
  /** Its content, or an existing blob with it; null to remove the file. */
  file: { isExecutable: boolean; content: Buffer } | { isExecutable: boolean; oid: string } | null;
}

export interface CommitFilesRequest {
  /** The parent of the new commit, a full id; null for a first commit. */
  onto: string | null;
  /** A path occurs at most once with content and once without. */
  files: readonly CommittedFile[];
  message: string;
  author: Signature;
  committer: Signature;
  sign?: SignCommit | undefined;
}

/** Differences between the files of a commit and those of its parent. */
export interface FilesPreview {
  files: ChangedFile[];
  patches: Patch[];
  cutShort: boolean;
}

export interface CommittedFiles {
  oid: string;
  /** The blobs of the files in request order; null for removed files. */
  blobs: (string | null)[];
}

/**
 * Creates a commit that adds, replaces and removes files by writing blobs and the trees above them, without index or
 * work tree. Throws `nothing_changed`, `invalid_git_file` for a special file of git that a push could not contain, and
 * the errors of `rewriteTree`.
 */
export async function commitFiles(
  { readers }: BrowseDeps,
  path: string,
  workspace: MergeWorkspace,
  { onto, files, message, author, committer, sign }: CommitFilesRequest,
): Promise<CommittedFiles> {
  const root = onto === null ? null : await treeOf(workspace, checked(onto));
  const idLength = root === null ? await idLengthOf(workspace) : root.length;
  const changes: TreeChange[] = [];
  for (const { path: name, file } of files) {
    const oid = file === null ? null : 'oid' in file ? checked(file.oid) : await writeBlob(name, file.content);
    const mode = file?.isExecutable ? '100755' : '100644';
    changes.push({ names: namesOf(name), entry: oid === null ? null : { mode, oid } });
  }
  const written =
    (await readers.use(path, (reader) => rewriteTree(reader, workspace, root, changes, idLength))) ??
    (await workspace.writeObject('tree', Buffer.alloc(0), idLength));
  if (written === root)
    throw conflict('nothing_changed', 'The files already have this content, so there is nothing to commit.');
  const parents = onto === null ? [] : [onto];
  const oid = await workspace.writeCommit(
    await commitPayload({ tree: written, parents, author, committer, message }, sign),
  );
  return { oid, blobs: changes.map(({ entry }) => entry?.oid ?? null) };

  async function writeBlob(name: Buffer, content: Buffer): Promise<string> {
    const last = namesOf(name).at(-1)!.toString('latin1').toLowerCase();
    if (readByGit.has(last)) {
      const fault = await workspace.checkBlob(last, content, idLength);
      if (fault !== null)
        throw invalid('invalid_git_file', `git does not accept this ${last}: ${fault}.`, { field: 'content' });
    }
    return workspace.writeObject('blob', content, idLength);
  }
}

/** The changes of such a commit; its objects vanish with the workspace. Throws the errors of `commitFiles`. */
export async function previewFiles(
  deps: BrowseDeps,
  path: string,
  workspace: MergeWorkspace,
  request: CommitFilesRequest,
  limits: PatchLimits,
): Promise<FilesPreview> {
  const { oid } = await commitFiles(deps, path, workspace, { ...request, sign: undefined });
  const range = { from: request.onto, to: oid };
  const { environment } = workspace;
  const { files } = await listDiff(deps, path, range, { environment });
  return { files, ...(await readPatches(deps, path, range, files, limits, { environment })) };
}

/** Files that git interprets, and therefore checks in a push. */
const readByGit = new Set(['.gitmodules', '.gitattributes']);

async function idLengthOf(workspace: MergeWorkspace): Promise<40 | 64> {
  const { code, output, errorText } = await workspace.run(['rev-parse', '--show-object-format']);
  if (code !== 0) throw internal('git could not name its object format', { cause: { errorText } });
  return output.toString('latin1').trim() === 'sha256' ? 64 : 40;
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
