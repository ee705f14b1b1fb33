import { IsNull } from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import type { ApplicationRow } from '../schema/application-schema.ts';
import type { ApplicationOwner } from './application.ts';

/** The condition "of this owner". */
export const ownedBy = (owner: ApplicationOwner): FindOptionsWhere<ApplicationRow> => ({
  userId: owner.kind === 'user' ? owner.id : IsNull(),
  organisationId: owner.kind === 'organisation' ? owner.id : IsNull(),
});
