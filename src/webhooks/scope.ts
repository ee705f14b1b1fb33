import { IsNull } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import type { Tx } from '../db/index.ts';
import { webhookSchema } from './webhook-schema.ts';
import type { WebhookEvent, WebhookRow } from './webhook-schema.ts';

/** Scope of a webhook: the events of one repository, or of all that an organisation owns. */
export type WebhookScope = { kind: 'repository'; id: string } | { kind: 'organisation'; id: string };

export function scopeColumns({ kind, id }: WebhookScope): Pick<WebhookRow, 'repositoryId' | 'organisationId'> {
  return { repositoryId: kind === 'repository' ? id : null, organisationId: kind === 'organisation' ? id : null };
}

export function scopeOf({
  repositoryId,
  organisationId,
}: Pick<WebhookRow, 'repositoryId' | 'organisationId'>): WebhookScope {
  return repositoryId !== null
    ? { kind: 'repository', id: repositoryId }
    : { kind: 'organisation', id: organisationId! };
}

export function inScope(scope: WebhookScope): FindOptionsWhere<WebhookRow> {
  const { repositoryId, organisationId } = scopeColumns(scope);
  return { repositoryId: repositoryId ?? IsNull(), organisationId: organisationId ?? IsNull() };
}

/** The active webhooks for one of these events of a repository, or of what an organisation has without one. */
export async function webhooksFor(
  manager: Tx['manager'],
  { id, ownerOrganisationId }: { id: string | null; ownerOrganisationId: string | null },
  events: readonly WebhookEvent[],
): Promise<WebhookRow[]> {
  if (id === null && ownerOrganisationId === null) return [];
  const rows = await manager.find(webhookSchema, {
    where: [
      ...(id === null ? [] : [{ repositoryId: id, isActive: true }]),
      ...(ownerOrganisationId === null ? [] : [{ organisationId: ownerOrganisationId, isActive: true }]),
    ],
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return rows.filter((row) => row.events.some((event) => events.includes(event)));
}
