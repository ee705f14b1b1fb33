import { EntitySchema } from 'typeorm';

/** A row of `instance_signing_keys`: the current or a former signing key of the server. */
export interface InstanceSigningKeyRow {
  /** `SHA256:…` */
  fingerprint: string;
  /** The public half in wire form. */
  blobBase64: string;
  /** The private half, encrypted with the instance key; null once the key is retired. */
  privateCiphertext: string | null;
  createdAt: number;
  /** When another key replaced it: it does not verify signatures with a later date. */
  retiredAt: number | null;
}

export const instanceSigningKeySchema = new EntitySchema<InstanceSigningKeyRow>({
  name: 'InstanceSigningKey',
  tableName: 'instance_signing_keys',
  columns: {
    fingerprint: { type: 'text', primary: true },
    blobBase64: { name: 'blob_base64', type: 'text' },
    privateCiphertext: { name: 'private_ciphertext', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    retiredAt: { name: 'retired_at', type: 'integer', nullable: true },
  },
});
