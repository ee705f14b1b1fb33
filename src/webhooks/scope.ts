import { IsNull } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import type { Tx } from '../db/index.ts';
import type { Repository } from '../repositories/index.ts';
import { webhookSchema } from './webhook-schema.ts';
import type { WebhookEvent, WebhookRow } from './webhook-schema.ts';

/**
 * Scope of a webhook: the events of one repository, of everything that an organisation or a user owns, or of the
 * server.
 */
export type WebhookScope =
  | { kind: 'repository'; id: string }
  | { kind: 'organisation'; id: string }
  | { kind: 'user'; id: string }
  | { kind: 'instance' };

type ScopeColumns = Pick<WebhookRow, 'repositoryId' | 'organisationId' | 'userId'>;

export function scopeColumns(scope: WebhookScope): ScopeColumns {
  return {
    repositoryId: scope.kind === 'repository' ? scope.id : null,
    organisationId: scope.kind === 'organisation' ? scope.id : null,
    userId: scope.kind === 'user' ? scope.id : null,
  };
}

export function scopeOf({ repositoryId, organisationId, userId }: ScopeColumns): WebhookScope {
  if (repositoryId !== null) return { kind: 'repository', id: repositoryId };
  if (organisationId !== null) return { kind: 'organisation', id: organisationId };
  return userId === null ? { kind: 'instance' } : { kind: 'user', id: userId };
}

/** The scope in a log line. */
export const scopeForLog = (scope: WebhookScope): { scope: string; scopeId: string | null } => ({
  scope: scope.kind,
  scopeId: scope.kind === 'instance' ? null : scope.id,
});

export function inScope(scope: WebhookScope): FindOptionsWhere<WebhookRow> {
  const { repositoryId, organisationId, userId } = scopeColumns(scope);
  return {
    repositoryId: repositoryId ?? IsNull(),
    organisationId: organisationId ?? IsNull(),
    userId: userId ?? IsNull(),
  };
}

/** Place of an event: a repository, or an owner without one. */
export type WebhookPlace = Pick<Repository, 'ownerOrganisationId' | 'ownerUserId'> & { id: string | null };

/** The active webhooks for one of these events: those of the repository, of its owner and of the server. */
export async function webhooksFor(
  manager: Tx['manager'],
  { id, ownerOrganisationId, ownerUserId }: WebhookPlace,
  events: readonly WebhookEvent[],
): Promise<WebhookRow[]> {
  const rows = await manager.find(webhookSchema, {
    where: [
      ...(id === null ? [] : [{ repositoryId: id, isActive: true }]),
      ...(ownerOrganisationId === null ? [] : [{ organisationId: ownerOrganisationId, isActive: true }]),
      ...(ownerUserId === null ? [] : [{ userId: ownerUserId, isActive: true }]),
      { ...inScope({ kind: 'instance' }), isActive: true },
    ],
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return rows.filter((row) => row.events.some((event) => events.includes(event)));
}
