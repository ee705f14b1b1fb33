import { EntitySchema } from 'typeorm';

/** A row of `audit_log`. */
export interface AuditRow {
  /** Counts up from 1 without gaps. */
  id: number;
  /** Epoch milliseconds. */
  at: number;
  /** UUID of a person, `local` for the command line, `server` for the program itself, `anonymous`. */
  actor: string;
  /** The client's network address; null if there is none. */
  address: string | null;
  /** The stable name of the log event: `organisation.member_added`. */
  event: string;
  /** JSON object. */
  details: string;
  /** SHA-256 in hex over this row and the hash before. */
  hash: string;
}

export const auditSchema = new EntitySchema<AuditRow>({
  name: 'audit_entry',
  tableName: 'audit_log',
  columns: {
    id: { type: 'integer', primary: true },
    at: { type: 'integer' },
    actor: { type: 'text' },
    address: { type: 'text', nullable: true },
    event: { type: 'text' },
    details: { type: 'text' },
    hash: { type: 'text' },
  },
});
