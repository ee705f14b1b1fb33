import { invalid } from '../../kernel/index.ts';
import type { FileOperation } from './file-operation.ts';

const maxMessageBytes = 64 * 1024;

/** The commit message; a standard subject if none is given. Throws `message_too_long`. */
export function changeMessage(given: string | undefined, operations: readonly FileOperation[]): string {
  const message = (given ?? '').replaceAll('\r\n', '\n').trim();
  if (Buffer.byteLength(message) > maxMessageBytes)
    throw invalid('message_too_long', `A commit message can be at most ${maxMessageBytes / 1024} KiB.`, {
      field: 'message',
    });
  return message === '' ? usualSubject(operations) : message;
}

/** `Update README.md`, or the number of files if there are several. */
export function usualSubject(operations: readonly FileOperation[]): string {
  const [first] = operations;
  if (first === undefined) return 'Update files';
  if (operations.length > 1) {
    const kinds = new Set(operations.map(({ kind }) => kind));
    const verb = kinds.size > 1 ? 'Change' : verbs[first.kind];
    return `${verb} ${operations.length} files`;
  }
  if (first.kind === 'update' && first.from !== undefined && first.from !== first.path)
    return `Rename ${first.from} to ${first.path}`;
  return `${verbs[first.kind]} ${first.path}`;
}

const verbs: Record<FileOperation['kind'], string> = {
  create: 'Add',
  put: 'Upload',
  update: 'Update',
  delete: 'Delete',
};
