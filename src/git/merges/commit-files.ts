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

/** A file as a commit is to have it. */
export interface CommittedFile {
  path: Buffer;
  /** Its content, or the blob that has it already; null to remove the file. */
  file: { isExecutable: boolean; content: Buffer } | { isExecutable: boolean; oid: string } | null;
}

export interface CommitFilesRequest {
  /** The parent of the new commit, a full id; null for a first commit. */
  onto: string | null;
  /** A path occurs once with content and once without at most. */
  files: readonly CommittedFile[];
  message: string;
  author: Signature;
  committer: Signature;
  sign?: SignCommit | undefined;
}

/** How the files of a commit differ from those of its parent. */
export interface FilesPreview {
  files: ChangedFile[];
  patches: Patch[];
  cutShort: boolean;
}

export interface CommittedFiles {
  oid: string;
  /** The blobs of the files in the order of the request; null for removed ones. */
  blobs: (string | null)[];
}

/**
 * Makes a commit that adds, replaces and removes files by writing blobs and the trees above them: no index and no work
 * tree. Refuses `nothing_changed`, `invalid_git_file` for a file of git's own that git would not take from a push, and
 * what `rewriteTree` refuses.
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
    throw conflict('nothing_changed', 'The files already have this content: there is nothing to commit.');
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
        throw invalid('invalid_git_file', `git does not take this ${last}: ${fault}.`, { field: 'content' });
    }
    return workspace.writeObject('blob', content, idLength);
  }
}

/** What a commit of files would change; its objects vanish with the workspace. Refuses what `commitFiles` refuses. */
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

/** Files whose content git acts on, and so checks when it receives a push. */
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
