import { isScalar } from 'yaml';

/** `<<`; the library represents it as a symbol once it has recognised it. */
export function isMergeKey(key: unknown): boolean {
  if (!isScalar(key)) return false;
  return key.value === '<<' || (typeof key.value === 'symbol' && key.value.description === '<<');
}
