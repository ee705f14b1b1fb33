import { notFound } from '../../kernel/index.ts';
import { findApplication } from '../applications/find-application.ts';
import type { Application } from '../applications/application.ts';
import type { OAuthDeps } from '../deps.ts';
import { removeGrant } from '../records/record-store.ts';
import { recordSchema } from '../schema/record-schema.ts';

/** What a person has allowed an application. */
interface Grant {
  id: string;
  application: Application;
  /** Names of scopes. */
  scopes: readonly string[];
  createdAt: number;
}

interface GrantPayload {
  openid?: { scope?: string };
}

const scopesOf = (payload: string): string[] =>
  ((JSON.parse(payload) as GrantPayload).openid?.scope ?? '').split(' ').filter((scope) => scope !== '');

/** The id of what a person has allowed an application last; null where nothing. */
export async function grantOf({ db, clock }: OAuthDeps, userId: string, clientId: string): Promise<string | null> {
  const rows = await db.read.find(recordSchema, {
    where: { userId, kind: 'Grant', clientId },
    order: { createdAt: 'DESC' },
    take: 1,
  });
  const [row] = rows;
  return row === undefined || (row.expiresAt !== null && row.expiresAt <= clock.now()) ? null : row.grantId;
}

/** What a person has allowed, latest first. */
export async function listGrants(deps: OAuthDeps, userId: string): Promise<Grant[]> {
  const rows = await deps.db.read.find(recordSchema, {
    where: { userId, kind: 'Grant' },
    order: { createdAt: 'DESC' },
    take: 200,
  });
  const grants: Grant[] = [];
  for (const { grantId, clientId, payload, createdAt, expiresAt } of rows) {
    if (expiresAt !== null && expiresAt <= deps.clock.now()) continue;
    const application = await findApplication(deps, clientId ?? '');
    if (application === null) continue;
    grants.push({ id: grantId!, application, scopes: scopesOf(payload), createdAt });
  }
  return grants;
}

/** Ends what a person has allowed; its tokens end at once. Throws `unknown_grant` for one of another person. */
export async function revokeGrant(deps: OAuthDeps, userId: string, grantId: string): Promise<void> {
  const found = await deps.db.read.findOneBy(recordSchema, { userId, kind: 'Grant', grantId });
  if (found === null) throw notFound('unknown_grant', 'There is no such application here.');
  await removeGrant(deps, grantId);
  deps.logger.info('application.revoked', { personId: userId, clientId: found.clientId });
}
