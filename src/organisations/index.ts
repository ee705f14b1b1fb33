import type { EntityManager } from 'typeorm';
import type { OrganisationRole } from '../access/index.ts';
import type { Database } from '../db/index.ts';
import { memberSchema } from './member-schema.ts';

export { memberSchema } from './member-schema.ts';
export { organisationSchema } from './organisation-schema.ts';

export interface Organisations {
  /**
   * A person's role in an organisation, `null` for no member.
   * @param manager pass the write's manager to see what the write has done
   */
  roleOf(personId: string, organisationId: string, manager?: EntityManager): Promise<OrganisationRole | null>;
}

export const organisationEntities = [memberSchema];

export function createOrganisations({ db }: { db: Database }): Organisations {
  return {
    async roleOf(personId, organisationId, manager = db.read) {
      const member = await manager.findOneBy(memberSchema, { organisationId, userId: personId });
      return member?.role ?? null;
    },
  };
}
