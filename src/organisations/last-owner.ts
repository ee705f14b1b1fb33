import { In, Not } from 'typeorm';
import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import { memberSchema } from './member-schema.ts';
import { organisationSchema } from './organisation-schema.ts';

/**
 * Keeps at least one OWNER (SPEC §3). Checked inside the transaction that removes one, so of two OWNERs who demote each
 * other one remains. Throws `last_owner`.
 */
export async function refuseLastOwner({ manager }: Tx, organisationId: string, personId: string): Promise<void> {
  const others = await manager.countBy(memberSchema, { organisationId, role: 'OWNER', userId: Not(personId) });
  if (others > 0) return;
  throw conflict('last_owner', 'Every organisation needs at least one owner. Make another member an owner first.');
}

/**
 * For the transaction that deletes an account and its memberships (SPEC §2.3): the only OWNER of an organisation cannot
 * be deleted (security J05). Throws `last_owner` with the names of the organisations.
 */
export async function refuseOnlyOwner({ manager }: Tx, personId: string): Promise<void> {
  const owned = await manager.findBy(memberSchema, { userId: personId, role: 'OWNER' });
  if (owned.length === 0) return;
  const shared = await manager.findBy(memberSchema, {
    organisationId: In(owned.map(({ organisationId }) => organisationId)),
    userId: Not(personId),
    role: 'OWNER',
  });
  const safe = new Set(shared.map(({ organisationId }) => organisationId));
  const alone = owned.map(({ organisationId }) => organisationId).filter((id) => !safe.has(id));
  if (alone.length === 0) return;
  const names = (await manager.findBy(organisationSchema, { id: In(alone) })).map(({ name }) => name).sort();
  throw conflict(
    'last_owner',
    `The only owner of ${names.join(', ')} cannot be deleted. Make another member an owner first.`,
  );
}
