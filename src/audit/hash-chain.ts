import { createHash } from 'node:crypto';
import type { AuditRow } from './audit-schema.ts';

/** The hash before the first entry. */
const genesisHash = '0'.repeat(64);

/**
 * The hash of an entry: over the previous hash and every field, so that neither order nor content can change unnoticed.
 */
export function hashEntry(
  previous: string,
  { id, at, actor, address, event, details }: Omit<AuditRow, 'hash'>,
): string {
  return createHash('sha256')
    .update(JSON.stringify([previous, id, at, actor, address, event, details]))
    .digest('hex');
}

/** The entry after `last`; null for the first entry. For a database that no server has open. */
export function entryAfter(last: Pick<AuditRow, 'id' | 'hash'> | null, entry: Omit<AuditRow, 'id' | 'hash'>): AuditRow {
  const row = { id: (last?.id ?? 0) + 1, ...entry };
  return { ...row, hash: hashEntry(last?.hash ?? genesisHash, row) };
}

/** The entry at which the hash chain breaks. */
export interface ChainBreak {
  id: number;
  /** Completes the sentence "Entry 12 of the audit log …". */
  why: string;
}

interface ChainCheck {
  /** The next entry, in order. */
  row(row: AuditRow): ChainBreak | null;
  /** After the last entry. */
  end(): ChainBreak | null;
}

/**
 * Verifies a chain row by row, in order.
 * @param known an entry that has to be in it
 */
export function createChainCheck(known: Pick<AuditRow, 'id' | 'hash'> | null = null): ChainCheck {
  let previous = genesisHash;
  let expected = 1;
  return {
    row(row) {
      if (row.id !== expected) return { id: expected, why: 'is missing' };
      if (row.hash !== hashEntry(previous, row)) return { id: row.id, why: 'was changed' };
      // The whole chain may have been made anew.
      if (row.id === known?.id && row.hash !== known.hash) return { id: row.id, why: 'is another than the known one' };
      previous = row.hash;
      expected += 1;
      return null;
    },
    end: () => (known !== null && known.id >= expected ? { id: expected, why: 'is missing' } : null),
  };
}
