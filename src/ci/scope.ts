import { IsNull } from 'typeorm';
import type { EntitySchemaColumnOptions, FindOperator } from 'typeorm';
import type { Repository } from '../repositories/index.ts';

/** Scope of a runner, a secret or a variable. */
export type CiScope =
  | { kind: 'instance' }
  | { kind: 'user'; id: string }
  | { kind: 'organisation'; id: string }
  | { kind: 'repository'; id: string };

/** The columns of a scope; at most one of them is set. */
export interface ScopeColumns {
  userId: string | null;
  organisationId: string | null;
  repositoryId: string | null;
}

export const scopeColumns: Record<keyof ScopeColumns, EntitySchemaColumnOptions> = {
  userId: { name: 'user_id', type: 'text', nullable: true },
  organisationId: { name: 'organisation_id', type: 'text', nullable: true },
  repositoryId: { name: 'repository_id', type: 'text', nullable: true },
};

export const instanceScope: CiScope = Object.freeze({ kind: 'instance' });

export function toColumns(scope: CiScope): ScopeColumns {
  return {
    userId: scope.kind === 'user' ? scope.id : null,
    organisationId: scope.kind === 'organisation' ? scope.id : null,
    repositoryId: scope.kind === 'repository' ? scope.id : null,
  };
}

export function scopeOf({ userId, organisationId, repositoryId }: ScopeColumns): CiScope {
  if (repositoryId !== null) return { kind: 'repository', id: repositoryId };
  if (organisationId !== null) return { kind: 'organisation', id: organisationId };
  if (userId !== null) return { kind: 'user', id: userId };
  return instanceScope;
}

type Condition = Record<keyof ScopeColumns, string | FindOperator<string>>;

/** The condition for rows of exactly this scope. */
export function inScope(scope: CiScope): Condition {
  const columns = toColumns(scope);
  return {
    userId: columns.userId ?? IsNull(),
    organisationId: columns.organisationId ?? IsNull(),
    repositoryId: columns.repositoryId ?? IsNull(),
  };
}

/** The scopes that apply to a repository, widest first: later ones override earlier ones. */
export function scopesAround(repository: Pick<Repository, 'id' | 'ownerUserId' | 'ownerOrganisationId'>): CiScope[] {
  const { id, ownerUserId, ownerOrganisationId } = repository;
  const owner: CiScope[] =
    ownerUserId !== null
      ? [{ kind: 'user', id: ownerUserId }]
      : ownerOrganisationId !== null
        ? [{ kind: 'organisation', id: ownerOrganisationId }]
        : [];
  return [instanceScope, ...owner, { kind: 'repository', id }];
}
