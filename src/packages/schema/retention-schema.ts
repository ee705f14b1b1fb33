import { EntitySchema } from 'typeorm';

/** Which versions of the packages of an owner are kept, where a package has no rules of its own. */
interface PackageRetentionRow {
  ownerId: string;
  /** A format; `*` for those without rows of their own. */
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
