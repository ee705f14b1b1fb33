import { EntitySchema } from 'typeorm';

/** The subject of a local actor. */
export type ActorKind = 'repository' | 'user' | 'organisation' | 'instance';

/**
 * The key pair of a local actor and its permanent path: an actor keeps its first id after renames, and no other actor
 * ever gets it.
 */
export interface KeyRow {
  /** `/ap/repos/alice/tool`; base URL and path form the actor id. */
  apPath: string;
  kind: ActorKind;
  /** UUID of the repository, user or organisation; `instance` for the instance. */
  ownerId: string;
  publicKeyPem: string;
  privateKeyPem: string;
  createdAt: number;
}

export const keySchema = new EntitySchema<KeyRow>({
  name: 'federationKey',
  tableName: 'federation_keys',
  columns: {
    apPath: { name: 'ap_path', type: 'text', primary: true },
    kind: { type: 'text' },
    ownerId: { name: 'owner_id', type: 'text' },
    publicKeyPem: { name: 'public_key_pem', type: 'text' },
    privateKeyPem: { name: 'private_key_pem', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
