import { conflict } from '../kernel/index.ts';
import type { OrganisationDeps } from './deps.ts';
import { organisationFollowSchema } from './organisation-follow-schema.ts';

/** Limit of those that one user follows. */
const mostFollowed = 10_000;

/** Follows an organisation; again is no error. Refuses `too_many_followed`. */
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

/** Ends it; what is not there is no error. */
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
