import { gpgKeyPartSchema, gpgKeySchema } from './schema/gpg-key-schema.ts';
import { instanceSigningKeySchema } from './schema/instance-key-schema.ts';

export { createSigning } from './signing.ts';
export type { Signing } from './signing.ts';
export type { GpgKey } from './gpg-keys/gpg-key.ts';
export type { InstanceSigningKey } from './instance/instance-signer.ts';
export type { SignedObject, Verification, VerificationReason } from './verification/verification.ts';

export const signingEntities = [gpgKeySchema, gpgKeyPartSchema, instanceSigningKeySchema];
