import { In } from 'typeorm';
import { isNotNull } from '../../db/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { pushSchema, pushUpdateSchema } from '../schema/push-schema.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** Limit of recent pushes per repository to search. */
const maxLookedAt = 200;

/**
 * The push that set a ref to its tip, among the repository's latest; null if no journalled push did.
 * @param ref full name
 * @param tip full id
 */
export async function findPushByTip(
  { db }: Pick<RepositoryDeps, 'db'>,
  repositoryId: string,
  ref: string,
  tip: string,
): Promise<Pick<PushRow, 'id' | 'userId' | 'via'> | null> {
  const latest = await db.read.find(pushSchema, {
    where: { repositoryId, settledAt: isNotNull() },
    order: { createdAt: 'DESC', id: 'DESC' },
    take: maxLookedAt,
  });
  if (latest.length === 0) return null;
  const made = await db.read.find(pushUpdateSchema, {
    where: { pushId: In(latest.map(({ id }) => id)), ref, newId: tip, result: 'ok' },
  });
  return latest.find(({ id }) => made.some(({ pushId }) => pushId === id)) ?? null;
}
