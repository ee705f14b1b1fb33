import { In, Not } from 'typeorm';
import type { Tx } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import { memberSchema } from './member-schema.ts';
import { organisationSchema } from './organisation-schema.ts';

/**
 * Keeps at least one OWNER (SPEC §3). Asked inside the write that takes one away,
 * so two OWNERs who demote each other find one left. Refuses `last_owner`.
 */
export async function refuseLastOwner({ manager }: Tx, organisationId: string, personId: string): Promise<void> {
  const others = await manager.countBy(memberSchema, { organisationId, role: 'OWNER', userId: Not(personId) });
  if (others > 0) return;
  throw conflict('last_owner', 'Every organisation needs at least one owner. Make somebody else an OWNER first.');
}

/**
 * For the write that deletes an account: memberships go with it (SPEC §2.3), so
 * nobody may go who is the only OWNER somewhere (security D3).
 * Refuses `last_owner` and names the organisations.
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
  throw conflict('last_owner', `The only OWNER of ${names.join(', ')} cannot be deleted. Name another OWNER first.`);
}
