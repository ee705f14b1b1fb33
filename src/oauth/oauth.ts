import type { Database } from '../db/index.ts';
import { bindDeps } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import type { InstanceKey } from '../sealing/index.ts';
import { applicationTokens } from './application-tokens.ts';
import { findApplication } from './applications/find-application.ts';
import {
  addApplication,
  changeApplication,
  listApplications,
  removeApplication,
  replaceSecret,
} from './applications/manage-applications.ts';
import type { OAuthDeps } from './deps.ts';
import { grantOf, listGrants, revokeGrant } from './grants/grants.ts';
import { reencryptSigningKeys, rotateSigningKeys, signingKeyIds, signingKeys } from './keys/signing-keys.ts';
import {
  consumeRecord,
  findRecord,
  findRecordBy,
  removeExpiredRecords,
  removeGrant,
  removeRecord,
  saveRecord,
} from './records/record-store.ts';

interface OAuthOptions {
  db: Database;
  clock: Clock;
  random: Random;
  logger: Logger;
  instanceKey: InstanceKey;
}

/**
 * Applications that sign people in here or act for them (RFC 6749, OpenID Connect Core 1.0): which there are, what
 * people have allowed them, and the records of the protocol. The protocol itself is spoken by `http-oauth`.
 */
export function createOAuth({ instanceKey, ...tools }: OAuthOptions) {
  const deps: OAuthDeps = { ...tools, key: instanceKey };
  const bind = bindDeps(deps);
  return {
    applications: {
      add: bind(addApplication),
      change: bind(changeApplication),
      replaceSecret: bind(replaceSecret),
      remove: bind(removeApplication),
      list: bind(listApplications),
      find: bind(findApplication),
    },
    grants: { of: bind(grantOf), list: bind(listGrants), revoke: bind(revokeGrant) },
    records: {
      save: bind(saveRecord),
      find: bind(findRecord),
      findBy: bind(findRecordBy),
      consume: bind(consumeRecord),
      remove: bind(removeRecord),
      removeGrant: bind(removeGrant),
    },
    tokens: applicationTokens(deps),
    keys: { ids: bind(signingKeyIds), signing: bind(signingKeys), rotate: bind(rotateSigningKeys) },
    removeExpired: () => removeExpiredRecords(deps),
    reencrypt: () => reencryptSigningKeys(deps),
    /** The key of cookies of unfinished requests. */
    cookieKey: () => instanceKey.for('oauth cookies').toString('base64url'),
  };
}

export type OAuth = ReturnType<typeof createOAuth>;
