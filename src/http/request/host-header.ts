import type { IncomingMessage } from 'node:http';

/** Node keeps the first of two Host lines and silently drops the rest; a proxy may have used the other one. */
export function countHostHeaders({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
