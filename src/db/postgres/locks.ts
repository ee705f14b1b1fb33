import { createHash } from 'node:crypto';

/** The advisory lock that serialises an instance's writes; exclusive, or shared by those with a scope. */
export const instanceLock = '1212498247, 0';

/** The lock of a scope, as the two numbers of an advisory lock. */
export function scopeLock(scope: string): string {
  return `1212498248, ${createHash('sha256').update(scope).digest().readInt32BE()}`;
}
