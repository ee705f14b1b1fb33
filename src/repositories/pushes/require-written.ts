import { refFailures } from '../../git/index.ts';
import { internal, unavailable } from '../../kernel/index.ts';
import type { RefResult } from './push-journal.ts';

/**
 * A failure of git itself is not a conflict, which the caller would report as a taken name or a moved branch. Throws
 * `ref_locked`.
 */
export function requireWritten(result: RefResult | undefined): void {
  if (result?.ok !== false) return;
  if (result.reason === refFailures.locked)
    throw unavailable('ref_locked', `Another git process has locked ${result.ref}. Try again in a moment.`, {
      retryAfterSeconds: 2,
    });
  if (result.reason === refFailures.refused) throw internal('git could not move a ref', { cause: result.ref });
}
