/** For `catch` of a call of `node:fs`: null for a file or folder that does not exist; rethrows every other error. */
export function nullIfAbsent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
