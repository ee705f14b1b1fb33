import { EntitySchema } from 'typeorm';
import { scopeColumns } from '../scope.ts';
import type { ScopeColumns } from '../scope.ts';

/** A row of `ci_secrets`. */
interface SecretRow extends ScopeColumns {
  id: string;
  name: string;
  ciphertext: string;
  /**
   * For secrets of the server: ids of the owners and repositories whose tasks receive it, as a JSON list; null for all.
   */
  onlyFor: string | null;
  createdAt: number;
  updatedAt: number;
}

/** A row of `ci_variables`. */
interface VariableRow extends ScopeColumns {
  id: string;
  name: string;
  value: string;
  createdAt: number;
  updatedAt: number;
}

export const secretSchema = new EntitySchema<SecretRow>({
  name: 'ciSecret',
  tableName: 'ci_secrets',
  columns: {
    id: { type: 'text', primary: true },
    ...scopeColumns,
    name: { type: 'text' },
    ciphertext: { type: 'text' },
    onlyFor: { name: 'only_for', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

export const variableSchema = new EntitySchema<VariableRow>({
  name: 'ciVariable',
  tableName: 'ci_variables',
  columns: {
    id: { type: 'text', primary: true },
    ...scopeColumns,
    name: { type: 'text' },
    value: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
