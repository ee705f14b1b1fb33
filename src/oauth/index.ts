import { applicationSchema } from './schema/application-schema.ts';
import { oauthKeySchema } from './schema/key-schema.ts';
import { recordSchema } from './schema/record-schema.ts';

export { createOAuth } from './oauth.ts';
export type { OAuth } from './oauth.ts';
export { tokenPrefixes } from './application-tokens.ts';
export type { Application, ApplicationOwner } from './applications/application.ts';
export type { ApplicationInput } from './applications/manage-applications.ts';
export { differOnlyByPort, isLoopback, isOwnScheme } from './applications/redirect-uris.ts';
export type { Consents, ConsentRequest, DeviceRequest, PersonAsking } from './consents.ts';
export type { SigningJwk } from './keys/signing-keys.ts';
export type { Payload } from './records/record-store.ts';
export { describeScopes, scopeNames, scopesMeant } from './scopes.ts';

export const oauthEntities = [applicationSchema, recordSchema, oauthKeySchema];
