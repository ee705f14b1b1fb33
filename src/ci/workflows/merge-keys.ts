import { isScalar } from 'yaml';

/** Whether a key is `<<`, which the library represents as a symbol after recognising it. */
export function isMergeKey(key: unknown): boolean {
  if (!isScalar(key)) return false;
  return key.value === '<<' || (typeof key.value === 'symbol' && key.value.description === '<<');
}
