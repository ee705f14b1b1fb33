import { conflict } from '../kernel/index.ts';
import type { OrganisationDeps } from './deps.ts';
import { organisationFollowSchema } from './organisation-follow-schema.ts';

/** Maximum number of organisations that one user follows. */
const mostFollowed = 10_000;

/** Follows an organisation; idempotent. Throws `too_many_followed`. */
export async function followOrganisation(
  { db }: OrganisationDeps,
  userId: string,
  organisationId: string,
): Promise<void> {
  await db.write(async ({ manager, now }) => {
    const key = { userId, organisationId };
    if (await manager.existsBy(organisationFollowSchema, key)) return;
    if ((await manager.countBy(organisationFollowSchema, { userId })) >= mostFollowed)
      throw conflict('too_many_followed', `You can follow at most ${mostFollowed} organisations.`);
    await manager.insert(organisationFollowSchema, { ...key, createdAt: now });
  });
}

/** Unfollows an organisation; a missing follow is not an error. */
export async function unfollowOrganisation(
  { db }: OrganisationDeps,
  userId: string,
  organisationId: string,
): Promise<void> {
  await db.write(({ manager }) => manager.delete(organisationFollowSchema, { userId, organisationId }));
}

export const isFollowingOrganisation = (
  { db }: OrganisationDeps,
  userId: string,
  organisationId: string,
): Promise<boolean> => db.read.existsBy(organisationFollowSchema, { userId, organisationId });

export const countOrganisationFollowers = ({ db }: OrganisationDeps, organisationId: string): Promise<number> =>
  db.read.countBy(organisationFollowSchema, { organisationId });
