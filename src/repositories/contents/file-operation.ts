import type { CommittedFile, TreeEntry } from '../../git/index.ts';
import { conflict, invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { parseFilePath, refuseReorderedName } from './file-path.ts';

/** What a change does to one file. `expected` is the blob that the person saw. */
export type FileOperation =
  /** A new file. */
  | { kind: 'create'; path: string; content: Buffer; isExecutable?: boolean }
  /** New content, another path, or both; whether it is executable stays as it was. */
  | { kind: 'update'; path: string; from?: string | undefined; content?: Buffer; expected?: string | undefined }
  /** A file, whether it is there or not. */
  | { kind: 'put'; path: string; content: Buffer }
  | { kind: 'delete'; path: string; expected?: string | undefined };

/** How many files one change is about. */
const maxOperations = 300;

/**
 * Checks what can be checked without the repository. Refuses `no_files`, `too_many_files`, `path_twice`,
 * `change_too_large`, and what `parseFilePath` refuses.
 */
export function checkOperations(operations: readonly FileOperation[], maxBytes: number): void {
  if (operations.length === 0) throw invalid('no_files', 'Enter a file to change.', { field: 'files' });
  if (operations.length > maxOperations)
    throw invalid('too_many_files', `At most ${maxOperations} files can be changed at a time.`, { field: 'files' });
  const seen = new Set<string>();
  let bytes = 0;
  for (const operation of operations) {
    for (const path of pathsOf(operation)) {
      if (seen.has(parseFilePath(path)))
        throw invalid('path_twice', `The change names ${path} twice.`, { field: 'path' });
      seen.add(path);
    }
    if ('content' in operation) bytes += operation.content?.length ?? 0;
  }
  if (bytes > maxBytes) {
    const limit = maxBytes / 1024 / 1024;
    throw invalid('change_too_large', `The files of one change have at most ${limit} MiB. Push larger ones with git.`, {
      field: 'content',
    });
  }
}

const pathsOf = (operation: FileOperation): string[] =>
  operation.kind === 'update' && operation.from !== undefined && operation.from !== operation.path
    ? [operation.from, operation.path]
    : [operation.path];

/**
 * What an operation does to the files of a commit. Refuses `file_exists`, `file_not_found`, `file_changed` when the
 * blob is another one than expected, `not_a_file` for folders, symbolic links and submodules, and what
 * `refuseReorderedName` refuses of a new name.
 * @param tip null when there is no commit yet
 */
export async function resolveOperation(
  { git }: Pick<RepositoryDeps, 'git'>,
  path: string,
  tip: string | null,
  operation: FileOperation,
): Promise<CommittedFile[]> {
  const entryAt = async (file: string): Promise<TreeEntry | null> =>
    tip === null ? null : git.objects.entryAt(path, tip, Buffer.from(file)).catch(nullIfNotFound);
  const target = Buffer.from(operation.path);
  switch (operation.kind) {
    case 'create': {
      if ((await entryAt(operation.path)) !== null) throw exists(operation.path);
      refuseReorderedName(operation.path);
      const { content, isExecutable = false } = operation;
      return [{ path: target, file: { isExecutable, content } }];
    }
    case 'put': {
      const entry = await entryAt(operation.path);
      const isExecutable = entry !== null && requireFile(operation.path, entry).kind === 'executable';
      if (entry === null) refuseReorderedName(operation.path);
      return [{ path: target, file: { isExecutable, content: operation.content } }];
    }
    case 'delete': {
      await expectedFile(operation.path, operation.expected);
      return [{ path: target, file: null }];
    }
    case 'update': {
      const from = operation.from ?? operation.path;
      const entry = await expectedFile(from, operation.expected);
      const isMoved = from !== operation.path;
      if (isMoved && (await entryAt(operation.path)) !== null) throw exists(operation.path);
      if (isMoved) refuseReorderedName(operation.path);
      const isExecutable = entry.kind === 'executable';
      const { content } = operation;
      const file = content === undefined ? { isExecutable, oid: entry.oid } : { isExecutable, content };
      return [...(isMoved ? [{ path: Buffer.from(from), file: null }] : []), { path: target, file }];
    }
  }

  async function expectedFile(file: string, expected: string | undefined): Promise<TreeEntry> {
    const entry = await entryAt(file);
    if (entry === null) throw conflict('file_not_found', `${file} does not exist.`, { field: 'path' });
    requireFile(file, entry);
    if (expected !== undefined && entry.oid !== expected)
      throw conflict('file_changed', `${file} has changed since you started.`, { field: 'sha' });
    return entry;
  }
}

const exists = (file: string) => conflict('file_exists', `${file} already exists.`, { field: 'path' });

const otherKinds: Partial<Record<TreeEntry['kind'], string>> = {
  folder: 'a folder',
  symlink: 'a symbolic link',
  submodule: 'a submodule',
};

function requireFile(file: string, entry: TreeEntry): TreeEntry {
  const other = otherKinds[entry.kind];
  if (other !== undefined)
    throw invalid('not_a_file', `${file} is ${other}, which can only be changed with git.`, { field: 'path' });
  return entry;
}
