import type { ApplicationRow } from '../schema/application-schema.ts';

export type ApplicationOwner =
  | { kind: 'user'; id: string }
  | { kind: 'organisation'; id: string }
  | { kind: 'instance' };

/** A program that signs people in here, or acts for them. */
export interface Application {
  id: string;
  clientId: string;
  owner: ApplicationOwner;
  name: string;
  /** It keeps a secret; a public client cannot and proves itself by PKCE. */
  isConfidential: boolean;
  /** The last four characters of the secret. */
  secretEnding: string | null;
  redirectUris: readonly string[];
  createdAt: number;
  /** Known without having been added. */
  isPreset: boolean;
}

export function toApplication(row: ApplicationRow): Application {
  const owner: ApplicationOwner =
    row.userId !== null
      ? { kind: 'user', id: row.userId }
      : row.organisationId !== null
        ? { kind: 'organisation', id: row.organisationId }
        : { kind: 'instance' };
  return {
    id: row.id,
    clientId: row.clientId,
    owner,
    name: row.name,
    isConfidential: row.secretHash !== null,
    secretEnding: row.secretEnding,
    redirectUris: JSON.parse(row.redirectUris) as string[],
    createdAt: row.createdAt,
    isPreset: false,
  };
}

/** The columns that say whose an application is. */
export const ownerColumns = (owner: ApplicationOwner): Pick<ApplicationRow, 'userId' | 'organisationId'> => ({
  userId: owner.kind === 'user' ? owner.id : null,
  organisationId: owner.kind === 'organisation' ? owner.id : null,
});
