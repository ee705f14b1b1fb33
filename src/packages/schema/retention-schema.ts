import { EntitySchema } from 'typeorm';

/** Retention rules of an owner, for packages without rules of their own. */
interface PackageRetentionRow {
  ownerId: string;
  /** A format; `*` for formats without a row of their own. */
  format: string;
  /** Rules as JSON. */
  rules: string;
  updatedAt: number;
}

export const packageRetentionSchema = new EntitySchema<PackageRetentionRow>({
  name: 'packageRetention',
  tableName: 'package_retention',
  columns: {
    ownerId: { name: 'owner_id', type: 'text', primary: true },
    format: { type: 'text', primary: true },
    rules: { type: 'text' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
