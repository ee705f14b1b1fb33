import { EntitySchema } from 'typeorm';

/** A remote actor from its own document; cached for six hours (SPEC §2.5, §8). */
export interface RemoteActor {
  /** Its URL. */
  id: string;
  /** Host and non-default port of the id. */
  host: string;
  /** `Repository`, `Person`, … from the document. */
  type: string;
  /** Display name; may be empty. */
  name: string;
  /** `owner/name@host` or `user@host`, from its document. */
  handle: string;
  /** Its WebFinger handle, if it was looked up; see `handleOf`. */
  webfingerHandle: string | null;
  /** Its HTML page, on the same host. */
  url: string | null;
  inbox: string;
  /** URL of the list of a Person's repositories. */
  repositoriesUrl: string | null;
  /** Clone URL of a Repository, on the same host; null if omitted. */
  cloneUrl: string | null;
  keyId: string;
  publicKeyPem: string;
  fetchedAt: number;
}

/** The handle that resolves to an actor: the WebFinger handle, since a document need not contain one. */
export const handleOf = ({ webfingerHandle, handle }: Pick<RemoteActor, 'webfingerHandle' | 'handle'>): string =>
  webfingerHandle ?? handle;

export const remoteActorSchema = new EntitySchema<RemoteActor>({
  name: 'remoteActor',
  tableName: 'remote_actors',
  columns: {
    id: { type: 'text', primary: true },
    host: { type: 'text' },
    type: { type: 'text' },
    name: { type: 'text' },
    handle: { type: 'text' },
    webfingerHandle: { name: 'webfinger_handle', type: 'text', nullable: true },
    url: { type: 'text', nullable: true },
    inbox: { type: 'text' },
    repositoriesUrl: { name: 'repositories_url', type: 'text', nullable: true },
    cloneUrl: { name: 'clone_url', type: 'text', nullable: true },
    keyId: { name: 'key_id', type: 'text' },
    publicKeyPem: { name: 'public_key_pem', type: 'text' },
    fetchedAt: { name: 'fetched_at', type: 'integer' },
  },
});
